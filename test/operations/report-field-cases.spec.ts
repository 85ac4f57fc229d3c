/** Faults in the reports of other systems, each by its name there: never here. */
import { Date, Decimal, type Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as MovementQueries from "#core/overviews/register/MovementQueries.ts"
import * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import * as SeriesQueries from "#core/overviews/series/SeriesQueries.ts"
import { transactions } from "../engine/ledger-toys.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reports from "./reports.ts"
import * as Story from "./story.ts"
import * as Venue from "./venue.ts"

const plain = Decimal.formatPlain
const textOf = (amount: Decimal.Decimal | null) => (amount === null ? "none" : plain(amount))

/** Holders of whom the first bought these units at 1, in one order on the Friday. */
const bought = (amounts: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { holders, stage } = yield* Cycles.opened(["h1", "h2"])
    const [h1, h2] = holders
    if (h1 === undefined || h2 === undefined) throw new Error("two holders")
    for (const [nth, amount] of amounts.entries()) {
      const [id, cycleId] = [`s${nth + 1}`, `c${nth + 1}`]
      const cutOff = nth === 0 ? Cycles.friday : Cycles.monday
      yield* Cycles.opens(cycleId)
      yield* Cycles.subscribes(stage, h1, { id, amount })
      yield* Cycles.at(cutOff)
      yield* Fund.publishes(stage, "1", cutOff)
      yield* Cycles.attests(stage, { id, units: amount, price: "1" })
      yield* Cycles.settles(cycleId)
    }
    return { h1, h2, stage }
  })

const disposalsOf = (holderId: string, year: number) =>
  Effect.map(Reports.taxOf(holderId, year), (statement) => {
    Reports.keepBasis(statement)
    return statement.disposals
  })

const costLeft = Effect.map(
  Venue.read(PortfolioQueries.portfolio, { holderId: Story.holderIdOf("h1") }),
  ({ value }) => value.map(({ cost }) => textOf(cost))
)

describe("portfolio-performance 5953: thirds of a lot", () => {
  it.effect("never cost a cent more together than the lot did", () =>
    Effect.gen(function* () {
      const { h1, stage } = yield* bought(["2"])
      const left = [yield* costLeft]
      // Each third by itself would be 0.67: 2.01 together.
      for (const units of ["0.666667", "0.666667", "0.666666"]) {
        yield* Reports.burns(stage, h1, units)
        left.push(yield* costLeft)
      }
      const parts = yield* disposalsOf("h1", 2026)
      assert.deepStrictEqual(
        parts.map(({ cost }) => textOf(cost)),
        ["0.67", "0.67", "0.66"]
      )
      assert.deepStrictEqual(left, [["2"], ["1.33"], ["0.66"], []])
    }).pipe(Effect.provide(world()))
  )
})

describe("rp2 156: a lot of which a part was sold", () => {
  it.effect(
    "never is dropped: the rest of it is sold before a later lot, in a later year too",
    () =>
      Effect.gen(function* () {
        const { h1, stage } = yield* bought(["100", "50"])
        yield* Reports.burns(stage, h1, "60", "first")
        yield* Cycles.at("2027-03-01T12:00:00Z")
        yield* Reports.burns(stage, h1, "45", "second")
        const texts = (disposals: Effect.Success<ReturnType<typeof disposalsOf>>) =>
          disposals.map(
            ({ acquiredOn, cost, disposedOn, lotId, units }) =>
              `${lotId} of ${acquiredOn} on ${disposedOn}: ${plain(units)} at ${textOf(cost)}`
          )
        assert.deepStrictEqual(texts(yield* disposalsOf("h1", 2026)), [
          "s1 of 2026-07-31 on 2026-08-03: 60 at 60"
        ])
        assert.deepStrictEqual(texts(yield* disposalsOf("h1", 2027)), [
          "s1 of 2026-07-31 on 2027-03-01: 40 at 40",
          "s2 of 2026-08-03 on 2027-03-01: 5 at 5"
        ])
        assert.deepStrictEqual(yield* costLeft, ["45"])
      }).pipe(Effect.provide(world()))
  )
})

