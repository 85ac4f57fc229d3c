/**
 * Pure order of the points of one source: which point is the source's latest price at an instant. A point
 * that is dated ahead has no place before its time (docs/domain/instruments.md#points-dated-ahead).
 */
import { Effect, Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Field from "../../templates/Field.ts"

const quotedFields = {
  contractId: Field.contractId,
  price: Decimal.schema,
  valuationTime: Instant.schema
} as const

const QuotedPrice = Schema.Struct(quotedFields)
/** A published price, with the instant that it is valued at. */
type QuotedPrice = typeof QuotedPrice.Type

/** Largest number of points that a source may date ahead of the present at one time. */
export const aheadMax = 128

/**
 * Members of a latest price as it is stored: the point that was the latest when it was written, and those
 * that were dated ahead then, by valuation time. `isLive` is false after the source withdrew all of them:
 * it has no price until its next point.
 */
export const fields = {
  ...quotedFields,
  isLive: Schema.Boolean.pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(true))),
  ahead: Schema.Array(QuotedPrice).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed([])))
} as const
const Order = Schema.Struct(fields)
type Order = typeof Order.Type

/** Facts of a latest price: its next state, or the withdrawal of its only point. */
export const Fact = Schema.Union([
  Schema.Struct({ on: Schema.Literal("quote"), ...fields }),
  Schema.Struct({ on: Schema.Literal("end") })
])
export type Fact = typeof Fact.Type

/** Fold: the latest price after `fact`. */
export const evolve = <A extends Order>(self: A, fact: Fact): A => {
  if (fact.on === "end") return { ...self, isLive: false, ahead: [] }
  const { on: _, ...next } = fact
  return { ...self, ...next }
}

const pointsOf = ({ isLive, contractId, price, valuationTime, ahead }: Order) => [
  ...(isLive ? [{ contractId, price, valuationTime }] : []),
  ...ahead
]

/** Whether a point's time has come at an instant: before it, the point has no place among the others. */
export const hasCome = (
  { valuationTime }: Pick<QuotedPrice, "valuationTime">,
  at: Instant.Instant
): boolean => Instant.atOrBefore(valuationTime, at)

/**
 * Whether a published point has a place at an instant. The instant is asked for only where the point was
 * dated ahead of its publication: of others the answer never changes, so that answers may be kept.
 */
export const hasPlace = (
  point: Pick<QuotedPrice, "valuationTime"> & { readonly publishedAt: Instant.Instant },
  pin: { readonly judgedAt: Instant.Instant }
): boolean => hasCome(point, point.publishedAt) || hasCome(point, pin.judgedAt)

/**
 * The source's latest price at an instant; undefined: it had published none that was valued by then, also
 * where it has published points that are dated ahead.
 */
export const latestAt = (self: Order, at: Instant.Instant): QuotedPrice | undefined =>
  pointsOf(self).findLast((point) => hasCome(point, at))

/** A point that its source publishes, and the point that it corrects. */
interface Publication {
  readonly point: QuotedPrice
  /** Contract of the point that this one corrects; null: none. */
  readonly corrects: string | null
  /** Ledger's effective time of the publication. */
  readonly at: Instant.Instant
}

/**
 * Returns the order with a published point: it takes the place of the one that it corrects, and of the
 * latest where it is valued at that instant or later and not ahead of its publication. `undefined`: an
 * older point than the latest changes nothing. `too-many-ahead`: `aheadMax` points are ahead already.
 */
export const published = (
  self: Order | undefined,
  { point, corrects, at }: Publication
): Order | "too-many-ahead" | undefined => {
  const before = self === undefined ? [] : pointsOf(self)
  const others = before.filter(({ contractId }) => contractId !== corrects)
  const ahead = others.filter((other) => !hasCome(other, at))
  const latest = others.findLast((other) => hasCome(other, at))
  if (hasCome(point, at)) {
    const isOlder =
      latest !== undefined && Instant.isBefore(point.valuationTime, latest.valuationTime)
    if (!isOlder) return orderOf([point, ...ahead])
    // The corrected point goes, also where the correction is too old to take its place.
    return others.length < before.length ? orderOf([latest, ...ahead]) : undefined
  }
  if (ahead.length >= aheadMax) return "too-many-ahead"
  // A point of the same instant that is published later comes after, and counts.
  const sorted = [...ahead, point].toSorted((a, b) =>
    Instant.compare(a.valuationTime, b.valuationTime)
  )
  return orderOf(latest === undefined ? sorted : [latest, ...sorted])
}

/** Returns the fact of a withdrawn point; undefined where the point has no place. */
export const withdrawn = (self: Order, contractId: string): Fact | undefined => {
  const all = pointsOf(self)
  const left = all.filter((point) => point.contractId !== contractId)
  if (left.length === all.length) return undefined
  const next = orderOf(left)
  return next === undefined ? { on: "end" } : { on: "quote", ...next }
}

/** The order of points, which are sorted by valuation time; undefined: there is none. */
const orderOf = ([first, ...ahead]: ReadonlyArray<QuotedPrice>): Order | undefined =>
  first === undefined ? undefined : { ...first, isLive: true, ahead }
