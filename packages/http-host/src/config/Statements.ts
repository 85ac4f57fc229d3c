/** The sources of statements that a deployment's configuration names. */
import { ConfiguredSource } from "@bursar/engine-core"
import { Result, Schema } from "effect"
import * as Kind from "./Kind.ts"

const list = Kind.structured({
  limit:
    'a JSON list of {"externalSourceId", "kind", "instruments", "calendar", "dueBy", "grace", ' +
    `"adapter", "zone"} and what kind and adapter need: at most ${ConfiguredSource.sourcesMax}`,
  schema: Schema.Array(ConfiguredSource.SourceText).check(
    Schema.isMaxLength(ConfiguredSource.sourcesMax)
  )
})

/** Kind of the configured sources of statements: an empty text is an empty list. */
export const sources: Kind.Kind<ReadonlyArray<ConfiguredSource.ConfiguredSource>> = Kind.empty([], {
  ...list,
  read: (rawValue) =>
    Result.flatMap(list.read(rawValue), (texts) => {
      const ids = texts.map(({ externalSourceId }) => externalSourceId)
      const faults = texts.flatMap((source, at) => [
        ...(ids.indexOf(source.externalSourceId) < at
          ? [{ pointer: `/${at}/externalSourceId`, detail: "another source has this id" }]
          : []),
        ...ConfiguredSource.faultsOf(source).map(({ pointer, detail }) => ({
          pointer: `/${at}${pointer}`,
          detail
        }))
      ])
      return faults.length > 0
        ? Result.fail(faults)
        : Result.succeed(texts.map(ConfiguredSource.of))
    })
})
