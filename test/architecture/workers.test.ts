/** The table of workers: each name has one worker, and no two workers share a queue. */
import { describe, expect, it } from "vitest"
import { workers } from "#core/catalogue.ts"
import { workerNames } from "#core/engine/WorkerName.ts"

describe("the table of workers", () => {
  it("has one worker of each name, and no other", () => {
    expect(workers.map(({ name }) => name).toSorted()).toEqual(workerNames.toSorted())
  })

  it("never has two workers of one queue, or of one kind of item", () => {
    for (const member of ["queue", "item"] as const) {
      expect(new Set(workers.map((worker) => worker[member])).size).toBe(workers.length)
    }
  })
})
