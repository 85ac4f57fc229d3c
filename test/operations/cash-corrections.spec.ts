/** Bank lines that pay orders: shared, split, given back, and moved when the bank corrects its statement. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { findings } from "#core/findings/Finding.ts"
import { cashLines, cashTakings } from "#core/orders/order/CashTaking.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"

const engine = () => Effect.provide(world())
const price = "1.0437"
const units = "95812.973076"
const holders = ["s1", "s2", "s3"] as const

/** Three orders of 100,000 each, priced, and a statement of this line of the bank. */
const priced = (entries: ReadonlyArray<Bank.Entry>) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened()
    yield* Fund.market(stage)
    yield* Fund.admitted(stage)
    for (const subscriptionId of holders) {
      const order = { subscriptionId, instrumentId: "fund-a", holderId: "h1", payment: "wire" }
      yield* Calls.write("subscription.claim", {}, { ...order, amount: 100000 })
    }
    yield* Cycles.at(Cycles.friday)
    yield* Fund.publishes(stage, price, Cycles.friday)
    for (const id of holders) yield* Cycles.attests(stage, { id, units, price })
    yield* Bank.states({ id: "st-1", entries })
    return stage
  })

type Line = readonly [statementId: string, line: number, amount: number]
const linesOf = (lines: ReadonlyArray<Line>) =>
  lines.map(([statementId, line, amount]) => ({ statementId, line, amount }))
const delivers = (subscriptionId: string, ...lines: ReadonlyArray<Line>) =>
  Effect.map(
    Calls.write("subscription.deliver", { subscriptionId }, { cash: linesOf(lines) }),
    ({ why }) => why
  )

const orderOf = (id: string) =>
  Effect.map(Cycles.subscription(id), ({ cash }) => ({
    matched: Decimal.formatPlain(cash.matched),
    lines: cash.lines.map(
      ({ statementId, line, amount }) => `${statementId}:${line} ${Decimal.formatPlain(amount)}`
    )
  }))

/** Cash taken of each bank line of which an order took any. */
const taken = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(cashLines, { limit: 100 })
  return found
    .filter(({ record }) => Decimal.isPositive(record.taken))
    .map(
      ({ record }) => `${record.statementId}:${record.line} ${Decimal.formatPlain(record.taken)}`
    )
})

/** Runs check `cash-settlement` and lists its findings: severity, subject, expected, actual, state. */
const found = Effect.gen(function* () {
  const scope = { instrumentIds: ["fund-a"], checks: ["cash-settlement"] }
  yield* Reconciling.run(JSON.stringify({ scope }))
  const records = yield* Records
  const rows = yield* records.list(findings, { limit: 100 })
  return rows.map(({ record: { actual, expected, severity, state, subject } }) =>
    [
      severity,
      `${subject.resourceKind}:${subject.id}`,
      ...[expected, actual].map((figure) => (figure === null ? "-" : Decimal.formatPlain(figure))),
      state
    ].join(" ")
  )
})

describe("a bank line", () => {
  it.effect("pays several orders, and never more than it has", () =>
    Effect.gen(function* () {
      yield* priced([{ amount: "250000" }])
      assert.strictEqual(yield* delivers("s1", ["st-1", 1, 100000]), "")
      assert.strictEqual(yield* delivers("s2", ["st-1", 1, 100000]), "")
      assert.strictEqual(yield* delivers("s3", ["st-1", 1, 100000]), "rule-refused cash line-left")
      assert.deepStrictEqual(yield* taken, ["st-1:1 200000"])
    }).pipe(engine())
  )

  it.effect("pays an order together with others", () =>
    Effect.gen(function* () {
      yield* priced([{ amount: "60000" }, { amount: "40000" }])
      assert.strictEqual(yield* delivers("s1", ["st-1", 1, 60000], ["st-1", 2, 40000]), "")
      assert.deepStrictEqual(yield* taken, ["st-1:1 60000", "st-1:2 40000"])
    }).pipe(engine())
  )

  it.effect.each<readonly [string, Omit<Bank.Stated, "id">, string]>([
    ["of no such number", { entries: [] }, "line-known"],
    [
      "of another instrument's account",
      { entries: [{ amount: "1e6" }], accountOf: "fund-b" },
      "line-known"
    ],
    [
      "of a statement of another instrument",
      { entries: [{ amount: "1000000" }], instrumentId: "fund-b", accountOf: "fund-a" },
      "line-known"
    ],
    ["that went out", { entries: [{ amount: "1000000", direction: "debit" }] }, "line-side"],
    ["in another currency", { entries: [{ amount: "1000000", currency: "EUR" }] }, "line-side"],
    ["of a cent less", { entries: [{ amount: "99999.99" }] }, "line-left"]
  ])("%s never pays a subscription", ([, statement, check]) =>
    Effect.gen(function* () {
      yield* priced([])
      const entries = statement.entries.map((entry) => ({
        ...entry,
        amount: entry.amount.replace("1e6", "1000000")
      }))
      yield* Bank.states({ ...statement, entries, id: "other" })
      assert.strictEqual(yield* delivers("s1", ["other", 1, 100000]), `rule-refused cash ${check}`)
      assert.strictEqual(
        yield* delivers("s1", ["nobody", 1, 100000]),
        "rule-refused cash line-known"
      )
      assert.deepStrictEqual(yield* taken, [])
    }).pipe(engine())
  )

  it.effect(
    "is never taken on the venue's word, where no source of cash names the instrument either",
    () =>
      Effect.gen(function* () {
        yield* priced([{ amount: "100000" }])
        const account = Bank.accountOf("fund-b")
        const elsewhere = {
          kind: "cash",
          instruments: ["fund-b"],
          accountIs: null,
          account
        } as const
        yield* Stating.source(Bank.sourceOf("fund-a"), elsewhere)
        const why = "rule-refused cash line-known"
        assert.strictEqual(yield* delivers("s1", ["nobody", 1, 100000]), why)
        // Earlier statements are handed in too.
        assert.strictEqual(yield* delivers("s1", ["st-1", 1, 100000]), "")
      }).pipe(engine())
  )

  it.effect("is free for others once the order that reserved it is released", () =>
    Effect.gen(function* () {
      yield* priced([{ amount: "100000" }])
      const named = { statementId: "st-1", line: 1, amount: "100000" }
      yield* Bank.reserves({ order: { kind: "subscription", orderId: "s1" }, named })
      // The order itself may name it again.
      yield* Calls.write("subscription.release", { subscriptionId: "s1" }, {})
      assert.deepStrictEqual(yield* taken, [])
      assert.strictEqual(yield* delivers("s2", ["st-1", 1, 100000]), "")
    }).pipe(engine())
  )

  it.effect("that an order has reserved is left for that order", () =>
    Effect.gen(function* () {
      yield* priced([{ amount: "100000" }])
      const named = { statementId: "st-1", line: 1, amount: "80000" }
      yield* Bank.reserves({ order: { kind: "subscription", orderId: "s1" }, named })
      assert.strictEqual(yield* delivers("s2", ["st-1", 1, 100000]), "rule-refused cash line-left")
      assert.strictEqual(yield* delivers("s1", ["st-1", 1, 100000]), "")
      assert.deepStrictEqual(yield* taken, ["st-1:1 100000"])
    }).pipe(engine())
  )
})

