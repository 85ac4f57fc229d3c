/**
 * Codec of ledger values between processes: writes out the classes that a structured clone would
 * lose.
 */
import { Ledger } from "@bursar/engine-core/ports"
import { Duration, Option } from "effect"

/** A question of a host to the ledger that another process holds. */
export interface Question {
  readonly ledger: number
  readonly call: "venue" | "submit" | "outcome" | "updates" | "acs" | "stop" | Plain
  readonly given: unknown
}
export type Plain = "ledgerEnd" | "horizon" | "describe" | "packages"

/** One element of the answer, or how it ended. */
export interface Answer {
  readonly ledger: number
  readonly kind: "element" | "end" | "failure" | "defect"
  readonly value: unknown
}

const errors = {
  Refused: Ledger.Refused,
  Busy: Ledger.Busy,
  OutcomeUnknown: Ledger.OutcomeUnknown,
  DedupUnsupported: Ledger.DedupUnsupported,
  NotAuthorized: Ledger.NotAuthorized,
  Unreachable: Ledger.Unreachable,
  ProtocolError: Ledger.ProtocolError,
  BeforeHorizon: Ledger.BeforeHorizon,
  AfterEnd: Ledger.AfterEnd
}

const isError = (tag: unknown): tag is keyof typeof errors =>
  typeof tag === "string" && Object.hasOwn(errors, tag)

export const encode = (value: unknown): unknown => {
  if (Option.isOption(value)) return { "~option": Option.toArray(value).map(encode) }
  if (Duration.isDuration(value)) return { "~millis": Duration.toMillis(value) }
  if (Array.isArray(value)) return value.map(encode)
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value
  const members = Object.entries(value).map(([name, member]) => [name, encode(member)])
  return value instanceof Error
    ? { "~error": Object.fromEntries([...members, ["_tag", Reflect.get(value, "_tag")]]) }
    : Object.fromEntries(members)
}

export const decode = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(decode)
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value
  if ("~option" in value && Array.isArray(value["~option"])) {
    return value["~option"].length === 0 ? Option.none() : Option.some(decode(value["~option"][0]))
  }
  if ("~millis" in value) return Duration.millis(Number(value["~millis"]))
  if ("~error" in value) {
    const members = decode(value["~error"])
    const tag: unknown =
      typeof members === "object" && members !== null && Reflect.get(members, "_tag")
    if (!isError(tag)) throw new Error(`the ledger failed with ${String(tag)}`)
    return Reflect.construct(errors[tag], [members])
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, decode(member)]))
}
