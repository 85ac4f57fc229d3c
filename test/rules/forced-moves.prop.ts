/**
 * Holdings that a forced move takes: the requested units and no more, over however many
 * transactions.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { ofAct } from "#core/powers/ForcedMoveGates.ts"
import {
  fitting,
  movesMax,
  pick,
  type Portion,
  type MovePosition,
  releasedOf
} from "#core/powers/ForcedMoveRules.ts"

const amount = fc.bigInt({ min: 1n, max: 1_000n }).map((atoms) => Decimal.fromAtoms(atoms))
const lock: fc.Arbitrary<MovePosition["lock"]> = fc.oneof(
  { weight: 3, arbitrary: fc.constant("free" as const) },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      { lockedBy: "allocation", contractId: "aa" } as const,
      { lockedBy: "burn-request", contractId: "bb" } as const,
      { lockedBy: "lapsed", contractId: null } as const
    )
  },
  { weight: 1, arbitrary: fc.constant("stuck" as const) }
)
const positions = fc
  .array(fc.record({ amount, lock }), { maxLength: 12 })
  .map((all) =>
    all.map(
      (one, nth): MovePosition => ({ ...one, holdingCid: `c${String(nth).padStart(2, "0")}` })
    )
  )

const total = (all: ReadonlyArray<{ readonly amount: Decimal.Decimal }>) =>
  Decimal.sum(all.map(({ amount: one }) => one))

describe("a forced act", () => {
  it("never moves more than a person can look at, or nothing at all", () => {
    const refused = (askedMoves: number, movesLeft: number) =>
      ofAct({ askedMoves, movesLeft }).flatMap(({ refuses, refusal: { gate, check } }) =>
        refuses ? [`${gate} ${check}`] : []
      )
    expect(refused(movesMax, 1)).toEqual([])
    expect(refused(movesMax + 1, movesMax)).toEqual(["policy moves-few"])
    expect(refused(0, 0)).toEqual(["units units-held"])
  })
})

describe("the holdings of a forced move", () => {
  it("never come to more or less than was asked, or to a holding twice or beyond what it holds", () => {
    fc.assert(
      fc.property(positions, fc.option(amount), (held, units) => {
        const { portions, short, stuckUnits } = pick(held, units ?? "all")
        const wanted = units ?? total(held)
        expect(Decimal.add(Decimal.add(total(portions), short), stuckUnits)).toBe(wanted)
        expect(Decimal.isPositive(short)).toBe(Decimal.greaterThan(wanted, total(held)))
        expect(new Set(portions.map(({ holdingCid }) => holdingCid)).size).toBe(portions.length)
        const whole = new Map(held.map((one) => [one.holdingCid, one]))
        for (const one of portions) {
          const position = whole.get(one.holdingCid)
          expect(Decimal.isPositive(one.amount)).toBe(true)
          expect(Decimal.atMost(one.amount, position?.amount ?? Decimal.zero)).toBe(true)
          expect(one.lock).toEqual(position?.lock === "free" ? null : position?.lock)
        }
        // At most one of them moves in part.
        const parts = portions.filter((one) => one.amount !== whole.get(one.holdingCid)?.amount)
        expect(parts.length).toBeLessThanOrEqual(1)
      })
    )
  })

  it("never end a lock while free units are left, or hide one that ends", () => {
    fc.assert(
      fc.property(positions, fc.option(amount), (held, units) => {
        const picked = pick(held, units ?? "all")
        const released = releasedOf(picked, held)
        const free = total(held.filter((one) => one.lock === "free"))
        const wanted = units ?? total(held)
        expect(released.length + (Decimal.isPositive(picked.stuckUnits) ? 1 : 0) > 0).toBe(
          Decimal.greaterThan(Decimal.min(wanted, total(held)), free)
        )
        const locked = picked.portions.filter((one) => one.lock !== null)
        expect(released.map(({ holdingCid }) => holdingCid)).toEqual(
          locked.map(({ holdingCid }) => holdingCid)
        )
        for (const one of released) {
          expect(one.amount).toBe(
            held.find((movePosition) => movePosition.holdingCid === one.holdingCid)?.amount
          )
        }
      })
    )
  })

  it("never move in steps something else than at once, or more than a transaction may use", () => {
    const inputs = (all: ReadonlyArray<{ readonly portions: ReadonlyArray<Portion> }>) =>
      all.reduce(
        (sum, { portions }) =>
          sum + 6 + portions.reduce((count, one) => count + (one.lock === null ? 1 : 3), 0),
        0
      )
    fc.assert(
      fc.property(
        fc.array(positions, { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 9, max: 40 }),
        (all, inputsMax) => {
          let left = all
            .map((held) => ({ portions: pick(held, "all").portions }))
            .filter(({ portions }) => portions.length > 0)
          const portionsBefore = left.flatMap(({ portions }) => portions)
          const moved: Array<Portion> = []
          for (let steps = 0; left.length > 0; steps++) {
            expect(steps).toBeLessThan(60)
            const { isAll, moves } = fitting(left, inputsMax)
            expect(moves.length).toBeGreaterThan(0)
            expect(inputs(moves)).toBeLessThanOrEqual(inputsMax)
            moved.push(...moves.flatMap(({ portions }) => portions))
            left = left
              .map(({ portions }, nth) => ({
                portions: portions.slice(moves[nth]?.portions.length ?? 0)
              }))
              .filter(({ portions }) => portions.length > 0)
            expect(isAll).toBe(left.length === 0)
          }
          expect(moved).toEqual(portionsBefore)
        }
      )
    )
  })
})