describe("a correction of a statement", () => {
  it.effect("moves what orders took to its own lines, and the orders name those", () =>
    Effect.gen(function* () {
      yield* priced([{ amount: "200000", bankReference: "A" }])
      yield* delivers("s1", ["st-1", 1, 100000])
      yield* delivers("s2", ["st-1", 1, 100000])
      const entries = [{ amount: "9" }, { amount: "250000", bankReference: "A" }]
      yield* Bank.states({ id: "st-2", corrects: "st-1", entries })
      for (const id of ["s1", "s2"]) {
        assert.deepStrictEqual(yield* orderOf(id), { matched: "100000", lines: ["st-2:2 100000"] })
      }
      assert.deepStrictEqual(yield* taken, ["st-2:2 200000"])
      assert.strictEqual(yield* delivers("s3", ["st-1", 1, 100000]), "rule-refused cash line-known")
      assert.strictEqual(yield* delivers("s3", ["st-2", 2, 100000]), "rule-refused cash line-left")
      yield* Calls.write("subscription.settle", { subscriptionId: "s1" }, {})
      assert.strictEqual((yield* Cycles.subscription("s1")).state, "closed")
    }).pipe(engine())
  )

  it.effect("without a line for it takes cash back from an order, and a later one returns it", () =>
    Effect.gen(function* () {
      yield* priced([{ amount: "100000", bankReference: "A" }])
      yield* delivers("s1", ["st-1", 1, 100000])
      yield* Bank.states({ id: "st-2", corrects: "st-1", entries: [{ amount: "100000" }] })
      assert.deepStrictEqual(yield* orderOf("s1"), { matched: "0", lines: [] })
      assert.deepStrictEqual(yield* taken, [])
      assert.deepStrictEqual(yield* found, ["blocking subscription:s1 100000 0 open"])
      // The part of the line that the first correction left free may pay another order.
      assert.strictEqual(yield* delivers("s2", ["st-2", 1, 100000]), "")
      const entries = [{ amount: "100000" }, { amount: "70000", bankReference: "A" }]
      yield* Bank.states({ id: "st-3", corrects: "st-2", entries })
      assert.deepStrictEqual(yield* orderOf("s1"), { matched: "70000", lines: ["st-3:2 70000"] })
      assert.deepStrictEqual(yield* orderOf("s2"), { matched: "100000", lines: ["st-3:1 100000"] })
      const records = yield* Records
      const rows = yield* records.list(cashTakings, {
        where: { order: ["subscription/s1"] },
        limit: 9
      })
      assert.deepStrictEqual(
        rows.map(({ record }) => Decimal.formatPlain(record.lost)),
        ["30000"]
      )
      assert.deepStrictEqual(yield* found, ["blocking subscription:s1 100000 70000 open"])
    }).pipe(engine())
  )

  it.effect("moves a line that a write has reserved, and the order uses it where it is then", () =>
    Effect.gen(function* () {
      yield* priced([{ amount: "100000", bankReference: "A" }])
      const named = { statementId: "st-1", line: 1, amount: "100000" }
      yield* Bank.reserves({ order: { kind: "subscription", orderId: "s1" }, named })
      const entries = [{ amount: "1" }, { amount: "100000", bankReference: "A" }]
      yield* Bank.states({ id: "st-2", corrects: "st-1", entries })
      assert.strictEqual(yield* delivers("s2", ["st-2", 2, 1]), "rule-refused cash cash-matched")
      assert.strictEqual(yield* delivers("s2", ["st-2", 2, 100000]), "rule-refused cash line-left")
      assert.strictEqual(yield* delivers("s1", ["st-2", 2, 100000]), "")
      assert.deepStrictEqual(yield* orderOf("s1"), { matched: "100000", lines: ["st-2:2 100000"] })
      assert.deepStrictEqual(yield* taken, ["st-2:2 100000"])
    }).pipe(engine())
  )
})
