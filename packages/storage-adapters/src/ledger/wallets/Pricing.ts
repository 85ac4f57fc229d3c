/** Pricing rules of attestors and oracles: choice of the point, price, and the order's figures. */
import {
  Date,
  Decimal,
  Instant,
  type Party,
  Rational,
  TimeOfDay,
  Zone
} from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Schema } from "effect"
import * as World from "./World.ts"

/** Point of an oracle, as a contract. */
export type Point = World.FoundContract<typeof Templates.OraclePoint>

const places = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 }))
const text = (schema: typeof Decimal.text) => Schema.optionalKey(schema)

/** Terms of an instrument that are not on the ledger and determine its figures. */
export const Terms = Schema.Struct({
  instrumentId: Schema.String,
  unitDecimals: places,
  /** 2 by default. */
  cashDecimals: Schema.optionalKey(places),
  /** A fraction of a subscription's cash; 0 by default. */
  feeRate: text(Decimal.text),
  /** A fraction of a redemption's cash; 0 by default. */
  redemptionFeeRate: text(Decimal.text),
  /** Fixed value of a unit; then only the income is published. */
  parValue: text(Decimal.text),
  /** `latest` selects the newest point. */
  pricing: Schema.optionalKey(Schema.Literals(["latest", "forward", "historic"])),
  /** Without a cut-off, forward pricing begins at the claim itself. */
  cutOff: Schema.optionalKey(
    Schema.Struct({
      time: TimeOfDay.schema,
      days: Schema.Array(Schema.Literals(Date.weekdays)).check(Schema.isMinLength(1)),
      zone: Zone.schema
    })
  ),
  /**
   * If present, orders deal only at a price listed here for their point: swung, or as published.
   */
  swung: Schema.optionalKey(
    Schema.Array(Schema.Struct({ valuationTime: Instant.schema, price: Decimal.text }))
  )
})
export type Terms = typeof Terms.Type

/** Price of orders at this point; undefined until it is listed. */
export const priceOf = ({ payload }: Point, terms: Terms): Decimal.Decimal | undefined => {
  if (terms.swung !== undefined) {
    return terms.swung.findLast(({ valuationTime }) =>
      Instant.equals(valuationTime, payload.valuationTime)
    )?.price
  }
  return payload.metric === "income" ? (terms.parValue ?? Decimal.one) : payload.value
}

interface Figures {
  readonly price: Decimal.Decimal
  readonly terms: Terms
}

/** units = ⌊(A − ⌈A·f⌉)/p⌋: the fee is rounded up, units are rounded down. */
export const unitsFor = (amount: Decimal.Decimal, { terms, price }: Figures): Decimal.Decimal => {
  const fee = Rational.round(
    Rational.multiply(Rational.of(amount), Rational.of(terms.feeRate ?? Decimal.zero)),
    { places: terms.cashDecimals ?? 2, rounding: "ceiling" }
  )
  return Rational.round(
    Rational.divide(Rational.of(Decimal.subtract(amount, fee)), Rational.of(price)),
    { places: terms.unitDecimals, rounding: "floor" }
  )
}

/** Proceeds of one unit: its price less the fee on it. */
const netPrice = ({ price, terms }: Figures): Rational.Rational =>
  Rational.multiply(
    Rational.of(price),
    Rational.subtract(Rational.one, Rational.of(terms.redemptionFeeRate ?? Decimal.zero))
  )

/** proceeds = ⌊U·p·(1 − f)⌋: rounded down. */
export const proceedsFor = (units: Decimal.Decimal, figures: Figures): Decimal.Decimal =>
  Rational.round(Rational.multiply(Rational.of(units), netPrice(figures)), {
    places: figures.terms.cashDecimals ?? 2,
    rounding: "floor"
  })

/** units = ⌈A/(p·(1 − f))⌉: rounded up. Null where the fee takes everything. */
export const unitsToPay = (amount: Decimal.Decimal, figures: Figures): Decimal.Decimal | null => {
  const net = netPrice(figures)
  if (!Rational.isPositive(net)) return null
  return Rational.round(Rational.divide(Rational.of(amount), net), {
    places: figures.terms.unitDecimals,
    rounding: "ceiling"
  })
}

/** Checks whether a point publishes the index of a rebasing instrument, whose shown units are worth 1 each. */
const isIndex = ({ payload }: Point): boolean => payload.metric === "index"

/** Base units of shown units at an index: half up at ten places. */
const based = (units: Decimal.Decimal, index: Decimal.Decimal): Decimal.Decimal =>
  Rational.round(Rational.divide(Rational.of(units), Rational.of(index)), {
    places: Decimal.places,
    rounding: "half-up"
  })

/** Units shown for base units at an index: half up at the instrument's places. */
const shown = (base: Decimal.Decimal, { price: index, terms }: Figures): Decimal.Decimal =>
  Rational.round(Rational.multiply(Rational.of(base), Rational.of(index)), {
    places: terms.unitDecimals,
    rounding: "half-up"
  })

