/**
 * Random histories of orders and statements: whether items in flight explain a difference is
 * compared with books of the walk's own.
 */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { expect } from "vitest"
import { findings } from "#core/findings/Finding.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"

/** Orders of the walks: all are claimed before the first step. */
const orders = [
  { id: "s1", kind: "subscription", holder: 0, units: 100 },
  { id: "s2", kind: "subscription", holder: 0, units: 70 },
  { id: "s3", kind: "subscription", holder: 1, units: 60 },
  { id: "r1", kind: "redemption", holder: 0, units: 50 },
  { id: "r2", kind: "redemption", holder: 1, units: 40 }
] as const
type Order = (typeof orders)[number]
const holderIds = ["h1", "h2"] as const

export type Step =
  | { readonly does: "wait"; readonly hours: number }
  /** The next move of an order: it is priced, its units move, it ends. */
  | { readonly does: "move"; readonly nth: number }
  | {
      readonly does: "state"
      readonly basis: "trade" | "settled"
      /** The holder's items that the statement counts, and a further difference of its total. */
      readonly counts: readonly [ReadonlyArray<boolean>, ReadonlyArray<boolean>]
      readonly off: readonly [number, number]
      readonly order: "as-is" | "reversed"
    }
  | { readonly does: "run" }

const counts = fc.array(fc.boolean(), { minLength: 3, maxLength: 3 })
const off = fc.oneof({ weight: 4, arbitrary: fc.constant(0) }, fc.integer({ min: -130, max: 130 }))
const stated = fc.record({
  does: fc.constant("state" as const),
  basis: fc.constantFrom("settled" as const, "settled" as const, "trade" as const),
  counts: fc.tuple(counts, counts),
  off: fc.tuple(off, off),
  order: fc.constantFrom("as-is", "reversed")
})
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      does: fc.constant("wait" as const),
      hours: fc.integer({ min: 1, max: 9 })
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      does: fc.constant("move" as const),
      nth: fc.nat({ max: orders.length - 1 })
    })
  },
  { weight: 3, arbitrary: stated },
  { weight: 3, arbitrary: fc.constant({ does: "run" as const }) }
)

/** A difference that one order explains, the order's settlement, and then whatever chance does. */
export const histories = (length: number) =>
  fc
    .record({
      nth: fc.nat({ max: orders.length - 1 }),
      hours: fc.integer({ min: 24, max: 40 }),
      stays: fc.boolean(),
      rest: fc.array(step, { minLength: 3, maxLength: length })
    })
    .map(
      ({ nth, hours, stays, rest }): { readonly beginning: Told; readonly steps: Array<Step> } => ({
        beginning: { nth, hours, stays },
        steps: rest
      })
    )

/** The beginning of each history: feature of one order, before chance goes on. */
interface Told {
  readonly nth: number
  readonly hours: number
  /** Whether the difference remains once the order has settled. */
  readonly stays: boolean
}

// ---- the books

/** Minutes of the moves of an order. */
interface Moved {
  priced?: number
  units?: number
  ended?: number
}

interface Item {
  readonly id: string
  readonly amount: number
  readonly since: number
  readonly isUnmoved: boolean
}

interface Statement {
  readonly businessDate: string
  readonly asOf: number
  readonly dayEnd: number
  readonly basis: "trade" | "settled"
  /** Units that the statement states less those of the register, by holder. */
  readonly differences: readonly [number, number]
}

interface Finding {
  readonly severity: "info" | "blocking"
  readonly state: "open" | "cleared"
  readonly unexplained: number
  readonly by: ReadonlyArray<string>
  readonly firstRun: string
  readonly firstAt: number
  readonly ageDays: number
  readonly seenRuns: number
}

const signOf = ({ kind }: Order): 1 | -1 => (kind === "subscription" ? 1 : -1)

/** Units in flight for a holder at a minute: ahead of the register, or behind it. */
const inFlight = (moves: ReadonlyArray<Moved>, holder: number, at: number): ReadonlyArray<Item> =>
  orders.flatMap((order, nth) => {
    const { priced, units, ended } = moves[nth] ?? {}
    if (order.holder !== holder || priced === undefined || priced > at) return []
    if (ended !== undefined && ended <= at) return []
    const isUnmoved = units === undefined || units > at
    const amount = signOf(order) * order.units * (isUnmoved ? 1 : -1)
    return [{ id: order.id, amount, since: isUnmoved ? priced : units, isUnmoved }]
  })

/** The same, and what was priced after the statement, by the end of its day and by the run. */
const itemsOf = (
  moves: ReadonlyArray<Moved>,
  { asOf, dayEnd }: Statement,
  { holder, runAt }: { readonly holder: number; readonly runAt: number }
): ReadonlyArray<Item> => [
  ...inFlight(moves, holder, asOf),
  ...orders.flatMap((order, nth) => {
    const { priced } = moves[nth] ?? {}
    if (order.holder !== holder || priced === undefined) return []
    if (priced <= asOf || priced > Math.min(dayEnd, runAt)) return []
    const amount = signOf(order) * order.units
    return [{ id: order.id, amount, since: priced, isUnmoved: false }]
  })
]