describe("cgt-calc 990: tax withheld from a payment", () => {
  it.effect("never is of another year than what it was withheld from", () =>
    Effect.gen(function* () {
      const { stage, holders, point } = yield* Month.founded(["h1"])
      const [h1] = holders
      yield* Powers.mints(stage, h1!, "10")
      yield* Month.opened(stage, point, [Month.lineOf(1, h1!.party)])
      // Booked in January, paid on the last of December.
      yield* Cycles.at("2027-01-04T12:00:00Z")
      const [line] = yield* Cycles.active(Templates.DistributionLine)
      const [distribution] = yield* Cycles.active(Templates.Distribution)
      yield* stage.registrar.act(
        Templates.exercise(Templates.DistributionLine, line!.cid, "Deliver", {
          ...{ distributionCid: distribution!.cid, credentialCid: null, configurationCid: null },
          evidence: { reference: "wire", paidOn: Date.of("2026-12-31") }
        })
      )
      const sums = (year: number) =>
        Effect.map(Reports.taxOf("h1", year), ({ currencies }) =>
          currencies.map(({ totals: { gross, net, withheld }, rows }) => ({
            days: rows.flatMap(({ payments }) => payments.map(({ paidOn }) => paidOn)),
            sums: [gross, withheld, net].map(plain)
          }))
        )
      assert.deepStrictEqual(yield* sums(2026), [
        { days: [Date.of("2026-12-31")], sums: ["54.32", "8.15", "46.17"] }
      ])
      assert.deepStrictEqual(yield* sums(2027), [])
    }).pipe(Effect.provide(world()))
  )
})

describe("firefly-iii 12432: a balance", () => {
  it.effect("never is denied by another report, at any point", () =>
    Effect.gen(function* () {
      const { h1, h2, stage } = yield* bought(["100", "50"])
      yield* Powers.mints(stage, h2, "7.5")
      yield* Cycles.redeems(stage, h1, { id: "r1", units: "20" })
      yield* Cycles.at("2026-08-31T23:59:59Z")
      yield* Reports.burns(stage, h2, "7.5", "all")
      yield* Cycles.at("2026-09-01T00:00:00Z")
      yield* Reports.burns(stage, h1, "30", "part")
      const all = yield* transactions
      let compared = 0
      for (const { offset } of all) {
        const byReport = yield* balances(offset)
        if (byReport === null) continue
        for (const [report, byHolder] of Object.entries(byReport)) {
          assert.deepStrictEqual(byHolder, byReport.register, `${report} at ${offset}`)
        }
        compared += 1
      }
      assert.isAbove(compared, 10)
      const last = yield* balances(all.at(-1)!.offset)
      assert.deepStrictEqual(last?.register, { h1: "120", h2: "0" })
    }).pipe(Effect.provide(world()))
  )
})

const instrument = { instrumentId: Story.instrumentId }

/** Units of both holders by each report that says them; null before both are there. */
const balances = Effect.fnUntraced(function* (at: Offset.Offset) {
  const point = { at }
  const register = yield* Effect.result(Venue.register(instrument, { point }))
  const portfolio = (holderId: string) =>
    Venue.read(PortfolioQueries.portfolio, { holderId: Story.holderIdOf(holderId) }, { point })
  if (register._tag === "Failure" || (yield* Effect.result(portfolio("h2")))._tag === "Failure") {
    return null
  }
  const { value } = register.success
  const shownUnits = (units: Decimal.Decimal | undefined) => textOf(units ?? Decimal.zero)
  const both = <E, R>(by: (holderId: string) => Effect.Effect<string, E, R>) =>
    Effect.all({ h1: by("h1"), h2: by("h2") })
  const movements = (yield* Venue.list(MovementQueries.ofInstrument, instrument, { point })).value
  const supply = yield* Venue.read(
    SeriesQueries.get,
    { ...instrument, metric: "supply" },
    { point }
  )
  const sum = Decimal.sum(value.lines.map(({ units }) => units))
  assert.strictEqual(shownUnits(movements.at(-1)?.balanceAfter), shownUnits(sum), `supply at ${at}`)
  assert.strictEqual(shownUnits(supply.value.points.at(-1)?.close ?? undefined), shownUnits(sum))
  return {
    register: yield* both((id) =>
      Effect.succeed(shownUnits(value.lines.find(({ holderId }) => holderId === id)?.units))
    ),
    portfolio: yield* both((id) =>
      Effect.map(portfolio(id), (found) => shownUnits(found.value[0]?.units))
    ),
    movements: yield* both((id) =>
      Effect.map(
        Venue.list(MovementQueries.ofHolder, { holderId: Story.holderIdOf(id) }, { point }),
        ({ value: found }) =>
          // The list has the holder's cash on the ledger too.
          shownUnits(found.findLast(({ instrumentId }) => instrumentId === "fund-a")?.balanceAfter)
      )
    ),
    statement: yield* both((id) =>
      Effect.map(Reports.statements(id, {}, { point }), (months) =>
        shownUnits(months.at(-1)?.instruments[0]?.closing)
      )
    )
  }
})