/** Point, price and terms that an order's figures follow from. */
export interface DealingFigures extends Figures {
  readonly point: Point
}

/** Units of a subscription's lot: those ordered, or those that the cash buys; of an index, base units. */
export const boughtBy = (
  order: { readonly units: Decimal.Decimal | null; readonly cash: Decimal.Decimal | null },
  { point, price, terms }: DealingFigures
): Decimal.Decimal | null => {
  const at = { price: isIndex(point) ? Decimal.one : price, terms }
  const units = order.units ?? (order.cash === null ? null : unitsFor(order.cash, at))
  return units === null || !isIndex(point) ? units : based(units, price)
}

/**
 * Units and proceeds of a redemption: one in units pays their value, one in cash takes the units that pay
 * it; of an index, base units. An order for all free units, as they are shown or for what they are worth,
 * takes them whole.
 */
export const soldBy = (
  order: {
    readonly units: Decimal.Decimal | null
    readonly amount: Decimal.Decimal | null
    readonly free: Decimal.Decimal | null
  },
  { point, price, terms }: DealingFigures
): { readonly units: Decimal.Decimal; readonly proceeds: Decimal.Decimal } | null => {
  const at = { price: isIndex(point) ? Decimal.one : price, terms }
  const { amount, free } = order
  const units = order.units ?? (amount === null ? null : unitsToPay(amount, at))
  if (units === null) return null
  const proceeds = amount ?? proceedsFor(units, at)
  if (!isIndex(point)) return { units, proceeds }
  if (free !== null) {
    const all = shown(free, { price, terms })
    const isAll = amount === null ? units === all : proceedsFor(all, at) === amount
    if (isAll) return { units: free, proceeds }
  }
  return { units: based(units, price), proceeds }
}

const metrics: ReadonlySet<string> = new Set(["price", "index", "income"])

/** Members of a claim that select its price. */
export interface ClaimTerms {
  readonly venue: Party.Party
  readonly instrument: Templates.Asset
  /** Null: a point of any oracle. */
  readonly oracle: Party.Party | null
  /** The point that an earlier attestor used, which the next must use too. */
  readonly pointCid: string | null
  readonly claimedAt: Instant.Instant
  /**
   * Cut-off of an order that is a gate's remainder; that of every other order follows from its
   * claim.
   */
  readonly cutOffAt?: Instant.Instant | null
}

/** Selects the point of a claim by its instrument's rule; undefined while there is none. */
export const pointFor = (
  world: World.World,
  claim: ClaimTerms,
  terms: Terms
): Point | undefined => {
  const points = World.find(world, Templates.OraclePoint).filter(
    ({ payload }) =>
      payload.instrumentId === claim.instrument.id &&
      payload.venue === claim.venue &&
      (claim.oracle === null || payload.oracle === claim.oracle) &&
      metrics.has(payload.metric)
  )
  if (claim.pointCid !== null) return points.find(({ contractId }) => contractId === claim.pointCid)
  // A point that is dated ahead prices no order before its time.
  const inTime = points
    .filter(({ payload }) => Instant.atOrBefore(payload.valuationTime, world.now))
    .toSorted((left, right) =>
      Instant.compare(left.payload.valuationTime, right.payload.valuationTime)
    )
  const { claimedAt, cutOffAt = null } = claim
  if (cutOffAt !== null) {
    return Instant.isBefore(world.now, cutOffAt)
      ? undefined
      : inTime.find(({ payload }) => Instant.atOrAfter(payload.valuationTime, cutOffAt))
  }
  switch (terms.pricing ?? "latest") {
    case "latest":
      return inTime.at(-1)
    case "historic":
      return inTime.findLast(({ payload }) => Instant.isBefore(payload.valuationTime, claimedAt))
    case "forward": {
      const from = cutOffAfter(terms, claimedAt)
      return inTime.find(({ payload }) => Instant.atOrAfter(payload.valuationTime, from))
    }
  }
}

/** A week, and a day on either side for zones whose clock skips a midnight. */
const daysLookedAt = 9

/** First cut-off after the claim, on one of the instrument's days in its own zone. */
const cutOffAfter = ({ cutOff }: Terms, claimedAt: Instant.Instant): Instant.Instant => {
  if (cutOff === undefined) return claimedAt
  const { zone, time, days } = cutOff
  let date = Date.previous(Zone.dateAt(zone, claimedAt))
  for (let looked = 0; looked < daysLookedAt; looked++, date = Date.next(date)) {
    if (!days.includes(Date.weekday(date))) continue
    const at = Zone.instantAt(zone, { date, time })
    if (Instant.isAfter(at, claimedAt)) return at
  }
  throw new Error("a cut-off names at least one day of the week")
}
