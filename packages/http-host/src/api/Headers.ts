/** Headers of a call besides Authorization, and their parsers. */
import { Refusal } from "@bursar/engine-core"
import { Result, Schema } from "effect"

/** Headers of a write, all optional. */
export const WriteHeaders = Schema.Struct({
  "idempotency-key": Schema.optionalKey(Schema.String),
  "if-match": Schema.optionalKey(Schema.String)
})

const key = /^[\x21-\x7E]{1,255}$/u
const quoted = /^"((?:[\x20\x21\x23-\x5B\x5D-\x7E]|\\["\\])*)"$/u

const fault = {
  pointer: "/header/idempotency-key",
  detail: "one header of 1 to 255 printable ASCII characters without a space"
}

/** The Idempotency-Key without its quotes; null where none was sent. */
export const idempotencyKey = (
  sentValues: ReadonlyArray<string>
): Result.Result<string | null, Refusal.Refused<"invalid-request">> => {
  const [only, second] = sentValues
  if (only === undefined) return Result.succeed(null)
  const plain = quoted.exec(only)?.[1]?.replaceAll(/\\(["\\])/g, "$1") ?? only
  return second === undefined && key.test(plain)
    ? Result.succeed(plain)
    : Refusal.refuse("invalid-request", { detail: fault.detail, errors: [fault] })
}

const tag = /^"[\x21\x23-\x7E]{1,255}"$/u
const bare = /^[\x21\x23-\x2B\x2D-\x7E]{1,255}$/u

const tagFault = {
  pointer: "/header/if-match",
  detail: "one header of one tag: 1 to 255 printable ASCII characters, quoted or not"
}

/**
 * The tag of If-Match; null where none was sent. Accepts one strong tag only, since a list, a weak
 * tag or `*` names no single state that the caller saw.
 */
export const ifMatch = (
  sentValues: ReadonlyArray<string>
): Result.Result<string | null, Refusal.Refused<"invalid-request">> => {
  const [only, second] = sentValues
  if (only === undefined) return Result.succeed(null)
  const isOneStrongTag = second === undefined && only !== "*" && (tag.test(only) || bare.test(only))
  return isOneStrongTag
    ? Result.succeed(only.startsWith('"') ? only.slice(1, -1) : only)
    : Refusal.refuse("invalid-request", { detail: tagFault.detail, errors: [tagFault] })
}
