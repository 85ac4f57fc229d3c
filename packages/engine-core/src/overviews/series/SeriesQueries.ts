/**
 * Read of an instrument's figures over time: supply, price, holders, orders and distributions by day,
 * week or month.
 */
import { Effect, Option, Schema, Stream } from "effect"
import { paymentsOf } from "../../distributions/distribution/LineLookups.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { MovementKind, SeriesInterval, SeriesMetric } from "../../vocabulary/sets.ts"
import { type Instrument, InstrumentId } from "../../instruments/instrument/Instrument.ts"
import { instrumentInSight } from "../../instruments/instrument/InstrumentLookups.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { lockings, type Movement, movements } from "../../instruments/register/Movement.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import { audience } from "../../instruments/price/PriceQueries.ts"
import { pricePoints } from "../../instruments/price/PricePoint.ts"
import { hasPlace } from "../../instruments/price/QuoteOrder.ts"
import { official } from "../../instruments/price/PriceRules.ts"
import { reserveReports } from "../../reserves/report/ReserveReport.ts"
import * as SeriesRules from "./SeriesRules.ts"

const { NullOr } = Schema

const Point = Schema.Struct({
  start: Instant.schema,
  /** Start of the next step; in the future for the current step. */
  end: Instant.schema,
  open: NullOr(Decimal.schema),
  close: NullOr(Decimal.schema),
  min: NullOr(Decimal.schema),
  max: NullOr(Decimal.schema),
  /** Sum of the step's figures; null for levels: supply, price, holders and cover. */
  sum: NullOr(Decimal.schema)
})

const SeriesView = Schema.Struct({
  instrumentId: InstrumentId,
  metric: SeriesMetric.schema,
  interval: SeriesInterval.schema,
  zone: Zone.schema,
  points: Schema.Array(Point)
}).annotate({
  identifier: "SeriesView",
  description:
    "An instrument over time. Supply, holders, subscriptions and redemptions are told by the ledger's time and in units, a rebasing instrument's in base units; price by the instant it was valued. Distributions are what was delivered in the form that the instrument pays: units by the ledger's time, and of cash the net amounts in its currency by the day that the evidence of each payment names. Cover is the ratio that the ledger reported of the instrument's reserve, by the instant of the report; a report of nothing outstanding has none, and ratios under different terms of the reserve do not compare."
})

interface SeriesRequest {
  readonly metric: SeriesMetric
  readonly interval: SeriesInterval
  readonly zone: Zone.Zone
  readonly from: Date.Date | undefined
  readonly to: Date.Date | undefined
}

export const get = Read.one({
  name: "instruments.series",
  doc: "Answers an instrument over time, by day, week or month of a zone: at most 1,000 of them.",
  route: "GET /v1/instruments/{instrumentId}/series",
  audience,
  pinned: true,
  params: Schema.Struct({
    instrumentId: InstrumentId,
    metric: SeriesMetric.schema,
    /** Absent: a day. */
    interval: Schema.optionalKey(SeriesInterval.schema),
    /** Absent: UTC. */
    zone: Schema.optionalKey(Zone.schema),
    /** Date in the first step; absent: the date of the first figure. */
    from: Schema.optionalKey(Date.schema),
    /** Date in the last step; absent or later: the date of the pin. */
    to: Schema.optionalKey(Date.schema)
  }),
  value: SeriesView,
  refuses: ["not-found", "invalid-request"],
  run: Effect.fn("instruments.series")(function* (params, asking) {
    const { instrumentId, metric, interval = "day", zone = Zone.utc } = params
    const instrument = yield* instrumentInSight(instrumentId, asking)
    const request = { metric, interval, zone, from: params.from, to: params.to }
    const points = yield* pointsOf(instrument, request, asking.pin)
    return { instrumentId: instrument.instrumentId, metric, interval, zone, points }
  })
})

