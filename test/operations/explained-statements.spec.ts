/** Differences of statements that orders in flight explain: what they hold, what they name, and how they age. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { findings } from "#core/findings/Finding.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"

const units = "95812.973076"
const twice = Decimal.formatPlain(Decimal.add(Decimal.of(units), Decimal.of(units)))

/** An order of holder h1 that is priced, and may be delivered before its cash. */
const priced = Effect.gen(function* () {
  const stage = yield* Fund.opened()
  const policy = { deliverBeforeCash: true }
  yield* Calls.write("policy.set", { instrumentId: "fund-a" }, policy, Calls.operator, "1")
  yield* Fund.market(stage)
  yield* Fund.admitted(stage)
  yield* Calls.write(
    "subscription.claim",
    {},
    {
      subscriptionId: "s1",
      instrumentId: "fund-a",
      holderId: "h1",
      payment: "wire",
      amount: 100000
    }
  )
  yield* Fund.publishes(stage, "1.0437", "2026-07-31T20:00:00Z")
  yield* Fund.attests(stage.attestor, units)
  yield* Calls.catchUp
  yield* TestClock.adjust("1 minute")
  return { today: yield* Stating.today }
})

const ran = Effect.gen(function* () {
  const body = { scope: { instrumentIds: ["fund-a"], checks: ["register-line"] } }
  const { value } = yield* Reconciling.run(JSON.stringify(body))
  const records = yield* Records
  const found = yield* records.list(findings, { where: { check: ["register-line"] }, limit: 10 })
  return {
    verdict: value.verdict,
    holds: (yield* Reconciling.openHolds).length,
    found: found.map(({ record }) => ({
      id: record.findingId as string,
      severity: record.severity,
      ageDays: record.ageDays,
      seenRuns: record.seenRuns,
      unexplained: Decimal.formatPlain(record.unexplained),
      by: record.explained.by.map(({ id, amount }) => `${id} ${Decimal.formatPlain(amount)}`)
    }))
  }
})

const line = (quantity: string) => [{ account: "h1", quantity }]

describe("a difference between a statement and the register", () => {
  it("holds nothing and names the order that explains it, and blocks with its first day's age once the order has settled", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* priced
        const admin = yield* Stating.source("admin")
        yield* Stating.states(admin, { businessDate: today, lines: line(units) })
        const first = yield* ran
        expect(first).toEqual({
          verdict: "clear",
          holds: 0,
          found: [
            {
              ...{ id: first.found[0]?.id, severity: "info", ageDays: 0, seenRuns: 1 },
              ...{ unexplained: "0", by: [`s1 ${units}`] }
            }
          ]
        })
        const { why } = yield* Calls.write("subscription.deliver", { subscriptionId: "s1" }, {})
        expect(why).toBe("")
        yield* Calls.catchUp
        yield* TestClock.adjust("25 hours")
        // The order was in flight at the moment of this statement, whatever became of it since.
        expect((yield* ran).found[0]).toMatchObject({ severity: "info", ageDays: 1 })
        // The next statement repeats the difference, which nothing explains any more.
        yield* Stating.states(admin, { businessDate: yield* Stating.today, lines: line(twice) })
        expect(yield* ran).toEqual({
          verdict: "blocked",
          holds: 1,
          found: [
            {
              ...{ id: first.found[0]?.id, severity: "blocking", ageDays: 1, seenRuns: 3 },
              ...{ unexplained: units, by: [] }
            }
          ]
        })
      }).pipe(Effect.provide(world()))
    ))

  it("counts what the basis of the statement must count, also where both sides are equal", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* priced
        const admin = yield* Stating.source("admin", { basis: "trade" })
        const rows = [
          [units, "trade", "info", "0", [`s1 ${units}`]],
          ["0", "trade", "blocking", `-${units}`, [`s1 ${units}`]],
          ["5", "settled", "blocking", "5", []],
          [units, "contractual", "info", "0", [`s1 ${units}`]]
        ] as const
        for (const [quantity, basis, severity, unexplained, by] of rows) {
          yield* Stating.states(admin, { businessDate: today, basis, lines: line(quantity) })
          const { found } = yield* ran
          expect([basis, quantity, found[0]]).toEqual([
            basis,
            quantity,
            expect.objectContaining({ severity, unexplained, by })
          ])
        }
        // By contract nothing is agreed of an order by wire: it may be left out.
        yield* Stating.states(admin, {
          businessDate: today,
          basis: "contractual",
          lines: line("0"),
          asOf: yield* Instant.now
        })
        expect((yield* ran).verdict).toBe("clear")
      }).pipe(Effect.provide(world()))
    ))
})
