/** Schema of any JSON value, numbers as text: a stored request whose own shape does not matter. */
import { Schema, SchemaGetter } from "effect"
import type { Plain } from "./PlainJson.ts"
import { isPlainNumber } from "./PlainNumber.ts"

const isPlain = (value: unknown): value is Plain =>
  value === null ||
  typeof value === "string" ||
  typeof value === "boolean" ||
  isPlainNumber(value) ||
  (Array.isArray(value)
    ? value.every(isPlain)
    : typeof value === "object" && Object.values(value).every(isPlain))

/** JSON values from which tests draw. */
const Sample = Schema.Union([
  Schema.Null,
  Schema.Boolean,
  Schema.String,
  Schema.Array(Schema.String),
  Schema.Struct({ member: Schema.NullOr(Schema.String) })
])

/** Any JSON value. */
export const PlainSchema: Schema.Codec<Plain> = Schema.declare(isPlain, {
  expected: "a JSON value",
  toCodecArbitrary: () =>
    Schema.link<Plain>()(Sample, {
      decode: SchemaGetter.transform((value: Plain) => value),
      encode: SchemaGetter.transform((value: Plain) => value as typeof Sample.Type)
    })
}).annotate({ description: "Any JSON value." })

const isPlainObject = (value: unknown): value is Plain =>
  isPlain(value) &&
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  !isPlainNumber(value)

const SampleObject = Schema.Record(Schema.String, Sample)

/** Any JSON object: its members are declared elsewhere, such as those of a payload by its event. */
export const PlainObjectSchema: Schema.Codec<Plain> = Schema.declare(isPlainObject, {
  expected: "a JSON object",
  toCodecJson: () => undefined,
  toCodecArbitrary: () =>
    Schema.link<Plain>()(SampleObject, {
      decode: SchemaGetter.transform((value: typeof SampleObject.Type): Plain => value),
      encode: SchemaGetter.transform((value: Plain) => value as typeof SampleObject.Type)
    })
}).check(
  Schema.makeFilter(() => true, {
    toJsonSchema: () => ({ type: "object", additionalProperties: true })
  })
)
