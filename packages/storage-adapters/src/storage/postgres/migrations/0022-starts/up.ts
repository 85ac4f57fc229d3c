/** Migration: the audit record of the latest start is found without reading the log. */
export const statements: ReadonlyArray<string> = [
  `create index audit_start on bursar.audit (seq) where action = 'config.loaded'`
]
