/** Polls of tests: a wait ends where nothing moves any more, however slow the machine is. */
import { afterEach, beforeEach, expect, it, vi } from "vitest"
import { pollLimit, wanted } from "./waiting.ts"

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "performance"] })
})
afterEach(() => {
  vi.useRealTimers()
})

/** Ends of a wait, after so many limits have passed. */
const endsAfter = async (limits: number, wait: Promise<unknown>): Promise<string> => {
  let end = "waits"
  wait.then(
    () => (end = "found"),
    () => (end = "gave up")
  )
  await vi.advanceTimersByTimeAsync(limits * pollLimit)
  return end
}

it("never gives up while something moves, and gives up where nothing has moved for a limit", async () => {
  let moves = 0
  expect(
    await endsAfter(
      2.5,
      wanted(
        () => undefined,
        async () => String(moves++)
      )
    )
  ).toBe("waits")
  expect(
    await endsAfter(
      1.5,
      wanted(
        () => undefined,
        async () => "still"
      )
    )
  ).toBe("gave up")
  expect(
    await endsAfter(
      1.5,
      wanted(() => undefined)
    )
  ).toBe("gave up")
})

it("finds what comes after a limit in which something moved", async () => {
  let polls = 0
  const found = wanted(
    () => (++polls > 20_000 ? true : undefined),
    async () => String(polls)
  )
  expect(await endsAfter(1.5, found)).toBe("found")
})
