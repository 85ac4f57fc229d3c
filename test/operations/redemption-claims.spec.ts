/** Claims of redemptions that are made at the same time, of units that suffice for one of them. */
import { Records } from "@bursar/engine-core"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Powers from "./powers.ts"

const claims = (redemptionId: string, size: Readonly<Record<string, number>>) =>
  Calls.submitKind(
    "redemption.claim",
    {},
    {
      ...{ instrumentId: "fund-a", holderId: "h1", payment: "wire" },
      ...{ redemptionId, ...size }
    },
    { caller: Calls.operator, ifMatch: null }
  )

/** Ends of the claims, by the order: its state, or why it was refused. */
const ends = Effect.gen(function* () {
  const records = yield* Records
  const ended = yield* records.list(operations, {
    where: { kind: ["redemption.claim"] },
    limit: 100
  })
  const claimed = yield* records.list(redemptions, { limit: 100 })
  const refused = ended.map(
    ({ record }) => (record.problem as { readonly check?: string } | null)?.check ?? record.state
  )
  return { claimed: claimed.length, refused: refused.toSorted() }
})

describe("redemptions that are claimed at the same time", () => {
  it.effect.each([
    { name: "in units", size: { units: 60 } },
    { name: "in cash", size: { amount: 120 } }
  ])("never take the same units of their holder ($name)", ({ size }) =>
    Effect.gen(function* () {
      const { holders, stage } = yield* Executions.founded(["h1"], Executions.accumulating)
      yield* Powers.mints(stage, holders[0]!, "100")
      yield* Executions.publishes(stage, "2", "2026-06-30T11:00:00Z", { metric: "price" })
      yield* Cycles.at("2026-07-01T12:00:00Z")
      for (const id of ["r1", "r2", "r3"]) yield* claims(id, size)
      yield* Calls.settle
      const refused = ["succeeded", "units-free", "units-free"]
      assert.deepStrictEqual(yield* ends, { claimed: 1, refused })
      // A claim that failed has taken nothing, and one that is read is counted as an order.
      yield* claims("r4", { units: 40 })
      yield* Calls.settle
      assert.strictEqual((yield* ends).claimed, 2)
    }).pipe(Effect.provide(world()))
  )
})
