/**
 * Reads the caller from the claims of a verified token: where each claim stands, and which roles the
 * provider's names mean (docs/contract/bearer-tokens.md#claims).
 */
import { Caller, Vocabulary } from "@bursar/engine-core"
import { Party, RecordId } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import type { ClaimRules } from "../config/ClaimRules.ts"

/** Reasons why a token brings no role, for the log. */
type NoRole =
  /** There is no claim at the pointer. */
  | "roles-absent"
  /** The claim is an empty list. */
  | "roles-empty"
  /** The claim names roles of the provider, and none of them is one of the venue. */
  | "roles-unmapped"

/** A caller as its token names it. */
interface ReadCaller {
  readonly caller: Caller.Caller
  /** Why the caller has no role, with the names that the token brought; null: it has one. */
  readonly noRole: { readonly reason: NoRole; readonly names: ReadonlyArray<string> } | null
}

/**
 * Builds the caller from the claims. Fails with the pointer of a claim that is there, and not null, and
 * not of its form: a claim is refused and never ignored, since a caller without it may be somebody else.
 */
export const read = (payload: object, rules: ClaimRules): Result.Result<ReadCaller, string> =>
  Result.gen(function* () {
    const claim = <A>(pointer: string, isOf: (value: unknown) => value is A) => {
      const value = at(payload, pointer)
      if (value === undefined || value === null) return Result.succeed(null)
      return isOf(value) ? Result.succeed(value) : Result.fail(pointer)
    }
    const sub = yield* claim("/sub", Caller.isSubject)
    if (sub === null) return yield* Result.fail("/sub")
    const names = yield* claim(rules.roles, isTexts)
    const roles = rolesOf(names ?? [], rules.roleNames)
    const reason: NoRole =
      names === null ? "roles-absent" : names.length === 0 ? "roles-empty" : "roles-unmapped"
    const caller = {
      sub,
      name: shown(yield* claim("/name", isText)),
      email: shown(yield* claim("/email", isText)),
      roles,
      holderId: yield* claim(rules.holder, isRecordId),
      party: yield* claim(rules.party, Party.isParty)
    }
    return { caller, noRole: roles.length > 0 ? null : { reason, names: names ?? [] } }
  })

/** Roles that the names mean, each once. */
const rolesOf = (
  names: ReadonlyArray<string>,
  roleNames: ClaimRules["roleNames"]
): ReadonlyArray<Vocabulary.Role> => [
  ...new Set(
    roleNames === null
      ? names.filter(Vocabulary.Role.has)
      : names.flatMap((name) => roleNames.get(name) ?? [])
  )
]

/**
 * Value at a pointer; undefined where there is none. A step into a text or a number is no value of any
 * form, so that the claim is refused.
 */
const at = (payload: object, pointer: string): unknown => {
  let value: unknown = payload
  for (const step of pointer.slice(1).split("/")) {
    if (value === undefined || value === null) return undefined
    if (typeof value !== "object") return notAnObject
    const name = step.replaceAll("~1", "/").replaceAll("~0", "~")
    value = Object.hasOwn(value, name) ? Reflect.get(value, name) : undefined
  }
  return value
}

const notAnObject = Symbol("a claim on the way to the pointer is not an object")

const isText = (value: unknown): value is string => typeof value === "string"
const isTexts = (value: unknown): value is ReadonlyArray<string> =>
  Array.isArray(value) && value.every(isText)
const isRecordId = (value: unknown): value is string => isText(value) && RecordId.isRecordId(value)

const textMax = 256

/**
 * Text of a claim without control characters, which could forge lines of a log or control a
 * terminal; null where nothing is left.
 */
export const shown = (text: string | null): string | null => {
  const clean = (text ?? "").replaceAll(/\p{C}/gu, "").slice(0, textMax)
  return clean === "" ? null : clean.toWellFormed()
}
