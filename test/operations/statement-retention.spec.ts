/**
 * Statements past ten years: the parts that the daily run deletes, those that stay, and the acts
 * that are still possible.
 */
import { Records, Workers } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Blobs, Bulk, Feed, WorkQueue } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Cash from "#core/orders/order/CashLine.ts"
import * as CashSteps from "#core/orders/order/CashSteps.ts"
import { cashTakings, takingIdOf } from "#core/orders/order/CashTaking.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import {
  dateKeyOf,
  externalStatements,
  statementsOfDates
} from "#core/statements/external-statement/ExternalStatement.ts"
import * as StageSteps from "#core/statements/external-statement/StageSteps.ts"
import * as StatementLookups from "#core/statements/external-statement/StatementLookups.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Subscriptions from "../machines/subscriptions.ts"
import * as Accounts from "./accounts.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Intakes from "./intakes.ts"
import * as Stating from "./stating.ts"
import * as Story from "./story.ts"

const turns = Effect.flatMap(Workers.runnerOf("schedules"), ({ runOnce }) =>
  Effect.repeat(runOnce, { while: (count) => count > 0 })
)

const retainsAt = (instant: string) =>
  turns.pipe(Effect.andThen(Cycles.at(instant)), Effect.andThen(turns))

const sweeps = Effect.flatMap(Workers.runnerOf("stages"), ({ runOnce }) =>
  Effect.repeat(runOnce, { while: (count) => count > 0 })
)

/** Counts of statements that runs of retention announced, of those that deleted any. */
const announced = Effect.gen(function* () {
  const feed = yield* Feed
  const { events } = yield* feed.read({ order: "desc", limit: 1_000 })
  return events
    .filter(({ type }) => type === "retention.pruned")
    .map(({ payload }) => JSON.parse(payload) as { readonly counts: Record<string, number> })
    .flatMap(({ counts }) => counts["externalStatements"] ?? [])
})

const logged = Effect.gen(function* () {
  const feed = yield* Feed
  const { records } = yield* feed.readAudit({
    order: "asc",
    limit: 1_000,
    action: ["retention.prune"]
  })
  return records.map(({ text }) => (JSON.parse(text) as { readonly detail: object }).detail)
})

/** Owner of rows that only earlier versions wrote, and no version reads. */
const unreadOwnerOf = (id: string) => `statement/${id}/references`

/** Writes a row beside those of a statement, as an earlier version did. */
const writtenBefore = (id: string) =>
  Effect.gen(function* () {
    const bulk = yield* Bulk
    const owner = unreadOwnerOf(id)
    const row = { key: "bankReference:B-1\u001f000000001", match: "", group: "", amounts: [] }
    yield* bulk.append(owner, [{ ...row, body: "{}" }])
    yield* bulk.seal({ owner, rows: 1 })
  })

/** Lines of a statement that can be read, and whether its bytes are there. */
const left = (id: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const blobs = yield* Blobs
    const bulk = yield* Bulk
    const statement = yield* records.get(externalStatements, id)
    const lines = yield* Stream.runCollect(StatementLookups.linesOf(statement))
    const chunk = yield* blobs.chunk({ file: StageSteps.fileOf(id), chunk: 0 })
    const unread = yield* bulk.count(unreadOwnerOf(id))
    return {
      lines: lines.length,
      bytes: Option.isSome(chunk),
      unread: Option.getOrElse(unread, () => 0),
      isPruned: statement.prunedAt !== undefined
    }
  })

const whole = { lines: 1, bytes: true, unread: 1, isPruned: false }
const deleted = { lines: 0, bytes: false, unread: 0, isPruned: true }

const line = {
  amount: "100",
  direction: "credit",
  bankReference: "B-1",
  counterparty: { name: "Example AG", account: null }
}

const bank = Intakes.source({
  externalSourceId: "bank-1",
  kind: "cash",
  account: "account-1",
  accountIs: null
})

