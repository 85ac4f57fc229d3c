/** JSON of the door; a received number keeps its digits as text. */
import { PlainJson } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Result, Data } from "effect"

export type Json = string | number | boolean | null | ReadonlyArray<Json> | JsonObject
export type JsonObject = { readonly [member: string]: Json }

/** Longest body in bytes. */
export const bodyMax = 1_048_576

const limits: PlainJson.JsonLimits = { ...PlainJson.limits, string: bodyMax }

/** The request does not have the declared shape; it had no effect. */
export class Undecodable extends Data.TaggedError("Undecodable")<{
  /** The faulty part: `body (…)` or `query parameter limit`. */
  readonly what: string
}> {}

export const parse = (input: string | Uint8Array): Result.Result<PlainJson.Plain, Undecodable> =>
  Result.mapError(
    PlainJson.parse(input, limits),
    ({ pointer, detail }) => new Undecodable({ what: `body (${detail} at "${pointer}")` })
  )

/** Converts JSON to a ledger value; numbers become texts, so that no digit is lost. */
export const toLfValue = (plain: PlainJson.Plain): Ledger.LfValue => {
  if (plain === null || typeof plain === "string" || typeof plain === "boolean") return plain
  if (PlainJson.isPlainNumber(plain)) return plain.text
  if (isList(plain)) return plain.map(toLfValue)
  return toLfRecord(plain)
}

export const toLfRecord = (plain: {
  readonly [member: string]: PlainJson.Plain
}): Ledger.LfRecord =>
  Object.fromEntries(Object.entries(plain).map(([name, value]) => [name, toLfValue(value)]))

const isList = (
  plain: ReadonlyArray<PlainJson.Plain> | { readonly [member: string]: PlainJson.Plain }
): plain is ReadonlyArray<PlainJson.Plain> => Array.isArray(plain)
