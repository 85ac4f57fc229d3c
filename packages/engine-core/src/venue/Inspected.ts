/** Values as the inspector of a program prints them: decimals as decimals and instants as texts. */
import { Exit, Schema } from "effect"

/** Key under which Node, Deno and Bun look for the printer of a value. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom")

type Inspect = (value: unknown, options?: object) => string

/**
 * Copies a value and gives the copy a printer, which no enumeration shows. Decimals and instants are
 * integers in memory, which say nothing to a reader; the printer writes the value as its JSON has it.
 */
export const attach = <A>(value: A, printable: (copy: A) => unknown): A => {
  if (typeof value !== "object" || value === null) return value
  const copy = (Array.isArray(value) ? [...value] : { ...value }) as A & object
  return Object.defineProperty(copy, INSPECT, {
    value: (_: number, options: object, inspect: Inspect) => inspect(printable(copy), options)
  })
}

/** Memo of the encoders of schemas. */
const encoders = new WeakMap<Schema.Top, (value: unknown) => unknown>()

/** As `attach`, with the value as its schema encodes it; one that the schema does not encode is printed as it is. */
export const attachBy = <A>(schema: Schema.Codec<unknown, unknown>, value: A): A =>
  attach(value, (copy) => encoderOf(schema)(copy))

const encoderOf = (schema: Schema.Codec<unknown, unknown>) => {
  const memo = encoders.get(schema)
  if (memo !== undefined) return memo
  const encode = Schema.encodeUnknownExit(schema, { disableChecks: true })
  const encoder = (value: unknown): unknown => {
    const exit = encode(value)
    // Without the printer, which would print itself again.
    return Exit.isSuccess(exit) ? exit.value : Object.assign(Array.isArray(value) ? [] : {}, value)
  }
  encoders.set(schema, encoder)
  return encoder
}