/** Makes the steps of a series. Refuses `invalid-request` where there are more than the limit. */
const stepsOf = (
  request: SeriesRequest,
  first: Instant.Instant | undefined,
  until: Instant.Instant
) => {
  const from = request.from ?? (first === undefined ? undefined : Zone.dateAt(request.zone, first))
  if (from === undefined) return Effect.succeed([])
  const latest = Zone.dateAt(request.zone, until)
  const to = request.to === undefined ? latest : Date.min(request.to, latest)
  const { interval, zone } = request
  const found = SeriesRules.steps({ interval, zone, from, to })
  return found === undefined
    ? Effect.fail(
        refused("invalid-request", {
          errors: [
            {
              pointer: "/query/from",
              detail: `The series has more than ${SeriesRules.pointsMax} points: ask from a later date, to an earlier one, or for longer intervals.`
            }
          ]
        })
      )
    : Effect.succeed(found)
}

const pointsOf = Effect.fnUntraced(function* (
  instrument: Instrument,
  request: SeriesRequest,
  pin: Pin.ResolvedPin
) {
  if (request.metric === "price") return yield* prices(instrument, request, pin)
  if (request.metric === "cover") return yield* covers(instrument, request, pin)
  const series = { asset: assetKeyOf(instrument), request, pin }
  const isCash = instrument.manifest?.distribution.payout === "cash"
  if (request.metric === "distributions" && isCash) {
    return yield* cashOf({ ...series, instrumentId: instrument.instrumentId })
  }
  const kind = flowing[request.metric]
  return kind === undefined ? yield* levelsOf(series) : yield* flowsOf({ ...series, kind })
})

/** Kind of the movements that each metric sums. */
const flowing: { readonly [metric: string]: MovementKind } = {
  subscriptions: "subscription",
  redemptions: "redemption",
  distributions: "distribution"
}

interface Series {
  readonly asset: string
  readonly request: SeriesRequest
  readonly pin: Pin.ResolvedPin
}

/** Loads the first movement of an instrument. */
const firstOf = Effect.fnUntraced(function* ({ asset, pin }: Series) {
  const records = yield* Records
  const [row] = yield* records.list(movements, { pin, where: { asset: [asset] }, limit: 1 })
  return row?.record
})

/** Range of the ledger time that the steps cover; null without steps. */
const spanOf = (steps: ReadonlyArray<SeriesRules.Step>) => {
  const [start, end] = [steps[0]?.start, steps.at(-1)?.end]
  return start === undefined || end === undefined
    ? null
    : { from: Instant.sortable(start), to: Instant.sortable(end) }
}

const flowsOf = Effect.fnUntraced(function* (series: Series & { readonly kind: MovementKind }) {
  const { asset, request, pin } = series
  const steps = yield* stepsOf(request, (yield* firstOf(series))?.ledgerTime, pin.judgedAt)
  const tally = SeriesRules.tally(steps)
  const at = spanOf(steps)
  if (at === null) return []
  const records = yield* Records
  yield* records
    .stream(movements, { pin, where: { asset: [asset], kind: [series.kind] }, ranges: { at } })
    .pipe(
      Stream.runForEach(({ record }) =>
        Effect.sync(() => SeriesRules.add(tally, record.ledgerTime, record.units))
      )
    )
  return SeriesRules.flows(tally)
})

/**
 * Points of the cash that distributions paid: the net of each delivered line, by the day that the
 * evidence of its payment names, which begins at midnight in the zone of the series. Owed and
 * suspended lines do not count, so that a reader does not learn from the series why a line is not
 * paid.
 */
const cashOf = Effect.fnUntraced(function* (series: Series & { readonly instrumentId: string }) {
  const { request, instrumentId, pin } = series
  const steps = yield* stepsOf(request, (yield* firstOf(series))?.ledgerTime, pin.judgedAt)
  const tally = SeriesRules.tally(steps)
  const payments = steps.length === 0 ? Stream.empty : paymentsOf(instrumentId, "cash", pin)
  yield* Stream.runForEach(payments, ({ net, paidOn }) =>
    Effect.sync(() => SeriesRules.add(tally, Zone.startOfDay(request.zone, paidOn), net))
  )
  return SeriesRules.flows(tally)
})

