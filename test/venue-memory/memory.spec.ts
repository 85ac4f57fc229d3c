/** A venue in one process, as its layer makes it: ports, readers, keys and screening without a hand's turn. */
import { Engine, Intake, Records } from "@bursar/engine-core"
import { Ledger, ScreeningSource } from "@bursar/engine-core/ports"
import { Venue } from "@bursar/storage-adapters/venue"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Stream } from "effect"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import * as statements from "../../examples/statements.ts"
import * as Calls from "../engine/calls.ts"
import * as Toys from "../engine/toys.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

const instrumentId = "fund-a"
const statementSources = statements.sources(instrumentId)

const recorded = Effect.gen(function* () {
  const { venue } = yield* Ledger.Ledger
  const { state, why } = yield* Calls.write(
    "instrument.record",
    {},
    { ...bodyOf(), registrar: venue, oracle: venue }
  )
  assert.strictEqual(`${state} ${why}`, "succeeded ")
})

const count = Effect.flatMap(Records, (records) =>
  Effect.map(records.list(instruments, { limit: 10 }), (found) => found.length)
)

/** Hands in the register of an administrator, through the readers of the layer. */
const stated = Effect.gen(function* () {
  const intake = yield* Intake.StatementIntake
  const { mediaType, text } = statements.register({
    at: "2026-07-01T10:00:00Z",
    units: { h1: "1" }
  })
  const externalSourceId = statements.sourceId("register", instrumentId)
  const staged = yield* intake.stage({
    query: `externalSourceId=${externalSourceId}`,
    bytes: Stream.make(new TextEncoder().encode(text))
  })
  return yield* intake.receive({
    caller: Calls.person("felix", "feed"),
    identity: Calls.identity(),
    key: null,
    named: { externalSourceId, instrumentId: null, businessDate: null, corrects: null },
    mediaType,
    charset: null,
    staged
  })
}).pipe(Effect.scoped)

const defectOf = <A, E>(layer: Layer.Layer<A, E>) =>
  Effect.map(Effect.exit(Effect.scoped(Layer.build(layer))), (exit) =>
    Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "no defect"
  )

describe("a venue in one process", () => {
  it.live("reads the statements of its sources, and seals them, without a further word", () =>
    Effect.gen(function* () {
      yield* recorded
      const account = yield* Calls.write(
        "external-account.map",
        {},
        statements.account(instrumentId)
      )
      assert.strictEqual(`${account.state} ${account.why}`, "succeeded ")
      const { value } = yield* stated
      assert.isString(Calls.field({ value }, "externalStatementId"))
    }).pipe(Effect.provide(Venue.memory({ clock: "2026-07-02", statementSources })))
  )

  it.live("starts with no source that contradicts itself, and says which", () =>
    Effect.gen(function* () {
      const sources = statementSources.map((source) =>
        source.kind === "cash" ? { ...source, validFor: "P1D" } : source
      )
      assert.include(
        yield* defectOf(Venue.memory({ statementSources: sources })),
        "the source bank-fund-a, /validFor: only a source of nav has it"
      )
    })
  )

  it.live("shares nothing with another one", () =>
    Effect.gen(function* () {
      yield* recorded
      assert.strictEqual(yield* count, 1)
      assert.strictEqual(yield* Effect.provide(count, Venue.memory()), 0)
    }).pipe(Effect.provide(Venue.memory()))
  )

  it.live("screens by the script or the source that it is given, and nobody without one", () =>
    Effect.gen(function* () {
      const script = { listVersion: "1", named: [], others: ["confirmed"] } as const
      const request = {
        requestId: "r1",
        holderId: "h1",
        party: "h1::12",
        legalName: null,
        lei: null,
        classification: null,
        countries: []
      }
      const found = Effect.flatMap(ScreeningSource.ScreeningSource, ({ ask, screens }) =>
        screens === "no" ? Effect.succeed("nobody") : Effect.map(ask(request), ({ found }) => found)
      )
      const source: ScreeningSource.Source = {
        ...ScreeningSource.none,
        screens: "yes",
        ask: () => Effect.succeed({ found: "nothing-yet" })
      }
      assert.strictEqual(
        yield* Effect.provide(found, Venue.memory({ screening: script })),
        "confirmed"
      )
      assert.strictEqual(
        yield* Effect.provide(found, Venue.memory({ screening: source })),
        "nothing-yet"
      )
      assert.strictEqual(yield* Effect.provide(found, Venue.memory()), "nobody")
    })
  )

  it.live("runs the words of an engine that it is given, in place of the built-in ones", () =>
    Effect.gen(function* () {
      const answer = yield* Calls.submit(Toys.single, Calls.operator, {
        params: { counterId: "c1" },
        body: '{"by":1}',
        key: "k1"
      })
      yield* Calls.settle
      assert.isString(Calls.field(answer, "operationId"))
    }).pipe(
      Effect.provide(
        Venue.memory({ engine: Engine.layerOf({ operations: Toys.toys, fromLedger: [] }) })
      )
    )
  )
})
