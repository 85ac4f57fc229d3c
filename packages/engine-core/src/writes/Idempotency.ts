/** Idempotency: fingerprint and key that identify two calls as the same write. */
import * as PlainJson from "../kernel/PlainJson.ts"

/**
 * The text whose SHA-256 is a call's fingerprint: method, path, raw query and canonical body, so
 * that spacing, member order and the form of a number make no difference.
 */
export const fingerprintText = (call: {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly body: PlainJson.Plain | undefined
}): string =>
  [
    call.method,
    call.path,
    call.query,
    call.body === undefined ? "" : PlainJson.canonical(call.body)
  ].join("\n")

/** Derives the key of a call that was sent without one, from the fingerprint of its content. */
export const bodyKey = (fingerprint: string): string => `b:${fingerprint}`

/** Kinds of target of a key: an operation, an action, a reconciliation run, a statement. */
export type TargetKind = "operation" | "action" | "run" | "statement"

const targetKinds: ReadonlyArray<string> = [
  "operation",
  "action",
  "run",
  "statement"
] satisfies ReadonlyArray<TargetKind>

const isTargetKind = (kind: string): kind is TargetKind => targetKinds.includes(kind)

/** Encodes a target as the key's row stores it. */
export const target = (kind: TargetKind, id: string): string => `${kind}:${id}`

export const parseTarget = (text: string): { readonly kind: TargetKind; readonly id: string } => {
  const at = text.indexOf(":")
  const kind = text.slice(0, at)
  if (!isTargetKind(kind)) throw new Error(`a key names nothing: ${text}`)
  return { kind, id: text.slice(at + 1) }
}
