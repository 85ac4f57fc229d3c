/** A JSON number as it was written: its text, never a double, so that no digit is lost. */
import { Schema, SchemaGetter } from "effect"

/** The longest number that is read or printed, sign and point included. */
export const lengthMax = 40

const grammar = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/

/** A number of JSON, held as the text that was read or will be printed. */
export class PlainNumber {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
  toString(): string {
    return this.text
  }
  /** Printer of Node's inspector, and of those that look for the same key. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.text
  }
}

/** Whether a value is a number with its text. */
export const isPlainNumber = (value: unknown): value is PlainNumber => value instanceof PlainNumber

/** A number whose text the program itself wrote; a text that is no JSON number is a bug. */
export const of = (text: string): PlainNumber => {
  if (text.length > lengthMax || !grammar.test(text)) {
    throw new RangeError(
      `PlainNumber: ${JSON.stringify(text.slice(0, lengthMax))} is no JSON number`
    )
  }
  return new PlainNumber(text)
}

interface ShownSchema {
  readonly type: "number" | "integer"
  readonly format?: string
  readonly title?: string
  readonly description?: string
  readonly minimum?: number
  readonly maximum?: number
}

/**
 * The schema of a number's text, shown in JSON Schema as `shown`.
 *
 * Effect prints a declaration as an unconstrained schema and takes JSON Schema from its checks
 * alone: the check is there for what it shows. The JSON form is the PlainNumber itself, since the
 * bytes are printed by PlainJson.
 */
const declarationOf = (shownSchema: ShownSchema) =>
  Schema.declare(isPlainNumber, {
    expected: `a JSON ${shownSchema.type}`,
    toCodecJson: () => undefined,
    toCodecArbitrary: () =>
      Schema.link<PlainNumber>()(Schema.Int, {
        decode: SchemaGetter.transform((n: number) => new PlainNumber(String(n))),
        encode: SchemaGetter.transform((n: PlainNumber) => Number(n.text))
      })
  }).check(Schema.makeFilter(() => true, { toJsonSchema: () => ({ ...shownSchema }) }))

/** Any JSON number. */
export const schema = declarationOf({ type: "number" })
/** The wire form of a decimal, with what the document says of it. */
export const decimalAs = (description: string, title?: string) =>
  declarationOf({
    type: "number",
    format: "decimal",
    ...(title === undefined ? {} : { title }),
    description
  })
/** The wire form of an integer. */
export const integer = declarationOf({ type: "integer" })
/** The wire form of an integer within bounds. Only the shown bounds are its own: see Integer.ts. */
export const integerBetween = (bounds: { readonly minimum: number; readonly maximum: number }) =>
  declarationOf({ type: "integer", ...bounds })
