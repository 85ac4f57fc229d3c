/** The list of work and its counts (docs/domain/every-record.md#work). */
import { type Caller, Queries, Records } from "@bursar/engine-core"
import { Atomically, Documents, Feed } from "@bursar/engine-core/ports"
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { subscriptions, SubscriptionMachine } from "#core/orders/subscription/Subscription.ts"
import { redemptions, RedemptionMachine } from "#core/orders/redemption/Redemption.ts"
import * as HoldQueries from "#core/restraints/hold/HoldQueries.ts"
import * as WorkQueries from "#core/overviews/WorkQueries.ts"
import * as WaitIndexing from "#core/records/WaitIndexing.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Venue from "../operations/venue.ts"
import { ordered, walk } from "../operations/worklist.ts"
import * as WorkLaw from "./work-law.ts"

const olga = Calls.person("olga", "operator")
const anna = Calls.person("anna", "approver")
const ada = Calls.person("ada", "approver", "risk")
const people = [olga, anna, ada, Calls.person("cora", "compliance", "operator")]
const auditor = Calls.person("aida", "auditor")

type Params = (typeof WorkQueries.list.params)["Type"]

const work = (
  caller: Caller.Caller,
  params: Params = {},
  options: { readonly limit?: number; readonly after?: string } = {}
) =>
  Effect.flatMap(Queries, (queries) =>
    queries.page(WorkQueries.list, {
      ...{ caller, params, point: {} },
      page: { limit: 100, ...options }
    })
  )

const engine = () => Effect.provide(world())

/** Pauses an instrument; the id of the hold. */
const paused = (instrumentId: string) =>
  Effect.gen(function* () {
    yield* Calls.write("instrument.pause", { instrumentId }, { reason: "a question" })
    const { value } = yield* Venue.list(HoldQueries.list, {})
    return value[0]!.holdId
  })

