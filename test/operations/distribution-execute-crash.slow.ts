/** Instances that die in the middle of an execution of several steps, and operations that fail there. */
import { Catalogue, FourEyes, Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { TestClock } from "effect/testing"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import * as PrecheckQueries from "#core/overviews/precheck/PrecheckQueries.ts"
import * as Calls from "../engine/calls.ts"
import * as Killable from "../engine/killable.ts"
import { ports, world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import { read } from "./venue.ts"

const declared = {
  operations: Catalogue.operations,
  fromLedger: Catalogue.fromLedger,
  clocked: Catalogue.collections,
  timely: Catalogue.timely
}
const engineOf = (death?: Killable.Death) =>
  Killable.make(death === undefined ? declared : { ...declared, death })

/** Runs an effect with an engine that does not die. */
const alive = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(effect.pipe(Effect.provide(engineOf().engine)))

const turns = (seconds: number, count: number) =>
  Effect.gen(function* () {
    for (let n = 0; n < count; n++) {
      yield* TestClock.adjust(`${seconds} seconds`)
      yield* Calls.settle
    }
  })

const holderIds = ["h1", "h2", "h3", "h4", "h5"]

/** Five holders with a hundred units each. */
const founded = Effect.gen(function* () {
  const { stage, holders } = yield* Executions.founded(holderIds)
  for (const holder of holders) yield* Powers.mints(stage, holder, "100")
  return stage
})

/** Number of the month after June 2026, as text. */
const monthOf = (nth: number): string =>
  new Date(Date.UTC(2026, 6 + nth, 1)).toISOString().slice(0, 7)

/** The oracle states an income in the month, and its record date passes. */
const accrues = (stage: Fund.Parties, nth: number) =>
  Effect.gen(function* () {
    const month = monthOf(nth)
    yield* Cycles.at(`${month}-20T12:00:00Z`)
    yield* Executions.publishes(stage, "0.01", `${month}-20T11:00:00Z`)
    yield* Cycles.at(`${monthOf(nth + 1)}-01T00:02:00Z`)
    return month
  })

/** Signed and queued, and not begun. */
const queueExecution = (month: string) =>
  Effect.gen(function* () {
    const body = { instrumentId: "fund-a", month }
    const actionKey = yield* Calls.openAction("distribution.execute", {}, body)
    const door = yield* FourEyes
    yield* door.approve({
      actionKey: String(actionKey),
      caller: Calls.person("ada", "approver"),
      identity: { requestId: `req-${month}`, traceId: null, keyId: null }
    })
  })

/** Number, holder and entitlement of every line, and how often the month was executed. */
const executed = (month: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const rows = yield* records.list(distributions, { where: { month: [month] }, limit: 10 })
    const lines = yield* Executions.linesOf(`fund-a.${month}`)
    return {
      sealed: rows.map(({ record }) => record.sealedAt !== null),
      lines: lines.map(({ number, holderId }) => `${number} ${holderId}`),
      entitled: Decimal.format(Decimal.sum(lines.map(({ entitlement }) => entitlement)))
    }
  })

const whole = ["1 h1", "2 h2", "3 h3", "4 h4", "5 h5"]

describe("an execution in five steps", () => {
  it.effect.each([
    ["before", 1],
    ["after", 3]
  ] as const)(
    "never executes a month twice, misses a line or adds one twice, when an instance dies (%s the call)",
    ([side, first]) =>
      Effect.gen(function* () {
        const stage = yield* alive(founded)
        let calls = Number.POSITIVE_INFINITY
        for (let at = 0, nth = 0; at <= calls; at = at === 0 ? first : at + 9, nth++) {
          const month = yield* alive(
            Effect.tap(accrues(stage, nth), (month) => queueExecution(month))
          )
          // The first run does not die, and counts the calls at which later ones die.
          const life = engineOf({ at: at === 0 ? Number.POSITIVE_INFINITY : at, side })
          yield* Effect.exit(Effect.scoped(turns(1, 5).pipe(Effect.provide(life.engine))))
          if (at === 0) calls = life.calls()
          yield* alive(turns(120, 5))
          const { entitled, ...others } = yield* alive(executed(month))
          assert.deepStrictEqual(others, { sealed: [true], lines: whole }, `${month} at ${at}`)
          assert.isAbove(Number(entitled), 0)
          assert.deepStrictEqual(yield* alive(Fund.surprises), [])
        }
        assert.isAtLeast(calls, 25)
      }).pipe(Effect.provide(ports({ settings: { batchLines: 2 } })))
  )

  it.effect.each([
    ["that committed, and whose answer was lost", true],
    ["that arrives once more, after it was sent again", false]
  ] as const)("never adds lines or seals twice by a submission %s", ([, isCommitted]) => {
    let isSlow = false
    const outcomesSeen = new Set<string>()
    const commits: Record<string, number> = {}
    const tamper = (ledger: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => {
      const submit = (submission: Ledger.Submission) =>
        Effect.tap(ledger.submit(submission), ({ duplicate }) =>
          Effect.sync(() => {
            for (const command of submission.commands) {
              if (duplicate || !("choice" in command)) continue
              commits[command.choice] = (commits[command.choice] ?? 0) + 1
            }
          })
        )
      return {
        ...ledger,
        submit: (submission) =>
          Effect.gen(function* () {
            if (!isSlow) return yield* ledger.submit(submission)
            if (outcomesSeen.has(submission.commandId)) {
              const receipt = yield* submit(submission)
              // The submission of before the time-out arrives.
              yield* Effect.exit(submit(submission))
              return receipt
            }
            outcomesSeen.add(submission.commandId)
            if (isCommitted) yield* submit(submission)
            return yield* new Ledger.OutcomeUnknown({
              commandId: submission.commandId,
              why: "the answer timed out",
              retryAfter: Duration.seconds(1)
            })
          })
      }
    }
    return Effect.gen(function* () {
      const stage = yield* founded
      const month = yield* accrues(stage, 0)
      yield* queueExecution(month)
      isSlow = true
      yield* turns(20, 15)
      const { entitled, ...others } = yield* executed(month)
      assert.deepStrictEqual(others, { sealed: [true], lines: whole })
      assert.isAbove(Number(entitled), 0)
      assert.deepStrictEqual(commits, { Execute: 1, AddLines: 3, Seal: 1 })
      assert.isAtLeast(outcomesSeen.size, 5)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(Effect.provide(world({ settings: { batchLines: 2 }, tamper })))
  })

  it.effect(
    "goes on by a new call where the first one failed, with its figures, whatever came",
    () => {
      let refuses = true
      /** Refuses the second batch of lines, once. */
      const tamper = (ledger: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
        ...ledger,
        submit: (submission) =>
          refuses && JSON.stringify(submission.commands).includes('"expectedCount":"2"')
            ? Effect.suspend(() => {
                refuses = false
                return Effect.fail(
                  new Ledger.Refused({
                    code: "DAML_FAILURE",
                    cause: "the fault of this test",
                    category: 9,
                    grpc: 9,
                    context: {},
                    resources: []
                  })
                )
              })
            : ledger.submit(submission)
      })
      return Effect.gen(function* () {
        const stage = yield* founded
        const month = yield* accrues(stage, 0)
        const body = { instrumentId: "fund-a", month }
        const failed = yield* Calls.write("distribution.execute", {}, body)
        assert.strictEqual(failed.state, "failed", failed.why)
        assert.deepStrictEqual((yield* executed(month)).sealed, [false])
        const { linesHash } = yield* Executions.distributionOf(`fund-a.${month}`)
        // Later units, a hold and another point do not change an execution that has begun.
        const fundA = { instrumentId: "fund-a" }
        yield* Calls.write("instrument.pause", fundA, { holdId: "p1", reason: "to see" })
        const other = yield* Calls.write(
          "distribution.execute",
          {},
          { ...body, distributionId: "d2" }
        )
        assert.deepStrictEqual(
          [other.state, other.why],
          ["refused", "state-conflict DistributionState"]
        )
        const next = { instrumentId: "fund-a", month: monthOf(1) }
        const early = yield* Calls.write("distribution.execute", {}, next)
        assert.strictEqual(early.state, "refused")
        // Its gates were judged before: a precheck shows none either.
        const { value } = yield* read(PrecheckQueries.get, {
          ...body,
          act: "distribution.execute"
        } as unknown as Parameters<(typeof PrecheckQueries.get)["run"]>[0])
        assert.deepInclude(value, { allowed: true, gates: [] })
        const again = yield* Calls.write("distribution.execute", {}, body)
        assert.deepStrictEqual([again.state, again.why], ["succeeded", ""])
        assert.deepInclude(yield* executed(month), { sealed: [true], lines: whole })
        const after = yield* Executions.distributionOf(`fund-a.${month}`)
        assert.strictEqual(after.linesHash, linesHash)
        const twice = yield* Calls.write("distribution.execute", {}, body)
        assert.deepStrictEqual(
          [twice.state, twice.why],
          ["refused", "state-conflict DistributionState"]
        )
      }).pipe(Effect.provide(world({ settings: { batchLines: 2 }, tamper })))
    }
  )
})
