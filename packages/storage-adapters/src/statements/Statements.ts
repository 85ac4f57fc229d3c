/** Readers of statements behind their port: one for each form that a source may send. */
import { StatementSource } from "@bursar/engine-core/ports"
import { Layer } from "effect"
import * as Csv from "./Csv.ts"
import * as Json from "./Json.ts"
import * as Xml from "./Xml.ts"

/** Reads a file in the form of its source (docs/domain/statements.md#forms). */
export const reader: StatementSource.Reader = {
  read: (reading, bytes) =>
    Xml.isXml(reading)
      ? Xml.read(reading, bytes)
      : reading.adapter === "csv"
        ? Csv.read(reading, bytes)
        : Json.read(reading, bytes)
}

/** Readers of every form of statement that the adapters know. */
export const layer: Layer.Layer<StatementSource.StatementSource> = Layer.succeed(
  StatementSource.StatementSource,
  reader
)
