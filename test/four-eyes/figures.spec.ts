/**
 * Figures of writes on the ledger, of writes outside it, and of those that end in the last
 * approver's call.
 */
import { Operation, Records, Workers } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Figured from "../engine/figured-toys.ts"
import * as Notes from "../engine/ledger-toys.ts"
import { world } from "../engine/world.ts"

const olga = Calls.person("olga", "operator")
const ann = Calls.person("ann", "approver")
const bob = Calls.person("bob", "approver")

const figures = () =>
  Effect.map(Figured.price, (price) => ({
    figures: { price: Decimal.fromInteger(price) },
    tolerance: Decimal.zero
  }))

const onLedger: Operation.Operation = { ...Notes.twice, approvers: 2, figures }

let reached = 0
const outside: Operation.Operation = Operation.defineOutside("webhook.test", {
  doc: "Asks somebody outside.",
  route: "POST /v1/counters/{counterId}:ask",
  makers: ["operator"],
  approvers: 2,
  resource: {
    kind: "instrument",
    id: ({ counterId }) => counterId,
    href: ({ counterId }) => `/v1/counters/${counterId}`
  },
  input: Schema.Struct({ counterId: Schema.String }),
  result: Schema.Struct({}),
  refuses: [],
  figures,
  begin: () => Effect.void,
  reach: () => Effect.sync(() => void (reached += 1)),
  finish: () => Effect.succeed({})
})

const removal: Operation.Operation = Operation.define("webhook.remove", {
  doc: "Removes a counter.",
  route: "DELETE /v1/counters/{counterId}",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "webhook",
    id: ({ counterId }) => counterId,
    href: ({ counterId }) => `/v1/counters/${counterId}`
  },
  input: Schema.Struct({ counterId: Schema.String }),
  result: Schema.Struct({}),
  refuses: [],
  figures,
  run: () => Effect.succeed({})
})

const make = (
  operation: Operation.Operation,
  params: Readonly<Record<string, string>>,
  body = "{}"
) =>
  Effect.map(Calls.submit(operation, olga, { params, body }), (answer) =>
    String(Calls.field(answer, "actionKey"))
  )

const statesOf = (actionKey: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const all = yield* records.list(operations, { limit: 100 })
    const { signatures, state } = yield* records.get(approvals, actionKey)
    return {
      action: [state, signatures.length] as const,
      ran: all
        .filter(({ record }) => record.actionKey === actionKey)
        .map(({ record }) => record.state)
        .toSorted()
    }
  })

const both = Effect.fnUntraced(function* (actionKey: string) {
  yield* Calls.approve(actionKey, ann)
  yield* Calls.approve(actionKey, bob)
})

const engine = Effect.provide(
  world({ operations: [onLedger, outside, removal], fromLedger: Notes.fromLedger })
)

describe("figures that moved before a write ran", () => {
  // Switched off to see it red: that `plan` asks `movedAtRun`; that it asks only at the first step.
  it.effect("never let it go to the ledger, or stop it between its steps", () =>
    Effect.gen(function* () {
      const ledger = yield* Ledger.Ledger
      const body = `{"registrar":"${ledger.venue}"}`
      const action = yield* make(onLedger, { noteId: "n" }, body)
      yield* both(action)
      yield* Figured.movePrice(1)
      const end = yield* ledger.ledgerEnd
      yield* Calls.settle
      assert.deepStrictEqual(yield* statesOf(action), { action: ["awaiting", 0], ran: ["failed"] })
      assert.strictEqual(yield* ledger.ledgerEnd, end)
      yield* both(action)
      // Its first step is sent, so that the operation is under way.
      yield* Workers.runOnce("operations")
      yield* Figured.movePrice(1)
      for (let at = 0; at < 3; at++) {
        yield* Calls.settle
        yield* TestClock.adjust("1 second")
      }
      assert.deepStrictEqual(yield* statesOf(action), {
        action: ["approved", 2],
        ran: ["failed", "succeeded"]
      })
    }).pipe(engine)
  )

  // Switched off to see it red: that `onOutside` asks `movedAtRun`.
  it.effect("never let somebody outside be asked", () =>
    Effect.gen(function* () {
      reached = 0
      const action = yield* make(outside, { counterId: "c" })
      yield* both(action)
      const records = yield* Records
      const signed = yield* records.get(approvals, action)
      yield* Figured.movePrice(1)
      yield* Calls.settle
      assert.deepStrictEqual(yield* statesOf(action), { action: ["awaiting", 0], ran: ["failed"] })
      assert.strictEqual(reached, 0)
      const { figures, figuresHash, moved } = yield* records.get(approvals, action)
      assert.notDeepEqual(figures, signed.figures)
      assert.notStrictEqual(figuresHash, signed.figuresHash)
      assert.deepStrictEqual(
        [moved?.figures, moved?.figuresHash],
        [signed.figures, signed.figuresHash]
      )
      yield* both(action)
      yield* Calls.settle
      assert.strictEqual(reached, 1)
    }).pipe(engine)
  )

  it.effect("never let a removal be made by its approver's repeat, which keeps nothing of it", () =>
    Effect.gen(function* () {
      const action = yield* make(removal, { counterId: "c" })
      yield* Figured.movePrice(1)
      const repeat = Calls.submit(removal, ann, { params: { counterId: "c" } })
      assert.strictEqual(yield* Calls.slug(repeat), "rule-refused")
      assert.deepStrictEqual(yield* statesOf(action), { action: ["awaiting", 0], ran: [] })
      // Sent again, it is for the figures before: its approver reads the new ones and names them.
      assert.strictEqual(yield* Calls.slug(repeat), "rule-refused")
      yield* Calls.approve(action, ann)
      yield* Calls.settle
      assert.deepStrictEqual(yield* statesOf(action), {
        action: ["approved", 1],
        ran: ["succeeded"]
      })
      assert.strictEqual((yield* repeat).status, 204)
    }).pipe(engine)
  )

  // Seen red while a key that was used before was answered with the action, as its maker is.
  it.effect(
    "never sign what its sender never saw, by the very call that was refused, sent again",
    () =>
      Effect.gen(function* () {
        const action = yield* make(removal, { counterId: "c" })
        yield* Figured.movePrice(1)
        const records = yield* Records
        const { key } = yield* records.get(approvals, action)
        const repeat = Calls.submit(removal, ann, { params: { counterId: "c" }, key })
        assert.strictEqual(yield* Calls.slug(repeat), "rule-refused")
        assert.strictEqual(yield* Calls.slug(repeat), "rule-refused")
        assert.deepStrictEqual(yield* statesOf(action), { action: ["awaiting", 0], ran: [] })
        // Another signs the new figures: who was refused never learns that it had signed.
        yield* Calls.approve(action, bob)
        assert.strictEqual(yield* Calls.slug(repeat), "approval-decided")
      }).pipe(engine)
  )
})
