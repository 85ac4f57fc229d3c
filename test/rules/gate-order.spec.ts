/** The order of the gates: of several checks that refuse at once, the earliest gate's is answered. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it, test } from "vitest"
import * as Moves from "#core/powers/ForcedMoveGates.ts"
import { judge, type Judgement, gateChecksOf } from "#core/kernel/Gates.ts"
import { gates } from "#core/kernel/Refusal.ts"
import type { Act, Check } from "./broken.ts"
import * as BrokenAmendments from "./broken-amendments.ts"
import * as BrokenCycles from "./broken-cycles.ts"
import * as BrokenDistributions from "./broken-distributions.ts"
import * as BrokenLockAgreements from "./broken-lock-agreements.ts"
import * as BrokenMoves from "./broken-moves.ts"
import * as BrokenOrders from "./broken-orders.ts"
import * as BrokenReserveOrders from "./broken-reserve-orders.ts"
import * as BrokenReserves from "./broken-reserves.ts"

const moves: ReadonlyArray<Act> = [
  BrokenMoves.forceTransfer,
  BrokenMoves.recovery,
  BrokenMoves.laterRecovery
]
const acts: ReadonlyArray<Act> = [
  ...Object.values(BrokenOrders),
  ...Object.values(BrokenCycles),
  ...Object.values(BrokenDistributions),
  BrokenAmendments.amendment,
  BrokenReserves.reserve,
  ...Object.values(BrokenLockAgreements),
  ...Object.values(BrokenReserveOrders),
  ...moves
]

const all = (rows: ReadonlyArray<Judgement>): ReadonlyArray<Check> =>
  gateChecksOf(rows).map(({ gate, check }) => `${gate} ${check}`)
const refusing = (rows: ReadonlyArray<Judgement>): ReadonlyArray<Check> =>
  gateChecksOf(rows)
    .filter(({ ok }) => !ok)
    .map(({ gate, check }) => `${gate} ${check}`)
const firstRefusal = (rows: ReadonlyArray<Judgement>): Check => {
  const judged = judge(rows)
  return Result.isSuccess(judged)
    ? ""
    : `${judged.failure.details.gate} ${judged.failure.details.check}`
}
const isNever = ({ never }: Act, one: Check, other: Check): boolean =>
  never.some((pair) => pair.includes(one) && pair.includes(other))
const rank = (check: Check): number => gates.findIndex((gate) => gate === check.split(" ")[0])

/** The checks that refuse a figure for a limit, which is a number of the instrument, its policy or the order. */
const limits: ReadonlySet<Check> = new Set([
  "units unit-decimals",
  "cash currency-decimals",
  "policy minimum-subscription",
  "policy maximum-subscription",
  "policy maximum-redemption",
  "policy minimum-holding",
  "units units-free",
  "units too-small",
  "cash cash-over",
  "cash cash-matched",
  "reserve-cover price-moved",
  "reserve-cover cover",
  "reserve-cover asset-available"
])
const limited = acts.flatMap((act) =>
  act.checks.filter((check) => limits.has(check)).map((check) => ({ act, name: act.name, check }))
)

// Red for any check of the set whose row has no detail.
test.each(limited)("$name names the limit that $check refuses for", ({ act, check }) => {
  const [row] = gateChecksOf(act.broken([check])).filter(({ ok }) => !ok)
  const without = (row?.detail ?? "").replace(/^This is about .*? of the holder .*?\. /u, "")
  expect(without).toMatch(/(?:^|[\s])[0-9]+(?:\.[0-9]+)?(?= |\.$)/u)
})

it("every limit is refused by some act", () => {
  expect(new Set(limited.map(({ check }) => check))).toEqual(limits)
})