const sum = (amounts: ReadonlyArray<number>): number => amounts.reduce((a, b) => a + b, 0)

/** docs/domain/reconciliation.md#explained, in whole numbers. */
const explained = (difference: number, items: ReadonlyArray<Item>, basis: "trade" | "settled") => {
  const sorted = items.toSorted((a, b) => a.since - b.since || (a.id < b.id ? -1 : 1))
  const must = sorted.filter(({ isUnmoved }) => basis === "trade" && isUnmoved)
  const may = sorted.filter((item) => !must.includes(item))
  const rest = difference - sum(must.map(({ amount }) => amount))
  let taken: ReadonlyArray<Item> = []
  const alone = may.find(({ amount }) => amount === rest)
  if (rest !== 0 && alone !== undefined) taken = [alone]
  else if (rest !== 0 && sum(may.map(({ amount }) => amount)) === rest) taken = may
  else if (rest !== 0) {
    let left = rest
    taken = may.filter(({ amount }) => {
      if (Math.sign(amount) !== Math.sign(left) || Math.abs(amount) > Math.abs(left)) return false
      left -= amount
      return true
    })
  }
  const by = [...must, ...taken]
  return {
    by: by.map(({ id, amount }) => `${id} ${amount}`),
    unexplained: difference - sum(by.map(({ amount }) => amount))
  }
}

// ---- the engine beside them

const scope = '{"scope":{"instrumentIds":["fund-a"],"checks":["register-line"]}}'
const minuteOf = Effect.map(Instant.now, (now) => Math.round(Instant.toEpochMillis(now) / 60_000))

const claims = (order: Order) =>
  order.kind === "subscription"
    ? Calls.write(
        "subscription.claim",
        {},
        {
          ...{ subscriptionId: order.id, instrumentId: "fund-a", payment: "wire" },
          ...{ holderId: holderIds[order.holder], amount: order.units }
        }
      )
    : Calls.write(
        "redemption.claim",
        {},
        {
          ...{ redemptionId: order.id, instrumentId: "fund-a", payment: "wire" },
          ...{ holderId: holderIds[order.holder], units: order.units }
        }
      )

const founded = Effect.gen(function* () {
  const { stage, holders } = yield* Cycles.opened(holderIds)
  for (const holder of holders) yield* Powers.mints(stage, holder, "1000")
  for (const order of orders) expect((yield* claims(order)).why).toBe("")
  yield* Fund.publishes(stage, "1", "2026-07-31T20:30:00Z")
  yield* Stating.alone
  const admin = yield* Stating.source("admin", { calendar: [] })
  return { stage, holders, admin }
})
interface Scene extends Effect.Success<typeof founded> {
  readonly moves: ReadonlyArray<Moved>
  readonly units: [number, number]
  /** Statements in force, by business date in order: another of the same date corrects the one before. */
  readonly statements: Map<string, Statement>
  /** Business dates of the statements that the next run compares again, beside the newest. */
  readonly due: Set<string>
  readonly books: Map<string, Finding>
  isHeld: boolean
  runs: number
}

const priceOf = ({ stage }: Scene, order: Order) =>
  Effect.gen(function* () {
    const units = String(order.units)
    if (order.kind === "subscription") {
      return yield* Cycles.attests(stage, { id: order.id, units, price: "1" })
    }
    const claim = yield* Powers.saying(Templates.RedemptionClaim, { redemptionId: order.id })
    const point = yield* Fund.newestContract(Templates.OraclePoint)
    const figures = { units: Decimal.of(units), proceeds: Decimal.of(units) }
    return yield* stage.oracle.act(
      Templates.exercise(Templates.RedemptionClaim, claim.cid, "Price", {
        ...{ pointCid: point.cid, price: Decimal.of("1") },
        ...figures
      })
    )
  })

const movesUnits = ({ stage, holders }: Scene, order: Order) =>
  Effect.gen(function* () {
    if (order.kind === "subscription") {
      const cash = [{ statementId: Bank.credits, line: 1, amount: order.units }]
      const { why } = yield* Calls.write(
        "subscription.deliver",
        { subscriptionId: order.id },
        { cash }
      )
      return expect(why).toBe("")
    }
    const holder = holders[order.holder]
    if (holder === undefined) throw new Error("no holder")
    const { cid } = yield* Fund.freeHolding(holder.party)
    yield* holder.act(
      Templates.exercise(Templates.Holding, cid, "RequestBurn", {
        amount: Decimal.of(String(order.units)),
        reference: { kind: "redemption", id: order.id },
        custodian: null,
        executeBefore: Instant.of("2026-12-01T00:00:00Z")
      })
    )
    const request = yield* Fund.newestContract(Templates.BurnRequest)
    return yield* stage.registrar.act(
      Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {})
    )
  })

