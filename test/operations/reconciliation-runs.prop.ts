/** Mints, planted differences, runs and releases in any order: findings, holds and verdicts are what an auditor's book says. */
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Executions from "./executions.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"

const holderIds = ["h1", "h2"] as const
type HolderId = (typeof holderIds)[number]

const holder = fc.constantFrom(...holderIds)
const step = fc.oneof(
  { weight: 1, arbitrary: fc.record({ on: fc.constant("mint" as const), holder }) },
  {
    weight: 3,
    arbitrary: fc.record({
      on: fc.constant("plant" as const),
      holder,
      units: fc.integer({ min: -3, max: 3 }).filter((units) => units !== 0)
    })
  },
  { weight: 3, arbitrary: fc.constant({ on: "run" as const }) },
  {
    weight: 2,
    arbitrary: fc.record({ on: fc.constant("release" as const), accepts: fc.boolean() })
  }
)

/** The book of one finding: what it amounts to, between which amounts it is accepted, whether it was seen. */
interface Line {
  readonly amount: number
  readonly covered: readonly [number, number] | null
  readonly isKnown: boolean
}

const judged = (line: Line, amount: number): Line => {
  const { covered } = line
  const stays = covered !== null && amount !== 0 && covered[0] <= amount && amount <= covered[1]
  return { amount, covered: stays ? covered : null, isKnown: line.isKnown || amount !== 0 }
}
const isOpen = ({ amount, covered }: Line): boolean => amount !== 0 && covered === null
const stateOf = (line: Line): string =>
  line.amount === 0 ? "cleared" : isOpen(line) ? "open" : "accepted"

describe("reconciliation runs", () => {
  it("never find more or less than was planted, and hold while it is not accepted", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 9 }), (steps) =>
        Calls.runCase(
          Effect.gen(function* () {
            const { stage, holders } = yield* Executions.founded(holderIds)
            for (const each of holders) yield* Powers.mints(stage, each, "100")
            const planted: Record<HolderId, number> = { h1: 0, h2: 0 }
            const book = new Map<string, Line>()
            let isHeld = false
            let isClear = true

            const judge = () => {
              const total = planted.h1 + planted.h2
              const amounts: ReadonlyArray<readonly [string, number]> = [
                ["register-supply fund-a", total === 0 ? 0 : -total],
                ...holderIds.flatMap((id) => [
                  [`movements-balance ${id}`, planted[id]] as const,
                  [`lots-holdings ${id}`, planted[id]] as const
                ])
              ]
              for (const [name, amount] of amounts) {
                const before = book.get(name) ?? { amount: 0, covered: null, isKnown: false }
                book.set(name, judged(before, amount))
              }
              const lines = [...book.values()]
              isHeld ||= lines.some(isOpen)
              isClear = lines.every(({ amount }) => amount === 0)
              return lines.some(isOpen) ? "blocked" : isClear ? "clear" : "findings"
            }

            for (const step of steps) {
              yield* TestClock.adjust("1 hour")
              if (step.on === "mint") {
                yield* Powers.mints(stage, holders[step.holder === "h1" ? 0 : 1]!, "10")
              } else if (step.on === "plant") {
                const { party } = holders[step.holder === "h1" ? 0 : 1]!
                const line = {
                  registrar: stage.registrar.party,
                  instrumentId: "fund-a",
                  party
                }
                yield* Reconciling.plant(line, String(step.units))
                planted[step.holder] += step.units
              } else if (step.on === "run") {
                const { value } = yield* Reconciling.run()
                expect(value.verdict).toBe(judge())
              } else {
                const [hold] = yield* Reconciling.openHolds
                if (hold === undefined) continue
                const body = step.accepts ? { accept: [...hold.findings], reason: "known" } : {}
                const ended = yield* Calls.write("hold.release", { holdId: hold.holdId }, body)
                const left = [...book.values()].some(isOpen)
                expect(ended.state).toBe(left && !step.accepts ? "refused" : "succeeded")
                if (ended.state === "refused") continue
                for (const [name, line] of book) {
                  if (!isOpen(line)) continue
                  const covered = [Math.min(0, line.amount), Math.max(0, line.amount)] as const
                  book.set(name, { ...line, covered })
                }
                isHeld = false
                // The release starts a run by itself.
                const verdict = judge()
                const newest = (yield* Reconciling.allRuns).at(-1)
                expect([newest?.trigger, newest?.verdict]).toEqual(["release", verdict])
              }
              const expected = [...book].flatMap(([name, line]) =>
                line.isKnown ? [`${name} ${stateOf(line)}`] : []
              )
              const found = (yield* Reconciling.found).map((text) => text.replace(/ \S+$/u, ""))
              expect(found.toSorted()).toEqual(expected.toSorted())
              expect((yield* Reconciling.openHolds).length).toBe(isHeld ? 1 : 0)
            }
          }).pipe(Effect.provide(world()))
        )
      ),
      { numRuns: 8 }
    )
  })
})
