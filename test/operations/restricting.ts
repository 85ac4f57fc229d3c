/**
 * Kit of restricted holders: sets and lifts restrictions, and reads those in force and their
 * events.
 */
import { EventQueries, Records, Workers } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { inForce } from "#core/restraints/restriction/RestrictionLookups.ts"
import { restrictions } from "#core/restraints/restriction/Restriction.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import * as Calls from "../engine/calls.ts"
import * as Fund from "./fund.ts"
import { bodyOf } from "./instrumentBody.ts"

/**
 * Venue with this number of equal holders, `h1`, `h2` and so on; beside `fund-a` it has `fund-b`.
 */
export const founded = (count: number) => Effect.flatMap(Fund.opened(), withHolders(count))

/** The same at the present time. */
export const foundedNow = (count: number) => Effect.flatMap(Fund.founded(), withHolders(count))

const withHolders = (count: number) => (stage: Fund.Parties) =>
  Effect.gen(function* () {
    yield* Calls.write("instrument.record", {}, { ...bodyOf(), instrumentId: "fund-b" })
    yield* Calls.write("holder.register", {}, { holderId: "h1", party: stage.holder.party })
    const records = yield* Records
    const act = { cause: { by: "request" as const, requestId: "r" }, now: yield* Instant.now }
    const first = yield* records.get(holders, "h1")
    const others = Array.from({ length: count - 1 }, (_, nth) => `h${nth + 2}`)
    yield* records.transact(
      Effect.gen(function* () {
        yield* records.prefetch(others.map((id) => ({ collection: holders, id })))
        for (const holderId of others) {
          const other = { ...first, holderId: holderId as typeof first.holderId }
          yield* records.open(holders, other, act)
        }
      })
    )
    return stage
  })

export const frozen = { mode: "freeze", reason: "pledge" } as const

export const restricts = (
  holderId: string,
  restrictionId: string,
  members: Readonly<Record<string, Calls.Json>> = {}
) => Calls.write("holder.restrict", { holderId }, { ...frozen, restrictionId, ...members })

export const lifts = (restrictionId: string) =>
  Calls.write("restriction.lift", { restrictionId }, { reason: "it is over" })

export const one = (id: string) =>
  Effect.flatMap(Records, (records) => records.get(restrictions, id))

export const all = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(restrictions, { limit: 5_000 })
  return found.map(({ record }) => record)
})

/** Restrictions in force on a holder: on one instrument, or on all. */
export const activeOf = (holderId: string, instrumentId?: string) =>
  Effect.map(
    inForce({ holderIds: [holderId], ...(instrumentId === undefined ? {} : { instrumentId }) }),
    (found) => found.map(({ restrictionId }): string => restrictionId).toSorted()
  )

/** Restrictions' events, in the order of the feed. */
export const restrictionEvents = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const page = yield* feed.page({
    caller: Calls.operator,
    params: { type: ["holder.restricted", "holder.unrestricted"] },
    limit: 1_000
  })
  return page.value.map(({ type, payload }) => {
    const { restrictionId, how } = payload as unknown as { restrictionId: string; how?: string }
    return [type.slice("holder.".length), restrictionId, ...(how === undefined ? [] : [how])].join(
      " "
    )
  })
})

/** The scheduled tasks have their turns. */
export const turn = Effect.gen(function* () {
  yield* Workers.runOnce("schedules")
  yield* TestClock.adjust("61 seconds")
  yield* Workers.runOnce("schedules")
  yield* Calls.settle
})
