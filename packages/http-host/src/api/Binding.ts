/** Binding of schemas to bodies: exact JSON text over HTTP, the schema itself in the document. */
import { PlainSchema } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import * as Body from "../wire/Body.ts"

type AnySchema = Schema.Codec<unknown, unknown>

export interface Binding {
  /** What an answer's body is. */
  readonly body: (schema: AnySchema) => AnySchema
  /** What a call's body is; the ids its path names are members of the input, not of the body. */
  readonly input: (schema: AnySchema) => AnySchema
  /** What a read's query is; here too the path's parameters are members of the read's own struct. */
  readonly query: (schema: AnySchema) => AnySchema
}

/** Parameters as they are sent: texts, repeated ones in a list. Their shape is judged by the handler. */
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

/** Binding for the document: the schemas themselves, where HttpApi would show a string. */
export const shown: Binding = {
  body: (schema) => schema,
  input: (schema) => schema,
  query: (schema) => schema
}
