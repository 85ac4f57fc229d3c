/** Whole numbers of a record, such as decimals or a record day: exact in a double, so a plain number. */
import { Result, Schema } from "effect"
import * as Codec from "./Codec.ts"
import * as PlainNumber from "./PlainNumber.ts"

/** Fault of a text that is no integer. */
export type IntegerFault = Codec.Fault

const grammar = /^-?(?:0|[1-9][0-9]{0,15})$/

/** Reads an integer of at most 2^53 − 1 either way; no point, no exponent. */
export const parse = (text: string): Result.Result<number, IntegerFault> => {
  if (!grammar.test(text)) return Codec.fault("an integer is written in plain digits, such as 12")
  const value = Number(text)
  if (!Number.isSafeInteger(value)) return Codec.fault("an integer is at most 9007199254740991")
  // The grammar lets -0 through; it is the integer 0.
  return Result.succeed(value === 0 ? 0 : value)
}

/** Text of an integer. Throws where the number is not a safe integer. */
export const format = (self: number): string => {
  if (!Number.isSafeInteger(self)) throw new RangeError(`Integer: ${self} is no exact integer`)
  return self === 0 ? "0" : self.toString()
}

const coded = (from: Schema.Codec<PlainNumber.PlainNumber>, to: Schema.Codec<number>) =>
  Codec.make({
    from,
    to,
    parse: (number: PlainNumber.PlainNumber) => parse(number.text),
    print: (value: number) => new PlainNumber.PlainNumber(format(value))
  })

/** A JSON integer on the wire and in the store. */
export const schema: Schema.Codec<number, PlainNumber.PlainNumber> = coded(
  PlainNumber.integer,
  Schema.Int
).annotate({
  title: "Integer",
  description: "A whole number of at most 2^53 − 1 either way."
})

/** A JSON integer from `minimum` to `maximum`, both included. */
export const between = (range: {
  readonly minimum: number
  readonly maximum: number
}): Schema.Codec<number, PlainNumber.PlainNumber> =>
  coded(PlainNumber.integerBetween(range), Schema.Int.check(Schema.isBetween(range))).annotate({
    title: "Integer",
    description: `A whole number from ${range.minimum} to ${range.maximum}.`
  })
