/**
 * Tries of the timely writes of one record, each counted by itself, and the codec by which an item of the
 * queue `clock` keeps them (docs/domain/every-record.md#timely-writes).
 */
import { Option, Schema } from "effect"
import * as Instant from "../kernel/Instant.ts"

/** Tries of one write for one record and one instant. */
const TimelyTry = Schema.Struct({
  /** Key of the write, its record and its instant: at another instant the write is counted anew. */
  about: Schema.String,
  /** Number of its operations that failed. */
  times: Schema.Int,
  /** Instant from which the write is opened again, or its operation is looked at again. */
  againAt: Instant.schema
})
export type TimelyTry = typeof TimelyTry.Type

/** Backoff in milliseconds until a refused write is opened again: from a minute up to a day. */
export const pauseAfter = (times: number): number =>
  Math.min(24 * 3_600_000, 60_000 * 2 ** Math.min(times, 11))

/** The instant so many milliseconds after another. */
const after = (at: Instant.Instant, millis: number): Instant.Instant =>
  Instant.fromEpochMillis(Instant.toEpochMillis(at) + millis)

/**
 * The try of a write after a look at its latest operation. The pause after a failure begins with it, so
 * that an item which has lost its counts finds each of the operations before, and waits no longer.
 */
export const looked = (
  { about, times }: Pick<TimelyTry, "about" | "times">,
  {
    failedAt,
    now
  }: { readonly failedAt: Instant.Instant | undefined; readonly now: Instant.Instant }
): TimelyTry =>
  failedAt === undefined
    ? { about, times, againAt: after(now, pauseAfter(times)) }
    : { about, times: times + 1, againAt: after(failedAt, pauseAfter(times + 1)) }

const Payload = Schema.fromJsonString(Schema.Array(TimelyTry))
const prefix = "tries:"
const decodePayload = Schema.decodeUnknownOption(Payload)
const encodePayload = Schema.encodeSync(Payload)

/** Encodes the payload of an item. */
export const encode = (tries: ReadonlyArray<TimelyTry>): string =>
  tries.length === 0 ? "" : `${prefix}${encodePayload(tries)}`

/**
 * Decodes the tries of a payload, by their keys. Versions before this one kept the count of one write
 * without the end of its pause, which has passed when the item is leased.
 */
export const decode = (payload: string): ReadonlyMap<string, TimelyTry> => {
  const [, times, about] = /^times:(\d+):(.*)$/su.exec(payload) ?? []
  const tries =
    times !== undefined && about !== undefined
      ? [{ about, times: Number(times), againAt: Instant.fromNanos(0n) }]
      : payload.startsWith(prefix)
        ? Option.getOrElse(decodePayload(payload.slice(prefix.length)), () => [])
        : []
  return new Map(tries.map((attempt) => [attempt.about, attempt]))
}
