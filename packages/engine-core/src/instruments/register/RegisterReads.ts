/** What the API answers about who holds an instrument, and about what a holder holds. */
import { Effect, Schema, Stream } from "effect"
import { HolderId, holderParties, holders } from "../../holders/holder/Holder.ts"
import { audience as ofHolders } from "../../holders/holder/HolderReads.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import type * as Pin from "../../kernel/Pin.ts"
import * as Currency from "../../orders/Currency.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import * as Export from "../../reads/Export.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { admissions } from "../admission/Admission.ts"
import { AdmissionMachine } from "../admission/AdmissionMachine.ts"
import { type Instrument, InstrumentId, instruments, isRecorded } from "../instrument/Instrument.ts"
import { seen } from "../instrument/InstrumentReads.ts"
import { type Quote, quoteIdOf, quotes } from "../price/PricePoint.ts"
import { assetKeyOf, holdings } from "./Holding.ts"
import { type RegisterEntry, registerEntries } from "./RegisterEntry.ts"
import { headOf, shareOf, shownUnits, valueOf } from "./RegisterRules.ts"

const { NullOr } = Schema

const Line = Schema.Struct({
  /** Null for a party that holds units and is no holder of this venue. */
  holderId: NullOr(Schema.String),
  party: Party.schema,
  units: Decimal.schema,
  locked: Decimal.schema,
  /** Units of priced subscriptions that are not delivered. */
  pendingIn: Decimal.schema,
  pendingOut: Decimal.schema,
  share: Decimal.schema,
  admissionState: NullOr(AdmissionMachine.schema),
  restricted: Schema.Boolean,
  /** The day, in UTC, since which units are held without a break. */
  since: Date.schema
})

export const RegisterView = Schema.Struct({
  instrumentId: InstrumentId,
  head: Schema.Struct({
    totalUnits: Decimal.schema,
    supplyOnLedger: Decimal.schema,
    difference: Decimal.schema,
    holders: Integer.schema
  }),
  lines: Schema.Array(Line)
}).annotate({ identifier: "RegisterView", description: "Who holds an instrument, and how much." })

/** Everything that streams past, kept by a key; where a key repeats, the last one. */
const gathered = <A, E, R>(
  stream: Stream.Stream<{ readonly record: A }, E, R>,
  key: (record: A) => string
) =>
  Effect.map(
    Stream.runCollect(stream),
    (rows) => new Map(rows.map(({ record }) => [key(record), record]))
  )

/** Units on their way in, by holder. */
const pendingAt = Effect.fnUntraced(function* (instrumentId: string, pin: Pin.Resolved) {
  const records = yield* Records
  const pending = new Map<string, Decimal.Decimal>()
  yield* records
    .stream(subscriptions, { pin, where: { instrumentId: [instrumentId], state: ["priced"] } })
    .pipe(
      Stream.runForEach(({ record: { holderId, lot } }) =>
        Effect.sync(() => {
          if (lot === null) return
          const before = pending.get(holderId) ?? Decimal.zero
          pending.set(holderId, Decimal.add(before, lot.units))
        })
      )
    )
  return pending
})

/** The sum of what the ledger's holdings hold: what the lines must add up to. */
const supplyAt = Effect.fnUntraced(function* (asset: string, pin: Pin.Resolved) {
  const records = yield* Records
  return yield* records.stream(holdings, { pin, where: { asset: [asset] } }).pipe(
    Stream.runFold(
      () => Decimal.zero,
      (sum, { record }) => Decimal.add(sum, record.amount)
    )
  )
})

/** Who reads what an instrument's holders hold: no investor, and a registrar its own instruments. */
export const ofRegister = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all",
  app: "all",
  registrar: "near"
} as const satisfies Read.Audience

