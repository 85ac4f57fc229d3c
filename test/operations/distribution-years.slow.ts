/**
 * A year of distributions by chance: every month conserves what it distributes, to the last place, and
 * every line is what books kept by hand from the ledger come to.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { DistributionLine } from "#core/distributions/distribution/DistributionLine.ts"
import { world } from "../engine/world.ts"
import * as Books from "./distribution-books.ts"
import * as Years from "./distribution-years.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import { walkSeed } from "../seeds.ts"
import type { Run } from "#core/reconciliation/run/Run.ts"
import * as Reconciling from "./reconciling.ts"

/** Seed of a year that meets each of the acts. */
const eventful = 7

/** SEEDS takes so many more years, by the seed of the run. */
const more = Array.from({ length: Number(process.env["SEEDS"] ?? 0) }, (_, nth) => walkSeed(nth))
const seeds = [eventful, ...more]

/** Acts without which the eventful year would show nothing. */
const acts = ["mint", "burn", "give", "rate", "freeze", "lift", "pause", "recover", "pay", "roll"]

type Figure = "entitlement" | "carryIn" | "gross" | "withheld" | "net" | "carryOut"

const sumOf = (lines: ReadonlyArray<DistributionLine>, figure: Figure): bigint =>
  Books.sum(lines, (line) => Decimal.atoms(line[figure]))

const figuresOf = (line: Pick<DistributionLine, Figure | "party" | "units" | "rate">) => {
  const { carryIn, carryOut, entitlement, gross, net, party, rate, units, withheld } = line
  return { party, units, entitlement, carryIn, gross, rate, withheld, net, carryOut }
}

/** A year is warned of strangers that hold units, and of lines that nobody rolls, and of no more. */
const warnedAlone = ({ checks, verdict }: Pick<Run, "checks"> & { readonly verdict: string }) => {
  const found = checks.flatMap(({ check, findings }) => (findings > 0 ? [check] : []))
  assert.includeMembers(["distribution-unpaid", "admission-effect"], found)
  assert.strictEqual(verdict, found.length > 0 ? "findings" : "clear")
}

/** Every unit of income of a month is paid, withheld, carried on, or left to the fund by a leaver. */
const conserved = (distributionId: string) =>
  Effect.gen(function* () {
    const lines = yield* Executions.linesOf(distributionId)
    const totalOf = (figure: Figure) => sumOf(lines, figure)
    assert.strictEqual(totalOf("gross"), totalOf("net") + totalOf("withheld"), distributionId)
    const rests = Books.sum(lines, ({ carryIn, carryOut, entitlement, gross, units }) => {
      const rest = entitlement + carryIn - gross - carryOut
      if (!Decimal.isZero(units)) assert.strictEqual(rest, 0n, `${distributionId}: who stays`)
      return rest
    })
    assert.strictEqual(
      totalOf("gross") + totalOf("carryOut") + rests,
      totalOf("entitlement") + totalOf("carryIn")
    )
    const [last] = (yield* Reconciling.allRuns).slice(-1)
    if (last === undefined) throw new Error(`no run after ${distributionId}`)
    warnedAlone(last)
    const ran = last.checks.flatMap((each) => (each.ran ? [each.check] : []))
    assert.includeMembers(ran, ["distribution-recompute", "distribution-identity"])
  })

describe("a year of distributions", () => {
  it.effect.each(seeds)("never loses or makes an atom, nor pays another line: seed %i", (seed) =>
    Effect.gen(function* () {
      const played = yield* Years.play({ seed, months: 12 }, conserved)
      const books = yield* Years.keep(played)
      for (const { distributionId, lines, residual } of books.months) {
        const stored = yield* Executions.linesOf(distributionId)
        assert.deepStrictEqual(
          stored.map((line) => [line.lineId as string, line.state, figuresOf(line)]),
          lines.map((line) => [line.lineId, line.state, figuresOf(line as never)])
        )
        const { totals } = yield* Executions.distributionOf(distributionId)
        assert.strictEqual(Decimal.atoms(totals.residual), residual)
      }
      const { value } = yield* Reconciling.run()
      warnedAlone(value)
      assert.deepStrictEqual(
        yield* Fund.surprises,
        books.breaches.map((detail) => `distribution deliver: ${detail}`).toSorted()
      )
      assert.isAtLeast(books.months.length, 8)
      if (seed === eventful) assert.includeMembers([...played.done.keys()], acts)
    }).pipe(Effect.provide(world({ settings: { batchLines: 2 } })))
  )
})
