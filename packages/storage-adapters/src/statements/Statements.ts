/** Readers of statements behind their port: one for each form that a source may send. */
import { StatementSource } from "@bursar/engine-core/ports"
import { Layer } from "effect"
import * as Xml from "./Xml.ts"

/** Reads a file in the form of its source (docs/domain/statements.md#forms). */
export const reader: StatementSource.Reader = {
  read: (reading, bytes) =>
    Xml.isXml(reading) ? Xml.read(reading, bytes) : StatementSource.none.read(reading, bytes)
}

export const layer: Layer.Layer<never> = Layer.succeed(StatementSource.StatementSource, reader)
