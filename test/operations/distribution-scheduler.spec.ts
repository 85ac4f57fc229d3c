/** Distributions that run by themselves: announced once, executed under standing approvals, once over several hosts. */
import { Engine, EventQueries, Records, Workers } from "@bursar/engine-core"
import {
  Date as CalendarDate,
  Decimal,
  Instant,
  Month as CalendarMonth
} from "@bursar/engine-core/kernel"
import { LeaseLost } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as CalendarQueries from "#core/distributions/period/CalendarQueries.ts"
import { dueDistributions } from "#core/distributions/schedule/DueDistributionRunner.ts"
import {
  openedAlike,
  scheduledDistributions
} from "#core/distributions/schedule/ScheduledDistribution.ts"
import { standingApprovals } from "#core/distributions/standing-approval/StandingApproval.ts"
import * as Logged from "#core/writes/Logged.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import { list } from "./venue.ts"
import { reachableWhile } from "./unreachable.ts"

const engine = () => Effect.provide(world())
const includes = (self: object, members: object) => assert.deepInclude(self, members)
const d = Decimal.of

const grants = (body: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write(
    "standing-approval.grant",
    {},
    {
      standingApprovalId: "sa1",
      instrumentId: "fund-a",
      until: "2027-06-30T00:00:00Z",
      ...body
    }
  )

/** Turns of the scheduled tasks for so many seconds, and what they open. */
const passes = (seconds: number) =>
  Effect.gen(function* () {
    const { runOnce } = yield* Workers.runnerOf("schedules")
    for (let passed = 0; passed < seconds; passed += 5) {
      yield* TestClock.adjust("5 seconds")
      yield* runOnce
      yield* Calls.settle
    }
  })

const dues = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const page = yield* feed.page({
    caller: Calls.operator,
    params: { resourceKind: ["scheduled-distribution"] },
    limit: 1000
  })
  return page.value.map(({ type, resourceId, payload }) => {
    const { refused } = payload as { readonly refused: { readonly problem: string } | null }
    return `${type} ${resourceId} ${refused?.problem ?? "-"}`
  })
})

const executions = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* Stream.runCollect(
    records.stream(operations, { where: { kind: ["distribution.execute"] } })
  )
  return found.map(({ record }) => record)
})

const scheduled = Effect.flatMap(Records, (records) =>
  records.get(scheduledDistributions, "fund-a:2026-07")
)

/** A par fund with a holder and a point in July, when July's record date has just passed. */
const july = (rateChange: "alert" | "refuse" = "alert") =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Executions.founded(["h1"])
    const [holder] = holders
    if (holder === undefined) throw new Error("there is a holder")
    yield* Powers.mints(stage, holder, "333333.333333")
    yield* Cycles.at("2026-07-28T12:00:00Z")
    yield* Executions.publishes(stage, "0.000095759", "2026-07-28T11:00:00Z")
    if (rateChange === "refuse") {
      yield* Calls.write(
        "policy.set",
        { instrumentId: "fund-a" },
        { rateChange },
        Calls.operator,
        "1"
      )
    }
    yield* Cycles.at("2026-08-01T00:00:00Z")
    return { stage, holder }
  })

/** A month that was announced and that no turn has opened an execution of. */
const plannedMonth = {
  month: CalendarMonth.of("2026-07"),
  recordDate: CalendarDate.of("2026-07-31"),
  distributionId: null,
  opened: 0,
  openedAlike: 0,
  operationId: null,
  circumstances: null,
  againAt: null,
  refused: null,
  announced: []
}

describe("the pause after a refused execution", () => {
  it("begins anew with other circumstances, and goes by all executions in older records", () => {
    const open = (circumstances: string) =>
      ({ on: "open", operationId: "op", circumstances }) as const
    const { evolve } = scheduledDistributions
    const planned = { ...plannedMonth, instrumentId: "fund-a", recordEndsAt: Instant.fromNanos(0n) }
    const before = { ...planned, opened: 3, circumstances: "a", openedAlike: null }
    const fourth = evolve(before as unknown as Parameters<typeof evolve>[0], open("a"))
    assert.strictEqual(openedAlike(fourth), 4)
    const other = evolve(fourth, open("b"))
    assert.deepStrictEqual([other.opened, openedAlike(other)], [5, 1])
    assert.strictEqual(openedAlike(evolve(other, open("b"))), 2)
  })
})

