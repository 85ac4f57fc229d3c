/** A time on a wall clock, such as a cut-off: `HH:mm`, in the zone its reader names. */
import { type Brand, Result, Schema } from "effect"
import * as Codec from "./Codec.ts"

/** `HH:mm`, from 00:00 to 23:59; as text it sorts as it does on a day. */
export type TimeOfDay = string & Brand.Brand<"TimeOfDay">

/** Form of a time of day: hours and minutes of 24 hours, such as `17:30`. */
export const pattern = /^(?:[01][0-9]|2[0-3]):[0-5][0-9]$/u

/** Whether a value is a time of day. */
export const isTimeOfDay = (value: unknown): value is TimeOfDay =>
  typeof value === "string" && pattern.test(value)

/** Time of day of a text such as `17:30`. */
export const parse = (text: string): Result.Result<TimeOfDay, Codec.Fault> =>
  isTimeOfDay(text) ? Result.succeed(text) : Codec.fault("a time of day is written HH:mm")

/** Parses a time literal of the source code; throws on a malformed one. */
export const of = (text: string): TimeOfDay => Codec.orThrow("TimeOfDay", parse(text))

/** Minutes since midnight on the clock. */
export const minutes = (self: TimeOfDay): number =>
  Number(self.slice(0, 2)) * 60 + Number(self.slice(3, 5))

/** `HH:mm` on the wire and in the store. */
export const schema: Schema.Codec<TimeOfDay, string> = Schema.String.check(
  Schema.isPattern(pattern, {
    expected: "a time of day",
    title: "TimeOfDay",
    description: "A time on a wall clock, HH:mm."
  })
).pipe(Schema.brand("TimeOfDay"))
