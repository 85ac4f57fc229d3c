/** A calendar day, such as a value date or a record date: `yyyy-MM-dd`, in the zone its reader names. */
import { type Brand, Order, Result, Schema, SchemaGetter } from "effect"
import { ArithmeticError } from "./ArithmeticError.ts"
import * as Codec from "./Codec.ts"
import * as Gregorian from "./Gregorian.ts"
import { Weekday } from "../vocabulary/sets.ts"

/** `yyyy-MM-dd`; as text it sorts as it does in time. */
export type Date = string & Brand.Brand<"Date">

/** Fault of a text that is no date. */
export type DateFault = Codec.Fault

/** Days of a week, from Monday. */
export const weekdays: ReadonlyArray<Weekday> = Weekday.members

const grammar = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/

/** Date of a text such as `2026-07-30`; a day that the calendar lacks is a fault. */
export const parse = (text: string): Result.Result<Date, DateFault> => {
  if (!grammar.test(text)) return Codec.fault("a date is written yyyy-MM-dd")
  return Gregorian.isDay(civil(text))
    ? Result.succeed(text as Date)
    : Codec.fault("there is no such date")
}

/**
 * Parses a date literal of the source code; throws on a malformed one.
 *
 * @example
 * ```ts
 * import { Date } from "@bursar/engine-core/kernel"
 *
 * Date.addDays(Date.of("2026-02-28"), 1) // => "2026-03-01"
 * ```
 */
export const of = (text: string): Date => Codec.orThrow("Date", parse(text))

const civil = (text: string): Gregorian.Civil => ({
  year: Number(text.slice(0, 4)),
  month: Number(text.slice(5, 7)),
  day: Number(text.slice(8, 10))
})

/** Year, month and day as numbers. */
export const parts = (self: Date): Gregorian.Civil => civil(self)

/** Date of a year, a month and a day. Throws where the calendar lacks it. */
export const fromParts = (parts: Gregorian.Civil): Date => {
  if (!Gregorian.isDay(parts)) throw new ArithmeticError("Date: there is no such date")
  const { year, month, day } = parts
  return `${Gregorian.digits(year, 4)}-${Gregorian.digits(month, 2)}-${Gregorian.digits(day, 2)}` as Date
}

/** Number of days after 1970-01-01. */
export const epochDay = (self: Date): number => Gregorian.toEpochDay(civil(self))

/** Date that is so many days after 1970-01-01. Throws outside the years that a date may have. */
export const fromEpochDay = (day: number): Date => {
  if (!Number.isInteger(day)) throw new RangeError("Date: a day is counted in whole numbers")
  return fromParts(Gregorian.fromEpochDay(day))
}

/** Date so many days later, or earlier where the number is negative. */
export const addDays = (self: Date, days: number): Date => fromEpochDay(epochDay(self) + days)

/** Day after a date. */
export const next = (self: Date): Date => addDays(self, 1)

/** Day before a date. */
export const previous = (self: Date): Date => addDays(self, -1)

/** Adds months to a date; a day that the month lacks becomes its last day. */
export const addMonths = (self: Date, months: number): Date => {
  const { year, month, day } = civil(self)
  const count = year * 12 + month - 1 + months
  const moved = { year: Math.floor(count / 12), month: (((count % 12) + 12) % 12) + 1 }
  return fromParts({ ...moved, day: Math.min(day, Gregorian.lengthOfMonth(moved)) })
}

/** Number of days from `from` to `to`; below zero where `to` is before. */
export const daysBetween = (span: { readonly from: Date; readonly to: Date }): number =>
  epochDay(span.to) - epochDay(span.from)

/** Day of the week of a date. */
export const weekday = (self: Date): Weekday => {
  const index = (((epochDay(self) + 3) % 7) + 7) % 7
  return weekdays[index] as Weekday
}

/** Order of two dates: -1, 0 or 1. */
export const compare = (self: Date, that: Date): -1 | 0 | 1 =>
  self < that ? -1 : self > that ? 1 : 0

/** Whether a date is before another. */
export const isBefore = (self: Date, that: Date): boolean => self < that

/** Whether a date is after another. */
export const isAfter = (self: Date, that: Date): boolean => self > that

/** Earlier of two dates. */
export const min = (self: Date, that: Date): Date => (self < that ? self : that)

/** Later of two dates. */
export const max = (self: Date, that: Date): Date => (self > that ? self : that)

/** Order of dates, earliest first. */
export const order: Order.Order<Date> = Order.make(compare)

/** Whether a value is a date. */
export const isDate = (value: unknown): value is Date =>
  typeof value === "string" && Result.isSuccess(parse(value))

/** `yyyy-MM-dd` on the wire and in the store. */
export const schema: Schema.Codec<Date, string> = Codec.make({
  from: Schema.String.annotate({ format: "date" }),
  to: Schema.declare(isDate, {
    expected: "a date",
    toCodecArbitrary: () =>
      Schema.link<Date>()(
        Schema.Int.check(
          Schema.isBetween({ minimum: Gregorian.EPOCH_DAY_MIN, maximum: Gregorian.EPOCH_DAY_MAX })
        ),
        { decode: SchemaGetter.transform(fromEpochDay), encode: SchemaGetter.transform(epochDay) }
      )
  }),
  parse,
  print: (value: Date) => value
}).annotate({ title: "Date", description: "A calendar day, yyyy-MM-dd." })
