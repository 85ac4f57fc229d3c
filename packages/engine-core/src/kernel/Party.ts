/** Id of a party on the ledger: a readable hint and the fingerprint of its key. */
import { type Brand, Result, Schema } from "effect"
import * as Codec from "./Codec.ts"

/** `hint::fingerprint`, at most 255 characters. */
export type Party = string & Brand.Brand<"Party">

/** Fault of a text that is no party. */
export type PartyFault = Codec.Fault

/** Form of a party: a hint, two colons, and a fingerprint. */
export const pattern = /^[A-Za-z0-9_-]{1,185}::[0-9a-f]{1,68}$/u

/** Whether a value is a party. */
export const isParty = (value: unknown): value is Party =>
  typeof value === "string" && pattern.test(value)

/** Party of a text; a fault where it has not the form of one. */
export const parse = (text: string): Result.Result<Party, PartyFault> =>
  isParty(text)
    ? Result.succeed(text)
    : Codec.fault("a party is hint::fingerprint, the fingerprint in lower-case hex")

/**
 * Parses a party literal of the source code; throws on a malformed one.
 *
 * @example
 * ```ts
 * import { Party } from "@bursar/engine-core/kernel"
 *
 * Party.hint(Party.of("fund::1220aa")) // => "fund"
 * ```
 */
export const of = (text: string): Party => Codec.orThrow("Party", parse(text))

/** Party of a hint and a fingerprint. Throws where they do not make one. */
export const make = (party: { readonly hint: string; readonly fingerprint: string }): Party =>
  of(`${party.hint}::${party.fingerprint}`)

/** Readable part of a party, which proves nothing. */
export const hint = (self: Party): string => self.slice(0, self.indexOf("::"))

/** Fingerprint of the key behind a party. */
export const fingerprint = (self: Party): string => self.slice(self.indexOf("::") + 2)

/** The party id on the wire and in the store. */
export const schema: Schema.Codec<Party, string> = Schema.String.check(
  Schema.isPattern(pattern, {
    expected: "a party id",
    title: "Party",
    description: "A party: hint::fingerprint."
  })
).pipe(Schema.brand("Party"))
