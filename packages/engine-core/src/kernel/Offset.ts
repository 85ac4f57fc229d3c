/** Offset of the ledger: the increasing integer that reads are pinned to. */
import { type Brand, Order, Result, Schema, SchemaGetter } from "effect"
import * as Codec from "./Codec.ts"
import * as Integer from "./Integer.ts"
import * as PlainNumber from "./PlainNumber.ts"

/** 0 to 2^53 − 1; 0 is before everything. */
export type Offset = number & Brand.Brand<"Offset">

/** Offset before the first update of a ledger. */
export const zero = 0 as Offset

/** Whether a value is an offset. */
export const isOffset = (value: unknown): value is Offset =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0

const checked = (value: number): Result.Result<Offset, Codec.Fault> =>
  isOffset(value) ? Result.succeed(value) : Codec.fault("an offset is 0 to 9007199254740991")

/** Reads an offset of a path, a query or a store's text. */
export const parse = (text: string): Result.Result<Offset, Codec.Fault> =>
  Result.flatMap(Integer.parse(text), checked)

/**
 * An offset the program itself counted; anything else is a bug.
 *
 * @example
 * ```ts
 * import { Offset } from "@bursar/engine-core/kernel"
 *
 * Offset.max(Offset.of(7), Offset.zero) // => 7
 * ```
 */
export const of = (value: number): Offset => Codec.orThrow("Offset", checked(value))

/** With 16 digits always, so that texts sort as their offsets do. */
export const sortable = (self: Offset): string => self.toString().padStart(16, "0")

/** The position after this one. */
export const next = (self: Offset): Offset => of(self + 1)

/** Order of two offsets: -1, 0 or 1. */
export const compare = (self: Offset, that: Offset): -1 | 0 | 1 =>
  self < that ? -1 : self > that ? 1 : 0

/** Later of two offsets. */
export const max = (self: Offset, that: Offset): Offset => (self > that ? self : that)

/** Earlier of two offsets. */
export const min = (self: Offset, that: Offset): Offset => (self < that ? self : that)

/** Order of offsets, earliest first. */
export const order: Order.Order<Offset> = Order.make(compare)

/** A JSON integer on the wire and in the store. */
export const schema: Schema.Codec<Offset, PlainNumber.PlainNumber> = Codec.make({
  from: PlainNumber.integer,
  to: Schema.declare(isOffset, {
    expected: "an offset",
    toCodecArbitrary: () =>
      Schema.link<Offset>()(
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
        {
          decode: SchemaGetter.transform(of),
          encode: SchemaGetter.transform((o: Offset): number => o)
        }
      )
  }),
  parse: (number: PlainNumber.PlainNumber) => parse(number.text),
  print: (value: Offset) => new PlainNumber.PlainNumber(value.toString())
}).annotate({ title: "Offset", description: "A position in the ledger's history." })
