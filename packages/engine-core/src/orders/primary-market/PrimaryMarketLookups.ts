/** Look-up of an instrument's primary market, under which orders mint, burn and pay. */
import { Effect, Option, Stream } from "effect"
import { latestOf } from "../../agreements/ProposalSteps.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { contracts } from "../../projection/Contract.ts"
import { Records } from "../../records/Records.ts"
import { type PrimaryMarket, primaryMarket, primaryMarkets } from "./PrimaryMarket.ts"

/** Loads the market of an instrument that is proposed or agreed; null: none. */
export const latestMarket = (instrumentId: string) => latestOf(primaryMarket, instrumentId)

/** The contract that a market stands on. */
export interface Live {
  readonly marketCid: string
}

/** Markets whose contracts are looked up in one go. */
const together = 16

/**
 * The latest market of an instrument that fits and whose contract still stands; null: none does. One
 * past its date counts, for what opened while it was agreed settles under it.
 */
export const liveMarket: (
  instrumentId: string,
  isFit: (market: PrimaryMarket) => boolean
) => Effect.Effect<Live | null, Unavailable, Records> = Effect.fnUntraced(
  function* (instrumentId, isFit) {
    const records = yield* Records
    const found = yield* records
      .stream(primaryMarkets, {
        where: { instrumentId: [instrumentId], state: ["agreed", "ended"] },
        direction: "desc"
      })
      .pipe(
        Stream.map(({ record }) => record),
        Stream.filter(isFit),
        Stream.grouped(together),
        Stream.mapEffect(standing),
        Stream.flatMap((live) => Stream.fromIterable(live)),
        Stream.runHead
      )
    return Option.getOrNull(found)
  }
)

/** Those that still stand on their contracts, in the same order. */
const standing = Effect.fnUntraced(function* (markets: ReadonlyArray<PrimaryMarket>) {
  const records = yield* Records
  const cids = markets.flatMap(({ marketCid }) => marketCid ?? [])
  const live = new Set(
    (yield* records.many(contracts, cids))
      .filter(({ archivedOffset }) => archivedOffset === null)
      .map(({ contractId }) => contractId)
  )
  return cids.filter((cid) => live.has(cid)).map((marketCid): Live => ({ marketCid }))
})
