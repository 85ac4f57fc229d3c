/** Look-up of an instrument's live primary market, whose contract mints, burns and pays. */
import { Effect, Option, Stream } from "effect"
import { latestOf } from "../../agreements/ProposalSteps.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { contracts } from "../../projection/Contract.ts"
import { Records } from "../../records/Records.ts"
import { type PrimaryMarket, primaryMarket, primaryMarkets } from "./PrimaryMarket.ts"

/** Loads the market of an instrument that is proposed or agreed; null: none. */
export const latestMarket = (instrumentId: string) => latestOf(primaryMarket, instrumentId)

/** A market whose contract is not archived. */
export interface LiveMarket {
  readonly marketCid: string
}

/** Markets in one chunk of the stream, whose contracts are loaded at once. */
const chunkSize = 16

/**
 * Finds the latest market of an instrument that fits and whose contract is not archived; null: none. A
 * market past its date counts, since orders claimed while it was agreed settle under it.
 */
export const liveMarket: (
  instrumentId: string,
  isFit: (market: PrimaryMarket) => boolean
) => Effect.Effect<LiveMarket | null, Unavailable, Records> = Effect.fnUntraced(
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
        Stream.grouped(chunkSize),
        Stream.mapEffect(liveOf),
        Stream.flatMap((live) => Stream.fromIterable(live)),
        Stream.runHead
      )
    return Option.getOrNull(found)
  }
)

/** Returns the markets whose contracts are not archived, in the same order. */
const liveOf = Effect.fnUntraced(function* (markets: ReadonlyArray<PrimaryMarket>) {
  const records = yield* Records
  const cids = markets.flatMap(({ marketCid }) => marketCid ?? [])
  const live = new Set(
    (yield* records.many(contracts, cids))
      .filter(({ archivedOffset }) => archivedOffset === null)
      .map(({ contractId }) => contractId)
  )
  return cids.filter((cid) => live.has(cid)).map((marketCid): LiveMarket => ({ marketCid }))
})
