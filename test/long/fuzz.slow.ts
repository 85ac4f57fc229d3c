/** A short walk of requests by chance with every run of the tests; the long one is `npm run test:long`. */
import { describe, expect, it } from "vitest"
import { walk } from "./fuzz.ts"

const short = { seed: 20261123, count: 1_500 }

describe(`${short.count} requests by chance, seed ${short.seed}`, () => {
  it("are answered as the document says, by no 5xx but a 503 that says when to try again", async () => {
    const { faults, reached, statuses } = await walk(short)
    expect(faults.slice(0, 20)).toEqual([])
    expect(statuses.get(304) ?? 0).toBeGreaterThan(0)
    // Requests that are all refused at the door would find nothing behind it.
    expect(reached.size).toBeGreaterThan(30)
  })
})
