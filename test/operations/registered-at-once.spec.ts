/** Registrations of one party or one id, asked for at once: before the ledger shows the first of them. */
import { FourEyes, Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { holderNameLocks } from "#core/holders/holder/HolderNameLock.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

const engine = () => Effect.provide(world())

/** Sent and queued: nothing of it has run yet. */
const queued = (body: Readonly<Record<string, Calls.Json>>, kind = "holder.register") =>
  Calls.openAction(kind, {}, body)

/** `kind state why` of everything that registered somebody, in no order. */
const outcomes = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* Stream.runCollect(
    records.stream(operations, {
      where: { kind: ["holder.register", "holder.onboard", "holder.register-successor"] }
    })
  )
  return found
    .map(({ record: { kind, problem, state } }) =>
      [kind, state, (problem as { readonly check?: string } | null)?.check ?? ""].join(" ").trim()
    )
    .toSorted()
})

const holderOf = (party: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* Stream.runCollect(records.stream(holders, { where: { party: [party] } }))
    return found.map(({ record }) => record)
  })

describe("two registrations at once", () => {
  it.effect("of one party make one holder of it", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const { party } = yield* Fund.outsider("twice")
      yield* queued({ holderId: "h1", party })
      yield* queued({ holderId: "h2", party, taxResidences: [] }, "holder.onboard")
      yield* Calls.settle
      assert.strictEqual((yield* holderOf(party)).length, 1)
      const ended = yield* outcomes
      assert.strictEqual(ended.filter((one) => one.endsWith("failed party")).length, 1, `${ended}`)
      assert.strictEqual(ended.filter((one) => one.endsWith("succeeded")).length, 1, `${ended}`)
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("of one id never give a holder a successor that is another person", () =>
    Effect.gen(function* () {
      const { holders: all } = yield* Cycles.opened(["h1"])
      const [h1] = all
      if (h1 === undefined) throw new Error("no holder")
      const next = yield* Fund.outsider("next")
      const stranger = yield* Fund.outsider("stranger")
      const key = yield* Calls.openAction(
        "holder.register-successor",
        { holderId: "h1" },
        { party: next.party, successorId: "h-next" }
      )
      const door = yield* FourEyes
      yield* door.approve({
        actionKey: String(key),
        caller: Calls.person("ada", "approver"),
        identity: { requestId: "req-at-once", traceId: null, keyId: null }
      })
      yield* queued({ holderId: "h-next", party: stranger.party })
      yield* Calls.settle
      const records = yield* Records
      const { successor } = yield* records.get(holders, "h1")
      const named = yield* records.get(holders, "h-next")
      assert.strictEqual(successor === null ? stranger.party : successor.party, named.party)
      const ended = yield* outcomes
      assert.strictEqual(
        ended.filter((one) => one.endsWith("failed holder-id")).length,
        1,
        `${ended}`
      )
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never keep a party from ever being registered, when the one that took it failed", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const first = yield* Fund.outsider("first")
      yield* queued({ holderId: "h1", party: first.party })
      yield* queued({ holderId: "h2", party: first.party })
      yield* Calls.settle
      const records = yield* Records
      const ended = yield* Stream.runCollect(
        records.stream(operations, { where: { kind: ["holder.register"] } })
      )
      const failed = ended.find(({ record }) => record.state === "failed")
      if (failed === undefined) throw new Error("nothing failed")
      const { operationId } = failed.record
      const late = yield* Fund.outsider("late")
      const name = `party:${late.party}`
      yield* records.transact(
        records.open(
          holderNameLocks,
          { name, operationId },
          { cause: { by: "operation", operationId }, now: Instant.of(Fund.start), trace: null }
        )
      )
      const after = yield* Calls.write("holder.register", {}, { holderId: "h3", party: late.party })
      assert.strictEqual(after.why, "")
      assert.strictEqual((yield* holderOf(late.party)).length, 1)
    }).pipe(engine())
  )
})
