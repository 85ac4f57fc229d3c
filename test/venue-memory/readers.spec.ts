/** Readers of statements and a source of screening as ports that the engine's layer demands. */
import { ConfiguredSource, Engine, Settings, settingsDefaults } from "@bursar/engine-core"
import { type ScreeningSource, StatementSource } from "@bursar/engine-core/ports"
import * as Statements from "@bursar/storage-adapters/statements"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Layer, Schema } from "effect"
import { sources } from "../../examples/statements.ts"
import { ports } from "../engine/world.ts"

const statementSources = Schema.decodeUnknownSync(Schema.Array(ConfiguredSource.SourceText))(
  sources("fund-a")
).map(ConfiguredSource.of)

const settings = Layer.succeed(Settings, { ...settingsDefaults, statementSources })

const startOf = (readers: Layer.Layer<StatementSource.StatementSource>) =>
  Engine.layer.pipe(
    Layer.provide(Layer.mergeAll(ports(), settings, readers)),
    Layer.build,
    Effect.scoped,
    Effect.exit,
    Effect.map((exit) =>
      Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "the engine starts"
    )
  )

/** Ports of the engine without a reader: the layer's type says what is missing. */
type Demanded = Layer.Services<typeof Engine.layer>
const demanded: StatementSource.StatementSource extends Demanded ? true : false = true

const screeningDemanded: ScreeningSource.ScreeningSource extends Demanded ? true : false = true

describe("a source of screening", () => {
  it("is demanded by the type of the engine's layer, so that nobody is screened by a word alone", () => {
    assert.isTrue(screeningDemanded)
  })
})

describe("readers of statements", () => {
  it.effect(
    "are demanded by the type of the engine's layer, and by its start where a source is named",
    () =>
      Effect.gen(function* () {
        assert.isTrue(demanded)
        assert.strictEqual(yield* startOf(Statements.layer), "the engine starts")
        assert.include(
          yield* startOf(StatementSource.layerNone),
          "the settings name the source of statements bank-fund-a, and the engine has no reader of statements"
        )
      })
  )
})
