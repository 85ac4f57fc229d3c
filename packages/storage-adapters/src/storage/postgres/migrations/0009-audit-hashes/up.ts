/** Migration: the hashes of the audit log as bytes instead of hexadecimal text. */
export const statements: ReadonlyArray<string> = [
  `alter table bursar.audit
     alter column prev_hash type bytea using decode(prev_hash, 'hex'),
     alter column hash type bytea using decode(hash, 'hex')`,
  `alter table bursar.head alter column audit_hash drop default`,
  `alter table bursar.head alter column audit_hash type bytea using decode(audit_hash, 'hex')`,
  `alter table bursar.head alter column audit_hash set default decode(repeat('00', 32), 'hex')`
]