const ends = (order: Order) =>
  Effect.gen(function* () {
    const { id, kind, units } = order
    const { why } =
      kind === "subscription"
        ? yield* Calls.write("subscription.settle", { subscriptionId: id }, {})
        : yield* Calls.write(
            "redemption.settle",
            { redemptionId: id },
            { cash: [{ statementId: Bank.debits, line: 1, amount: units }] }
          )
    expect(why).toBe("")
  })

/** Has an order make its next move; one that has ended makes none. */
const advances = Effect.fnUntraced(function* (scene: Scene, nth: number) {
  const order = orders[nth]
  const moved = scene.moves[nth]
  if (order === undefined || moved === undefined) return
  const now = yield* minuteOf
  if (moved.priced === undefined) {
    yield* priceOf(scene, order)
    moved.priced = now
  } else if (moved.units === undefined) {
    yield* movesUnits(scene, order)
    moved.units = now
    scene.units[order.holder] += signOf(order) * order.units
  } else if (moved.ended === undefined) {
    yield* ends(order)
    moved.ended = now
  }
})

/** The administrator states the register and these differences. */
const states = Effect.fnUntraced(function* (
  scene: Scene,
  differences: readonly [number, number],
  { basis, order }: { readonly basis: "trade" | "settled"; readonly order: "as-is" | "reversed" }
) {
  const asOf = yield* minuteOf
  const businessDate = yield* Stating.today
  const lines = holderIds.map((account, nth) => ({
    account,
    quantity: String(scene.units[nth as 0 | 1] + differences[nth as 0 | 1])
  }))
  yield* Stating.states(scene.admin, {
    businessDate,
    basis,
    lines: order === "as-is" ? lines : lines.toReversed()
  })
  const dayEnd = Instant.toEpochMillis(Instant.of(`${Date.next(businessDate)}T00:00:00Z`)) / 60_000
  scene.statements.set(businessDate, { businessDate, asOf, dayEnd, basis, differences })
  scene.due.add(businessDate)
})

/** A statement's difference of a holder, with what explains it; undefined where there is none. */
const differenceOf = (
  { moves }: Scene,
  statement: Statement,
  { holder, runAt }: { readonly holder: number; readonly runAt: number }
) => {
  const difference = statement.differences[holder as 0 | 1]
  const items = itemsOf(moves, statement, { holder, runAt })
  const { by, unexplained } = explained(difference, items, statement.basis)
  if (difference === 0 && unexplained === 0) return undefined
  const severity = unexplained === 0 ? ("info" as const) : ("blocking" as const)
  return { businessDate: statement.businessDate, severity, unexplained, by }
}

/** Compares two differences of a holder: one that blocks is worse, then what is unexplained decides. */
const isWorse = (
  a: NonNullable<ReturnType<typeof differenceOf>>,
  b: NonNullable<ReturnType<typeof differenceOf>>
): boolean =>
  a.severity === b.severity
    ? Math.abs(a.unexplained) > Math.abs(b.unexplained)
    : a.severity === "blocking"

/**
 * docs/domain/reconciliation.md#statements-that-are-compared: each statement in force once it is in
 * force, the newest always, and one that blocks until it is corrected. A holder has one finding, the
 * worst, of equal ones that of the newest date.
 */
const worstByHolder = (scene: Scene, runAt: number) => {
  const newestFirst = [...scene.statements.values()].reverse()
  const compared = newestFirst.filter(
    ({ businessDate }, nth) => nth === 0 || scene.due.has(businessDate)
  )
  const all = holderIds.map((_, holder) =>
    compared.flatMap((statement) => differenceOf(scene, statement, { holder, runAt }) ?? [])
  )
  scene.due.clear()
  for (const { businessDate, severity } of all.flat()) {
    if (severity === "blocking") scene.due.add(businessDate)
  }
  return all.map((differences) =>
    differences.reduce<(typeof differences)[number] | undefined>(
      (worst, each) => (worst === undefined || isWorse(each, worst) ? each : worst),
      undefined
    )
  )
}

