/** Outside parties of the venue: its test wallets, each with a token of its own on the ledger. */
import { Engine } from "@bursar/engine-core"
import type { Ledger } from "@bursar/engine-core/ports"
import { Venue, Wallets } from "@bursar/storage-adapters/venue"
import { Acts, type World } from "@bursar/storage-adapters/wallets"
import { Effect, Layer } from "effect"
import * as Calls from "./calls.ts"

/** Acts of each kind of party. Any party of a test may perform those of any kind, as a ledger lets it. */
export const { acts } = Acts

/**
 * Wallets whose acts no engine reads: some tests put several engines on one ledger, one after another or at
 * once, and say which of them reads it, and when.
 */
const unread = Venue.layerWallets.pipe(
  Layer.provide(Layer.succeed(Engine.Engine, { run: Effect.never, settle: Effect.void }))
)

/** Wallet of a party; `submit` commits its commands in one transaction, a list that a test has made too. */
export type Outsider = Omit<Venue.Common, "submit"> & {
  readonly submit: (
    ...commands: ReadonlyArray<Ledger.Command>
  ) => ReturnType<Venue.Common["submit"]>
  /**
   * Idempotency key of an act that has none of its own. It is counted by party, so that two plays of one story
   * have the same keys, hence the same commands and contract ids, whatever ran before them.
   */
  readonly nextReference: () => string
}

/** Adds a party and opens its wallet. Cast: the ledger itself refuses a list without a command. */
export const outsider = (hint: string) =>
  Wallets.pipe(
    Effect.flatMap(({ investor }) => investor(hint)),
    Effect.map((wallet): Outsider => {
      let references = 0
      return {
        ...(wallet as unknown as Omit<Outsider, "nextReference">),
        nextReference: () => `${hint}-${++references}`
      }
    }),
    Effect.provide(Layer.fresh(unread))
  )

/** A party performs an act, which the engine reads. */
export const does = (by: Outsider, act: World.Plan) => Effect.andThen(by.perform(act), Calls.settle)
