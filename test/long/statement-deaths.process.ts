/** Instances on PostgreSQL that die while they take statements in, or delete them, at every call to the store. */
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import type * as Memory from "@bursar/storage-adapters/memory"
import { Clock, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { describe, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import { movedClock } from "../engine/moved-clock.ts"
import { ports } from "../engine/world.ts"
import * as Deaths from "../operations/intake-deaths.ts"

/** The clock of the queue is the database's: what is due in an hour is due, and leases have ended. */
const hour = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update bursar.work set run_at = clock_timestamp() - interval '1 second'
    where queue = 'statement-stages'`
  yield* sql`update bursar.work set leased_until = clock_timestamp() - interval '1 second'
    where leased_until is not null`
})

const onDatabase = (
  deaths: (
    side: Deaths.Death["side"],
    passing: Deaths.Passing
  ) => ReturnType<typeof Deaths.calledRuns | typeof Deaths.intakes | typeof Deaths.retentions>,
  side: Deaths.Death["side"]
) =>
  Calls.runCase(
    Effect.gen(function* () {
      const context = yield* Effect.context<SqlClient.SqlClient>()
      yield* deaths(side, { hour: Effect.provideContext(hour, context) })
    }).pipe(
      Effect.provide(
        ports({
          storage: TestDatabase.layer as typeof Memory.layer,
          settings: Deaths.settings
        }).pipe(Layer.provideMerge(Layer.succeed(Clock.Clock, movedClock().clock)))
      )
    ) as Effect.Effect<void, unknown>
  )

describe.each(["before", "after"] as const)("an instance that dies %s a call", (side) => {
  it("never leaves two of a statement that it takes in, none, or a stage", () =>
    onDatabase(Deaths.intakes, side))

  it("never makes a run twice that somebody called for, nor has two events of it", () =>
    onDatabase(Deaths.calledRuns, side))

  it("never leaves a part of a statement that it deletes, nor touches another", () =>
    onDatabase(Deaths.retentions, side))
})
