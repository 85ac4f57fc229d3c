/** Binding of schemas to bodies: exact JSON text over HTTP, the schema itself in the document. */
import { PlainSchema } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import * as Body from "../wire/Body.ts"

type AnySchema = Schema.Codec<unknown, unknown>

export interface Binding {
  /** Converts a schema to the schema of an answer's body. */
  readonly body: (schema: AnySchema) => AnySchema
  /** Converts a schema to the schema of a call's body, without the members that the path names. */
  readonly input: (schema: AnySchema) => AnySchema
  /** Converts a schema to the schema of a read's query, which includes the path's parameters. */
  readonly query: (schema: AnySchema) => AnySchema
}

/** Query parameters as texts, a repeated one as a list. The handler checks their shape. */
const Query = Schema.Record(
  Schema.String,
  Schema.Union([Schema.String, Schema.Array(Schema.String)])
)

/** Binding over HTTP: text that PlainJson parses and prints, so that no digit is lost. */
export const wire: Binding = {
  body: (schema) => Body.of(schema),
  input: () => Body.of(PlainSchema),
  query: () => Query
}

/**
 * Binding for the document: the schemas themselves, because the wire binding would be shown as
 * strings.
 */
export const shown: Binding = {
  body: (schema) => schema,
  input: (schema) => schema,
  query: (schema) => schema
}
