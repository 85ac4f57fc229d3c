/** Look-ups of the checks of a NAV feed: NAVs, prices and the state of the feed. */
import { Effect, Option, Stream } from "effect"
import {
  type Instrument,
  isRecorded,
  type Recorded
} from "../../instruments/instrument/Instrument.ts"
import { termsOf } from "../../instruments/policy/Policy.ts"
import * as Date from "../../kernel/Date.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import { Records } from "../../records/Records.ts"
import { latestOf } from "../../statements/external-statement/StatementLookups.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import type { Point } from "./Check.ts"
import type * as NavMovement from "./checks/NavMovement.ts"
import type * as NavPrice from "./checks/NavPrice.ts"
import type * as NavUsable from "./checks/NavUsable.ts"

/** An instrument with a mapped feed, with the terms at the point of the run. */
interface Fed extends NavFeedLookups.Fed {
  readonly instrument: Recorded
  readonly externalSourceId: string
  readonly currency: string
}

/** Makes the facts of an instrument with a feed; an instrument without one has none. */
const ofFeed = <F>(
  instrument: Instrument,
  facts: (fed: Fed) => Effect.Effect<ReadonlyArray<F>, Unavailable, Records>
): Stream.Stream<F, Unavailable, Records> => {
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

/** Streams the NAV and the official price of each business date that has both, newest first. */
export const datedFigures = (instrument: Instrument, { pin }: Point) =>
  ofFeed(instrument, ({ currency, externalSourceId, instrumentId, ...fed }) =>
    Effect.gen(function* () {
      const latest = Option.getOrNull(yield* latestOf({ externalSourceId, instrumentId }, pin))
      if (latest === null) return []
      const through = Date.next(latest.businessDate)
      const history = yield* NavFeedLookups.historyBefore({ ...fed, instrumentId }, through, pin)
      const prices = new Map(history.prices.map((dated) => [dated.businessDate, dated.price]))
      return history.navs.flatMap(
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
    })
  )

/** Loads the move of the latest NAV; none without a guardrail, or without an accepted price. */
export const moves = (instrument: Instrument, { pin }: Point) =>
  ofFeed(instrument, ({ currency, externalSourceId, instrumentId, ...fed }) =>
    Effect.gen(function* () {
      const { guardrail } = fed.terms
      const stated = yield* NavFeedLookups.statedOf({ ...fed, instrumentId }, pin)
      if (guardrail === null || stated === null) return []
      const { accepted, official: nav, statementId } = stated
      if (accepted === null || nav === null) return []
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
      const fact: NavUsable.Waiting = {
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