/** A run; every finding, and whether the instrument is held, is what the books say. */
const runs = Effect.fnUntraced(function* (scene: Scene) {
  const runAt = yield* minuteOf
  const { value } = yield* Reconciling.run(scope)
  const { books } = scene
  scene.runs += 1
  let verdict = "clear"
  const found = worstByHolder(scene, runAt)
  for (const [holder, holderId] of holderIds.entries()) {
    const before = books.get(holderId)
    const worst = found[holder]
    if (worst === undefined) {
      if (before !== undefined) books.set(holderId, { ...before, state: "cleared" })
      continue
    }
    const { severity, unexplained, by } = worst
    const firstAt = before?.firstAt ?? runAt
    books.set(holderId, {
      ...{ severity, state: "open", unexplained, by, firstAt },
      firstRun: before?.firstRun ?? value.runId,
      ageDays: Math.floor((runAt - firstAt) / (24 * 60)),
      seenRuns: (before?.seenRuns ?? 0) + 1
    })
    if (severity === "blocking") verdict = "blocked"
  }
  scene.isHeld ||= verdict === "blocked"
  const records = yield* Records
  const rows = yield* records.list(findings, { limit: 100 })
  expect({
    verdict: value.verdict,
    isHeld: (yield* Reconciling.openHolds).length === 1,
    found: Object.fromEntries(
      rows.map(({ record }) => [
        record.subject.id,
        {
          severity: record.severity,
          state: record.state,
          unexplained: Number(Decimal.formatPlain(record.unexplained)),
          by: record.explained.by.map(({ id, amount }) => `${id} ${Decimal.formatPlain(amount)}`),
          firstRun: record.firstSeenRunId,
          firstAt: Math.round(Instant.toEpochMillis(record.firstSeenAt) / 60_000),
          ageDays: record.ageDays,
          seenRuns: record.seenRuns
        }
      ])
    )
  }).toEqual({ verdict, isHeld: scene.isHeld, found: Object.fromEntries(books) })
  return value.verdict
})

const other = (holder: 0 | 1, amount: number): readonly [number, number] =>
  holder === 0 ? [amount, 0] : [0, amount]

/** The sentence of the feature, of one order: explained at first, then settled, and gone or still there. */
const begins = Effect.fnUntraced(function* (scene: Scene, { nth, hours, stays }: Told) {
  const order = orders[nth]
  if (order === undefined) throw new Error("no order")
  const ahead = other(order.holder, signOf(order) * order.units)
  const plain = { basis: "settled", order: "as-is" } as const
  yield* advances(scene, nth)
  yield* TestClock.adjust("1 minute")
  yield* states(scene, ahead, plain)
  yield* TestClock.adjust("1 minute")
  expect(yield* runs(scene)).toBe("clear")
  const holderId = holderIds[order.holder]
  const first = scene.books.get(holderId)
  expect([first?.severity, first?.by]).toEqual(["info", [`${order.id} ${ahead[order.holder]}`]])
  expect(scene.isHeld).toBe(false)
  for (let move = 0; move < 2; move++) {
    yield* TestClock.adjust("1 minute")
    yield* advances(scene, nth)
  }
  yield* TestClock.adjust(`${hours} hours`)
  yield* states(scene, stays ? ahead : [0, 0], plain)
  yield* TestClock.adjust("1 minute")
  expect(yield* runs(scene)).toBe(stays ? "blocked" : "clear")
  const last = scene.books.get(holderId)
  expect([last?.firstRun, last?.firstAt]).toEqual([first?.firstRun, first?.firstAt])
  expect(last).toMatchObject(
    stays ? { severity: "blocking", ageDays: 1, seenRuns: 2 } : { state: "cleared", seenRuns: 1 }
  )
})

export const walk = ({
  beginning,
  steps
}: {
  readonly beginning: Told
  readonly steps: ReadonlyArray<Step>
}) =>
  Effect.gen(function* () {
    const scene: Scene = {
      ...(yield* founded),
      moves: orders.map(() => ({})),
      units: [1_000, 1_000],
      statements: new Map(),
      due: new Set(),
      books: new Map(),
      isHeld: false,
      runs: 0
    }
    yield* begins(scene, beginning)
    for (const step of steps) {
      yield* TestClock.adjust("1 minute")
      if (step.does === "wait") yield* TestClock.adjust(`${step.hours} hours`)
      else if (step.does === "move") yield* advances(scene, step.nth)
      else if (step.does === "run") yield* runs(scene)
      else {
        const now = yield* minuteOf
        const counted = holderIds.map((_, holder) => {
          const items = inFlight(scene.moves, holder, now)
          const chosen = items.filter((_item, nth) => step.counts[holder as 0 | 1][nth] === true)
          return sum(chosen.map(({ amount }) => amount)) + step.off[holder as 0 | 1]
        })
        yield* states(scene, [counted[0] ?? 0, counted[1] ?? 0], step)
      }
    }
    yield* TestClock.adjust("1 minute")
    yield* runs(scene)
  }).pipe(Effect.provide(world()))

/** Walks histories of at most so many steps after their beginning, a number of them. */
export const walked = (options: { readonly length: number; readonly count: number }) =>
  fc.assert(
    fc.asyncProperty(histories(options.length), (history) => Calls.runCase(walk(history))),
    { numRuns: options.count, endOnFailure: true }
  )