export const register = Read.one({
  name: "instruments.register",
  doc: "Answers who holds an instrument, and whether the lines add up to the supply on the ledger.",
  route: "GET /v1/instruments/{instrumentId}/register",
  audience: ofRegister,
  audited: { resourceKind: "instrument", named: "instrumentId" },
  pinned: true,
  params: Schema.Struct({
    instrumentId: InstrumentId,
    ...Export.parameters
  }),
  value: RegisterView,
  csv: Export.of({ row: Line, rows: ({ lines }: typeof RegisterView.Type) => lines }),
  refuses: ["not-found"],
  run: Effect.fn("instruments.register")(function* ({ instrumentId }, asking) {
    const records = yield* Records
    const { pin } = asking
    const instrument = yield* seen(instrumentId, asking)
    const asset = assetKeyOf(instrument)
    const entries = yield* gathered(
      records.stream(registerEntries, { pin, where: { asset: [asset] } }),
      (entry) => entry.party
    )
    const parties = yield* records.many(holderParties, [...entries.keys()], pin)
    const holderOf = new Map(parties.map(({ party, holderId }) => [party as string, holderId]))
    const admission = yield* gathered(
      records.stream(admissions, { pin, where: { instrumentId: [instrumentId] } }),
      (one) => one.holderId
    )
    const pending = yield* pendingAt(instrumentId, pin)
    const head = headOf({
      lines: [...entries.values()],
      supply: yield* supplyAt(asset, pin)
    })
    const lines = [...entries.values()].map((entry) => {
      const holderId = holderOf.get(entry.party) ?? null
      return {
        holderId,
        party: entry.party,
        units: entry.units,
        locked: entry.locked,
        pendingIn: (holderId === null ? undefined : pending.get(holderId)) ?? Decimal.zero,
        pendingOut: Decimal.zero,
        share: shareOf(entry.units, head.totalUnits),
        admissionState: (holderId === null ? undefined : admission.get(holderId)?.state) ?? null,
        restricted: false,
        since: Instant.date(entry.since)
      }
    })
    return { instrumentId: instrument.instrumentId, head, lines }
  })
})

const Row = Schema.Struct({
  instrumentId: InstrumentId,
  units: Decimal.schema,
  locked: Decimal.schema,
  price: NullOr(Decimal.schema),
  priceAt: NullOr(Instant.schema),
  value: NullOr(Decimal.schema),
  currency: NullOr(Schema.String),
  restricted: Schema.Boolean
})

export const PortfolioView = Schema.Array(Row).annotate({
  identifier: "PortfolioView",
  description: "What a holder holds, instrument by instrument; currencies are never added up."
})

export const portfolio = Read.one({
  name: "holders.portfolio",
  doc: "Answers what a holder holds, at the last price of each instrument's oracle.",
  route: "GET /v1/holders/{holderId}/portfolio",
  audience: ofHolders,
  pinned: true,
  params: Schema.Struct({ holderId: HolderId }),
  value: PortfolioView,
  refuses: ["not-found"],
  run: Effect.fn("holders.portfolio")(function* ({ holderId }, asking) {
    const records = yield* Records
    const { pin } = asking
    yield* Sight.demand(asking, holders, { holderId })
    const { party } = yield* records.get(holders, holderId, pin)
    const entries = yield* gathered(
      records.stream(registerEntries, { pin, where: { party: [party] } }),
      (entry) => assetKeyOf(entry)
    )
    const ids = [...entries.values()].map(({ instrumentId }) => instrumentId)
    const held = (yield* records.many(instruments, ids, pin)).toSorted((a, b) =>
      a.instrumentId < b.instrumentId ? -1 : 1
    )
    const found = yield* records.many(quotes, held.flatMap(quoteIdsOf), pin)
    const quoteOf = new Map(found.map((quote) => [quote.quoteId, quote]))
    return held.flatMap((instrument) => {
      // Another registrar's units of the same name are none of this instrument's.
      const entry = entries.get(assetKeyOf(instrument))
      const quote = quoteIdsOf(instrument).map((id) => quoteOf.get(id))[0]
      return entry === undefined ? [] : [rowOf(instrument, entry, quote)]
    })
  })
})

const quoteIdsOf = ({ instrumentId, manifest }: Instrument): ReadonlyArray<string> =>
  manifest === null || manifest.oracle === null
    ? []
    : [quoteIdOf({ source: manifest.oracle, instrumentId })]

/** The price that counts for an instrument now: its oracle's last, or its par value. */
const priceOf = (instrument: Instrument, quote: Quote | undefined) => {
  if (quote?.isLive === true) return { price: quote.price, priceAt: quote.valuationTime }
  return { price: instrument.manifest?.parValue ?? null, priceAt: null }
}

const rowOf = (
  instrument: Instrument,
  entry: RegisterEntry,
  quote: Quote | undefined
): typeof Row.Type => {
  const { instrumentId } = instrument
  const { price, priceAt } = priceOf(instrument, quote)
  const row = { instrumentId, price, priceAt, restricted: false }
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
    value: price === null ? null : valueOf({ units: entry.units, price, cashDecimals }),
    currency
  }
}

export const reads = [register, portfolio] as const
