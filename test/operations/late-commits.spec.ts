/** Commits of operations that had ended: a broken ledger's, kept as unexpected facts and found by runs. */
import { Ledger } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Reconciling from "./reconciling.ts"

const refusal = new Ledger.Refused({
  code: "DAML_FAILURE",
  cause: "the ledger refuses it for now",
  category: 9,
  context: {},
  resources: []
})

describe("a ledger that commits a write after it had ended", () => {
  it.effect("is found by the next run, blocks the instrument of the write and opens a hold", () => {
    const refused: Array<Ledger.Submission> = []
    let isRefusing = false
    const tamper = (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
      ...port,
      submit: (submission) => {
        if (!isRefusing) return port.submit(submission)
        refused.push(submission)
        return Effect.fail(refusal)
      }
    })
    return Effect.gen(function* () {
      yield* Cycles.opened(["h1"])
      isRefusing = true
      const body = { subscriptionId: "s1", instrumentId: "fund-a", holderId: "h1", payment: "wire" }
      const ended = yield* Calls.write("subscription.claim", {}, { ...body, amount: 100 })
      assert.strictEqual(ended.state, "failed")
      isRefusing = false
      const before = yield* Reconciling.run()
      assert.notStrictEqual(before.value.verdict, "blocked")
      const [submission] = refused
      if (submission === undefined) throw new Error("nothing was sent")
      // The adapter had refused it and sends it nevertheless.
      const ledger = yield* Ledger.Ledger
      yield* ledger.submit(submission)
      yield* Calls.settle
      const after = yield* Reconciling.run()
      assert.strictEqual(after.value.verdict, "blocked")
      assert.strictEqual(after.value.holdsOpened.length, 1)
      const found = (yield* Reconciling.findings).filter(
        ({ subject }) => subject.resourceKind === "operation"
      )
      assert.deepStrictEqual(
        found.map(({ check, instrumentId, severity }) => [check, severity, instrumentId]),
        [["policy-replay", "blocking", "fund-a"]]
      )
      assert.notDeepEqual(yield* Fund.surprises, [])
    }).pipe(Effect.provide(world({ tamper })))
  })
})
