/** Which two calls are the same write: the key it is named by, the fingerprint of what it says. */
import { Result } from "effect"
import * as PlainJson from "../kernel/PlainJson.ts"
import { type Refused, refuse } from "../kernel/Refusal.ts"

const keyPattern = /^[\x21-\x7e]{1,255}$/

/** The value of an Idempotency-Key header; a structured-field string is unquoted first. */
export const parseKey = (header: string): Result.Result<string, Refused<"invalid-request">> => {
  const quoted = /^"([\x20-\x21\x23-\x5b\x5d-\x7e]*)"$/.exec(header)
  const key = quoted === null ? header : (quoted[1] ?? "")
  return keyPattern.test(key)
    ? Result.succeed(key)
    : refuse("invalid-request", {
        errors: [
          {
            pointer: "/header/idempotency-key",
            detail: "An idempotency key is 1 to 255 characters from ! to ~."
          }
        ]
      })
}

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
