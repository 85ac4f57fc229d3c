/** Distributions and what stops their instrument: cleared by runs, held by holds, paid where nothing is left. */
import { EventQueries, Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Struct } from "effect"
import { TestClock } from "effect/testing"
import { shownDistributions } from "#core/distributions/distribution/Distribution.ts"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import * as LineLookups from "#core/distributions/distribution/LineLookups.ts"
import { payIfSettled } from "#core/distributions/distribution/PaymentSteps.ts"
import { distributionTimers } from "#core/distributions/distribution/DistributionTimer.ts"
import { contracts } from "#core/projection/Contract.ts"
import { FindingId, findings, first } from "#core/findings/Finding.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Month from "./distributions.ts"
import type * as Fund from "./fund.ts"
import * as Reconciling from "./reconciling.ts"
import * as Restricting from "./restricting.ts"
import * as Stating from "./stating.ts"
import { reachableWhile } from "./unreachable.ts"

const engine = () => Effect.provide(world())

const scene = (holderIds: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { stage, holders, point } = yield* Month.founded(holderIds)
    return { stage, point, lines: holders.map(({ party }, nth) => Month.lineOf(nth + 1, party)) }
  })

/** The month executed with these lines, and not sealed. */
const executed = (stage: Fund.Parties, point: string, lines: ReadonlyArray<Month.Line>) =>
  Effect.gen(function* () {
    yield* Month.executes(stage, Month.termsOf(stage, point))
    yield* Month.adds("d-july", lines)
  })

const month = Effect.map(Month.distribution(), Struct.pick(["state", "holdId", "clearedByRun"]))

const paused = Effect.gen(function* () {
  const { result } = yield* Calls.write(
    "instrument.pause",
    { instrumentId: "fund-a" },
    { reason: "looked into" }
  )
  return String(result["holdId"])
})

const released = (holdId: string, accept: ReadonlyArray<string> = []) =>
  Calls.write("hold.release", { holdId }, accept.length > 0 ? { accept, reason: "known" } : {})

const announced = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const page = yield* feed.page({
    caller: Calls.operator,
    params: { resourceKind: ["distribution"] },
    limit: 1000
  })
  return page.value.map(({ type }) => type).filter((type) => type.startsWith("distribution."))
})

/** A new epoch of the ledger began without the contract of a line. */
const loses = (lineId: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const self = yield* records.get(distributionLines, lineId)
    const { createdAt: _, updatedAt: __, version: ___, ...body } = self
    const lost = distributionLines.lost?.(body, {
      updateId: "snapshot",
      offset: Offset.of(9),
      at: now
    })
    yield* records.transactAlone(
      records.restate(distributionLines, self, lost ?? body, { cause: { by: "clock" }, now })
    )
  })

const shownMonth = Effect.flatMap(Records, (records) => records.get(shownDistributions, "d-july"))
const timer = Effect.flatMap(Records, (records) => records.get(distributionTimers, "d-july"))