/** Points of supply or holders, counted after the last movement of each update. */
const levelsOf = Effect.fnUntraced(function* (series: Series) {
  const { asset, request, pin } = series
  const first = yield* firstOf(series)
  const steps = yield* stepsOf(request, first?.ledgerTime, pin.judgedAt)
  const at = spanOf(steps)
  if (at === null) return []
  const valueOf = ({ balanceAfter, holdersAfter }: Movement) =>
    request.metric === "supply" ? balanceAfter : Decimal.fromInteger(holdersAfter)
  const tally = SeriesRules.tally(steps)
  const records = yield* Records
  const [before] = yield* records.list(movements, {
    pin,
    where: { asset: [asset] },
    ranges: { at: { to: at.from } },
    direction: "desc",
    limit: 1
  })
  const value = before === undefined ? yield* openingOf(series, first) : valueOf(before.record)
  tally.before = { at: before?.record.ledgerTime ?? Instant.fromNanos(0n), value }
  let latest: Movement | undefined
  const count = () => {
    if (latest !== undefined) SeriesRules.add(tally, latest.ledgerTime, valueOf(latest))
  }
  const kind = moving
  yield* records.stream(movements, { pin, where: { asset: [asset], kind }, ranges: { at } }).pipe(
    Stream.runForEach(({ record }) =>
      Effect.sync(() => {
        if (record.offset !== latest?.offset) count()
        latest = record
      })
    )
  )
  count()
  return SeriesRules.levels(tally)
})

/**
 * Loads the figure before the first movement: zero, unless the projection began from a snapshot.
 */
const openingOf = Effect.fnUntraced(function* (
  { asset, request, pin }: Series,
  first: Movement | undefined
) {
  const records = yield* Records
  const earlier: Pin.ResolvedPin =
    first === undefined
      ? pin
      : { ...pin, select: { by: "offset" }, offset: Offset.of(first.offset - 1) }
  const supply = yield* records.find(supplies, asset, earlier)
  if (Option.isNone(supply)) return Decimal.zero
  const { units, holders } = supply.value
  return request.metric === "supply" ? units : Decimal.fromInteger(holders)
})

/** Kinds of movements that change balances: all but locks and unlocks. */
const moving: ReadonlyArray<MovementKind> = MovementKind.members.filter(
  (kind) => !lockings.includes(kind)
)

/** Points of the official prices, by valuation time. */
const prices = Effect.fnUntraced(function* (
  instrument: Instrument,
  request: SeriesRequest,
  pin: Pin.ResolvedPin
) {
  const oracle = instrument.manifest?.oracle ?? null
  if (oracle === null) return []
  const records = yield* Records
  const { instrumentId } = instrument
  const points = records
    .stream(pricePoints, { pin, where: { instrumentId: [instrumentId], source: [oracle] } })
    .pipe(
      Stream.map(({ record }) => record),
      Stream.filter((point) => official([point], oracle).length > 0 && hasPlace(point, pin))
    )
  const first =
    request.from === undefined
      ? yield* Stream.runFold(
          points,
          (): Instant.Instant | undefined => undefined,
          (least, { valuationTime }) =>
            least === undefined ? valuationTime : Instant.min(least, valuationTime)
        )
      : undefined
  const steps = yield* stepsOf(request, first, pin.judgedAt)
  if (steps.length === 0) return []
  const tally = SeriesRules.tally(steps)
  yield* Stream.runForEach(points, ({ valuationTime, price }) =>
    Effect.sync(() => SeriesRules.add(tally, valuationTime, price))
  )
  return SeriesRules.levels(tally)
})

/** Points of the covers that the ledger reported of the instrument's reserve, by the reports' instants. */
const covers = Effect.fnUntraced(function* (
  { instrumentId }: Instrument,
  request: SeriesRequest,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const where = { instrumentId: [instrumentId] }
  const [first] =
    request.from === undefined ? yield* records.list(reserveReports, { pin, where, limit: 1 }) : []
  const steps = yield* stepsOf(request, first?.record.at, pin.judgedAt)
  if (steps.length === 0) return []
  const tally = SeriesRules.tally(steps)
  yield* records.stream(reserveReports, { pin, where }).pipe(
    Stream.runForEach(({ record: { at, ratio } }) =>
      Effect.sync(() => {
        if (ratio !== null) SeriesRules.add(tally, at, ratio)
      })
    )
  )
  return SeriesRules.levels(tally)
})

export const queries = [get] as const
