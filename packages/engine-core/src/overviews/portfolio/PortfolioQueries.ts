/** Read of a holder's portfolio. */
import { Effect, Schema, Stream } from "effect"
import { inForce } from "../../restraints/restriction/RestrictionLookups.ts"
import { isRestricted } from "../../restraints/restriction/RestrictionRules.ts"
import { isConcealedFrom } from "../../writes/Concealment.ts"
import {
  type Instrument,
  InstrumentId,
  instruments,
  isRecorded
} from "../../instruments/instrument/Instrument.ts"
import { type Quote, quotes } from "../../instruments/price/PricePoint.ts"
import { priceOf, quoteIdsOf } from "../../instruments/price/QuoteRules.ts"
import * as LotLookups from "../../instruments/lot/LotLookups.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import {
  idOf as entryIdOf,
  type RegisterEntry,
  registerEntries
} from "../../instruments/register/RegisterEntry.ts"
import { shownUnits, valueOf } from "../../instruments/register/RegisterRules.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import * as Currency from "../../kernel/Currency.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { holders } from "../../holders/holder/Holder.ts"
import { audience } from "../../holders/holder/HolderQueries.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import * as AccruedLookups from "./AccruedLookups.ts"

const { NullOr } = Schema

/**
 * Page size of the first query; a holder of more is read as a stream. A smaller limit would make
 * the database scan the registers in their order instead of using the party's index.
 */
const firstPage = 10_000

/** Look-ups that do not follow from one another: those of a reading scope go out together. */
const together = { concurrency: "unbounded" } as const

/** Loads the entries of a party in all registers. */
const entriesOf = Effect.fnUntraced(function* (party: string, pin: Pin.ResolvedPin) {
  const records = yield* Records
  const query = { pin, where: { party: [party] } }
  const found = yield* records.list(registerEntries, { ...query, limit: firstPage })
  return found.length < firstPage
    ? found
    : yield* Stream.runCollect(records.stream(registerEntries, query))
})

const Row = Schema.Struct({
  instrumentId: InstrumentId,
  /** Units; of a rebasing instrument, at its index. */
  units: Decimal.schema,
  locked: Decimal.schema,
  price: NullOr(Decimal.schema),
  priceAt: NullOr(Instant.schema),
  value: NullOr(Decimal.schema),
  /** Cost left of the lots behind the units, in currency; null where one has none. */
  cost: NullOr(Decimal.schema),
  /**
   * Income of the days since the last record date that have ended by the instant of the read, in
   * currency and at 10 places; null unless the instrument distributes monthly at par.
   */
  accrued: NullOr(Decimal.schema),
  currency: NullOr(Schema.String),
  /**
   * Whether a restriction of any mode is in force. Always null to investors and apps, from which
   * restrictions are concealed: to leave the member out would reveal one
   * (docs/domain/holders.md#concealment).
   */
  restricted: NullOr(Schema.Boolean)
})

const PortfolioView = Schema.Array(Row).annotate({
  identifier: "PortfolioView",
  description: "What a holder holds, instrument by instrument; currencies are never added up."
})

export const portfolio = Read.one({
  name: "holders.portfolio",
  doc: "Answers what a holder holds, at the last price of each instrument's oracle, what it cost, and what it has earned since the last record date.",
  route: "GET /v1/holders/{holderId}/portfolio",
  audience,
  pinned: true,
  params: Schema.Struct({ holderId: HolderId }),
  value: PortfolioView,
  refuses: ["not-found"],
  run: Effect.fn("holders.portfolio")(function* ({ holderId }, asking) {
    const records = yield* Records
    const { pin } = asking
    yield* Sight.demand(asking, holders, { holderId })
    const holder = yield* records.get(holders, holderId, pin)
    const { party } = holder
    const { held, restrictions } = yield* Effect.all(
      {
        held: entriesOf(party, pin),
        restrictions: isConcealedFrom(asking.role)
          ? Effect.succeed(null)
          : inForce({ holderIds: [holderId] }, pin)
      },
      together
    )
    const entries = new Map(held.map(({ record }) => [assetKeyOf(record), record]))
    const { recorded, costs } = yield* Effect.all(
      {
        recorded: records.many(
          instruments,
          held.map(({ record }) => record.instrumentId),
          pin
        ),
        costs: LotLookups.costsOf([...entries.values()], pin)
      },
      together
    )
    const positions = recorded
      .toSorted((a, b) => (a.instrumentId < b.instrumentId ? -1 : 1))
      .flatMap((instrument): ReadonlyArray<AccruedLookups.HeldPosition> => {
        // Entries of other registrars' instruments with the same id are left out.
        const entry = entries.get(assetKeyOf(instrument))
        return entry === undefined ? [] : [{ instrument, entry }]
      })
    const { found, accrued } = yield* Effect.all(
      {
        found: records.many(quotes, recorded.flatMap(quoteIdsOf), pin),
        accrued: AccruedLookups.accruedOf(holder, positions, pin)
      },
      together
    )
    const quoteOf = new Map(found.map((quote) => [quote.quoteId, quote]))
    return positions.map(({ instrument, entry }) => {
      const quote = quoteIdsOf(instrument).map((id) => quoteOf.get(id))[0]
      const { instrumentId } = instrument
      const { currency, ...row } = rowOf(instrument, entry, quote, pin.judgedAt)
      return {
        ...row,
        cost: costs.get(entryIdOf(entry)) ?? null,
        accrued: accrued.get(assetKeyOf(entry)) ?? null,
        currency,
        restricted:
          restrictions === null ? null : isRestricted(restrictions, { holderId, instrumentId })
      }
    })
  })
})

const rowOf = (
  instrument: Instrument,
  entry: RegisterEntry,
  quote: Quote | undefined,
  at: Instant.Instant
): Omit<typeof Row.Type, "cost" | "accrued" | "restricted"> => {
  const { instrumentId } = instrument
  const { price, priceAt } = priceOf(instrument, quote, at)
  const row = { instrumentId, price, priceAt }
  if (!isRecorded(instrument)) {
    return { ...row, units: entry.units, locked: entry.locked, value: null, currency: null }
  }
  const { valuation, unitDecimals, currency } = instrument.manifest
  const cashDecimals = Currency.decimals(currency)
  const show = (units: Decimal.Decimal) =>
    shownUnits({ units, valuation, index: price, unitDecimals })
  return {
    ...row,
    units: show(entry.units),
    locked: show(entry.locked),
    value:
      price === null
        ? null
        : valueOf({
            units: show(entry.units),
            // The index is already in the shown units, each of which is worth one.
            price: valuation === "rebasing" ? Decimal.one : price,
            cashDecimals
          }),
    currency
  }
}

export const queries = [portfolio] as const
