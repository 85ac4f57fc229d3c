/** Journeys through the engine in memory, each played up to the part that is recorded. */
import { Follower, Workers } from "@bursar/engine-core"
import { Effect, type Scope } from "effect"
import * as SubscriptionQueries from "#core/orders/subscription/SubscriptionQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Executions from "../operations/executions.ts"
import * as Fund from "../operations/fund.ts"
import * as Intakes from "../operations/intakes.ts"
import * as Powers from "../operations/powers.ts"
import * as Reconciling from "../operations/reconciling.ts"
import * as Venue from "../operations/venue.ts"

export type Journey =
  | "claim-accepted"
  | "claim-run"
  | "ledger-update"
  | "list"
  | "statement-to-finding"
  | "distribution-step"

/** Records a part of a journey. */
export type Recorder = (
  journey: Journey
) => <A, E, R>(part: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

const claim = (subscriptionId: string) =>
  Calls.submitKind(
    "subscription.claim",
    {},
    { subscriptionId, instrumentId: "fund-a", holderId: "h1", payment: "wire", amount: 100_000 },
    { caller: Calls.operator, ifMatch: null }
  )

/** Claims an order, runs the claim, reads it back from the ledger, and lists the orders. */
const claimed = Effect.fnUntraced(function* (recorded: Recorder) {
  const runner = yield* Workers.runnerOf("operations")
  const follower = yield* Follower
  const stage = yield* Fund.opened()
  yield* Fund.market(stage)
  yield* Fund.admitted(stage)
  // The first order makes the codecs; the second is recorded.
  yield* claim("s1")
  yield* Calls.settle
  yield* claim("s2").pipe(recorded("claim-accepted"))
  yield* runner.runOnce.pipe(recorded("claim-run"))
  yield* follower.catchUp.pipe(recorded("ledger-update"))
  yield* Calls.settle
  const { value } = yield* Venue.list(SubscriptionQueries.list, {}).pipe(recorded("list"))
  if (value.length !== 2) throw new Error(`${value.length} orders are listed`)
}, Effect.provide(world()))

/**
 * Receives a statement of fewer units than the register has, and runs the check of its lines: one
 * check, since checks that run beside one another enter their files by turns.
 */
const stated = Effect.fnUntraced(
  function* (recorded: Recorder) {
    const { holders, stage } = yield* Executions.founded(["h1", "h2"])
    for (const holder of holders) yield* Powers.mints(stage, holder, "100")
    const scope = JSON.stringify({
      scope: { instrumentIds: ["fund-a"], checks: ["register-line"] }
    })
    const states = (businessDate: string, quantity: string) => {
      const [h1, h2] = [
        { account: "h1", quantity: "100" },
        { account: "h2", quantity }
      ]
      const asOf = `${businessDate}T22:00:00Z`
      const file = Intakes.file({ businessDate, asOf, lines: [h1, h2] })
      return Effect.andThen(Intakes.receive(file), Reconciling.run(scope))
    }
    yield* Cycles.at("2026-07-02T10:00:00Z")
    yield* states("2026-06-30", "100")
    yield* states("2026-07-01", "90").pipe(recorded("statement-to-finding"))
    const found = yield* Reconciling.findings
    if (found.length === 0) throw new Error("the statement made no finding")
  },
  Effect.provide(Intakes.engine({}))
)

/** Executes a month of two lines; the ledger step that adds them is recorded. */
const distributed = Effect.fnUntraced(function* (recorded: Recorder) {
  const runner = yield* Workers.runnerOf("operations")
  const { holders, stage } = yield* Executions.founded(["h1", "h2"])
  for (const holder of holders) yield* Powers.mints(stage, holder, "100")
  yield* Cycles.at("2026-07-20T12:00:00Z")
  yield* Executions.publishes(stage, "0.01", "2026-07-20T11:00:00Z")
  yield* Cycles.at("2026-08-01T00:02:00Z")
  const month = { instrumentId: "fund-a", month: "2026-07" }
  const actionKey = yield* Calls.openAction("distribution.execute", {}, month)
  yield* Calls.approve(String(actionKey), Calls.person("ada", "approver"))
  yield* runner.runOnce
  yield* Calls.catchUp
  yield* runner.runOnce.pipe(recorded("distribution-step"))
  yield* Calls.settle
  const [line] = yield* Executions.linesOf("fund-a.2026-07")
  if (line === undefined) throw new Error("the execution added no line")
}, Effect.provide(world()))

/** Plays all of them. */
export const play = async (recorded: Recorder): Promise<void> => {
  for (const journey of [claimed, stated, distributed]) {
    await Calls.runCase(journey(recorded) as Effect.Effect<void, unknown, Scope.Scope>)
  }
}
