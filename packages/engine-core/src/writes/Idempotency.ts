/** Idempotency: key and fingerprint by which two calls are the same write. */
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

/** The key of a call that was sent without one: it is keyed on what it says. */
export const bodyKey = (fingerprint: string): string => `b:${fingerprint}`

/**
 * Target of a key: an operation, an action, or a signature that was refused because the action's
 * figures had moved. That refusal is kept, so that the same call sent again, its answer having been
 * lost, does not sign figures that nobody has seen.
 */
export type Used = "operation" | "action" | "moved"

const used: ReadonlyArray<string> = ["operation", "action", "moved"] satisfies ReadonlyArray<Used>

const isUsed = (kind: string): kind is Used => used.includes(kind)

/** The target as the key's row stores it. */
export const target = (kind: Used, id: string): string => `${kind}:${id}`

export const parseTarget = (text: string): { readonly kind: Used; readonly id: string } => {
  const at = text.indexOf(":")
  const kind = text.slice(0, at)
  if (!isUsed(kind)) throw new Error(`a key names nothing: ${text}`)
  return { kind, id: text.slice(at + 1) }
}
