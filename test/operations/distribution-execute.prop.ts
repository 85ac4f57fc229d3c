/**
 * Two months of a par fund by chance: points of any sign and distance, holders who buy, sell out and
 * come back at any hour. Plain integers of the test's own, from what it did on the ledger, give every
 * line again.
 */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { walkSeed } from "../seeds.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const day = 86_400_000
const midnight = (date: string): number => Instant.toEpochMillis(Instant.of(`${date}T00:00:00Z`))
const first = midnight("2026-06-30")
const textAt = (millis: number): string => new Date(millis).toISOString()

interface Change {
  readonly at: number
  readonly holder: number
  /** In millionths of a unit; below 0: burned. */
  readonly units: bigint
}

interface Point {
  readonly at: number
  /** In units of 10^-10. */
  readonly income: bigint
}

interface History {
  readonly changes: ReadonlyArray<Change>
  readonly points: ReadonlyArray<Point>
}

const holderIds = ["h1", "h2", "h3", "h4"]

const historyOf = (seed: number): History => {
  let state = (seed % 2_147_483_646) + 1
  const next = (below: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  const held = holderIds.map(() => 0n)
  const changes: Array<Change> = []
  const points: Array<Point> = []
  for (let date = 0; date < 63; date++) {
    const at = first + date * day
    // A point of the first day would make June a period of its own.
    if (date > 0 && next(3) === 0) {
      const income = BigInt(next(4) === 0 ? -next(9_000_000) : next(3_000_000))
      points.push({ at: at + 3_600_000 * (14 + next(4)), income })
    }
    if (date < 3 || next(4) === 0) {
      const holder = date < 3 ? date : next(holderIds.length)
      const before = held[holder] ?? 0n
      // Midnight and the last second of a day are among the hours.
      const hour = [14 * 3_600_000, 18 * 3_600_000, day - 1_000, day][next(4)] ?? 0
      const leaves = before > 0n && next(3) === 0
      const units = leaves ? -before : BigInt(next(2_000_000_000)) * 1_000n + 1n
      held[holder] = before + units
      changes.push({ at: at + hour, holder, units })
    }
  }
  return { changes, points }
}

const floorOf = (value: bigint, by: bigint): bigint => {
  const part = value / by
  return value % by < 0n ? part - 1n : part
}

/** Figures of a line in units of 10^-10. */
interface Expected {
  readonly holderId: string
  readonly gross: bigint
  readonly withheld: bigint
  readonly net: bigint
  readonly carryIn: bigint
  readonly carryOut: bigint
  readonly entitlement: bigint
}

const cent = 10n ** 8n

/** Lines of one month; `carries` and `open` are those of the months before, by holder. */
const expectedOf = (
  { changes, points }: History,
  period: {
    readonly from: string
    readonly until: string
    readonly carries: ReadonlyMap<string, bigint>
    readonly open: ReadonlySet<string>
  }
): ReadonlyArray<Expected> => {
  const [from, until] = [midnight(period.from), midnight(period.until)]
  const unitsAt = (holder: number, end: number): bigint =>
    changes.reduce(
      (sum, one) => (one.holder === holder && one.at < end ? sum + one.units : sum),
      0n
    )
  const dayOf = (at: number): number => Math.floor(at / day) * day
  // Of one date the last valued counts; each has one point a day here.
  const dated = points.map(({ at, income }) => ({ date: dayOf(at), income }))
  const reaching = [
    ...dated.filter(({ date }) => date < from).slice(-1),
    ...dated.filter(({ date }) => date >= from && date < until)
  ]
  return holderIds.flatMap((holderId, holder) => {
    let sum = 0n
    for (const [index, { date, income }] of reaching.entries()) {
      const to = reaching[index + 1]?.date ?? until
      const days = BigInt((to - Math.max(date, from)) / day)
      // Millionths of a unit times 10^-10 are 10^-16.
      sum += unitsAt(holder, date + day) * income * days
    }
    const entitlement = floorOf(sum, 10n ** 6n)
    const carryIn = period.carries.get(holderId) ?? 0n
    if (entitlement === 0n && carryIn === 0n) return []
    const due = entitlement + carryIn
    const whole = floorOf(due, cent) * cent
    const isOpen = period.open.has(holderId)
    const gross = isOpen || whole < 0n ? 0n : whole
    // Half up at cents, of 15 in 100.
    const withheld = floorOf(gross * 15n + 50n * cent, 100n * cent) * cent
    const isLeaver = unitsAt(holder, until) === 0n
    const isKept = !isLeaver || (gross === 0n && due >= cent)
    return [
      {
        holderId,
        entitlement,
        carryIn,
        gross,
        withheld,
        net: gross - withheld,
        carryOut: isKept ? due - gross : 0n
      }
    ]
  })
}

const plays = (stage: Fund.Parties, holders: ReadonlyArray<Cycles.Holder>, history: History) => {
  const acts = [
    ...history.points.map(({ at, income }) => ({
      at,
      act: Executions.publishes(stage, Decimal.format(Decimal.fromAtoms(income)), textAt(at))
    })),
    ...history.changes.map(({ at, holder, units }) => ({
      at,
      act: units > 0n ? mints(stage, holders[holder]!, units) : burns(stage, holders[holder]!)
    }))
  ].toSorted((a, b) => a.at - b.at)
  return (until: number) =>
    Effect.gen(function* () {
      while (acts[0] !== undefined && acts[0].at < until) {
        const { act, at } = acts.shift()!
        yield* Cycles.at(textAt(at))
        yield* act
      }
    })
}

const mints = (stage: Fund.Parties, to: Cycles.Holder, units: bigint) =>
  Powers.mints(stage, to, Decimal.format(Decimal.fromAtoms(units * 10_000n)))

/** A holder burns everything it has, one holding after the other. */
const burns = (stage: Fund.Parties, from: Cycles.Holder) =>
  Effect.gen(function* () {
    const held = yield* Cycles.active(Templates.Holding)
    for (const { cid, payload } of held.filter(({ payload: { owner } }) => owner === from.party)) {
      yield* from.act(
        Templates.exercise(Templates.Holding, cid, "RequestBurn", {
          amount: Decimal.of(String(payload.amount)),
          reference: { kind: "exit", id: cid },
          custodian: null,
          executeBefore: Instant.of("2026-12-01T00:00:00Z")
        })
      )
      const request = yield* Fund.newestContract(Templates.BurnRequest)
      yield* stage.registrar.act(
        Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {})
      )
    }
  })