describe.each(acts)("$name", (act) => {
  const { broken, checks } = act
  const pairs = checks.flatMap((one, index) =>
    checks.slice(index + 1).map((other) => [one, other] as const)
  )

  test("never has a row that no table names, misses one, or keeps them in another order", () => {
    const rows = broken([])
    expect(all(rows)).toEqual(checks)
    expect(refusing(rows)).toEqual([])
    expect(checks.map(rank)).toEqual(checks.map(rank).toSorted((a, b) => a - b))
  })

  test.each(checks)("%s refuses, and alone", (check) => {
    const rows = broken([check])
    expect(refusing(rows)).toEqual([check])
    expect(firstRefusal(rows)).toBe(check)
  })

  test("of two checks that refuse, the earlier gate's is answered", () => {
    const both = pairs.filter(([one, other]) => !isNever(act, one, other))
    for (const [one, other] of both) {
      for (const order of [
        [one, other],
        [other, one]
      ]) {
        const rows = broken(order)
        expect([order, refusing(rows)]).toEqual([order, [one, other]])
        expect([order, firstRefusal(rows)]).toEqual([order, one])
      }
    }
    expect(both.length + act.never.length).toBe((checks.length * (checks.length - 1)) / 2)
  })

  test("two checks that can refuse together are not said to exclude each other", () => {
    for (const [one, other] of act.never) {
      expect(refusing(broken([one, other]))).not.toEqual([one, other])
      expect(refusing(broken([other, one]))).not.toEqual([one, other])
    }
  })

  test("of many checks that refuse, the first is answered", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([...checks]), (order) => {
        const rows = broken(order)
        const first = checks.find((check) => refusing(rows).includes(check))
        expect(firstRefusal(rows)).toBe(first ?? "")
        expect(order.length === 0 || first !== undefined).toBe(true)
      }),
      { numRuns: 50 }
    )
  })
})

test("of several moves the first that a gate stops is told, though a later gate stops one before it", () => {
  const { moving } = BrokenMoves
  const short = {
    ...moving,
    picked: { ...moving.picked, short: moving.askedUnits ?? Decimal.zero }
  }
  const unadmitted = { ...moving, instrumentId: "other-1", admission: null }
  const expected = "admission admitted"
  expect(firstRefusal(Moves.against([short, unadmitted]))).toBe(expected)
  expect(firstRefusal(Moves.against([unadmitted, short]))).toBe(expected)
  const [first] = gateChecksOf(Moves.against([short, moving, unadmitted, unadmitted])).filter(
    ({ ok }) => !ok
  )
  expect(first?.detail).toContain("other-1")
})

test("units are recovered to a successor from the instant on from which it is usable", () => {
  const { moving } = BrokenMoves
  const { successor } = moving.from
  if (successor === null) throw new Error("the move has no successor")
  const usableFrom = (instant: Instant.Instant) => ({
    ...moving,
    power: "recover" as const,
    from: { ...moving.from, successor: { ...successor, usableFrom: instant } }
  })
  const nextInstant = Instant.fromNanos(moving.now + 1n)
  expect(refusing(Moves.against([usableFrom(moving.now)]))).toEqual([])
  expect(refusing(Moves.against([usableFrom(nextInstant)]))).toEqual(["policy successor-usable"])
  // A forced transfer goes to whom it names: the successor's cooling time is none of its gates.
  const transferred = { ...usableFrom(nextInstant), power: "force-transfer" as const }
  expect(refusing(Moves.against([transferred]))).toEqual([])
})

test("an act asks for holds first, and for restrictions where it is a holder's", () => {
  const noHolder = [
    "distribution.execute",
    "dealing-cycle.open",
    "standing-settlement.open",
    // The settlement of a delivered order moves no units of its holder.
    "subscription.settle of a delivered order"
  ]
  // These acts move no units: the acts that follow from them are stopped by holds themselves.
  const withoutHold = [
    "admission.offer",
    "standing-approval.grant",
    "amendment.propose",
    "reserve.propose",
    ...Object.values(BrokenLockAgreements).map(({ name }) => name)
  ]
  for (const { checks, name } of acts) {
    const asks = checks.map((check) => check.split(" ")[0])
    if (withoutHold.includes(name)) expect(asks).not.toContain("hold")
    else expect([name, asks[0]]).toEqual([name, "hold"])
    const isOfHolder = !withoutHold.includes(name) && !noHolder.includes(name)
    expect([name, asks.includes("restriction")]).toEqual([name, isOfHolder])
  }
})
