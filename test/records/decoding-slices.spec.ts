/** Rows of a page are decoded in slices: the event loop has turns for other requests in between. */
import { Instant } from "@bursar/engine-core/kernel"
import type { StoredVersion } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { expect, it } from "vitest"
import * as Versions from "#core/records/Versions.ts"
import { timers } from "../engine/timers.ts"

const rowOf = (index: number) => ({ recordId: `t-${index}` }) as StoredVersion

/** Decodes so many rows, and counts the turns of the event loop meanwhile. */
const turnsOf = async (count: number) => {
  let turns = 0
  let next = setImmediate(function turn() {
    turns += 1
    next = setImmediate(turn)
  })
  const rows = Array.from({ length: count }, (_, index) => rowOf(index))
  const versions = {
    fromRows: (_: unknown, slice: ReadonlyArray<StoredVersion>) =>
      slice.map(({ recordId }) => recordId as never)
  }
  const judgedAt = Instant.fromNanos(0n)
  const found = await Effect.runPromise(
    Versions.inSlices(versions, { collection: timers, rows, judgedAt })
  )
  clearImmediate(next)
  expect(found).toEqual(rows.map(({ recordId }) => recordId))
  return turns
}

it("gives the event loop a turn for every hundred rows", async () => {
  expect(await turnsOf(0)).toBeLessThanOrEqual(2)
  expect(await turnsOf(100)).toBeLessThanOrEqual(2)
  expect(await turnsOf(1_000)).toBeGreaterThanOrEqual(9)
})
