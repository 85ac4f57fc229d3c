/** Administration of the simulated node: parties, tokens and pruning. */
import { ed25519 } from "@noble/curves/ed25519.js"
import { Instant, type Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { type Duration, Effect } from "effect"
import * as Core from "./Core.ts"
import * as Identifiers from "./Identifiers.ts"
import * as LedgerError from "./LedgerError.ts"
import type { Admin } from "./Participant.ts"
import type { SimStore, StoreLost } from "./SimStore.ts"
import * as Users from "./Users.ts"
import * as Random from "../../web/Random.ts"

const lost = (error: StoreLost): LedgerError.LedgerError =>
  LedgerError.make("SERVICE_NOT_RUNNING", error.detail)

/** Generates a key pair and discards its private half: a local party acts by token only. */
const madeKey = (): Uint8Array => ed25519.getPublicKey(Random.bytes(32))

const invalid = (why: string) => LedgerError.make("INVALID_ARGUMENT", why)

const hintPattern = /^[A-Za-z0-9_-]{1,185}$/

/** Works on the store alone, so that a command line can use it while a node runs. */
export const make = (options: {
  readonly store: Pick<SimStore, "parties" | "putParty" | "users" | "putUser">
  readonly prune: Admin["prune"]
  /** Called when a user has changed, to invalidate the cache of users. */
  readonly changed: () => void
}): Admin => {
  const { store, changed } = options

  const addParty: Admin["addParty"] = (newParty) =>
    Effect.gen(function* () {
      const publicKey = newParty.publicKey ?? madeKey()
      if (!hintPattern.test(newParty.hint))
        return yield* invalid("a hint is 1 to 185 of [A-Za-z0-9_-]")
      if (publicKey.length !== 32) return yield* invalid("an Ed25519 public key has 32 bytes")
      if (newParty.kind === "external" && newParty.publicKey === undefined) {
        return yield* invalid("an external party brings its own public key")
      }
      const party = Identifiers.party({ hint: newParty.hint, publicKey })
      const userId = newParty.userId ?? newParty.hint
      const [parties, users] = yield* Effect.all([store.parties, store.users])
      if (
        parties.some((entry) => entry.party === party) ||
        users.some((user) => user.userId === userId)
      ) {
        return yield* LedgerError.make("PARTY_ALREADY_EXISTS", `${party} or ${userId} exists`)
      }
      const external = (one: Party.Party) =>
        parties.some((party) => party.party === one && party.kind === "external")
      const more = newParty.rights ?? []
      if (more.some((right) => right.kind === "CanActAs" && external(right.party))) {
        return yield* invalid("nobody acts as an external party by token")
      }
      yield* store.putParty({ party, hint: newParty.hint, kind: newParty.kind, publicKey })
      const token = Users.makeToken()
      yield* store.putUser({
        userId,
        tokenHash: Users.hash(token),
        rights: [...ownRights(newParty.kind, party), ...more],
        expiresAt: null,
        active: true
      })
      changed()
      return { party, userId, token }
    }).pipe(Effect.catchTag("StoreLost", (error) => lost(error)))

  const change = (userId: string, to: (user: Users.User) => Users.User) =>
    Effect.gen(function* () {
      const user = (yield* store.users).find((entry) => entry.userId === userId)
      if (user === undefined) {
        return yield* LedgerError.make("USER_NOT_FOUND", `There is no user ${userId}`)
      }
      yield* store.putUser(to(user))
      changed()
    }).pipe(Effect.catchTag("StoreLost", (error) => lost(error)))

  return {
    addParty,
    parties: Effect.mapError(store.parties, lost),
    users: Effect.mapError(store.users, lost),
    issueToken: (userId, validFor) =>
      Effect.gen(function* () {
        const token = Users.makeToken()
        const expiresAt = validFor === undefined ? null : yield* afterNow(validFor)
        yield* change(userId, (user) => ({ ...user, tokenHash: Users.hash(token), expiresAt }))
        return token
      }),
    revokeToken: (userId) => change(userId, (user) => ({ ...user, tokenHash: null })),
    prune: options.prune
  }
}

const afterNow = (duration: Duration.Duration) =>
  Effect.map(Instant.now, (now) => Instant.fromNanos(now + Core.nanos(duration)))

const ownRights = (kind: "local" | "external", party: Party.Party): ReadonlyArray<Ledger.Right> =>
  kind === "local"
    ? [{ kind: "CanActAs", party }]
    : [
        { kind: "CanReadAs", party },
        { kind: "CanExecuteAs", party }
      ]
