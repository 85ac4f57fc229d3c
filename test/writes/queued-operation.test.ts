/** Payload of the operations' queue: a text that older and newer engines read alike. */
import { describe, expect, it } from "vitest"
import { OperationKind } from "#core/vocabulary/OperationKind.ts"
import * as QueuedOperation from "#core/writes/QueuedOperation.ts"

const read = (payload: string) => QueuedOperation.decode({ itemId: "op1", payload })

describe("the payload of a queued operation", () => {
  it("reads back as it was written, for every kind of write", () => {
    for (const kind of OperationKind.members) {
      for (const answeredAttempt of [null, 1, 2, 17]) {
        for (const deaths of [0, 1, 4]) {
          const queued = { kind, answeredAttempt, deaths }
          expect(read(QueuedOperation.encode(queued))).toEqual(queued)
        }
      }
    }
  })

  it("reads what earlier versions have queued", () => {
    const queued = { kind: "holder.onboard", deaths: 0 }
    expect(read("holder.onboard")).toEqual({ ...queued, answeredAttempt: null })
    expect(read("holder.onboard answered 3")).toEqual({ ...queued, answeredAttempt: 3 })
  })

  it("is written as earlier versions read it", () => {
    const queued = { kind: "holder.onboard", deaths: 0 } as const
    expect(QueuedOperation.encode({ ...queued, answeredAttempt: null })).toBe("holder.onboard")
    expect(QueuedOperation.encode({ ...queued, answeredAttempt: 3 })).toBe(
      "holder.onboard answered 3"
    )
  })

  it("never is taken for another where it says nothing that was written", () => {
    for (const payload of ["", "holder", "holder.onboard answered", "holder.onboard answered x"]) {
      expect(() => read(payload)).toThrow("op1")
    }
  })
})
