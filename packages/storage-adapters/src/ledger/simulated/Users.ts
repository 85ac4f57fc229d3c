/** Users of the simulated ledger, their tokens and their rights. */
import type { Instant, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Result } from "effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Random from "../../web/Random.ts"
import * as Identifiers from "./Identifiers.ts"
import * as LedgerError from "./LedgerError.ts"

/** A party of this ledger. A local one acts by token, an external one with its own key only. */
export interface PartyRecord {
  readonly party: Party.Party
  readonly hint: string
  readonly kind: "local" | "external"
  /** 32 bytes. The ledger never holds a private key. */
  readonly publicKey: Uint8Array
}

/** User of the simulated ledger, with its rights. */
export interface User {
  readonly userId: string
  /** Null once the token is revoked. */
  readonly tokenHash: string | null
  readonly rights: ReadonlyArray<Ledger.Right>
  readonly expiresAt: Instant.Instant | null
  readonly active: boolean
}

/** Generates a bearer token; only its SHA-256 is stored. */
export const makeToken = (): string => `blt_${Base64Url.encode(Random.bytes(32))}`

/** Hash of a user's token. */
export const hash = Identifiers.tokenHash

/** Message of every failed authorization, without its cause. */
const redacted = "A security-sensitive error has been received"

/** Error of a call without a token that the ledger knows. */
export const unauthenticated = (): LedgerError.LedgerError =>
  LedgerError.make("UNAUTHENTICATED", redacted)

/** Error of a call whose user lacks the right to it. */
export const permissionDenied = (): LedgerError.LedgerError =>
  LedgerError.make("PERMISSION_DENIED", redacted)

/** Returns the user of a token that is not revoked. */
export const admit = (
  user: User | undefined,
  now: Instant.Instant
): Result.Result<User, LedgerError.LedgerError> =>
  user === undefined || !user.active || (user.expiresAt !== null && user.expiresAt <= now)
    ? Result.fail(unauthenticated())
    : Result.succeed(user)

const implied: { readonly [kind in Ledger.Right["kind"]]: ReadonlyArray<Ledger.Right["kind"]> } = {
  CanActAs: ["CanActAs"],
  CanReadAs: ["CanActAs", "CanReadAs"],
  CanExecuteAs: ["CanActAs", "CanExecuteAs"]
}

/** Checks whether the user has the right for the party; CanActAs implies the other two. */
export const can = (user: User, kind: Ledger.Right["kind"], party: string): boolean =>
  user.rights.some((right) => right.party === party && implied[kind].includes(right.kind))

/** Refuses unless the user has the right for every party. */
export const demand = (
  user: User,
  kind: Ledger.Right["kind"],
  parties: Iterable<string>
): Result.Result<void, LedgerError.LedgerError> => {
  for (const party of parties) {
    if (!can(user, kind, party)) return Result.fail(permissionDenied())
  }
  return Result.void
}

/** Preparation needs the right to read or to execute as the party. */
export const demandPrepare = (
  user: User,
  parties: Iterable<string>
): Result.Result<void, LedgerError.LedgerError> => {
  for (const party of parties) {
    if (!can(user, "CanReadAs", party) && !can(user, "CanExecuteAs", party)) {
      return Result.fail(permissionDenied())
    }
  }
  return Result.void
}