const hand = (
  businessDate: string,
  options: { readonly note?: string; readonly corrects?: string }
) =>
  Intakes.receive(Intakes.file({ businessDate, lines: [line], note: options.note ?? "" }), {
    named: { externalSourceId: "bank-1", corrects: options.corrects ?? null }
  })

/** Plants a statement of cash that has the place of its date, as one that was received has. */
const files = (stated: Bank.Stated) =>
  Effect.gen(function* () {
    const records = yield* Records
    const { externalStatementId, ...statement } = yield* Bank.states(stated)
    const { externalSourceId, instrumentId, businessDate } = statement
    const date = { externalSourceId, instrumentId, businessDate }
    const act = { cause: { by: "clock" }, now: statement.receivedAt } as const
    yield* records.transact(
      Effect.gen(function* () {
        const slot = yield* records.find(statementsOfDates, dateKeyOf(date))
        yield* Option.isNone(slot)
          ? records.open(statementsOfDates, { ...date, externalStatementId }, act)
          : records.append(
              statementsOfDates,
              slot.value,
              { on: "replace", externalStatementId },
              act
            )
      })
    )
  })

interface Line {
  readonly statementId: string
  readonly line: number
  readonly amount: string
}

/** Plants an order that has ended, and that took this of a line. */
const pays = (subscriptionId: string, line: Line) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const act = { cause: { by: "clock" }, now } as const
    const order = { kind: "subscription", orderId: subscriptionId } as const
    yield* Bank.reserves({ order, named: line })
    const named = {
      ...line,
      statementId: line.statementId as never,
      amount: Decimal.of(line.amount)
    }
    const cash = { expected: named.amount, matched: named.amount, lines: [named] }
    const ended = { state: "closed", endedAt: now, endedAs: "closed" } as const
    const self = { subscriptionId: Subscriptions.id<"SubscriptionId">(subscriptionId), cash }
    yield* records.transact(
      Effect.gen(function* () {
        const claimed = Subscriptions.claimed({ ...self, ...ended })
        yield* records.open(subscriptions, claimed, act)
        const taking = yield* records.get(cashTakings, takingIdOf({ ...order, named }))
        yield* records.append(cashTakings, taking, { on: "use" }, act)
      })
    )
  })

/** Checks of a bank line that another order would name, each with whether it refuses. */
const restOf = (orderId: string, { statementId, line, amount }: Line) => {
  const order = { kind: "subscription", orderId, instrumentId: "fund-a", currency: "USD" } as const
  const cash = [{ statementId: statementId as never, line, amount: Decimal.of(amount) }]
  return Effect.map(CashSteps.named(order, { cash, refunds: [] }), ({ rows }) =>
    rows.map(({ refusal, refuses }) => `${refusal.check} ${refuses ? "refuses" : "holds"}`)
  )
}

