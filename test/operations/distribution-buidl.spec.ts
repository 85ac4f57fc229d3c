/** July of each series of a real fund, through ledger, projection and execution, against a fold of its days. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Buidl from "../rules/buidl.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const [from, until] = [Date.of("2026-07-01"), Date.of("2026-08-01")]

/** Business days of July, with the units at their end and their income, in order. */
const daysOf = (series: string): ReadonlyArray<Buidl.Row> =>
  Buidl.rows()
    .filter(
      ({ series: id, date }) =>
        id === series &&
        Buidl.isBusinessDay(date) &&
        !Date.isBefore(date, from) &&
        Date.isBefore(date, until)
    )
    .toSorted((a, b) => Date.compare(a.date, b.date))

/** Income of the month in units of 10^-20: each calendar day at the last business day's point. */
const foldOf = (days: ReadonlyArray<Buidl.Row>): bigint => {
  let sum = 0n
  for (let day = from; Date.isBefore(day, until); day = Date.next(day)) {
    const point = days.findLast(({ date }) => !Date.isAfter(date, day))
    if (point !== undefined) sum += Decimal.atoms(point.units) * Decimal.atoms(point.income)
  }
  return sum
}

/** The holder burns units, of its largest holdings first. */
const burns = (stage: Fund.Parties, holder: Cycles.Holder, units: Decimal.Decimal) =>
  Effect.gen(function* () {
    const held = (yield* Cycles.active(Templates.Holding))
      .map(({ cid, payload }) => ({ cid, amount: Decimal.of(String(payload.amount)) }))
      .toSorted((a, b) => (a.amount > b.amount ? -1 : 1))
    let left = units
    for (const { amount, cid } of held) {
      const burned = Decimal.min(left, amount)
      if (!Decimal.isPositive(burned)) return
      yield* holder.act(
        Templates.exercise(Templates.Holding, cid, "RequestBurn", {
          amount: burned,
          reference: { kind: "exit", id: cid },
          custodian: null,
          executeBefore: Instant.of("2026-12-01T00:00:00Z")
        })
      )
      const request = yield* Fund.newestContract(Templates.BurnRequest)
      yield* stage.registrar.act(
        Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {})
      )
      left = Decimal.subtract(left, burned)
    }
  })

const series = Buidl.isPublished ? [...new Set(Buidl.rows().map((row) => row.series))] : []

describe.skipIf(!Buidl.isPublished)("July of a real fund (needs shared/data/buidl)", () => {
  it("has ten series", () => {
    assert.strictEqual(series.length, 10)
  })

  it.effect.each(series)("%s: is the fold of its days, to the last place", (name) =>
    Effect.gen(function* () {
      const days = daysOf(name)
      const { stage, holders } = yield* Executions.founded(["h1"], {
        ...Executions.par,
        unitDecimals: 2
      })
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      let held = Decimal.zero
      for (const { date, income, units } of days) {
        yield* Cycles.at(`${date}T12:00:00Z`)
        const change = Decimal.subtract(units, held)
        if (Decimal.isPositive(change)) {
          yield* Powers.mints(stage, h1, Decimal.formatPlain(change))
        } else yield* burns(stage, h1, Decimal.negate(change))
        held = units
        yield* Executions.publishes(stage, Decimal.formatPlain(income), `${date}T11:00:00Z`)
      }
      yield* Cycles.at("2026-08-01T00:02:00Z")
      const july = { instrumentId: "fund-a", month: "2026-07" }
      const { state, why } = yield* Calls.write("distribution.execute", {}, july)
      assert.deepStrictEqual([state, why], ["succeeded", ""])
      const [line, ...others] = yield* Executions.linesOf("fund-a.2026-07")
      const { totals } = yield* Executions.distributionOf("fund-a.2026-07")
      const entitlement = foldOf(days) / 10n ** 10n
      const gross = (entitlement / 10n ** 8n) * 10n ** 8n
      assert.deepStrictEqual(others, [])
      const atoms = (figures: ReadonlyArray<Decimal.Decimal | undefined>) =>
        figures.map((figure) => Decimal.atoms(figure ?? Decimal.zero))
      const expected = [entitlement, gross, entitlement - gross]
      assert.deepStrictEqual(atoms([line?.entitlement, line?.gross, line?.carryOut]), expected)
      assert.deepStrictEqual(atoms([totals.entitlement, totals.gross, totals.carried]), expected)
    }).pipe(Effect.provide(world()))
  )
})
