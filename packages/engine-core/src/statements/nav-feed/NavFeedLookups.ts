/** Look-ups of a NAV feed: its latest statement, and whether it lets a point price. */
import { Effect, Option, Stream } from "effect"
import type { RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import type { VersionTerms } from "../../instruments/policy/Policy.ts"
import * as PolicyTerms from "../../instruments/policy/PolicyTerms.ts"
import { feedOf, type LatestStatement } from "../../instruments/price/NavFeedRules.ts"
import { NavFeed } from "../../instruments/price/NavFeed.ts"
import {
  type PricePoint,
  pricePoints,
  quoteIdOf,
  quotes
} from "../../instruments/price/PricePoint.ts"
import * as QuoteOrder from "../../instruments/price/QuoteOrder.ts"
import * as PriceRules from "../../instruments/price/PriceRules.ts"
import type * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import * as Zone from "../../kernel/Zone.ts"
import type { PricingRule } from "../../vocabulary/sets.ts"
import { Records } from "../../records/Records.ts"
import {
  type ExternalStatement,
  externalStatements
} from "../external-statement/ExternalStatement.ts"
import {
  type StatementFeed,
  feedKeyOf,
  inForceOf,
  latestOf
} from "../external-statement/StatementLookups.ts"
import {
  acceptedBefore,
  type Bounds,
  type DatedPrice,
  feedUsable,
  type FeedVerdict,
  type StatedNav,
  verdictOf
} from "./PointVerdict.ts"

/** Instrument and terms that a feed is judged by; several versions of terms may be asked about. */
export interface InstrumentTerms {
  readonly instrumentId: string
  readonly terms: Pick<VersionTerms, "guardrail" | "tolerances" | "manifest">
}

/** Values that the administrator stated and that were published, by business date. */
interface History {
  readonly navs: ReadonlyArray<StatedNav>
  readonly prices: ReadonlyArray<DatedPrice>
}

/**
 * Business dates that the chain of accepted points is judged over; the oldest of them counts as
 * having no date before it (docs/domain/statements.md#accepted-points).
 */
const chainMax = 100

const boundsOf = ({ terms }: InstrumentTerms): Bounds => ({
  guardrail: terms.guardrail,
  tolerance: terms.tolerances["nav-price"] ?? PolicyTerms.navPriceDefault
})

/** Business date of an instant, in the instrument's zone. */
const businessDateOf = ({ terms }: InstrumentTerms, instant: Instant.Instant): Date.Date =>
  Zone.dateAt(terms.manifest.businessZone ?? Zone.utc, instant)

/** The mapped feed; null where the terms map none. */
const mappedFeed = ({ instrumentId, terms }: InstrumentTerms) => {
  const { navFeed } = terms.manifest
  return navFeed === null ? null : { externalSourceId: navFeed.externalSourceId, instrumentId }
}

/** The NAV of a statement; none of a statement of another kind. */
export const statedNav = ({
  businessDate,
  externalStatementId: statementId,
  nav
}: ExternalStatement): ReadonlyArray<StatedNav> =>
  nav === null ? [] : [{ statementId, businessDate, official: nav.official, ripcord: nav.ripcord }]

/**
 * NAVs of the mapped feed in force before a business date, newest first, and the official prices of the
 * same dates.
 */
const historyBefore = Effect.fnUntraced(function* (
  fed: InstrumentTerms,
  before: Date.Date,
  pin?: Pin.ResolvedPin
) {
  const feed = mappedFeed(fed)
  const nothing: History = { navs: [], prices: [] }
  return feed === null ? nothing : yield* historyOf(fed, { feed, before }, pin)
})

/** Source and instrument whose NAVs are loaded, before a business date. */
interface HistoryQuery {
  readonly feed: StatementFeed
  readonly before: Date.Date
}

/**
 * The newest NAVs of a source in force before a business date, newest first, and the official prices of
 * the same dates; none without an oracle.
 */
export const historyOf = Effect.fnUntraced(function* (
  fed: InstrumentTerms,
  { before, feed }: HistoryQuery,
  pin?: Pin.ResolvedPin
) {
  const { oracle } = fed.terms.manifest
  const nothing: History = { navs: [], prices: [] }
  if (oracle === null) return nothing
  const records = yield* Records
  const pinned = pin === undefined ? {} : { pin }
  const rows = yield* records.list(externalStatements, {
    where: { inForce: [feedKeyOf(feed)] },
    ranges: { businessDate: { to: before } },
    direction: "desc",
    limit: chainMax,
    ...pinned
  })
  const navs = rows.flatMap(({ record }) => statedNav(record))
  const oldest = navs.at(-1)?.businessDate
  if (oldest === undefined) return nothing
  const prices = yield* pricesOn(fed, { from: oldest, before }, pin)
  return { navs, prices } satisfies History
})

/**
 * The official prices of the business dates from one to before another that have come; none without an
 * oracle.
 */
export const pricesOn = Effect.fnUntraced(function* (
  fed: InstrumentTerms,
  { before, from }: { readonly from: Date.Date; readonly before: Date.Date },
  pin?: Pin.ResolvedPin
) {
  const { oracle, businessZone } = fed.terms.manifest
  if (oracle === null) return []
  const records = yield* Records
  const zone = businessZone ?? Zone.utc
  const points = yield* records
    .stream(pricePoints, {
      where: { instrumentId: [fed.instrumentId], source: [oracle] },
      ranges: {
        valuationTime: {
          from: Instant.sortable(Zone.startOfDay(zone, from)),
          to: Instant.sortable(Zone.startOfDay(zone, before))
        }
      },
      ...(pin === undefined ? {} : { pin })
    })
    .pipe(
      Stream.map(({ record }) => record),
      Stream.runCollect
    )
  const judged = pin ?? { judgedAt: yield* Instant.now }
  const placed = points.filter((point) => QuoteOrder.hasPlace(point, judged))
  return datedPrices(PriceRules.official(placed, oracle), zone)
})

/**
 * Loads the price of the last accepted point of a business date before this one; null where none was
 * accepted. Reads nothing where there is no guardrail, which alone uses it.
 */
const acceptedOf = Effect.fnUntraced(function* (
  fed: InstrumentTerms,
  businessDate: Date.Date,
  pin?: Pin.ResolvedPin
) {
  const bounds = boundsOf(fed)
  if (bounds.guardrail === null) return null
  return acceptedBefore(businessDate, yield* historyBefore(fed, businessDate, pin), bounds)
})

/** The price of each date: that of the last valued point, and of the last published of those. */
const datedPrices = (
  points: ReadonlyArray<PricePoint>,
  zone: Zone.Zone
): ReadonlyArray<DatedPrice> => {
  const byDate = new Map<Date.Date, DatedPrice>()
  const sorted = points.toSorted(
    (a, b) => Instant.compare(a.valuationTime, b.valuationTime) || Number(a.offset - b.offset)
  )
  for (const { price, valuationTime } of sorted) {
    const businessDate = Zone.dateAt(zone, valuationTime)
    byDate.set(businessDate, { businessDate, price })
  }
  return [...byDate.values()]
}

/** Loads the latest statement of the feed as its state is judged by; null: none came, or no feed. */
export const statedOf = Effect.fnUntraced(function* (fed: InstrumentTerms, pin?: Pin.ResolvedPin) {
  const feed = mappedFeed(fed)
  if (feed === null) return null
  const latest = Option.getOrNull(yield* latestOf(feed, pin))
  if (latest === null || latest.nav === null) return null
  const { businessDate, externalStatementId: statementId, nav } = latest
  return {
    statementId,
    businessDate,
    official: nav.ripcord ? null : nav.official,
    ripcord: nav.ripcord,
    expiresAt: nav.expiresAt,
    accepted: yield* acceptedOf(fed, businessDate, pin)
  } satisfies LatestStatement & { readonly statementId: string }
})

/** State of the instrument's feed at an instant. */
export const stateOf = Effect.fnUntraced(function* (
  fed: InstrumentTerms,
  now: Instant.Instant,
  pin?: Pin.ResolvedPin
) {
  const latest = yield* statedOf(fed, pin)
  const { manifest, guardrail } = fed.terms
  const terms = { ...manifest, navGuardrail: guardrail }
  return NavFeed.judge({ feed: feedOf({ terms, latest, now }), now })
})

/** A point that is to price an act, and the rule that chose it. */
interface PricingPoint {
  readonly point: Pick<PricePoint, "price" | "valuationTime">
  readonly pricing: PricingRule
}

/**
 * Judges whether the feed lets a point price: the latest statement has no ripcord, has not expired
 * where pricing is historic, and the point's own business date has a NAV that confirms its price.
 */
export const verdictOn = Effect.fnUntraced(function* (
  fed: InstrumentTerms,
  { point, pricing }: PricingPoint,
  now: Instant.Instant
) {
  const feed = mappedFeed(fed)
  if (feed === null) return "none" satisfies FeedVerdict
  const latest = Option.getOrNull(yield* latestOf(feed))
  const latestNav = latest?.nav ?? null
  if (latestNav?.ripcord === true) return "ripcord"
  if (pricing === "historic" && latestNav !== null && Instant.atOrAfter(now, latestNav.expiresAt)) {
    return "stale"
  }
  const businessDate = businessDateOf(fed, point.valuationTime)
  const statement = Option.getOrNull(yield* inForceOf({ ...feed, businessDate }))
  const [nav = null] = statement === null ? [] : statedNav(statement)
  const accepted = yield* acceptedOf(fed, businessDate)
  return verdictOf({ nav, price: point.price, accepted }, boundsOf(fed)) satisfies FeedVerdict
})

/**
 * Judges the points of priced orders for an act that settles them now: the first verdict that is not
 * `usable`. An order without a point, which other conditions refuse, is passed over. A point that its oracle
 * took back settles nothing, whether or not a feed is mapped. The expiry of the latest NAV does not count:
 * it stops only claims that are priced historically.
 */
export const verdictOnOrders = Effect.fnUntraced(function* (
  fed: InstrumentTerms,
  orders: ReadonlyArray<{ readonly pointCid: string | null }>,
  now: Instant.Instant
) {
  const records = yield* Records
  const pointCids = [...new Set(orders.flatMap(({ pointCid }) => pointCid ?? []))]
  const points = yield* records.many(pricePoints, pointCids)
  for (const point of points) {
    const end = yield* endOf(point)
    if (end !== null) return end
  }
  if (mappedFeed(fed) === null) return "none"
  const verdicts = yield* Effect.forEach(points, (point) =>
    verdictOn(fed, { point, pricing: "forward" }, now)
  )
  const missing: ReadonlyArray<FeedVerdict> = points.length < pointCids.length ? ["missing"] : []
  return firstRefusing([...missing, ...verdicts])
})

/** Corrections of one point that are followed; a point of more counts as corrected. */
const correctionsMax = 100

/**
 * How the oracle took a point back; null: it stands, also where its last correction states the same price
 * of the same time, which gives an order what the point gave it.
 */
const endOf = Effect.fnUntraced(function* (point: PricePoint) {
  const records = yield* Records
  let last = point
  for (let corrections = 0; last.correctedBy !== null; corrections++) {
    const next = yield* records.find(pricePoints, last.correctedBy)
    if (Option.isNone(next) || corrections === correctionsMax) return "corrected"
    last = next.value
  }
  if (!last.isLive) return "withdrawn"
  return last.price === point.price && last.valuationTime === point.valuationTime
    ? null
    : "corrected"
})

const firstRefusing = (verdicts: ReadonlyArray<FeedVerdict>): FeedVerdict =>
  verdicts.find((verdict) => verdict !== "usable") ?? "usable"

/** Checks that the feed lets the point of an order price an act that settles it now. */
export const againstOrder = (
  fed: {
    readonly instrument: Pick<RecordedInstrument, "instrumentId">
    readonly terms: InstrumentTerms["terms"]
  },
  order: { readonly pointCid: string | null },
  now: Instant.Instant
) =>
  Effect.map(
    verdictOnOrders({ ...fed, instrumentId: fed.instrument.instrumentId }, [order], now),
    feedUsable
  )

/**
 * Checks that the feed lets the latest official point price a claim now, where claims are priced
 * historically; a claim that a future point prices, and one without any point, passes.
 */
export const againstClaim = Effect.fnUntraced(function* (
  {
    instrument,
    terms
  }: { readonly instrument: RecordedInstrument; readonly terms: InstrumentTerms["terms"] },
  oracle: string | null,
  now: Instant.Instant
) {
  const { navFeed, pricing } = terms.manifest
  if (navFeed === null || pricing !== "historic" || oracle === null) return feedUsable("none")
  const records = yield* Records
  const { instrumentId } = instrument
  const quote = yield* records.find(quotes, quoteIdOf({ source: oracle, instrumentId }))
  const point = Option.isNone(quote) ? undefined : QuoteOrder.latestAt(quote.value, now)
  if (point === undefined) return feedUsable("none")
  return feedUsable(yield* verdictOn({ instrumentId, terms }, { point, pricing }, now))
})
