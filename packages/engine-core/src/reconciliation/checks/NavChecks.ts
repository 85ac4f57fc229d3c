/** Checks of reconciliation that judge an administrator's NAVs and the feed that confirms prices. */
import { Effect, Stream } from "effect"
import { compare, withoutAmounts } from "../../findings/FindingRules.ts"
import {
  type Instrument,
  isRecorded,
  type RecordedInstrument
} from "../../instruments/instrument/Instrument.ts"
import type { Guardrail } from "../../instruments/instrument/Manifest.ts"
import { termsOf } from "../../instruments/policy/Policy.ts"
import type { NavFeed } from "../../instruments/price/NavFeed.ts"
import { moveOf } from "../../instruments/price/NavFeedRules.ts"
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import { Records } from "../../records/Records.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import { isWithin } from "../../statements/nav-feed/PointVerdict.ts"
import * as Check from "./Check.ts"
import * as InForce from "./StatementsInForceLookups.ts"

/** NAV and price of one business date. */
interface DatedFigures {
  readonly instrumentId: string
  readonly externalSourceId: string
  readonly businessDate: string
  readonly statementId: string
  /** Currency of both, in units of which a unit is worth so much. */
  readonly currency: string
  readonly nav: Decimal.Decimal
  readonly price: Decimal.Decimal
}

/** Compares |NAV − price| / NAV with the tolerance; its edge is within. */
export const navPrice = Check.define("nav-price", {
  doc: "Compares the administrator's NAV of a business date with the official price of that date.",
  rule: "nav-against-the-price",
  needs: "A source of NAVs with a statement of the instrument in force.",
  cannot: {
    "not-recorded":
      "the terms of the instrument are not recorded, so that it has no official price",
    "no-oracle": "the instrument's terms name no oracle",
    ripcord: "the valuation of the newest NAV is suspended",
    "price-missing": "no official price was published for the date of the newest NAV"
  },
  severity: "blocking beyond the tolerance, else a warning",
  fractionOf: "the official NAV",
  facts: (instrument, at) => Stream.fromIterableEffect(datedFigures(instrument, at)),
  differences: (figures: DatedFigures, tolerance) => {
    const { nav, price, externalSourceId, businessDate } = figures
    const found = compare({
      instrumentId: figures.instrumentId,
      subject: { resourceKind: "external-source", id: `${externalSourceId}:${businessDate}` },
      holderId: null,
      severity: isWithin({ nav, price }, tolerance) ? "warning" : "blocking",
      unit: figures.currency,
      statementId: figures.statementId,
      expected: price,
      actual: nav,
      tolerance: Decimal.zero
    })
    // The tolerance is a fraction of the NAV, which the severity is judged by; any difference is shown.
    return found.map((difference) => ({ ...difference, tolerance }))
  }
})

/**
 * Loads NAV and official price of each business date that has both, of every source of NAVs of the
 * instrument, mapped as its feed or not: of the newest dates of each source, and of the statements that
 * came since the last run or that differ. A newest NAV that is compared with nothing is named.
 */
const datedFigures = Effect.fnUntraced(function* (instrument: Instrument, at: Check.Point) {
  const check = { check: "nav-price", kinds: ["nav"] } as const
  const sources = yield* InForce.sourcesToCompare(instrument, at, check)
  const why = whyUnpriced(instrument)
  if (why !== null || !isRecorded(instrument)) {
    return InForce.notesOf(
      sources.map((each) => InForce.withoutStatements(each, why ?? "not-recorded"))
    )
  }
  const found = yield* Effect.forEach(sources, ({ statements }) =>
    figuresOf(instrument, statements, at)
  )
  return [...InForce.notesOf(sources), ...found.flat()]
})

/** Reason why an instrument has no official price; null: it has an oracle. */
const whyUnpriced = (instrument: Instrument): string | null => {
  if (!isRecorded(instrument)) return "not-recorded"
  return instrument.manifest.oracle === null ? "no-oracle" : null
}

/** Loads the dated figures of the statements of one source. */
const figuresOf = Effect.fnUntraced(function* (
  instrument: RecordedInstrument,
  statements: ReadonlyArray<InForce.SourceStatement>,
  { pin }: Check.Point
) {
  const newest = statements.find(({ isNewest }) => isNewest)
  if (newest === undefined) return []
  const { instrumentId, manifest } = instrument
  const { externalSourceId } = newest.source
  const fed = { instrumentId, terms: termsOf(instrument) }
  const before = Date.next(newest.statement.businessDate)
  const feed = { externalSourceId, instrumentId }
  const history = yield* NavFeedLookups.historyOf(fed, { feed, before }, pin)
  const oldest = history.navs.at(-1)?.businessDate ?? before
  const earlier = statements.filter(({ statement }) =>
    Date.isBefore(statement.businessDate, oldest)
  )
  const ofEarlier = yield* Effect.forEach(earlier, ({ statement: { businessDate } }) =>
    NavFeedLookups.pricesOn(fed, { from: businessDate, before: Date.next(businessDate) }, pin)
  )
  const prices = new Map(
    [...history.prices, ...ofEarlier.flat()].map((dated) => [dated.businessDate, dated.price])
  )
  const navs = [
    ...history.navs,
    ...earlier.flatMap(({ statement }) => NavFeedLookups.statedNav(statement))
  ]
  const facts = navs.flatMap(
    ({ businessDate, official: nav, ripcord, statementId }): ReadonlyArray<DatedFigures> => {
      const price = prices.get(businessDate)
      if (ripcord || price === undefined) return []
      const { currency } = manifest
      return [{ instrumentId, externalSourceId, businessDate, statementId, currency, nav, price }]
    }
  )
  const { externalStatementId, nav } = newest.statement
  if (facts.some(({ statementId }) => statementId === externalStatementId)) return facts
  const why = nav?.ripcord === true ? "ripcord" : "price-missing"
  return [...facts, InForce.leftOut(newest, why)]
})