const atoms = (decimal: Decimal.Decimal): bigint => Decimal.atoms(decimal)

const linesOf = (distributionId: string) =>
  Effect.map(Executions.linesOf(distributionId), (lines) =>
    lines.map(
      (line): Expected => ({
        holderId: line.holderId ?? line.party,
        entitlement: atoms(line.entitlement),
        carryIn: atoms(line.carryIn),
        gross: atoms(line.gross),
        withheld: atoms(line.withheld),
        net: atoms(line.net),
        carryOut: atoms(line.carryOut)
      })
    )
  )

/** The first seeds are always the same, the other is of the seed of the run. */
const seeds = [1, 2, 3, walkSeed(0)]

describe("the lines of two months", () => {
  it.effect.each(seeds)("are what plain integers give, seed %s", (seed) =>
    Effect.gen(function* () {
      const history = historyOf(seed)
      const { stage, holders } = yield* Executions.founded(holderIds)
      const play = plays(stage, holders, history)
      let carries: ReadonlyMap<string, bigint> = new Map()
      let open: ReadonlySet<string> = new Set()
      for (const [month, from, until] of [
        ["2026-07", "2026-06-30", "2026-08-01"],
        ["2026-08", "2026-08-01", "2026-09-01"]
      ] as const) {
        yield* play(midnight(until))
        yield* Cycles.at(textAt(midnight(until) + 120_000))
        const body = { instrumentId: "fund-a", month }
        const ended = yield* Calls.write("distribution.execute", {}, body)
        assert.deepStrictEqual([ended.why, ended.state], ["", "succeeded"])
        const expected = expectedOf(history, { from, until, carries, open })
        assert.deepStrictEqual(yield* linesOf(`fund-a.${month}`), expected)
        carries = new Map(expected.map(({ holderId, carryOut }) => [holderId, carryOut]))
        const paid = expected.filter(({ gross }) => gross > 0n)
        open = new Set(paid.map(({ holderId }) => holderId))
      }
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(Effect.provide(world({ settings: { batchLines: 2 } })))
  )
})