describe("the list of work", () => {
  it.effect(
    "has what the lists of all records wait for, at every point of a history of orders",
    () =>
      Effect.gen(function* () {
        const play = yield* ordered
        let waiting = yield* WorkLaw.check(people)
        const subscription = { collection: subscriptions, machine: SubscriptionMachine }
        const redemption = { collection: redemptions, machine: RedemptionMachine }
        yield* walk(play, { ...subscription, id: "s-wire" })
        yield* walk(play, { ...redemption, id: "r-alone" })
        yield* walk(play, { ...subscription, id: "s-alone", until: "subscription.settle" })
        waiting += yield* WorkLaw.check(people)
        const between = yield* Instant.now
        const { settleBy } = yield* Cycles.subscription("s-alone")
        if (settleBy === null) throw new Error("a ledger-paid order has a time to settle")
        yield* TestClock.setTime(Instant.toEpochMillis(settleBy) - 1)
        waiting += yield* WorkLaw.check(people)
        // Its time to settle passes, and nothing is written.
        yield* TestClock.setTime(Instant.toEpochMillis(settleBy))
        waiting += yield* WorkLaw.check(people)
        yield* Calls.settle
        waiting += yield* WorkLaw.check(people)
        const { offset: last } = yield* work(olga)
        for (let at = 3; at <= last; at += 7) {
          waiting += yield* WorkLaw.check(people, { at: at as Offset.Offset })
        }
        waiting += yield* WorkLaw.check(people, { asOf: between })
        assert.isAbove(waiting, 40)
      }).pipe(engine())
  )

  it.effect("has no action for the people who made or signed it, and has it for the others", () =>
    Effect.gen(function* () {
      yield* ordered
      const holdId = yield* paused("fund-a")
      const actionKey = yield* Calls.openAction("hold.release", { holdId }, { reason: "checked" })
      const waitsFor = (caller: Caller.Caller) =>
        Effect.map(work(caller, { action: ["approve"] }), ({ value }) =>
          value.map((row) => [row.actionKey, row.role, row.resource.href])
        )
      const row = [actionKey, "approver", `/v1/holds/${holdId}`]
      assert.deepStrictEqual(yield* waitsFor(ada), [row])
      assert.deepStrictEqual(yield* waitsFor(anna), [row])
      assert.deepStrictEqual(yield* waitsFor({ ...olga, roles: ["operator", "approver"] }), [])
      yield* Calls.approve(String(actionKey), anna)
      assert.deepStrictEqual(yield* waitsFor(anna), [])
      assert.deepStrictEqual(yield* waitsFor(ada), [row])
      yield* WorkLaw.check(people)
    }).pipe(engine())
  )

  it.effect("is refused where an auditor names no role, and where others name another's", () =>
    Effect.gen(function* () {
      const refusalOf = (caller: Caller.Caller, params: Params) =>
        Effect.all([
          Venue.refusal(work(caller, params)),
          Venue.refusal(
            Effect.flatMap(Queries, (queries) =>
              queries.one(WorkQueries.counts, { caller, params, point: {} })
            )
          )
        ])
      const both = (slug: string): [unknown, unknown] => [slug, slug]
      assert.deepStrictEqual(yield* refusalOf(auditor, {}), both("invalid-request"))
      assert.deepStrictEqual(yield* refusalOf(auditor, { role: ["risk"] }), both("no refusal"))
      assert.deepStrictEqual(yield* refusalOf(olga, { role: ["risk"] }), both("permission-denied"))
      assert.deepStrictEqual(
        yield* refusalOf(ada, { role: ["risk", "operator"] }),
        both("permission-denied")
      )
      assert.deepStrictEqual(yield* refusalOf(ada, { role: ["risk"] }), both("no refusal"))
      const app = Calls.person("app", "app")
      assert.deepStrictEqual(yield* refusalOf(app, {}), both("permission-denied"))
    }).pipe(engine())
  )

  it.effect(
    "filters by state, instrument, holder and deadline, and binds its cursor to the caller",
    () =>
      Effect.gen(function* () {
        yield* ordered
        yield* paused("fund-a")
        const { value: all } = yield* work(olga)
        assert.isAbove(all.length, 1)
        for (const params of [
          { state: ["awaiting-cash"] },
          { resourceKind: ["hold" as const] },
          { instrumentId: all[0]!.instrumentId ?? undefined },
          { overdue: "false" as const }
        ]) {
          const { value } = yield* work(olga, params as Params)
          assert.deepStrictEqual(
            value,
            all.filter(
              (row) =>
                (params.state?.includes(row.state ?? "") ?? true) &&
                (params.resourceKind?.some((kind) => kind === row.resource.kind) ?? true) &&
                (params.instrumentId === undefined || row.instrumentId === params.instrumentId)
            )
          )
        }
        const { next, value } = yield* work(olga, {}, { limit: 1 })
        assert.deepStrictEqual(value, all.slice(0, 1))
        assert.deepStrictEqual((yield* work(olga, {}, { after: next ?? "" })).value, all.slice(1))
        assert.strictEqual(
          yield* Venue.refusal(work({ ...olga, sub: "oscar" }, {}, { after: next ?? "" })),
          "invalid-request"
        )
      }).pipe(engine())
  )

  it.effect("is filled with the records of a store that had no index, for every point", () =>
    Effect.gen(function* () {
      const play = yield* ordered
      const subscription = { collection: subscriptions, machine: SubscriptionMachine }
      yield* walk(play, { ...subscription, id: "s-wire" })
      const before = (yield* work(olga)).value
      const { kinds } = (yield* Records).waits
      const [documents, atomically, feed] = [yield* Documents, yield* Atomically, yield* Feed]
      const marks: Array<string> = []
      const index = WaitIndexing.make({
        ...{ atomically, feed, waiting: kinds },
        documents: {
          ...documents,
          waitMarks: Effect.sync(() => marks),
          markWaits: (mark) => Effect.sync(() => void marks.push(mark))
        }
      })
      for (const { collection } of kinds.values()) {
        const versions = yield* documents.history({
          ...{ collection: collection.name, after: "", limit: 10_000 }
        })
        const recordIds = versions.map(({ recordId }) => recordId)
        const { keptBy, name } = collection
        yield* documents.fillWaits({ collection: name, keptBy, recordIds, rows: [] })
      }
      assert.deepStrictEqual((yield* work(olga)).value, [])
      assert.strictEqual(yield* Calls.slug(index.checkFilled), "not-ready")
      yield* index.fill
      yield* index.checkFilled
      assert.deepStrictEqual((yield* work(olga)).value, before)
      yield* WorkLaw.check(people)
      const { offset: last, value: after } = yield* work(olga)
      for (let at = 5; at <= last; at += 11) {
        yield* WorkLaw.check(people, { at: at as Offset.Offset })
      }
      // A store made with the index: the kinds of its first start are marked, and one of later is filled.
      marks.splice(0, marks.length, "*:1")
      yield* index.checkFilled
      yield* index.fill
      assert.lengthOf(marks, kinds.size + 1)
      const own = marks.findIndex((mark) => mark.startsWith("subscription("))
      marks.splice(own, 1)
      assert.strictEqual(yield* Calls.slug(index.checkFilled), "not-ready")
      yield* index.fill
      yield* index.checkFilled
      assert.lengthOf(marks, kinds.size + 1)
      assert.deepStrictEqual((yield* work(olga)).value, after)
    }).pipe(engine())
  )
})
