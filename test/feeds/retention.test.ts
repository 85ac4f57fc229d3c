/**
 * Retention on each store: three instances, real clocks, one run; records that are held or open
 * stay.
 */
import { Engine, Records, Settings, settingsDefaults } from "@bursar/engine-core"
import { Duration } from "@bursar/engine-core/kernel"
import { Feed, Keys } from "@bursar/engine-core/ports"
import { Effect, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { retention } from "#core/feeds/RetentionRunner.ts"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { instance } from "../engine/schedules.ts"
import { stores } from "../engine/stores.ts"
import * as Toys from "../engine/toys.ts"

const nothing = Duration.zero
const settings = Layer.succeed(Settings, {
  ...settingsDefaults,
  cursorKeys: [{ id: 1, secret: new Uint8Array(32).fill(7) }],
  retention: {
    operations: nothing,
    approvals: nothing,
    events: nothing,
    deliveries: nothing,
    exhaustedDeliveries: nothing,
    reconciliationRuns: nothing,
    clearedFindings: nothing,
    externalStatements: nothing
  }
})

const olga = Calls.person("olga", "operator")
const ann = Calls.person("ann", "approver")

for (const { name, ports } of stores) {
  describe(`retention on ${name}`, () => {
    it("never is run twice, leaves what is due, or takes what is open", () =>
      Effect.runPromise(
        Effect.scoped(
          Effect.gen(function* () {
            const callOf = (key: string) => ({ params: { counterId: "a" }, body: '{"by":1}', key })
            yield* Calls.submit(Toys.single, olga, callOf("k1"))
            const made = yield* Calls.submit(Toys.double, olga, callOf("k2"))
            yield* Calls.approve(String(Calls.field(made, "actionKey")), ann)
            yield* Calls.settle
            const awaiting = yield* Calls.submit(Toys.double, olga, callOf("k3"))
            const queued = yield* Calls.submit(Toys.single, olga, callOf("k4"))
            const task = { ...retention({ history: [], more: [] }), every: 0 }
            const instances = yield* Effect.forEach([1, 2, 3], () => instance([task]))
            const feed = yield* Feed
            // The queue holds tasks of the engine itself, which are not due for long.
            for (let rounds = 0; rounds < 60; rounds++) {
              yield* Effect.all(
                instances.map(({ runOnce }) => runOnce),
                { concurrency: "unbounded" }
              )
            }
            const records = yield* Records
            const [left, actions] = [
              yield* records.list(operations, { limit: 10 }),
              yield* records.list(approvals, { limit: 10 })
            ]
            expect(left.map(({ record }) => record.operationId)).toEqual([
              Calls.field(queued, "operationId")
            ])
            expect(actions.map(({ record }) => record.actionKey)).toEqual([
              Calls.field(awaiting, "actionKey")
            ])
            const { events } = yield* feed.read({ order: "asc", limit: 100 })
            expect(
              events.map(({ type, payload }) => [
                type,
                (JSON.parse(payload) as { readonly counts: object }).counts
              ])
            ).toEqual([["retention.pruned", { operations: 2, approvals: 1, events: 5 }]])
            const keys = yield* Keys
            const bound = yield* Effect.forEach(["k1", "k2", "k3", "k4"], (key) =>
              keys.find({
                scope: `${settingsDefaults.tenantId}/olga`,
                key,
                now: "2026-01-01T00:00:00.000000000Z"
              })
            )
            expect(bound.map(({ _tag }) => _tag)).toEqual(["None", "None", "Some", "Some"])
            // The operation is deleted with its key: the same key opens a new one.
            const again = yield* Calls.submit(Toys.single, olga, callOf("k1"))
            expect(again.status).toBe(202)
          })
        ).pipe(
          Effect.provide(
            Engine.layerOf({ operations: [Toys.single, Toys.double], fromLedger: [] }).pipe(
              Layer.provideMerge(settings),
              Layer.provideMerge(ports),
              Layer.provideMerge(settings)
            )
          )
        )
      ))
  })
}