describe("the scheduler", () => {
  it.effect("executes a due month under the approval, once, and counts its use", () =>
    Effect.gen(function* () {
      yield* july()
      yield* grants({ maxUses: 1 })
      yield* passes(55)
      assert.deepEqual(yield* dues, [])
      yield* passes(130)
      assert.deepEqual(yield* dues, ["distribution.due fund-a:2026-07 -"])
      const [operation, ...others] = yield* executions
      assert.deepEqual(others, [])
      includes(operation ?? {}, {
        state: "succeeded",
        actor: "engine",
        actorName: null,
        role: null,
        actionKey: null
      })
      const self = yield* Executions.distributionOf("fund-a.2026-07")
      assert.deepEqual(self.executedBy, {
        operationId: operation?.operationId ?? "",
        standingApprovalId: "sa1"
      })
      const records = yield* Records
      includes(yield* records.get(standingApprovals, "sa1"), {
        state: "exhausted",
        uses: 1,
        usedNet: self.totals.net
      })
      includes(yield* scheduled, { distributionId: "fund-a.2026-07", refused: null })
      yield* passes(130)
      assert.strictEqual((yield* executions).length, 1)
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("announces a month without an approval, and opens nothing until one is granted", () =>
    Effect.gen(function* () {
      yield* july()
      yield* passes(180)
      assert.deepEqual(yield* dues, ["distribution.due fund-a:2026-07 -"])
      assert.deepEqual(yield* executions, [])
      yield* grants()
      yield* passes(5)
      assert.deepEqual(
        (yield* executions).map(({ state }) => state),
        ["succeeded"]
      )
      assert.strictEqual((yield* dues).length, 1)
    }).pipe(engine())
  )

  it.effect(
    "never announces a month that the policy has left since, which people may execute",
    () =>
      Effect.gen(function* () {
        yield* july()
        yield* Cycles.changes(1, {
          distribution: { schedule: "none", withholding: 0.15, payoutDecimals: 2, payout: "cash" }
        })
        yield* passes(180)
        assert.deepEqual(yield* dues, [])
        const body = { instrumentId: "fund-a", month: "2026-07" }
        includes(yield* Calls.write("distribution.execute", {}, body), {
          state: "succeeded",
          why: ""
        })
      }).pipe(engine())
  )

  it.effect("opens nothing while a hold blocks the month or the approval is revoked", () =>
    Effect.gen(function* () {
      yield* july()
      yield* grants()
      yield* Calls.write(
        "instrument.pause",
        { instrumentId: "fund-a" },
        { holdId: "hold-1", reason: "looked into" }
      )
      yield* passes(180)
      assert.deepEqual(yield* dues, ["distribution.due fund-a:2026-07 -"])
      assert.deepEqual(yield* executions, [])
      yield* Calls.write("standing-approval.revoke", { standingApprovalId: "sa1" }, {})
      yield* Calls.write("hold.release", { holdId: "hold-1" }, {})
      yield* passes(30)
      assert.deepEqual(yield* executions, [])
      yield* grants({ standingApprovalId: "sa2" })
      yield* passes(5)
      assert.strictEqual((yield* executions).length, 1)
    }).pipe(engine())
  )

  it.effect(
    "announces a refusal once for its check, and tries again when the approval is another",
    () =>
      Effect.gen(function* () {
        yield* july()
        yield* grants({ maxNet: 100 })
        yield* passes(95)
        const refused = [
          "distribution.due fund-a:2026-07 -",
          "distribution.due fund-a:2026-07 rule-refused"
        ]
        assert.deepEqual(yield* dues, refused)
        const [first] = yield* executions
        includes(first?.problem ?? {}, { gate: "policy", check: "standing-approval" })
        // The scheduler opens it again after a minute, and the same check refuses it.
        yield* passes(130)
        assert.isAbove((yield* executions).length, 1)
        assert.deepEqual(yield* dues, refused)
        const [row] = (yield* list(CalendarQueries.list, {})).value
        includes(row?.refused ?? {}, { problem: "rule-refused" })
        includes(row ?? {}, { periodState: "due", distributionId: null })
        const records = yield* Records
        includes(yield* records.get(standingApprovals, "sa1"), { uses: 0, usedNet: Decimal.zero })
        yield* Calls.write("standing-approval.revoke", { standingApprovalId: "sa1" }, {})
        yield* grants({ standingApprovalId: "sa2", maxNet: 108.52 })
        yield* passes(5)
        includes(yield* records.get(standingApprovals, "sa2"), {
          state: "exhausted",
          usedNet: d("108.52")
        })
      }).pipe(engine())
  )

  it.effect.each([
    {
      change: "another point",
      does: (stage: Fund.Parties) => Executions.publishes(stage, "0.0001", "2026-07-29T12:00:00Z")
    },
    {
      change: "another policy",
      does: () =>
        Calls.write(
          "policy.set",
          { instrumentId: "fund-a" },
          { rateChange: "refuse" },
          Calls.operator,
          "1"
        )
    },
    { change: "nothing", does: () => Effect.void }
  ])("tries again before its minute is over only where it met something else ($change)", (row) =>
    Effect.gen(function* () {
      const { stage } = yield* july()
      yield* grants({ maxNet: 100 })
      yield* passes(95)
      assert.strictEqual((yield* executions).length, 1)
      yield* row.does(stage)
      yield* passes(5)
      assert.strictEqual((yield* executions).length, row.change === "nothing" ? 1 : 2)
    }).pipe(engine())
  )

  it.effect("opens nothing under an approval that has not begun, and executes once it begins", () =>
    Effect.gen(function* () {
      yield* july()
      yield* grants({ from: "2026-08-01T00:05:00Z" })
      yield* passes(180)
      assert.deepEqual(yield* executions, [])
      assert.deepEqual(yield* dues, ["distribution.due fund-a:2026-07 -"])
      yield* passes(180)
      assert.deepEqual(
        (yield* executions).map(({ state }) => state),
        ["succeeded"]
      )
    }).pipe(engine())
  )

  it.effect("opens no second execution while the first has not ended", () =>
    Effect.gen(function* () {
      yield* july()
      yield* grants()
      const { runOnce } = yield* Workers.runnerOf("schedules")
      // No operation is worked on meanwhile.
      for (let passed = 0; passed < 180; passed += 5) {
        yield* TestClock.adjust("5 seconds")
        yield* runOnce
      }
      assert.deepEqual(
        (yield* executions).map(({ state }) => state),
        ["queued"]
      )
    }).pipe(engine())
  )

  it.effect(
    "announces months that pass together, and none whose record date no calendar says",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* july()
        const { calendar: _, ...distribution } = Executions.par.distribution
        const months = { ...distribution, calendar: null }
        const fundA = { instrumentId: "fund-a" }
        const effectiveFrom = "2026-08-31T12:00:00Z"
        const set = yield* Calls.write(
          "policy.set",
          fundA,
          { distribution: months, effectiveFrom },
          Calls.operator,
          "1"
        )
        assert.strictEqual(set.why, "")
        for (const day of ["2026-08-28", "2026-09-28"]) {
          yield* Cycles.at(`${day}T12:00:00Z`)
          yield* Executions.publishes(stage, "0.0001", `${day}T11:00:00Z`)
        }
        yield* Cycles.at("2026-10-01T00:00:00Z")
        yield* passes(180)
        const rows = (yield* list(CalendarQueries.list, {})).value
        assert.deepEqual(
          rows.slice(0, 3).map(({ month, periodState }) => `${month} ${periodState}`),
          ["2026-07 due", "2026-08 blocked", "2026-09 blocked"]
        )
        assert.deepEqual(yield* dues, [
          "distribution.due fund-a:2026-07 -",
          "distribution.due fund-a:2026-08 -"
        ])
      }).pipe(engine())
  )

  it.effect("never announces or opens by a turn that another host has taken over", () =>
    Effect.gen(function* () {
      yield* july()
      const lost = new LeaseLost({ queue: "schedule", itemId: "due-distributions" })
      const turn = { state: "", fence: Effect.fail(lost), next: () => Effect.void }
      yield* TestClock.adjust("2 minutes")
      // One that is not announced yet is looked at by the next turn.
      yield* Effect.exit(dueDistributions.run(turn))
      assert.deepEqual(yield* dues, [])
      yield* passes(65)
      assert.strictEqual((yield* dues).length, 1)
      yield* grants()
      assert.strictEqual(yield* Effect.flip(dueDistributions.run(turn)), lost)
      assert.deepEqual(yield* executions, [])
      yield* passes(5)
      assert.strictEqual((yield* executions).length, 1)
    }).pipe(engine())
  )

  it.effect("executes a month although that of another instrument fails in every turn", () =>
    Effect.gen(function* () {
      yield* july()
      yield* grants()
      const records = yield* Records
      const failing = {
        ...plannedMonth,
        recordEndsAt: Instant.of("2026-08-01T00:00:00Z"),
        instrumentId: "another-fund" as never
      }
      yield* records.transact(
        records.open(scheduledDistributions, failing, {
          cause: { by: "clock" },
          now: yield* Instant.now
        })
      )
      const find: typeof records.find = (collection, id, ...pin) =>
        id === "another-fund:2026-07"
          ? Effect.die(new Error("this month cannot be read"))
          : records.find(collection, id, ...pin)
      const turn = { state: "", fence: Effect.void, next: () => Effect.void }
      yield* TestClock.adjust("3 minutes")
      const exit = yield* Effect.exit(
        dueDistributions.run(turn).pipe(Effect.provideService(Records, { ...records, find }))
      )
      yield* Calls.settle
      assert.strictEqual(exit._tag, "Success")
      assert.deepEqual(
        (yield* executions).map(({ state }) => state),
        ["succeeded"]
      )
      includes(yield* scheduled, { refused: null })
    }).pipe(engine())
  )

  it.effect("announces nothing while a movement of the record date may still come", () => {
    let isUp = true
    const tamper = reachableWhile(() => isUp)
    return Effect.gen(function* () {
      yield* july()
      const { runOnce } = yield* Workers.runnerOf("schedules")
      isUp = false
      for (let passed = 0; passed < 180; passed += 5) {
        yield* TestClock.adjust("5 seconds")
        yield* runOnce
      }
      assert.deepEqual(yield* dues, [])
      isUp = true
      yield* passes(180)
      assert.deepEqual(yield* dues, ["distribution.due fund-a:2026-07 -"])
    }).pipe(Effect.provide(world({ tamper })))
  })

  it.effect("never opens or announces twice, though several hosts look at the same time", () =>
    Effect.gen(function* () {
      yield* july()
      yield* grants()
      const instance = Effect.map(Layer.build(Layer.fresh(Engine.layer)), (built) =>
        Context.get(built, Workers.Workers).runnerOf("schedules")
      )
      const hosts = [yield* Workers.runnerOf("schedules"), yield* instance, yield* instance]
      for (let passed = 0; passed < 130; passed += 5) {
        yield* TestClock.adjust("5 seconds")
        yield* Effect.all(
          hosts.map(({ runOnce }) => runOnce),
          { concurrency: "unbounded" }
        )
        yield* Calls.settle
      }
      assert.deepEqual(yield* dues, ["distribution.due fund-a:2026-07 -"])
      assert.deepEqual(
        (yield* executions).map(({ state }) => state),
        ["succeeded"]
      )
    }).pipe(Effect.scoped, engine())
  )

  it.effect("never uses an approval for an execution that people approved", () =>
    Effect.gen(function* () {
      yield* july()
      yield* grants({ from: "2026-08-02T00:00:00Z" })
      yield* Cycles.at("2026-08-01T00:02:00Z")
      const ended = yield* Calls.write(
        "distribution.execute",
        {},
        { instrumentId: "fund-a", month: "2026-07" }
      )
      includes(ended, { state: "succeeded", why: "" })
      yield* passes(130)
      const records = yield* Records
      includes(yield* records.get(standingApprovals, "sa1"), { uses: 0 })
      const self = yield* Executions.distributionOf("fund-a.2026-07")
      assert.isNull(self.executedBy.standingApprovalId)
      assert.strictEqual((yield* executions).length, 1)
    }).pipe(engine())
  )

  it.effect("neither goes on with an execution that people began, nor takes it for executed", () =>
    Effect.gen(function* () {
      const { stage } = yield* july()
      yield* passes(130)
      const point = yield* Fund.newestContract(Templates.OraclePoint)
      // Its lines are not added yet.
      yield* Month.executes(stage, Month.termsOf(stage, point.cid))
      yield* grants()
      yield* passes(30)
      assert.deepEqual(yield* executions, [])
      includes(yield* scheduled, { distributionId: null, operationId: null })
    }).pipe(engine())
  )

  it.effect("is not taken for a person whose subject looks like the word engine", () =>
    Effect.gen(function* () {
      yield* july()
      yield* grants()
      yield* Cycles.at("2026-08-01T00:02:00Z")
      const body = { instrumentId: "fund-a", month: "2026-07" }
      const engineItself = Calls.person("engine", "operator")
      const refused = yield* Calls.write("distribution.execute", {}, body, engineItself)
      includes(refused, { state: "refused", why: "unauthenticated" })
      const namesake = Calls.person("Engine", "operator")
      const ended = yield* Calls.write("distribution.execute", {}, body, namesake)
      includes(ended, { state: "succeeded", why: "" })
      const self = yield* Executions.distributionOf("fund-a.2026-07")
      assert.isNull(self.executedBy.standingApprovalId)
      const records = yield* Records
      includes(yield* records.get(standingApprovals, "sa1"), { uses: 0 })
      const [operation] = yield* executions
      if (operation === undefined) throw new Error("an operation executed the month")
      includes(operation, { actor: "Engine", role: "operator" })
      includes(Logged.ended(operation, null), { actor: "Engine", role: "operator" })
    }).pipe(engine())
  )
})

describe("rates that differ in a period of the scheduler (vector G36)", () => {
  const rates = (policy: "alert" | "refuse", approval: "alert" | "refuse") =>
    Effect.gen(function* () {
      const { stage } = yield* july(policy)
      for (const [rate, valued] of [
        ["0.15", "2026-07-29T12:00:00Z"],
        ["0.2", "2026-07-30T12:00:00Z"]
      ] as const) {
        yield* Executions.publishes(stage, "0.0001", valued, { withholdingRate: rate })
      }
      yield* grants({ rateChange: approval })
      yield* passes(95)
      return { executed: yield* executions, announced: yield* dues }
    })

  it.effect("are executed at the latest, where nobody refuses", () =>
    Effect.gen(function* () {
      const { executed } = yield* rates("alert", "alert")
      assert.deepEqual(
        executed.map(({ state }) => state),
        ["succeeded"]
      )
      includes(yield* Executions.distributionOf("fund-a.2026-07"), { withholding: d("0.2") })
    }).pipe(engine())
  )

  it.effect("block the month by the policy's word, so that nothing is opened", () =>
    Effect.gen(function* () {
      const { executed, announced } = yield* rates("refuse", "alert")
      assert.deepEqual(executed, [])
      assert.deepEqual(announced, ["distribution.due fund-a:2026-07 -"])
    }).pipe(engine())
  )

  it.effect("are refused by the approval's own word, and announced", () =>
    Effect.gen(function* () {
      const { executed, announced } = yield* rates("alert", "refuse")
      assert.deepEqual(
        executed.map(({ state, problem }) => `${state} ${problem?.check}`),
        ["failed rate-change"]
      )
      assert.strictEqual(announced.at(-1), "distribution.due fund-a:2026-07 rule-refused")
    }).pipe(engine())
  )

  it.effect("are announced beside another check of the same slug, each once", () =>
    Effect.gen(function* () {
      const { announced } = yield* rates("alert", "refuse")
      yield* Calls.write("standing-approval.revoke", { standingApprovalId: "sa1" }, {})
      yield* grants({ standingApprovalId: "sa2", rateChange: "alert", maxNet: 1 })
      yield* passes(130)
      assert.deepEqual(
        [...new Set((yield* executions).map(({ problem }) => problem?.check))],
        ["rate-change", "standing-approval"]
      )
      assert.deepEqual(yield* dues, [...announced, "distribution.due fund-a:2026-07 rule-refused"])
    }).pipe(engine())
  )
})