describe("a distribution", () => {
  it.effect("is never cleared before it is sealed, and then by a run that starts by itself", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      yield* executed(stage, point, lines)
      assert.deepEqual((yield* Reconciling.run()).value.distributionsCleared, [])
      assert.deepEqual(yield* month, { state: "executed", holdId: null, clearedByRun: null })

      yield* Month.seals("d-july", lines)
      const run = (yield* Reconciling.allRuns).at(-1)
      assert.deepEqual(
        [run?.trigger, run?.verdict, run?.scope, run?.distributionsCleared],
        ["schedule", "clear", { instrumentIds: ["fund-a"], checks: null }, ["d-july"]]
      )
      assert.deepEqual(yield* month, {
        state: "payable",
        holdId: null,
        clearedByRun: run?.runId ?? "no run"
      })
      assert.deepEqual(yield* announced, ["distribution.payable"])
      // A later run has nothing to clear.
      assert.deepEqual((yield* Reconciling.run()).value.distributionsCleared, [])
    }).pipe(engine())
  )

  it.effect("is held by a hold from before, and payable by the run after its release", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      yield* executed(stage, point, lines)
      const first = yield* paused
      assert.deepEqual(yield* month, { state: "held", holdId: first, clearedByRun: null })
      yield* Month.seals("d-july", lines)
      assert.strictEqual((yield* month).state, "held")
      const second = yield* paused
      yield* released(first)
      // The second hold is still open.
      assert.deepEqual(yield* month, { state: "held", holdId: first, clearedByRun: null })
      yield* released(second)
      assert.strictEqual((yield* month).state, "payable")
      assert.deepEqual(
        (yield* Reconciling.allRuns).map(({ trigger }) => trigger),
        ["schedule", "release", "release"]
      )
      assert.deepEqual(yield* announced, ["distribution.held", "distribution.payable"])
    }).pipe(engine())
  )

  it.effect("is held at once where it is payable, and by a run where a finding blocks", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      yield* executed(stage, point, lines)
      yield* Month.seals("d-july", lines)
      const hold = yield* paused
      assert.deepEqual(Struct.pick(yield* month, ["state", "holdId"]), {
        state: "held",
        holdId: hold
      })
      yield* released(hold)
      assert.strictEqual((yield* month).state, "payable")

      yield* Reconciling.plantMovement(stage)
      const { value } = yield* Reconciling.run()
      assert.strictEqual(value.verdict, "blocked")
      assert.deepEqual(Struct.pick(yield* month, ["state", "holdId"]), {
        state: "held",
        holdId: value.holdsOpened[0] ?? "no hold"
      })
      // A run of fewer checks clears nothing, also without findings.
      const [open] = yield* Reconciling.openHolds
      yield* released(open?.holdId ?? "", open?.findings ?? [])
      assert.strictEqual((yield* month).state, "payable")
    }).pipe(engine())
  )

  it.effect("waits for no line that a new ledger epoch lost, and neither does its holder", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1", "h2"])
      yield* executed(stage, point, lines)
      yield* Month.seals("d-july", lines)
      const records = yield* Records
      const now = yield* Instant.now
      const act = { cause: { by: "clock" }, now } as const
      const waiting = Effect.gen(function* () {
        const [line] = yield* Month.lines
        const payee = { holderId: "h1", party: line?.party ?? "" }
        return {
          hasUnrolled: yield* LineLookups.hasUnrolled("fund-a", null),
          ofHolder: yield* LineLookups.unrolledOfHolder("h1"),
          owed: yield* records.transactAlone(
            Effect.map(LineLookups.owedTo([payee]), (owed) => owed.length)
          ),
          carries: (yield* LineLookups.unrolledOf(["d-july"], [payee], null)).length
        }
      })
      const settled = records.transactAlone(payIfSettled("d-july", { at: now, act }))
      assert.deepEqual(yield* waiting, {
        hasUnrolled: true,
        ofHolder: "d-july.1",
        owed: 1,
        carries: 1
      })
      yield* loses("d-july.1")
      const counts = yield* LineLookups.waitedCountsOf(["d-july"], null)
      assert.deepInclude(counts.get("d-july"), { due: 1, delivered: 0 })
      // The other line is still due.
      yield* settled
      assert.strictEqual((yield* month).state, "payable")
      assert.deepEqual(yield* waiting, { hasUnrolled: true, ofHolder: null, owed: 0, carries: 0 })
      yield* loses("d-july.2")
      assert.strictEqual((yield* waiting).hasUnrolled, false)
      yield* settled
      assert.strictEqual((yield* month).state, "paid")
      assert.deepEqual(
        (yield* Month.lines).map(({ lost, state }) => [state, lost]),
        [
          ["due", true],
          ["due", true]
        ]
      )
    }).pipe(engine())
  )

  it.effect("rolls what was delivered beside a line that a new ledger epoch lost", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1", "h2"])
      yield* executed(stage, point, lines)
      yield* Month.seals("d-july", lines)
      yield* loses("d-july.1")
      yield* TestClock.adjust("72 hours")
      yield* Month.turns("d-july", "Open")
      yield* Month.delivers(stage, "d-july", "d-july.2")
      assert.isNotNull((yield* timer).rollAt)
    }).pipe(engine())
  )

  it.effect("is never held for lines that a new ledger epoch lost alone", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      yield* executed(stage, point, lines)
      yield* Month.seals("d-july", lines)
      yield* loses("d-july.1")
      yield* paused
      assert.strictEqual((yield* month).state, "payable")
      assert.strictEqual((yield* shownMonth).state, "payable")
    }).pipe(engine())
  )

  it.effect("is never cleared by a run that could not reach the ledger", () => {
    let isUp = true
    const tamper = reachableWhile(() => isUp)
    return Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      yield* executed(stage, point, lines)
      const hold = yield* paused
      yield* Month.seals("d-july", lines)
      yield* released(hold)
      yield* Reconciling.holdAgain("d-july", hold)
      isUp = false
      const { value } = yield* Reconciling.run()
      assert.deepEqual([value.verdict, value.distributionsCleared], ["incomplete", []])
      assert.strictEqual((yield* month).state, "held")
      isUp = true
      assert.deepEqual((yield* Reconciling.run()).value.distributionsCleared, ["d-july"])
    }).pipe(Effect.provide(world({ tamper })))
  })

  it.effect("is never shown as held where no line is shown as due", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      yield* Calls.write("admission.withdraw", { holderId: "h1", instrumentId: "fund-a" }, {})
      yield* executed(
        stage,
        point,
        lines.map((line) => ({ ...line, waits: true }))
      )
      yield* paused
      const records = yield* Records
      assert.strictEqual((yield* records.get(shownDistributions, "d-july")).state, "executed")
    }).pipe(engine())
  )

  it.effect("is never cleared by a run of which a check could not run", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      const bank = yield* Stating.source("bank", { kind: "cash", account: "acc-1" })
      const stated = {
        businessDate: Instant.date(yield* Instant.now),
        lines: [{ amount: "5", direction: "credit" } as const],
        closing: Decimal.of("5")
      }
      yield* Stating.states(bank, stated)
      yield* executed(stage, point, lines)
      yield* Month.seals("d-july", lines)
      const { value } = yield* Reconciling.run()
      assert.deepEqual(
        value.checks.filter(({ ran }) => !ran).map(({ check, why }) => `${check} ${why}`),
        ["cash-balance opening-missing"]
      )
      assert.deepEqual((yield* month).state, "executed")
      yield* Stating.states(bank, { ...stated, opening: Decimal.zero })
      assert.deepEqual((yield* Reconciling.run()).value.distributionsCleared, ["d-july"])
    }).pipe(engine())
  )

  it.effect("is never cleared while the projection has drifted from the ledger", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      yield* executed(stage, point, lines)
      const records = yield* Records
      const where = { template: [Templates.key(Templates.Credential.typeRef)], active: ["true"] }
      const [row] = yield* records.list(contracts, { where, limit: 1 })
      const { contractId, payload } = row!.record
      const changes = (to: unknown) =>
        Effect.gen(function* () {
          const { offset } = yield* Calls.catchUp
          const evolve = (self: typeof contracts.record.Type) => ({ ...self, payload: to }) as never
          const self = yield* records.get(contracts, contractId)
          const fact = { on: "archive", offset } as never
          const cause = { by: "run", runId: "fault" } as const
          const act = { cause, now: yield* Instant.now, offset: offset as never }
          yield* records.transact(records.append({ ...contracts, evolve }, self, fact, act))
        })
      yield* changes({ forged: true })
      yield* Month.seals("d-july", lines)
      assert.strictEqual((yield* Reconciling.run()).value.verdict, "blocked")
      assert.strictEqual((yield* month).state, "executed")
      yield* changes(payload)
      assert.deepEqual((yield* Reconciling.run()).value.distributionsCleared, ["d-july"])
    }).pipe(engine())
  )

  it.effect("is never cleared by a run of fewer checks", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      yield* executed(stage, point, lines)
      const hold = yield* paused
      yield* Month.seals("d-july", lines)
      const few = '{"scope":{"checks":["register-supply"]}}'
      yield* released(hold)
      yield* Reconciling.holdAgain("d-july", hold)
      const partial = yield* Reconciling.run(few)
      assert.deepEqual([partial.value.verdict, partial.value.distributionsCleared], ["clear", []])
      assert.strictEqual((yield* month).state, "held")
      const whole = yield* Reconciling.run('{"scope":{"instrumentIds":["fund-a"]}}')
      assert.deepEqual(whole.value.distributionsCleared, ["d-july"])
    }).pipe(engine())
  )

  it.effect("is paid at once where every line waits, and stays paid under a hold", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      yield* Restricting.restricts("h1", "r1")
      yield* executed(
        stage,
        point,
        lines.map((line) => ({ ...line, waits: true }))
      )
      // No line is due, so a hold suspends none.
      const hold = yield* paused
      assert.strictEqual((yield* month).state, "executed")
      yield* Month.seals(
        "d-july",
        lines.map((line) => ({ ...line, waits: true }))
      )
      assert.strictEqual((yield* month).state, "executed")
      yield* released(hold)
      assert.strictEqual((yield* month).state, "paid")
      assert.deepEqual(yield* announced, ["distribution.payable", "distribution.paid"])
      yield* paused
      assert.strictEqual((yield* month).state, "paid")
    }).pipe(engine())
  )

  it.effect("may be delivered again after a hold where it is paid and a line is still owed", () =>
    Effect.gen(function* () {
      const { lines, point, stage } = yield* scene(["h1"])
      yield* Calls.write("admission.withdraw", { holderId: "h1", instrumentId: "fund-a" }, {})
      const waiting = lines.map((line) => ({ ...line, waits: true }))
      yield* executed(stage, point, waiting)
      yield* Month.seals("d-july", waiting)
      assert.strictEqual((yield* month).state, "paid")
      const mayDeliver = Effect.flatMap(Records, (records) =>
        Effect.map(records.get(distributionTimers, "d-july"), (timer) => timer.mayDeliver)
      )
      assert.isTrue(yield* mayDeliver)
      const hold = yield* paused
      assert.isFalse(yield* mayDeliver)
      yield* released(hold)
      assert.isTrue(yield* mayDeliver)
    }).pipe(engine())
  )

  it.effect(
    "is never cleared over a blocking finding of a check that this release does not have",
    () =>
      Effect.gen(function* () {
        const { lines, point, stage } = yield* scene(["h1"])
        yield* executed(stage, point, lines)
        const records = yield* Records
        const now = yield* Instant.now
        const act = { cause: { by: "run", runId: "newer" } as const, now }
        const check = "of-a-newer-release"
        const finding = first(
          {
            findingId: Schema.decodeSync(FindingId)("fnd_newer"),
            check,
            instrumentId: "fund-a",
            subject: { resourceKind: "instrument", id: "fund-a" },
            holderId: null
          },
          {
            runId: "newer",
            severity: "blocking",
            expected: null,
            actual: null,
            difference: null,
            unit: "units",
            tolerance: Decimal.zero,
            explained: { amount: Decimal.zero, by: [] },
            unexplained: Decimal.zero,
            asOf: { offset: Offset.zero, instant: now },
            comparedAt: null,
            statementId: null,
            missingDates: [],
            entry: null
          }
        )
        const stored = yield* records.transact(records.open(findings, finding, act))
        yield* Month.seals("d-july", lines)
        assert.strictEqual((yield* month).state, "executed")
        yield* records.transact(
          records.append(findings, stored, { on: "clear", runId: "newer" }, act)
        )
        assert.deepEqual((yield* Reconciling.run()).value.distributionsCleared, ["d-july"])
      }).pipe(engine())
  )
})
