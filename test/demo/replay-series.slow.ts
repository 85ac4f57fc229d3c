/** Ten series of a real fund, day by day: what came in and went out, each business day one dealing cycle. */
import { Queries } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import * as RegisterQueries from "#core/overviews/register/RegisterQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Fund from "../operations/fund.ts"

const published = new URL("../../../shared/data/buidl/buidl_missing_data.csv", import.meta.url)

interface Point {
  readonly date: string
  readonly assets: Decimal.Decimal
  /** Inflow since the point before; below zero, outflow. */
  readonly flow: Decimal.Decimal
}

/** Every series as published, oldest first: the days on which its assets changed. */
const series = (): ReadonlyMap<string, ReadonlyArray<Point>> => {
  const rows = readFileSync(published, "utf8")
    .split("\r\n")
    .flatMap((line) => {
      const row = /^([A-Z-]+),([a-z]+),"?([0-9,.]+)"?,[^,]*,(\S+)$/.exec(line)
      if (row === null) return []
      const [, token, chain, assets = "", date = ""] = row
      return [
        { name: `${token} on ${chain}`, date, assets: Decimal.of(assets.replaceAll(",", "")) }
      ]
    })
  const bySeries = Map.groupBy(rows.toReversed(), ({ name }) => name)
  return new Map([...bySeries].map(([name, days]) => [name, pointsOf(days)]))
}

const pointsOf = (
  days: ReadonlyArray<{ readonly date: string; readonly assets: Decimal.Decimal }>
): ReadonlyArray<Point> =>
  days.flatMap(({ date, assets }, i) => {
    const flow = Decimal.subtract(assets, days[i - 1]?.assets ?? Decimal.zero)
    return Decimal.isZero(flow) ? [] : [{ date, assets, flow }]
  })

const text = (decimal: Decimal.Decimal) => Decimal.formatPlaces(decimal, 2)

/** A par fund with one holder, which lets the venue draw on its cash for what it owes. */
const opened = (date: string) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened(
      { valuation: "par", parValue: 1, holderCap: 10 },
      `${date}T08:00:00Z`
    )
    yield* Fund.market(stage)
    const holder = yield* Cycles.joins(stage, "holder-1")
    yield* Calls.write(
      "provision-settlement.propose",
      { instrumentId: "fund-a" },
      { fund: stage.fund.party, paymentAsset: Cycles.cash(stage) }
    )
    const { cid } = yield* Fund.newestContract(Templates.ProvisionSettlementProposal)
    yield* stage.fund.act(
      Templates.exercise(Templates.ProvisionSettlementProposal, cid, "Accept", {})
    )
    return { stage, holder }
  })

const publishes = (stage: Fund.Parties, date: string) =>
  stage.oracle.act(
    Templates.create(Templates.OraclePoint, {
      oracle: stage.oracle.party,
      venue: stage.venue,
      fund: stage.fund.party,
      registrar: stage.registrar.party,
      attestors: [stage.attestor.party],
      instrumentId: "fund-a",
      metric: "income",
      value: Decimal.of("0.0001"),
      valuationTime: Instant.of(`${date}T20:15:00Z`),
      period: null,
      withholdingRate: null,
      statementRef: null,
      corrects: null
    })
  )

/** A holder's wallet makes one holding of all its units, so that any part of them can be locked. */
const gathers = (by: Cycles.Holder) =>
  Effect.gen(function* () {
    const [first, ...others] = (yield* Cycles.active(Templates.Holding)).filter(
      ({ payload }) => payload.owner === by.party && payload.instrument.id === "fund-a"
    )
    if (first === undefined || others.length === 0) return
    yield* by.act(
      Templates.exercise(Templates.Holding, first.cid, "Merge", {
        holdingCids: others.map(({ cid }) => cid)
      })
    )
  })

/** One business day: its cycle is opened, its order claimed and priced at par, and all of it settled. */
const day = (stage: Fund.Parties, holder: Cycles.Holder, { date, flow }: Point) =>
  Effect.gen(function* () {
    yield* Cycles.at(`${date}T09:00:00Z`)
    const begun = yield* Cycles.opens(`cycle-${date}`)
    assert.strictEqual(begun.why, "", date)
    yield* gathers(holder)
    const amount = text(Decimal.isNegative(flow) ? Decimal.negate(flow) : flow)
    const claimed = Decimal.isNegative(flow)
      ? yield* Cycles.redeems(stage, holder, { id: `red-${date}`, units: amount })
      : yield* Cycles.subscribes(stage, holder, { id: `sub-${date}`, amount })
    assert.strictEqual(claimed.why, "", date)
    yield* Cycles.at(`${date}T20:30:00Z`)
    yield* publishes(stage, date)
    yield* Decimal.isNegative(flow)
      ? Cycles.pays(stage, { id: `red-${date}`, units: amount, price: "1", proceeds: amount })
      : Cycles.attests(stage, { id: `sub-${date}`, units: amount, price: "1" })
    const settled = yield* Cycles.settles(`cycle-${date}`)
    assert.strictEqual(settled.why, "", date)
  })

/** Total units of the register, as the API answers it. */
const total = Effect.gen(function* () {
  const queries = yield* Queries
  const { record } = yield* queries.streamed(RegisterQueries.register, {
    caller: Calls.operator,
    params: { instrumentId: "fund-a" as never },
    point: {}
  })
  const { head } = record
  assert.isTrue(Decimal.isZero(head.difference))
  return text(head.totalUnits)
})

/** The series of every run: one of few changes, and one of another token of the fund. */
const short: ReadonlySet<string> = new Set(["BUIDL on polygon", "BUIDL-I on ethereum"])

describe("the replay of the fund's series (needs shared/data/buidl)", () => {
  const all = existsSync(published) ? series() : new Map<string, ReadonlyArray<Point>>()
  // The long run replays all ten.
  const replayed =
    process.env["SERIES"] === "all" ? [...all] : [...all].filter(([name]) => short.has(name))

  it.skipIf(!existsSync(published))("has ten series and every published change", () => {
    assert.strictEqual(all.size, 10)
    assert.strictEqual(replayed.length, process.env["SERIES"] === "all" ? 10 : short.size)
    // The README of the data counts 439 intervals between points, and one that begins with nothing.
    const changes = [...all.values()].reduce((sum, points) => sum + points.length - 1, 0)
    assert.strictEqual(changes, 439)
  })

  for (const [name, points] of replayed) {
    const law = `${name}: on every date the register holds what was published, to the cent`
    const played = () =>
      Effect.gen(function* () {
        const [first] = points
        if (first === undefined) throw new Error("a series has days")
        const { stage, holder } = yield* opened(first.date)
        for (const point of points) {
          yield* day(stage, holder, point)
          assert.strictEqual(yield* total, text(point.assets), point.date)
        }
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(world()))
    it.effect(law, played)
  }
})
