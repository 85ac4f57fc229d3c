/** Verdicts of instruments: judged by every finding and check, and what they would have been. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { findings } from "#core/findings/Finding.ts"
import { checkNames } from "#core/vocabulary/ReconciliationChecks.ts"
import { instrumentVerdicts } from "#core/reconciliation/verdict/InstrumentVerdict.ts"
import * as VerdictQueries from "#core/reconciliation/verdict/VerdictQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Reconciling from "./reconciling.ts"
import * as Story from "./story.ts"
import { hidingWhile } from "./unreachable.ts"
import * as Venue from "./venue.ts"

type Step =
  | { readonly do: "plant"; readonly units: number }
  | { readonly do: "run"; readonly checks: ReadonlyArray<string> | null }
  | { readonly do: "accept" }
  /** The ledger begins to lack a contract that the projection has, or has it again. */
  | { readonly do: "drift" }
  | { readonly do: "wait"; readonly hours: number }

const steps = fc.array(
  fc.oneof(
    fc.record({ do: fc.constant("plant" as const), units: fc.integer({ min: -6, max: 6 }) }),
    fc.record({
      do: fc.constant("run" as const),
      checks: fc.option(
        fc.subarray(["register-supply", "movements-balance", "lots-holdings"], { minLength: 1 })
      )
    }),
    fc.constant({ do: "accept" as const }),
    fc.constant({ do: "drift" as const }),
    fc.record({ do: fc.constant("wait" as const), hours: fc.integer({ min: 1, max: 60 }) })
  ),
  { minLength: 1, maxLength: 7 }
)

const begun = Effect.gen(function* () {
  const cast = yield* Story.cast
  yield* Story.recorded(cast)
  yield* Venue.act(
    cast.registrar,
    Templates.create(Templates.Holding, {
      registrar: cast.registrar.party,
      owner: cast.registrar.party,
      provider: cast.venue,
      instrument: { admin: cast.registrar.party, id: Story.instrumentId },
      amount: Decimal.of("120"),
      restricted: false,
      lock: null,
      label: "",
      meta: {}
    })
  )
  return {
    registrar: cast.registrar.party,
    instrumentId: Story.instrumentId,
    party: cast.registrar.party
  }
})

/** A world whose projection drifts while the walk has it switched on. */
const drifting = () => {
  const drift = { isOn: false }
  return { drift, world: world({ tamper: hidingWhile(() => drift.isOn) }) }
}

const walked = (
  line: Parameters<typeof Reconciling.plant>[0],
  walk: ReadonlyArray<Step>,
  drift: { isOn: boolean }
) =>
  Effect.forEach(
    walk,
    (step) =>
      Effect.gen(function* () {
        switch (step.do) {
          case "plant":
            return step.units === 0 ? undefined : yield* Reconciling.plant(line, String(step.units))
          case "run":
            return yield* Reconciling.run(JSON.stringify({ scope: { checks: step.checks } }))
          case "drift":
            drift.isOn = !drift.isOn
            return undefined
          case "wait":
            return yield* TestClock.adjust(`${step.hours} hours`)
          case "accept": {
            const [hold] = yield* Reconciling.openHolds
            if (hold === undefined) return undefined
            const body = { accept: hold.findings, reason: "it is explained elsewhere" }
            return yield* Effect.exit(Calls.write("hold.release", { holdId: hold.holdId }, body))
          }
        }
      }),
    { discard: true }
  )

const tolerant = (tolerance: number) =>
  Calls.write(
    "policy.set",
    Story.id,
    {
      tolerances: Object.fromEntries(
        ["register-supply", "lots-holdings"].map((check) => [check, tolerance])
      )
    },
    Calls.operator,
    "1"
  )

const verdict = (params: Parameters<typeof VerdictQueries.list.where>[0] = {}) =>
  Effect.map(Venue.list(VerdictQueries.list, params), ({ value }) =>
    value.map(({ runId: _, ...rest }) => rest)
  )

