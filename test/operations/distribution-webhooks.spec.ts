/** Events of distributions at their subscribers: each type is posted with its payload, and concealed ones reach no app. */
import { EventQueries, Workers } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { distributionEvents } from "#core/distributions/distribution/Distribution.ts"
import { scheduledDistributionEvents } from "#core/distributions/schedule/ScheduledDistribution.ts"
import { standingApprovalEvents } from "#core/distributions/standing-approval/StandingApproval.ts"
import { runEvents } from "#core/reconciliation/run/Run.ts"
import { holdEvents } from "#core/restraints/hold/Hold.ts"
import * as Calls from "../engine/calls.ts"
import * as W from "../feeds/webhooks.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Executions from "./executions.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"

const declared = {
  ...distributionEvents,
  ...scheduledDistributionEvents,
  ...standingApprovalEvents,
  ...runEvents,
  "reconciliation.hold": holdEvents["reconciliation.hold"]
}
type Type = keyof typeof declared
/**
 * Types of events that are concealed from apps, which could infer from them that a line waits. The findings
 * of this story are all of checks that block: these an app reads by the verdict alone.
 */
const concealed: ReadonlyArray<Type> = [
  "distribution.held",
  "distribution.paid",
  "distribution.payable",
  "reconciliation.finding"
]
const types = Object.keys(declared) as ReadonlyArray<Type>

interface Posted {
  readonly type: string
  readonly resourceKind: string
  readonly payload: Readonly<Record<string, unknown>>
}

const passes = (seconds: number) =>
  Effect.gen(function* () {
    const { runOnce } = yield* Workers.runnerOf("schedules")
    for (let passed = 0; passed < seconds; passed += 5) {
      yield* TestClock.adjust("5 seconds")
      yield* runOnce
      yield* Calls.settle
    }
  })

/** The register has units that no holding has, and a run finds it. */
const planted = (options: Parameters<typeof Reconciling.plant>[0]) =>
  Effect.andThen(Reconciling.plant(options, "7"), Reconciling.run())

const voidsAll = (distributionId: string) =>
  Effect.gen(function* () {
    for (const { lineId } of yield* Executions.linesOf(distributionId)) yield* Month.voids(lineId)
    yield* Calls.settle
  })

/** Two months under an approval: rates that differ, a line left over, a difference found, all void. */
const story = Effect.gen(function* () {
  const { stage, holders } = yield* Executions.founded(["h1"])
  const [holder] = holders
  if (holder === undefined) throw new Error("there is a holder")
  yield* Powers.mints(stage, holder, "1000")
  yield* W.register({
    webhookId: "wh-1",
    url: "https://venue.example/hook",
    secret: W.contractSecretText
  })
  const grant = { standingApprovalId: "sa1", instrumentId: "fund-a", until: "2027-06-30T00:00:00Z" }
  yield* Calls.write("standing-approval.grant", {}, grant)
  for (const [day, withholdingRate] of [
    ["28", "0.15"],
    ["29", "0.2"]
  ] as const) {
    yield* Cycles.at(`2026-07-${day}T12:00:00Z`)
    yield* Executions.publishes(stage, "0.01", `2026-07-${day}T11:00:00Z`, { withholdingRate })
  }
  yield* Cycles.at("2026-08-01T00:00:00Z")
  yield* passes(95)
  // August leaves out whom July still owes.
  yield* Cycles.at("2026-08-28T12:00:00Z")
  yield* Executions.publishes(stage, "0.01", "2026-08-28T11:00:00Z")
  yield* Cycles.at("2026-09-01T00:00:00Z")
  yield* passes(95)
  yield* planted({
    registrar: stage.registrar.party,
    instrumentId: "fund-a",
    party: holder.party
  })
  yield* voidsAll("fund-a.2026-07")
  yield* Calls.write("standing-approval.revoke", { standingApprovalId: "sa1" }, {})
  yield* passes(10)
})

/** Events that a caller reads in the feed. */
const fed = (caller: typeof Calls.operator) =>
  Effect.gen(function* () {
    const { page } = yield* EventQueries.EventQueries
    return yield* page({ caller, params: {}, limit: 1_000 })
  })

describe("a webhook", () => {
  it.effect("is posted each event of distributions and runs, with the payload of its type", () => {
    const receivers = new W.Receivers()
    return Effect.gen(function* () {
      yield* story
      const posted = receivers.postsTo("wh-1").map(({ body }) => JSON.parse(String(body)) as Posted)
      const postedOf = (type: string) => posted.filter((event) => event.type === type)
      // Names the types that were never posted.
      assert.deepStrictEqual(
        types.filter((type) => postedOf(type).length === 0),
        []
      )
      for (const type of types) {
        for (const event of postedOf(type)) {
          const { members, resourceKind } = declared[type]
          assert.deepStrictEqual(
            [type, Object.keys(event.payload), event.resourceKind],
            [type, [...members], resourceKind]
          )
          assert.notInclude(JSON.stringify(event), "h1", type)
        }
      }
      const payloads = Object.fromEntries(types.map((type) => [type, postedOf(type)[0]?.payload]))
      assert.deepInclude(payloads["distribution.rate-changed"], { month: "2026-07" })
      assert.deepInclude(payloads["distribution.carried"], { month: "2026-08", carried: 1 })
      assert.deepInclude(payloads["distribution.due"], { month: "2026-07", refused: null })
      assert.deepInclude(payloads["distribution.payable"], { state: "payable", month: "2026-07" })
      assert.deepInclude(payloads["distribution.held"], { state: "held" })
      assert.deepInclude(payloads["standing-approval.revoked"], { action: "distribution.execute" })

      // An app reads the same feed without those that would show that a line waits.
      const all = (yield* fed(Calls.operator)).value.map(({ type }) => type)
      const shown = (yield* fed(Calls.person("appie", "app"))).value.map(({ type }) => type)
      for (const type of types) {
        const isConcealed = concealed.includes(type)
        const count = (found: ReadonlyArray<string>) => found.filter((each) => each === type).length
        assert.strictEqual(count(all), postedOf(type).length, type)
        assert.strictEqual(count(shown), isConcealed ? 0 : count(all), type)
      }
      for (const role of ["investor", "registrar"] as const) {
        const refused = yield* Effect.flip(fed(Calls.person("ines", role)))
        assert.deepInclude(refused, { slug: "permission-denied" })
      }
    }).pipe(Effect.provide(W.posting(receivers)))
  })
})
