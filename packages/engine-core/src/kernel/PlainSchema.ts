/** Schema of any JSON value, numbers as text: a stored request whose own shape does not matter. */
import { Schema } from "effect"
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

/** Any JSON value. */
export const PlainSchema: Schema.Codec<Plain> = Schema.declare(isPlain, {
  expected: "a JSON value"
}).annotate({ description: "Any JSON value." })