/** Counts of everything stored that a read must not change. */
const stored = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(findings, { limit: 1_000 })
  const verdicts = yield* records.list(instrumentVerdicts, { limit: 1_000 })
  return [...rows, ...verdicts].map(({ sortKey, record }) => `${sortKey} ${record.version}`)
})

describe("the verdict of an instrument", () => {
  it("under another policy version is that of a venue that had it, and is never stored", async () => {
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 12 }), (walk, tolerance) =>
        Effect.gen(function* () {
          const first = drifting()
          const actual = yield* Effect.gen(function* () {
            yield* walked(yield* begun, walk, first.drift)
            yield* tolerant(tolerance)
            yield* Reconciling.run()
            return yield* verdict()
          }).pipe(Effect.provide(first.world))
          const second = drifting()
          const supposed = yield* Effect.gen(function* () {
            yield* walked(yield* begun, walk, second.drift)
            yield* Reconciling.run()
            yield* tolerant(tolerance)
            const before = yield* stored
            const answer = yield* verdict({ instrumentId: Story.instrumentId, policyVersion: 2 })
            assert.deepEqual(yield* stored, before)
            // Under the version in force the verdict is unchanged.
            const own = { instrumentId: Story.instrumentId, policyVersion: 1 }
            assert.deepEqual(yield* verdict(own), yield* verdict())
            return answer
          }).pipe(Effect.provide(second.world))
          const shown = (verdicts: typeof actual) =>
            verdicts.map(({ verdict, open, oldestDays }) => ({ verdict, open, oldestDays }))
          assert.deepEqual(shown(supposed), shown(actual))
        }).pipe(Effect.scoped, Effect.provide(TestClock.layer()), Effect.runPromise)
      ),
      { numRuns: Number(process.env["SUPPOSED_VERDICTS"] ?? 4) }
    )
  })

  it.effect(
    "is incomplete until every check has run, and blocked by what a run did not look at",
    () =>
      Effect.gen(function* () {
        const line = yield* begun
        assert.deepEqual(yield* verdict(), [])
        const only = (check: string) => JSON.stringify({ scope: { checks: [check] } })
        const word = Effect.map(verdict(), ([first]) => first?.verdict)
        yield* Reconciling.run(only("register-supply"))
        assert.strictEqual(yield* word, "incomplete")
        yield* Reconciling.run()
        // The registrar holds units without an admission, which is a warning.
        assert.strictEqual(yield* word, "findings")
        yield* Reconciling.plant(line, "5")
        yield* Reconciling.run(only("lots-holdings"))
        assert.strictEqual(yield* word, "blocked")
        yield* TestClock.adjust("49 hours")
        yield* Reconciling.run(only("register-supply"))
        assert.deepEqual((yield* verdict())[0]?.open, { blocking: 2, warning: 1, info: 0 })
        assert.strictEqual((yield* verdict())[0]?.oldestDays, 2)
        assert.strictEqual(yield* word, "blocked")
        assert.strictEqual((yield* verdict({ verdict: ["clear", "findings"] })).length, 0)
        assert.strictEqual((yield* verdict({ verdict: ["blocked"] })).length, 1)
        const records = yield* Records
        const kept = yield* records.get(instrumentVerdicts, Story.instrumentId)
        assert.deepEqual(kept.ran, [...checkNames])
      }).pipe(Venue.engine())
  )

  it.effect(
    "of a policy version is refused without an instrument, and for one that is not there",
    () =>
      Effect.gen(function* () {
        yield* begun
        yield* Reconciling.run()
        assert.strictEqual(yield* Calls.slug(verdict({ policyVersion: 1 })), "invalid-request")
        const other = { instrumentId: Story.instrumentId, policyVersion: 9 }
        assert.strictEqual(yield* Calls.slug(verdict(other)), "not-found")
      }).pipe(Venue.engine())
  )
})
