/** Look-ups of the checks of a NAV feed: NAVs, prices and the state of the feed. */
import { Effect, Stream } from "effect"
import {
  type Instrument,
  isRecorded,
  type RecordedInstrument
} from "../../instruments/instrument/Instrument.ts"
import { termsOf } from "../../instruments/policy/Policy.ts"
import * as Date from "../../kernel/Date.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import { Records } from "../../records/Records.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import { type Note, NotCompared, type Point } from "./Check.ts"
import type * as NavMovement from "./checks/NavMovement.ts"
import * as NavPrice from "./checks/NavPrice.ts"
import type * as NavUsable from "./checks/NavUsable.ts"
import { leftOut, statementsToCompare } from "./StatementsInForceLookups.ts"

/** An instrument with a mapped feed, with the terms at the point of the run. */
interface FedInstrument extends NavFeedLookups.InstrumentTerms {
  readonly instrument: RecordedInstrument
  readonly externalSourceId: string
  readonly currency: string
}

/** Makes the facts of an instrument with a feed; an instrument without one has none. */
const ofFeed = <F>(
  instrument: Instrument,
  facts: (fed: FedInstrument) => Effect.Effect<ReadonlyArray<F | Note>, Unavailable, Records>
): Stream.Stream<F | Note, Unavailable, Records> => {
  if (!isRecorded(instrument) || instrument.manifest.navFeed === null) return Stream.empty
  const { instrumentId, manifest } = instrument
  return Stream.unwrap(
    Effect.map(
      facts({
        instrument,
        instrumentId,
        terms: termsOf(instrument),
        externalSourceId: instrument.manifest.navFeed.externalSourceId,
        currency: manifest.currency
      }),
      (found) => Stream.fromIterable(found)
    )
  )
}

/**
 * Streams the NAV and the official price of each business date that has both, of every source of NAVs
 * of the instrument, mapped as its feed or not: of the newest dates of each source, and of the
 * statements that came since the last run or that differ. A newest NAV that is compared with nothing is
 * named.
 */
export const datedFigures = (
  instrument: Instrument,
  at: Point
): Stream.Stream<NavPrice.DatedFigures | Note, Unavailable, Records> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { pin } = at
      const why = !isRecorded(instrument)
        ? "not-recorded"
        : instrument.manifest.oracle === null
          ? "no-oracle"
          : null
      const { notes, statements } = yield* statementsToCompare(instrument, at, {
        check: NavPrice.check,
        kinds: ["nav"],
        leavesOut: () => why
      })
      if (!isRecorded(instrument)) return Stream.fromIterable(notes)
      const { instrumentId } = instrument
      const { currency } = instrument.manifest
      const fed = { instrumentId, terms: termsOf(instrument) }
      const bySource = Map.groupBy(statements, ({ source }): string => source.externalSourceId)
      const found = yield* Effect.forEach(bySource, ([externalSourceId, own]) =>
        Effect.gen(function* () {
          const newest = own.find(({ isNewest }) => isNewest)
          if (newest === undefined) return []
          const before = Date.next(newest.statement.businessDate)
          const feed = { externalSourceId, instrumentId }
          const history = yield* NavFeedLookups.historyOf(fed, { feed, before }, pin)
          const oldest = history.navs.at(-1)?.businessDate ?? before
          const earlier = own.filter(({ statement }) =>
            Date.isBefore(statement.businessDate, oldest)
          )
          const ofEarlier = yield* Effect.forEach(earlier, ({ statement: { businessDate } }) =>
            NavFeedLookups.pricesOn(
              fed,
              { from: businessDate, before: Date.next(businessDate) },
              pin
            )
          )
          const prices = new Map(
            [...history.prices, ...ofEarlier.flat()].map((dated) => [
              dated.businessDate,
              dated.price
            ])
          )
          const navs = [
            ...history.navs,
            ...earlier.flatMap(({ statement }) => NavFeedLookups.statedNav(statement))
          ]
          const facts = navs.flatMap(
            ({
              businessDate,
              official: nav,
              ripcord,
              statementId
            }): ReadonlyArray<NavPrice.DatedFigures> => {
              const price = prices.get(businessDate)
              if (ripcord || price === undefined) return []
              return [
                { instrumentId, externalSourceId, businessDate, statementId, currency, nav, price }
              ]
            }
          )
          const { externalStatementId, nav } = newest.statement
          if (facts.some(({ statementId }) => statementId === externalStatementId)) return facts
          return [...facts, leftOut(newest, nav?.ripcord === true ? "ripcord" : "price-missing")]
        })
      )
      return Stream.fromIterable([...notes, ...found.flat()])
    })
  )

/** Loads the move of the latest NAV; without a guardrail, or without an accepted price, it is named. */
export const moves = (instrument: Instrument, { pin }: Point) =>
  ofFeed<NavMovement.Move>(instrument, ({ currency, externalSourceId, instrumentId, ...fed }) =>
    Effect.gen(function* () {
      const { guardrail } = fed.terms
      const stated = yield* NavFeedLookups.statedOf({ ...fed, instrumentId }, pin)
      if (stated === null) return []
      const { accepted, official: nav, statementId } = stated
      const because = (why: string): ReadonlyArray<Note> => [
        new NotCompared({
          subject: { resourceKind: "external-source", id: externalSourceId },
          statementId,
          why,
          isNeeded: false
        })
      ]
      if (nav === null) return because("ripcord")
      if (guardrail === null) return because("no-guardrail")
      if (accepted === null) return because("no-accepted-price")
      const move: NavMovement.Move = {
        instrumentId,
        externalSourceId,
        statementId,
        currency,
        nav,
        accepted,
        guardrail
      }
      return [move]
    })
  )

/** Loads the state of the feed, and whether an order of the instrument has no price yet. */
export const waiting = (instrument: Instrument, { pin }: Point) =>
  ofFeed(instrument, (fed) =>
    Effect.gen(function* () {
      const { externalSourceId, instrumentId } = fed
      const state = yield* NavFeedLookups.stateOf(fed, pin.judgedAt, pin)
      const fact: NavUsable.FeedState = {
        instrumentId,
        externalSourceId,
        state,
        hasUnpriced: yield* hasUnpriced(instrumentId, pin)
      }
      return [fact]
    })
  )

const hasUnpriced = Effect.fnUntraced(function* (instrumentId: string, pin: Point["pin"]) {
  const records = yield* Records
  const query = { where: { instrumentId: [instrumentId], state: ["claimed"] }, pin, limit: 1 }
  if ((yield* records.list(subscriptions, query)).length > 0) return true
  return (yield* records.list(redemptions, query)).length > 0
})
