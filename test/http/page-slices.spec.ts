/** A page is printed in slices: the event loop has turns for other requests in between. */
import { Effect } from "effect"
import { expect, it } from "vitest"
import { inSlices } from "#host/handlers/read.ts"

/** Prints a page of so many items, and counts the turns of the event loop meanwhile. */
const turnsOf = async (items: number) => {
  let turns = 0
  let next = setImmediate(function count() {
    turns += 1
    next = setImmediate(count)
  })
  const values = Array.from({ length: items }, (_, index) => index)
  const { bytes } = await Effect.runPromise(inSlices((value) => Buffer.from(String(value)))(values))
  clearImmediate(next)
  expect(Buffer.from(bytes).toString()).toBe(JSON.stringify(values))
  return turns
}

it("gives the event loop a turn for every fifty items of a page", async () => {
  expect(await turnsOf(0)).toBeLessThanOrEqual(2)
  expect(await turnsOf(50)).toBeLessThanOrEqual(2)
  expect(await turnsOf(1_000)).toBeGreaterThanOrEqual(19)
})
