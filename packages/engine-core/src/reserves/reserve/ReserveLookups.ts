/**
 * Look-ups of the inputs of reserves' figures, and of the contracts that the ledger judges a reserve
 * by: one look-up of each kind for a page of reserves.
 */
import { Effect, Stream } from "effect"
import { assetQuotes, quoteIdOf } from "../../instruments/price/AssetQuote.ts"
import { latestAt } from "../../instruments/price/QuoteOrder.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import type * as Field from "../../templates/Field.ts"
import { amendments } from "../amendment/Amendment.ts"
import { mints } from "../reserve-order/Mint.ts"
import { reserveRedemptions } from "../reserve-order/ReserveRedemption.ts"
import * as BooksRules from "./BooksRules.ts"
import type { AssetPoint, ReserveBooks } from "./CoverRules.ts"
import { type Reserve, reserves } from "./Reserve.ts"
import { reserveHoldings } from "./ReserveHolding.ts"
import { type AssetTerms, keyOf, type StoredTerms } from "./ReserveTerms.ts"
import { inForceAt } from "./TermsRules.ts"

/** Point of an asset, with its contract; null: a read supposes it. */
export interface LoadedPoint extends AssetPoint {
  readonly contractId: string | null
}

/** A reserve's books at an instant, and the points in them by the key of their asset. */
export interface LoadedBooks {
  readonly books: ReserveBooks
  readonly points: ReadonlyMap<string, LoadedPoint>
  readonly supply: Decimal.Decimal
}

/** Moment of a read: the instant that freshness and terms are judged at, and the pin of the records. */
interface ReadMoment {
  readonly at: Instant.Instant
  readonly pin?: Pin.ResolvedPin
}

/** Runs look-ups that do not depend on one another concurrently. */
const together = { concurrency: "unbounded" } as const

const sourcedOf = (self: Reserve, at: Instant.Instant) =>
  inForceAt(self, at).assets.flatMap(({ asset, priceSource }: AssetTerms) =>
    priceSource === null
      ? []
      : [{ key: keyOf(asset), quoteId: quoteIdOf({ source: priceSource, asset }) }]
  )

const supplyKeyOf = ({ issuer, instrumentId }: Reserve): string =>
  assetKeyOf({ registrar: issuer, instrumentId })

/** Loads the books of reserves, in their order. */
export const booksOfAll = Effect.fnUntraced(function* (
  all: ReadonlyArray<Reserve>,
  { at, pin }: ReadMoment
) {
  const records = yield* Records
  const ids = new Set(all.flatMap((self) => sourcedOf(self, at).map(({ quoteId }) => quoteId)))
  const [quoted, found] = yield* Effect.all(
    [
      records.many(assetQuotes, [...ids], pin),
      records.many(supplies, [...new Set(all.map(supplyKeyOf))], pin)
    ],
    together
  )
  const quotes = new Map(
    quoted.flatMap((quote) => {
      const latest = latestAt(quote, at)
      return latest === undefined ? [] : [[quote.quoteId, latest] as const]
    })
  )
  const supplyOf = new Map(found.map((supply) => [assetKeyOf(supply), supply.units]))
  return all.map((self): LoadedBooks => {
    const points = new Map(
      sourcedOf(self, at).flatMap(({ key, quoteId }) => {
        const quote = quotes.get(quoteId)
        return quote === undefined ? [] : [[key, quote] as const]
      })
    )
    const supply = supplyOf.get(supplyKeyOf(self)) ?? Decimal.zero
    return { books: BooksRules.booksAt(self, { points, supply, at }), points, supply }
  })
})

/** Loads the books of one reserve. */
export const booksOf = (self: Reserve, moment: ReadMoment) =>
  Effect.map(booksOfAll([self], moment), ([loaded]) => {
    if (loaded === undefined) throw new Error("a reserve has books")
    return loaded
  })

/** A reserve's books, with the members of its view that other records have. */
export interface LoadedReserve extends LoadedBooks {
  /** Terms in force. */
  readonly terms: StoredTerms
  /** The latest amendment that is proposed, or accepted and not yet in force; null: none. */
  readonly liveAmendment: string | null
  readonly openOrders: number
}

