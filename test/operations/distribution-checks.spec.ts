/** Checks of distributions by runs: lines computed again from their pins, identities, sums of the ledger. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type Distribution, distributions } from "#core/distributions/distribution/Distribution.ts"
import {
  type DistributionLine,
  distributionLines
} from "#core/distributions/distribution/DistributionLine.ts"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { NotCompared } from "#core/reconciliation/checks/Check.ts"
import { recomputed } from "#core/reconciliation/checks/DistributionCheckLookups.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { pinAt } from "../projection/stored-lots.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Venue from "./venue.ts"

const engine = () => Effect.provide(world())
const d = Decimal.of
const id = "fund-a.2026-07"

/** July of a par fund, executed for two holders, sealed, and cleared by the run that follows. */
const july = (terms: Parameters<typeof Executions.founded>[1] = Executions.par) =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Executions.founded(["h1", "h2"], terms)
    const isPar = terms?.["valuation"] === "par"
    if (!isPar) {
      yield* Executions.publishes(stage, "1", "2026-06-29T10:00:00Z", { metric: "price" })
    }
    yield* Powers.mints(stage, holders[0]!, "333333.333333")
    yield* Powers.mints(stage, holders[1]!, "12345.678901")
    yield* Cycles.at("2026-07-28T12:00:00Z")
    yield* isPar
      ? Executions.publishes(stage, "0.000095759", "2026-07-28T11:00:00Z")
      : Executions.publishes(stage, "1.0123", "2026-07-28T11:00:00Z", { metric: "price" })
    yield* Cycles.at("2026-08-01T00:02:00Z")
    const ended = yield* Calls.write(
      "distribution.execute",
      {},
      { instrumentId: "fund-a", month: "2026-07" }
    )
    assert.deepEqual([ended.state, ended.why], ["succeeded", ""])
  })

/** Changes a record behind the engine's back, by a fact that does not state the change. */
const forge = (change: {
  readonly line?: Partial<DistributionLine>
  readonly distribution?: Partial<Distribution>
}) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const act = { cause: { by: "run", runId: "fault" } as const, now }
    const line = yield* records.get(distributionLines, `${id}.1`)
    const self = yield* records.get(distributions, id)
    const forgedLine = {
      ...distributionLines,
      evolve: (before: DistributionLine) => ({ ...before, ...change.line })
    }
    const forged = {
      ...distributions,
      announce: () => [],
      evolve: (before: Distribution) => ({ ...before, ...change.distribution })
    }
    const rolled = { on: "roll", at: now, uid: "none" } as const
    if (change.line !== undefined) {
      yield* records.transact(records.append(forgedLine, line, rolled, act))
    }
    const paid = { on: "pay", at: now, rolled: 0 } as const
    if (change.distribution !== undefined) {
      yield* records.transact(records.append(forged, self, paid, act))
    }
    return { line, self }
  })

/** Releases the hold of the runs, and accepts every open finding. */
const accepts = Effect.gen(function* () {
  const [hold] = yield* Reconciling.openHolds
  const accept = (yield* Reconciling.findings)
    .filter(({ state }) => state === "open")
    .map(({ findingId }) => findingId as string)
  const released = yield* Calls.write(
    "hold.release",
    { holdId: hold!.holdId },
    { accept, reason: "paid by hand" }
  )
  assert.strictEqual(released.why, "")
})

/** Accepts what each run finds until none blocks; a finding shows one figure at a time. */
const acceptsAll = Effect.gen(function* () {
  for (let round = 0; round < 12; round++) {
    if ((yield* Reconciling.openHolds).length === 0) return
    yield* accepts
    yield* Reconciling.run()
  }
  assert.fail("accepted figures open their finding again")
})

