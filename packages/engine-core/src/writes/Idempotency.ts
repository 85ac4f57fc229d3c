/** Which two calls are the same write: the key it is named by, the fingerprint of what it says. */
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

/** What a key was used for, as its row keeps it. */
export const target = (kind: "operation" | "action", id: string): string => `${kind}:${id}`

export const parseTarget = (
  text: string
): { readonly kind: "operation" | "action"; readonly id: string } => {
  const at = text.indexOf(":")
  const kind = text.slice(0, at)
  if (kind !== "operation" && kind !== "action") throw new Error(`a key names nothing: ${text}`)
  return { kind, id: text.slice(at + 1) }
}
