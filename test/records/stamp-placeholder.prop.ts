/** The stamp of a transaction takes the place of its placeholders in what is stored, and of nothing else. */
import { Instant } from "@bursar/engine-core/kernel"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as UnitOfWork from "#core/records/UnitOfWork.ts"

const instants = fc
  .bigInt({ min: 0n, max: 4_000_000_000_000_000_000n })
  .map((nanos) => Instant.fromNanos(nanos))
/** Few of them, close together, so that a text names placeholders of its own transaction and of none. */
const placeholders = fc
  .integer({ min: 0, max: 5 })
  .map((n) => UnitOfWork.placeholderOf(Instant.fromEpochMillis(1_790_000_000_000 + n)))

describe("the stamp of a transaction", () => {
  it("stands for each of its placeholders in a stored text, and every other instant stays", () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(placeholders, instants), { maxLength: 12 }),
        fc.uniqueArray(placeholders),
        instants,
        (named, awaited, at) => {
          const text = (stamp: (instant: Instant.Instant) => Instant.Instant) =>
            JSON.stringify(
              named.map((instant) => ({ note: "999Z", at: Instant.format(stamp(instant)) }))
            )
          const work = { placeholders: new Set(awaited) }
          expect(UnitOfWork.stamping(work, at)([text((instant) => instant)])).toEqual([
            text((instant) => (awaited.includes(instant) ? at : instant))
          ])
        }
      )
    )
  })

  it("is stood for by an instant of the call's own microsecond that no store keeps", () => {
    fc.assert(
      fc.property(instants, (now) => {
        const placeholder = UnitOfWork.placeholderOf(now)
        expect(Instant.toMicros(placeholder)).toBe(Instant.toMicros(now))
        expect(Instant.format(placeholder)).toMatch(/999Z$/u)
      })
    )
  })
})