describe("a statement past its retention", () => {
  it.effect("keeps its header, loses all else once reads have ended, and is announced", () =>
    Effect.gen(function* () {
      const cast = yield* Story.cast
      yield* Story.recorded(cast)
      yield* TestClock.setTime(Date.epochDay(Date.of("2026-07-03")) * 86_400_000)
      yield* Accounts.plants({
        externalAccountId: "account-1" as never,
        instrumentId: "fund-a",
        segregated: true
      })
      const first = yield* hand("2026-06-30", {})
      const corrected = yield* hand("2026-06-30", { note: "corrected", corrects: first.id })
      const newest = yield* hand("2026-07-01", {})
      for (const { id } of [first, corrected, newest]) yield* writtenBefore(id)
      yield* retainsAt("2036-06-30T00:00:00Z")
      for (const { id } of [first, corrected, newest]) assert.deepEqual(yield* left(id), whole)
      assert.deepEqual(yield* announced, [])
      yield* retainsAt("2036-07-05T12:00:00Z")
      const marked = { ...whole, isPruned: true }
      assert.deepEqual(yield* left(first.id), marked)
      assert.deepEqual(yield* announced, [2])
      assert.deepInclude((yield* logged).at(-1), { externalStatements: 2 })
      yield* sweeps
      assert.deepEqual(yield* left(first.id), marked)
      yield* Cycles.at("2036-07-05T13:00:01Z")
      yield* sweeps
      assert.deepEqual(yield* left(first.id), deleted)
      assert.deepEqual(yield* left(corrected.id), deleted)
      assert.deepEqual(yield* left(newest.id), whole)
      const work = yield* WorkQueue
      assert.strictEqual((yield* work.depth(StageSteps.queue)).waiting, 0)
      // The same bytes are still that statement, and its lines may not be found in a correction.
      const again = yield* hand("2026-06-30", { note: "corrected" })
      assert.deepInclude(again, { id: corrected.id, replayed: true })
      const late = yield* Intakes.refused(
        hand("2026-06-30", { note: "late", corrects: corrected.id })
      )
      assert.strictEqual(late.why, "rule-refused statement-of-date")
      assert.include(late.detail, "deleted")
    }).pipe(Effect.provide(Intakes.engine({ sources: [bank] })))
  )

  it.effect("pays no order any more, though its lines can be read for an hour", () =>
    Effect.gen(function* () {
      yield* Fund.opened({}, "2026-07-31T12:00:00Z")
      const records = yield* Records
      const statement = yield* Bank.states({ id: "st-1", entries: [{ amount: "100" }] })
      const order = {
        kind: "subscription",
        orderId: "s1",
        instrumentId: "fund-a",
        currency: "USD"
      } as const
      const cash = [{ statementId: "st-1" as never, line: 1, amount: Decimal.of("100") }]
      const judgedRows = Effect.map(CashSteps.named(order, { cash, refunds: [] }), ({ rows }) =>
        rows.map(({ refusal, refuses }) => `${refusal.check} ${refuses ? "refuses" : "holds"}`)
      )
      assert.include(yield* judgedRows, "line-known holds")
      const act = { cause: { by: "clock" } as const, now: statement.receivedAt }
      yield* records.transact(
        Effect.flatMap(records.get(externalStatements, "st-1"), (self) =>
          records.append(externalStatements, self, { on: "prune", at: act.now }, act)
        )
      )
      assert.include(yield* judgedRows, "line-known refuses")
    }).pipe(Effect.provide(world()))
  )

  it.effect("leaves what orders took of its entries taken in the copies that stay", () =>
    Effect.gen(function* () {
      yield* Fund.opened({}, "2026-07-31T12:00:00Z")
      const records = yield* Records
      const [old, copied] = ["st-1", "st-2"] as const
      const entry = { amount: "100", bankReference: "A" }
      const later = { businessDate: Date.of("2026-08-01") }
      yield* files({ id: old, entries: [entry] })
      yield* files({ id: copied, source: "feed", entries: [{ amount: "5" }, entry] })
      yield* files({ id: "st-3", entries: [], ...later })
      yield* files({ id: "st-4", source: "feed", entries: [], ...later })
      yield* pays("s1", { statementId: old, line: 1, amount: "100" })
      const rest = restOf("s2", { statementId: copied, line: 2, amount: "1" })
      assert.include(yield* rest, "line-left refuses")
      yield* retainsAt("2036-08-02T12:00:00Z")
      yield* retainsAt("2036-08-04T12:00:00Z")
      yield* Cycles.at("2036-08-04T14:00:00Z")
      yield* sweeps
      assert.isTrue((yield* left(old)).isPruned)
      assert.isFalse((yield* left(copied)).isPruned)
      assert.include(yield* rest, "line-left refuses")
      // The order shows the line that has its cash now, and a correction of it moves it further.
      const cashOf = (id: string) =>
        Effect.map(records.get(subscriptions, id), ({ cash }) =>
          cash.lines.map((line) => `${Cash.nameOf(line)} ${Decimal.formatPlain(line.amount)}`)
        )
      assert.deepEqual(yield* cashOf("s1"), ["st-2:2 100"])
      yield* files({ id: "st-5", source: "feed", corrects: copied, entries: [entry] })
      assert.deepEqual(yield* cashOf("s1"), ["st-5:1 100"])
      const again = restOf("s2", { statementId: "st-5", line: 1, amount: "1" })
      assert.include(yield* again, "line-left refuses")
    }).pipe(Effect.provide(world()))
  )

  it.effect("stays while lines that contradict what orders took of it stay", () =>
    Effect.gen(function* () {
      yield* Fund.opened({}, "2026-07-31T12:00:00Z")
      const later = { businessDate: Date.of("2026-08-01") }
      yield* files({ id: "st-1", entries: [{ amount: "100", bankReference: "A" }] })
      yield* files({
        id: "st-2",
        source: "feed",
        entries: [{ amount: "120", bankReference: "A" }]
      })
      yield* files({ id: "st-3", entries: [], ...later })
      yield* pays("s1", { statementId: "st-1", line: 1, amount: "100" })
      const rest = restOf("s2", { statementId: "st-2", line: 1, amount: "21" })
      assert.include(yield* rest, "line-left refuses")
      yield* retainsAt("2036-08-02T12:00:00Z")
      yield* retainsAt("2036-08-04T12:00:00Z")
      assert.isFalse((yield* left("st-1")).isPruned)
      assert.include(yield* rest, "line-left refuses")
    }).pipe(Effect.provide(world()))
  )

  it.effect("pays no order by a statement that comes after it and repeats its entries", () =>
    Effect.gen(function* () {
      yield* Fund.opened({}, "2026-07-31T12:00:00Z")
      const entry = { amount: "100", bankReference: "A" }
      yield* files({ id: "st-1", entries: [entry] })
      yield* files({ id: "st-2", entries: [], businessDate: Date.of("2026-08-01") })
      yield* pays("s1", { statementId: "st-1", line: 1, amount: "100" })
      yield* retainsAt("2036-08-02T12:00:00Z")
      yield* retainsAt("2036-08-04T12:00:00Z")
      assert.isTrue((yield* left("st-1")).isPruned)
      const bookingDate = Date.of("2026-08-01")
      yield* files({ id: "st-3", source: "feed", entries: [entry, { ...entry, bookingDate }] })
      const rest = (line: number) => restOf("s2", { statementId: "st-3", line, amount: "1" })
      assert.include(yield* rest(1), "line-left refuses")
      assert.include(yield* rest(2), "line-left holds")
    }).pipe(Effect.provide(world()))
  )

  it.effect("stays while the cash of one order would come to lie in several statements", () =>
    Effect.gen(function* () {
      yield* Fund.opened({}, "2026-07-31T12:00:00Z")
      yield* files({ id: "st-0", entries: [{ amount: "100", bankReference: "A" }] })
      yield* pays("s1", { statementId: "st-0", line: 1, amount: "100" })
      // The correction states the entry in two parts, of which the other feed has one.
      const part = { amount: "50", bankReference: "A" }
      yield* files({ id: "st-1", corrects: "st-0", entries: [part, part] })
      yield* files({ id: "st-2", source: "feed", entries: [part] })
      yield* files({ id: "st-3", entries: [], businessDate: Date.of("2026-08-01") })
      yield* retainsAt("2036-08-02T12:00:00Z")
      yield* retainsAt("2036-08-04T12:00:00Z")
      assert.isFalse((yield* left("st-1")).isPruned)
    }).pipe(Effect.provide(world()))
  )

  it.effect("is deleted in batches, of which a run counts every one", () =>
    Effect.gen(function* () {
      yield* Fund.opened({}, "2026-07-31T12:00:00Z")
      const source = yield* Stating.source("admin-9", { kind: "holdings" })
      const first = Date.of("2026-01-01")
      for (let nth = 0; nth < 205; nth++) {
        yield* Stating.states(source, { businessDate: Date.addDays(first, nth), lines: [] })
      }
      yield* Stating.alone
      yield* retainsAt("2036-08-02T12:00:00Z")
      assert.deepEqual(yield* announced, [204])
      yield* Calls.settle
      yield* retainsAt("2036-08-04T12:00:00Z")
      assert.deepEqual(yield* announced, [204])
    }).pipe(Effect.provide(world()))
  )
})
