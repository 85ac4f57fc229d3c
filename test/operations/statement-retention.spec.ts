/**
 * Statements past ten years: the parts that the daily run deletes, those that stay, and the acts
 * that are still possible.
 */
import { Records, ScheduleRunner } from "@bursar/engine-core"
import { Date, Decimal } from "@bursar/engine-core/kernel"
import { Blobs, Bulk, Feed, WorkQueue } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as CashSteps from "#core/orders/order/CashSteps.ts"
import { externalStatements } from "#core/statements/external-statement/ExternalStatement.ts"
import { StageSweeper } from "#core/statements/external-statement/IntakeRunner.ts"
import * as StageSteps from "#core/statements/external-statement/StageSteps.ts"
import * as StatementLookups from "#core/statements/external-statement/StatementLookups.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Accounts from "./accounts.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Intakes from "./intakes.ts"
import * as Stating from "./stating.ts"
import * as Story from "./story.ts"

const turns = Effect.flatMap(ScheduleRunner, ({ runOnce }) =>
  Effect.repeat(runOnce, { while: (count) => count > 0 })
)

const retainsAt = (instant: string) =>
  turns.pipe(Effect.andThen(Cycles.at(instant)), Effect.andThen(turns))

const sweeps = Effect.flatMap(StageSweeper, ({ runOnce }) =>
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

const hand = (businessDate: string, of: { readonly note?: string; readonly corrects?: string }) =>
  Intakes.receive(Intakes.file({ businessDate, lines: [line], note: of.note ?? "" }), {
    named: { externalSourceId: "bank-1", corrects: of.corrects ?? null }
  })

describe("a statement past its retention", () => {
  it.effect("keeps its header, loses all else once reads have ended, and is announced", () =>
    Effect.gen(function* () {
      const of = yield* Story.cast
      yield* Story.recorded(of)
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
          records.record(externalStatements, self, { on: "prune", at: act.now }, act)
        )
      )
      assert.include(yield* judgedRows, "line-known refuses")
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