/** The latest NAV, and the price that it moved from. */
interface NavMove {
  readonly instrumentId: string
  readonly externalSourceId: string
  readonly statementId: string
  readonly currency: string
  readonly nav: Decimal.Decimal
  /** Price of the last accepted point of an earlier business date. */
  readonly accepted: Decimal.Decimal
  readonly guardrail: Guardrail
}

/** Judges the move by the guardrail; its edges are inside. */
export const navMovement = Check.define("nav-movement", {
  doc: "Warns of a latest NAV outside the guardrail around the last accepted price.",
  rule: "move-of-the-nav",
  needs: "A mapped feed with a NAV.",
  cannot: {
    ripcord: "the valuation of the latest NAV is suspended",
    "no-guardrail": "the policy has no guardrail that bounds the move",
    "no-accepted-price": "no point of an earlier business date was accepted"
  },
  derives: "The guardrail of the policy, a fraction of the accepted price.",
  judgesAll: true,
  facts: (instrument, at) => Stream.fromIterableEffect(latestMove(instrument, at)),
  differences: ({ accepted, guardrail, nav, ...move }: NavMove) => {
    if (moveOf({ last: accepted, next: nav, guardrail }) === "inside") return []
    const found = compare({
      instrumentId: move.instrumentId,
      subject: { resourceKind: "external-source", id: move.externalSourceId },
      holderId: null,
      severity: "warning",
      unit: move.currency,
      statementId: move.statementId,
      expected: accepted,
      actual: nav,
      tolerance: Decimal.zero
    })
    // The bounds are fractions of the accepted price, and judged above.
    const tolerance = Decimal.lessThan(nav, accepted) ? guardrail.down : guardrail.up
    return found.map((difference) => ({ ...difference, tolerance }))
  }
})

/** Loads the move of the latest NAV; without a guardrail, or without an accepted price, it is named. */
const latestMove = Effect.fnUntraced(function* (
  instrument: Instrument,
  { pin }: Check.Point
): Effect.fn.Return<ReadonlyArray<NavMove | Check.Note>, Unavailable, Records> {
  const fed = fedOf(instrument)
  if (fed === null) return []
  const { currency, externalSourceId, instrumentId } = fed
  const { guardrail } = fed.terms
  const latestNav = yield* NavFeedLookups.statedOf(fed, pin)
  if (latestNav === null) return []
  const { accepted, official: nav, statementId } = latestNav
  if (nav === null || guardrail === null || accepted === null) {
    const why = nav === null ? "ripcord" : guardrail === null ? "no-guardrail" : "no-accepted-price"
    const subject = { resourceKind: "external-source", id: externalSourceId } as const
    return [new Check.NotCompared({ subject, statementId, why, isNeeded: false })]
  }
  return [{ instrumentId, externalSourceId, statementId, currency, nav, accepted, guardrail }]
})

/** State of a mapped feed, and whether an order of the instrument waits for a price. */
export interface FeedState {
  readonly instrumentId: string
  readonly externalSourceId: string
  readonly state: typeof NavFeed.schema.Type
  readonly hasUnpriced: boolean
}

const unusable: ReadonlyArray<string> = ["ripcord", "missing", "stale"]

/** Names the state of the feed as the unit of the difference. */
export const navUsable = Check.define("nav-usable", {
  doc: "Warns of a feed of NAVs that is missing, stale or suspended, so that it confirms no price, while an order waits for one.",
  rule: "feed-that-cannot-price",
  needs: "A mapped feed.",
  cannot: {},
  facts: (instrument, at) => Stream.fromIterableEffect(feedState(instrument, at)),
  differences: (feed: FeedState) =>
    feed.hasUnpriced && unusable.includes(feed.state)
      ? [
          withoutAmounts({
            instrumentId: feed.instrumentId,
            subject: { resourceKind: "external-source", id: feed.externalSourceId },
            holderId: null,
            severity: "warning",
            unit: feed.state
          })
        ]
      : []
})

/** Loads the state of the feed, and whether an order of the instrument has no price yet. */
const feedState = Effect.fnUntraced(function* (instrument: Instrument, { pin }: Check.Point) {
  const fed = fedOf(instrument)
  if (fed === null) return []
  const { externalSourceId, instrumentId } = fed
  const state = yield* NavFeedLookups.stateOf(fed, pin.judgedAt, pin)
  const fact: FeedState = {
    instrumentId,
    externalSourceId,
    state,
    hasUnpriced: yield* hasUnpriced(instrumentId, pin)
  }
  return [fact]
})

const hasUnpriced = Effect.fnUntraced(function* (instrumentId: string, pin: Check.Point["pin"]) {
  const records = yield* Records
  const query = { where: { instrumentId: [instrumentId], state: ["claimed"] }, pin, limit: 1 }
  if ((yield* records.list(subscriptions, query)).length > 0) return true
  return (yield* records.list(redemptions, query)).length > 0
})

/** An instrument with a mapped feed, with the terms at the point of the run; null: it has no feed. */
const fedOf = (instrument: Instrument) => {
  if (!isRecorded(instrument) || instrument.manifest.navFeed === null) return null
  const { instrumentId, manifest } = instrument
  return {
    instrument,
    instrumentId,
    terms: termsOf(instrument),
    externalSourceId: instrument.manifest.navFeed.externalSourceId,
    currency: manifest.currency
  }
}
