/** A calendar month, such as a distribution period: `uuuu-MM`. */
import { type Brand, Order, Result, Schema, SchemaGetter } from "effect"
import * as Codec from "./Codec.ts"
import * as Date from "./Date.ts"
import * as Gregorian from "./Gregorian.ts"

/** `uuuu-MM`; as text it sorts as it does in time. */
export type Month = string & Brand.Brand<"Month">

/** Fault of a text that is no month. */
export type MonthFault = Codec.Fault

const grammar = /^(?!0000)[0-9]{4}-(?:0[1-9]|1[0-2])$/

/** Month of a text such as `2026-07`. */
export const parse = (text: string): Result.Result<Month, MonthFault> =>
  grammar.test(text) ? Result.succeed(text as Month) : Codec.fault("a month is written uuuu-MM")

/**
 * Parses a month literal of the source code; throws on a malformed one.
 *
 * @example
 * ```ts
 * import { Month } from "@bursar/engine-core/kernel"
 *
 * Month.next(Month.of("2026-12")) // => "2027-01"
 * ```
 */
export const of = (text: string): Month => Codec.orThrow("Month", parse(text))

/** Year and month as numbers. */
export const parts = (self: Month): { readonly year: number; readonly month: number } => ({
  year: Number(self.slice(0, 4)),
  month: Number(self.slice(5, 7))
})

/** Number of months after 0000-01. */
const count = (self: Month): number => {
  const { year, month } = parts(self)
  return year * 12 + month - 1
}

const fromCount = (months: number): Month => {
  const year = Gregorian.digits(Math.floor(months / 12), 4)
  return of(`${year}-${Gregorian.digits((months % 12) + 1, 2)}`)
}

/** The month the day lies in. */
export const fromDate = (date: Date.Date): Month => date.slice(0, 7) as Month

/** Month so many months later, or earlier where the number is negative. */
export const add = (self: Month, months: number): Month => fromCount(count(self) + months)

/** Month after a month. */
export const next = (self: Month): Month => add(self, 1)

/** Month before a month. */
export const previous = (self: Month): Month => add(self, -1)

/** Number of months from `from` to `to`. */
export const monthsBetween = (span: { readonly from: Month; readonly to: Month }): number =>
  count(span.to) - count(span.from)

/** Number of days of a month. */
export const daysInMonth = (self: Month): number => Gregorian.lengthOfMonth(parts(self))

/** The date of a day of the month, or of its last day where the month is shorter. */
export const clampDay = (self: Month, day: number): Date.Date =>
  Date.fromParts({ ...parts(self), day: Math.min(day, daysInMonth(self)) })

/** First day of a month. */
export const firstDay = (self: Month): Date.Date => clampDay(self, 1)

/** Last day of a month. */
export const lastDay = (self: Month): Date.Date => clampDay(self, 31)

/** Whether a date is in a month. */
export const contains = (self: Month, date: Date.Date): boolean => date.startsWith(self)

/** Order of two months: -1, 0 or 1. */
export const compare = (self: Month, that: Month): -1 | 0 | 1 =>
  self < that ? -1 : self > that ? 1 : 0

/** Whether a month is before another. */
export const isBefore = (self: Month, that: Month): boolean => self < that

/** Whether a month is after another. */
export const isAfter = (self: Month, that: Month): boolean => self > that

/** Order of months, earliest first. */
export const order: Order.Order<Month> = Order.make(compare)

/** Whether a value is a month. */
export const isMonth = (value: unknown): value is Month =>
  typeof value === "string" && grammar.test(value)

const shape = /^[0-9]{4}-(?:0[1-9]|1[0-2])$/u

/** Regular expression of a month on the wire; the year 0000, which it matches, is refused too. */
export const pattern: string = shape.source

/** `uuuu-MM` on the wire and in the store. */
export const schema: Schema.Codec<Month, string> = Codec.make({
  from: Schema.String.check(Schema.isPattern(shape)),
  to: Schema.declare(isMonth, {
    expected: "a month",
    toCodecArbitrary: () =>
      Schema.link<Month>()(
        Schema.Int.check(Schema.isBetween({ minimum: 12, maximum: 9999 * 12 + 11 })),
        { decode: SchemaGetter.transform(fromCount), encode: SchemaGetter.transform(count) }
      )
  }),
  parse,
  print: (value: Month) => value
}).annotate({ title: "Month", description: "A calendar month, uuuu-MM." })
