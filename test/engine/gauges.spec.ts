/** Gauges: the feed's head, awaiting actions, lag of the projection, age of the last checkpoint. */
import { Gauges, Metrics, Records } from "@bursar/engine-core"
import { Ledger, WorkQueue } from "@bursar/engine-core/ports"
import { Duration, Effect, Metric, References } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "@effect/vitest"
import * as Audit from "#core/records/Audit.ts"
import * as Calls from "./calls.ts"
import * as Toys from "./toys.ts"
import { world } from "./world.ts"

const olive = Calls.person("olive", "operator")
const anna = Calls.person("anna", "approver")

const figure = (metric: typeof Metrics.feedHead) =>
  Effect.map(Metric.value(metric), ({ value }) => value)

const figures = Effect.all({
  head: figure(Metrics.feedHead),
  awaiting: figure(Metrics.approvalsAwaiting),
  behind: figure(Metrics.projectionLag),
  waits: figure(Metrics.oldestQueued),
  unsigned: figure(Metrics.auditCheckpointAge)
})

const ask = (counterId: string) =>
  Calls.submit(Toys.double, olive, { params: { counterId }, body: `{"by": 1}` })

const apart = Effect.provideService(Metric.MetricRegistry, new Map())

describe("the figures that are looked up", () => {
  // Red when `look` leaves one of its figures out, or counts an action that has ended.
  it.effect("follow what happens", () =>
    Effect.gen(function* () {
      yield* Gauges.look
      expect(yield* figures).toMatchObject({ head: 0, awaiting: 0, waits: 0, unsigned: 0 })
      const records = yield* Records
      const loaded = Audit.entry({ action: "config.loaded", stage: "succeeded" })
      yield* records.transact(records.audit([loaded]))
      const action = yield* ask("one")
      yield* ask("two")
      yield* TestClock.adjust("90 seconds")
      yield* Gauges.look
      const firstFigures = yield* figures
      expect([firstFigures.awaiting, firstFigures.head]).toEqual([2, 2])
      // The audit log has no signed checkpoint yet.
      expect(firstFigures.unsigned).toBeGreaterThanOrEqual(90)
      yield* Calls.approve(String(Calls.field(action, "actionKey")), anna)
      yield* TestClock.adjust("30 seconds")
      yield* Gauges.look
      const laterFigures = yield* figures
      expect(laterFigures.awaiting).toBe(1)
      // The age of the oldest operation is by the store's own clock.
      expect(laterFigures.waits).toBeGreaterThanOrEqual(0)
    }).pipe(Effect.provide(world({ operations: Toys.toys })), apart)
  )

  it.effect("do not count what the clock has ended", () =>
    Effect.gen(function* () {
      yield* ask("one")
      yield* Gauges.look
      expect(yield* figure(Metrics.oldestDue)).toBe(0)
      yield* TestClock.adjust("2 hours")
      yield* Gauges.look
      expect(yield* figure(Metrics.approvalsAwaiting)).toBe(0)
      // The action expired an hour ago, and no run has recorded it yet.
      expect(yield* figure(Metrics.oldestDue)).toBe(3_600)
    }).pipe(
      Effect.provide(world({ operations: Toys.toys, settings: { approvalExpiry: 3_600_000 } })),
      apart
    )
  )

  it.effect(
    "say by how many offsets the projection is behind, and stay while the ledger is away",
    () => {
      let end: "ahead" | "away" = "ahead"
      const tamper = (ledger: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
        ...ledger,
        ledgerEnd: Effect.suspend(() =>
          end === "away"
            ? Effect.fail(
                new Ledger.Unreachable({ detail: "away", retryAfter: Duration.seconds(1) })
              )
            : Effect.map(ledger.ledgerEnd, (at) => (at + 7) as typeof at)
        )
      })
      return Effect.gen(function* () {
        yield* Gauges.look
        expect(yield* figure(Metrics.projectionLag)).toBeGreaterThanOrEqual(7)
        end = "away"
        yield* Gauges.look
        expect(yield* figure(Metrics.projectionLag)).toBeGreaterThanOrEqual(7)
      }).pipe(
        Effect.provide(world({ operations: Toys.toys, tamper })),
        Effect.provideService(References.MinimumLogLevel, "None"),
        apart
      )
    }
  )

  // Red where a figure is looked up only after the one before it.
  it.effect("are looked up where one of them has a defect, and look after look", () =>
    Effect.gen(function* () {
      const work = yield* WorkQueue
      const depth = () => Effect.die(new Error("an index is broken"))
      yield* Effect.forkScoped(
        Effect.provideService(Gauges.run, WorkQueue, WorkQueue.of({ ...work, depth }))
      )
      yield* ask("one")
      yield* TestClock.adjust("10 seconds")
      expect((yield* figures).awaiting).toBe(1)
    }).pipe(
      Effect.provide(world({ operations: Toys.toys })),
      Effect.provideService(References.MinimumLogLevel, "None"),
      apart
    )
  )

  it.effect("are looked up again every ten seconds until told to stop", () =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(Gauges.run)
      yield* TestClock.adjust("1 second")
      expect(yield* figure(Metrics.approvalsAwaiting)).toBe(0)
      yield* ask("one")
      yield* TestClock.adjust("10 seconds")
      expect(yield* figure(Metrics.approvalsAwaiting)).toBe(1)
    }).pipe(Effect.provide(world({ operations: Toys.toys })), apart)
  )
})