describe("a run over an executed distribution", () => {
  for (const terms of [Executions.par, Executions.accumulating]) {
    it.effect(`finds nothing where nothing was changed (${terms.valuation})`, () =>
      Effect.gen(function* () {
        yield* july(terms)
        const [run] = yield* Reconciling.allRuns
        assert.deepEqual(
          run?.checks.flatMap(({ check, ran, why }) => (ran && why === null ? [check] : [])),
          [
            "register-supply",
            "movements-balance",
            "lots-holdings",
            "distribution-recompute",
            "distribution-identity",
            "admission-effect",
            "holder-cap",
            "projection-drift"
          ]
        )
        assert.deepEqual([run?.verdict, run?.distributionsCleared], ["clear", [id]])
      }).pipe(engine())
    )
  }

  it.effect(
    "finds a line whose figures are not those of its pins, and holds what it would pay",
    () =>
      Effect.gen(function* () {
        yield* july()
        const { line } = yield* forge({ line: { net: d("100"), withheld: d("27.67") } })
        assert.strictEqual(Decimal.formatPlain(line.gross), "127.67")
        const { value } = yield* Reconciling.run()
        assert.strictEqual(value.verdict, "blocked")
        // Withheld comes before net; the sums of the ledger are other ones, too.
        assert.deepEqual((yield* Reconciling.found).toSorted(), [
          `distribution-identity ${id} open 8.52`,
          `distribution-recompute ${id}.1 open 8.52`
        ])
        assert.strictEqual((yield* Executions.distributionOf(id)).state, "held")
        yield* forge({ line: { net: line.net, withheld: line.withheld } })
        assert.strictEqual((yield* Reconciling.run()).value.verdict, "clear")
        assert.isTrue((yield* Reconciling.found).every((text) => text.includes(" cleared ")))
      }).pipe(engine())
  )

  // docs/domain/reconciliation.md#acceptance
  it.effect(
    "finds each figure of a line beside the accepted ones, and is clear of all in the end",
    () =>
      Effect.gen(function* () {
        yield* july()
        const { line } = yield* forge({ line: { net: d("100"), withheld: d("27.67") } })
        const states = Effect.map(Reconciling.found, (found) =>
          found.filter((text) => text.startsWith("distribution-recompute"))
        )
        const lineIn = (state: string, amount: string) => [
          `distribution-recompute ${id}.1 ${state} ${amount}`
        ]
        yield* Reconciling.run()
        assert.deepEqual(yield* states, lineIn("open", "8.52"))
        yield* accepts
        const net = Decimal.formatPlain(Decimal.subtract(d("100"), line.net))
        assert.strictEqual((yield* Reconciling.run()).value.verdict, "blocked")
        assert.deepEqual(yield* states, lineIn("open", net))
        // A second run before people accept must not show the accepted figure again.
        yield* Reconciling.run()
        assert.deepEqual(yield* states, lineIn("open", net))
        yield* acceptsAll
        yield* Reconciling.run()
        assert.match(String(yield* states), / accepted /u)
        assert.strictEqual((yield* Executions.distributionOf(id)).state, "payable")
      }).pipe(engine())
  )

  it.effect("finds a line that is missing, and lines without the hash that was signed", () =>
    Effect.gen(function* () {
      yield* july()
      const records = yield* Records
      const { self } = yield* forge({ distribution: { linesHash: "ab".repeat(32) } })
      yield* Reconciling.run()
      assert.deepEqual(yield* Reconciling.found, [`distribution-recompute ${id} open 0`])
      yield* forge({ distribution: { linesHash: self.linesHash } })
      yield* records.transact(records.forget(distributionLines, [`${id}.2`]))
      yield* Reconciling.run()
      assert.deepEqual((yield* Reconciling.found).toSorted(), [
        `distribution-identity ${id} open -1`,
        `distribution-recompute ${id} open -1`,
        `distribution-recompute ${id}.2 open -12345.678901`
      ])
    }).pipe(engine())
  )

  it.effect("finds lines that pay fractions of the currency's smallest amount", () =>
    Effect.gen(function* () {
      yield* july()
      yield* forge({ distribution: { currency: "JPY" } })
      yield* Reconciling.run()
      // Hundredths of a yen, as lines of terms were that nobody had judged by the currency.
      assert.deepEqual(yield* Reconciling.found, [`distribution-identity ${id} open 2`])
      assert.strictEqual((yield* Executions.distributionOf(id)).state, "held")
    }).pipe(engine())
  )

  it.effect("names a distribution whose history is not kept, and does not compare it", () =>
    Effect.gen(function* () {
      yield* july()
      const instrument = yield* (yield* Records).get(instruments, "fund-a")
      const at = { pin: pinAt(yield* Venue.offsetNow), horizonOffset: Number.MAX_SAFE_INTEGER }
      const facts = yield* Stream.runCollect(recomputed(instrument, at))
      assert.deepEqual(
        facts.map((fact) =>
          fact instanceof NotCompared ? [fact.subject.id, fact.why, fact.isNeeded] : "compared"
        ),
        [[id, "before-horizon", true]]
      )
    }).pipe(engine())
  )

  it.effect("judges whole payments where cash is paid, also of an accumulating instrument", () =>
    Effect.gen(function* () {
      yield* july()
      const fractions = Effect.gen(function* () {
        yield* Reconciling.run()
        return (yield* Reconciling.found).filter(
          (text) => text === `distribution-identity ${id} open 2`
        ).length
      })
      yield* forge({ distribution: { currency: "JPY", valuation: "accumulating" } })
      assert.strictEqual(yield* fractions, 1)
      // A rebasing instrument only reports its income, and units are no cash.
      yield* forge({ distribution: { valuation: "rebasing" } })
      assert.strictEqual(yield* fractions, 0)
      yield* forge({ distribution: { valuation: "par" } })
      assert.strictEqual(yield* fractions, 1)
      yield* forge({ distribution: { payout: "units" } })
      assert.strictEqual(yield* fractions, 0)
    }).pipe(engine())
  )

  it.effect("finds totals that are not those of the lines", () =>
    Effect.gen(function* () {
      yield* july()
      const { self } = yield* forge({})
      yield* forge({
        distribution: { totals: { ...self.totals, equalisation: d("3") } }
      })
      yield* Reconciling.run()
      assert.deepEqual(yield* Reconciling.found, [`distribution-identity ${id} open -3`])
    }).pipe(engine())
  )
})
