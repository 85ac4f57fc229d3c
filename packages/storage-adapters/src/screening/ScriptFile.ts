/** Script of screenings in a JSON file, for a program that has a disk. */
import { readFile as readText } from "node:fs/promises"
import { JsonText } from "@bursar/engine-core/kernel"
import { ScreeningSource } from "@bursar/engine-core/ports"
import { Effect, Layer, Option, Schema } from "effect"
import { make, Script } from "./ScriptedScreening.ts"

const sourceUnavailable = (detail: string) => new ScreeningSource.SourceUnavailable({ detail })

const decode = Schema.decodeUnknownOption(Script)

/** Reads the script of a file; a file without one is an unavailable source, and says why. */
export const readFile = (file: string): Effect.Effect<Script, ScreeningSource.SourceUnavailable> =>
  Effect.gen(function* () {
    const text = yield* Effect.tryPromise({
      try: () => readText(file, "utf8"),
      catch: (error) => sourceUnavailable(`the script ${file} is not read: ${String(error)}`)
    })
    const json = yield* Effect.mapError(Effect.fromResult(JsonText.parse(text)), ({ message }) =>
      sourceUnavailable(`the script ${file}: ${message}`)
    )
    return yield* Option.match(decode(json), {
      onNone: () =>
        Effect.fail(
          sourceUnavailable(`the script ${file} is not an object of listVersion, named and others`)
        ),
      onSome: Effect.succeed
    })
  })

/** Layer of a source whose script is a JSON file, read at each request. */
export const layerFile = (file: string): Layer.Layer<ScreeningSource.ScreeningSource> =>
  Layer.succeed(ScreeningSource.ScreeningSource, make(readFile(file)))
