/** Claims of redemptions that are made at the same time, of units that suffice for one of them. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { holders } from "#core/holders/holder/Holder.ts"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { claimedUnits } from "#core/orders/redemption/ClaimedUnits.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { unitsOf } from "#core/orders/redemption/RedemptionLookups.ts"
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

  const positioned = Effect.gen(function* () {
    const { holders, stage } = yield* Executions.founded(["h1"], Executions.accumulating)
    yield* Powers.mints(stage, holders[0]!, "100")
    yield* Executions.publishes(stage, "2", "2026-06-30T11:00:00Z", { metric: "price" })
    yield* Cycles.at("2026-07-01T12:00:00Z")
  })

  /** Free units of the holder, as read by a claim that another writer meets at `records`. */
  const freeAt = (records: Records["Service"]) =>
    Effect.gen(function* () {
      const position = {
        ...(yield* records.get(instruments, "fund-a")),
        ...(yield* records.get(holders, "h1"))
      }
      const on = { payment: "wire", lastPrice: null, operationId: null } as const
      const { free, leaving } = yield* unitsOf(position as Parameters<typeof unitsOf>[0], on)
      return { free: Decimal.formatPlain(free), leaving: Decimal.formatPlain(leaving) }
    }).pipe(Effect.provideService(Records, records))

  it.effect("count a claim once that is recorded while the next one is judged", () =>
    Effect.gen(function* () {
      yield* positioned
      yield* claims("r1", { units: 40 })
      yield* Calls.settle
      const records = yield* Records
      // The order of the first claim is committed between the two reads of the second claim.
      const notYet = Records.of({
        ...records,
        many: (collection, ids, pin) =>
          collection.name === redemptions.name
            ? Effect.succeed([])
            : records.many(collection, ids, pin)
      })
      assert.deepStrictEqual(yield* freeAt(notYet), { free: "60", leaving: "40" })
      assert.deepStrictEqual(yield* freeAt(notYet), yield* freeAt(records))
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "are not held up for ever by a failed claim whose operation retention has deleted",
    () =>
      Effect.gen(function* () {
        yield* positioned
        const records = yield* Records
        const forgotten = { redemptionId: "r0", operationId: "op-deleted", units: Decimal.of("60") }
        yield* records.transact(
          records.open(
            claimedUnits,
            { holderId: "h1", instrumentId: "fund-a", claims: [forgotten] },
            {
              cause: { by: "operation", operationId: "op-deleted" },
              now: yield* Instant.now,
              trace: null
            }
          )
        )
        yield* claims("r1", { units: 100 })
        yield* Calls.settle
        assert.deepStrictEqual(yield* ends, { claimed: 1, refused: ["succeeded"] })
      }).pipe(Effect.provide(world()))
  )
})