/** Loads the facts of the views of a page of reserves, in their order. */
export const loadedOfAll = Effect.fnUntraced(function* (
  all: ReadonlyArray<Reserve>,
  moment: ReadMoment
) {
  const ids = all.map(({ reserveId }) => reserveId)
  if (ids.length === 0) return []
  const pin = moment.pin === undefined ? {} : { pin: moment.pin }
  const [books, openOrders, liveAmendments] = yield* Effect.all(
    [booksOfAll(all, moment), openOrdersOf(ids, pin), liveAmendmentsOf(ids, pin)],
    together
  )
  return all.map((self, index): LoadedReserve => {
    const loaded = books[index]
    if (loaded === undefined) throw new Error("a reserve has books")
    return {
      ...loaded,
      terms: inForceAt(self, moment.at),
      liveAmendment: liveAmendments.get(self.reserveId) ?? null,
      openOrders: openOrders(self.reserveId)
    }
  })
})

/** Loads the facts of the view of one reserve. */
export const loadedOf = (self: Reserve, moment: ReadMoment) =>
  Effect.map(loadedOfAll([self], moment), ([loaded]) => {
    if (loaded === undefined) throw new Error("a reserve has books")
    return loaded
  })

interface PinOption {
  readonly pin?: Pin.ResolvedPin
}

const openOrdersOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, pin: PinOption) {
  const records = yield* Records
  const query = { where: { openOf: ids }, ...pin }
  const [minting, redeeming] = yield* Effect.all(
    [records.countBy(mints, "openOf", query), records.countBy(reserveRedemptions, "openOf", query)],
    together
  )
  return (reserveId: string) => (minting.get(reserveId) ?? 0) + (redeeming.get(reserveId) ?? 0)
})

/**
 * Latest amendments that are proposed or wait, by their reserve. Of one reserve the latest alone is
 * looked up, since a stream takes a cursor of its own.
 */
const liveAmendmentsOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>, pin: PinOption) {
  const records = yield* Records
  const query = { where: { reserveId: ids, state: ["proposed", "accepted"] }, ...pin }
  const found =
    ids.length === 1
      ? yield* records.list(amendments, { ...query, direction: "desc", limit: 1 })
      : yield* Stream.runCollect(records.stream(amendments, query))
  // In the order of their proposals: a later one replaces an earlier one.
  return new Map(found.map(({ record }) => [record.reserveId, record.amendmentId] as const))
})

/** The reserve that backs an instrument: proposed, active or closing; null: none. */
export const backingOf = Effect.fnUntraced(function* (instrumentId: string, pin?: Pin.ResolvedPin) {
  const records = yield* Records
  const [found] = yield* records.list(reserves, {
    where: { backing: [instrumentId] },
    limit: 1,
    ...(pin === undefined ? {} : { pin })
  })
  return found?.record ?? null
})

/**
 * Loads the holdings that make up what a reserve counts, by the key of their asset: of each asset
 * one that is firmly locked and comes to the amount counted. A holding that another party locked in
 * the reserve's name is left out.
 */
export const countedHoldingsOf = Effect.fnUntraced(function* (
  self: Reserve,
  pin?: Pin.ResolvedPin
) {
  const records = yield* Records
  const counted = new Map(self.locked.map(({ asset, amount }) => [keyOf(asset), amount]))
  const found = yield* records
    .stream(reserveHoldings, {
      where: { firmOf: [self.reserveId] },
      ...(pin === undefined ? {} : { pin })
    })
    .pipe(
      Stream.filter(({ record: { asset, amount } }) => {
        const due = counted.get(keyOf(asset))
        return due !== undefined && Decimal.equals(due, amount)
      }),
      // The holder can lock any number of other holdings, which are passed over page by page.
      Stream.runFold(
        () => new Map<string, string>(),
        (count, { record: { asset, contractId } }) => {
          const key = keyOf(asset)
          return count.has(key) ? count : count.set(key, contractId)
        }
      )
    )
  return new Map(
    [...counted.keys()].flatMap((key) => {
      const cid = found.get(key)
      return cid === undefined ? [] : [[key, cid] as const]
    })
  )
})

/**
 * Contracts by which the ledger judges a reserve: what is locked, less an asset that is left out, the
 * points of the terms in force, and the supply beside the ledger's own count.
 */
export const judgingOf = Effect.fnUntraced(function* (
  self: Reserve,
  { points, supply }: Pick<LoadedBooks, "points" | "supply">,
  without: Field.Asset | null = null
) {
  const holdings = yield* countedHoldingsOf(self)
  const left = without === null ? null : keyOf(without)
  return {
    holdingCids: [...holdings].flatMap(([key, cid]) => (key === left ? [] : [cid])),
    pointCids: [...points.values()].flatMap(({ contractId }) => contractId ?? []),
    supply
  }
})
