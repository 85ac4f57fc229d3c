/** Payload of the operations' queue: a text that older and newer engines read alike. */
import { describe, expect, it } from "vitest"
import { OperationKind } from "#core/vocabulary/OperationKind.ts"
import * as QueuedOperation from "#core/writes/QueuedOperation.ts"

const read = (payload: string) => QueuedOperation.decode({ itemId: "op1", payload })

describe("the payload of a queued operation", () => {
  it("reads back as it was written, for every kind of write", () => {
    for (const kind of OperationKind.members) {
      for (const answeredAttempt of [null, 1, 2, 17]) {
        const queued = { kind, answeredAttempt }
        expect(read(QueuedOperation.encode(queued))).toEqual(queued)
      }
    }
  })

  it("reads what earlier versions have queued", () => {
    expect(read("holder.onboard")).toEqual({ kind: "holder.onboard", answeredAttempt: null })
    expect(read("holder.onboard answered 3")).toEqual({
      kind: "holder.onboard",
      answeredAttempt: 3
    })
  })

  it("is written as earlier versions read it", () => {
    const kind = "holder.onboard"
    expect(QueuedOperation.encode({ kind, answeredAttempt: null })).toBe("holder.onboard")
    expect(QueuedOperation.encode({ kind, answeredAttempt: 3 })).toBe("holder.onboard answered 3")
  })

  it("never is taken for another where it says nothing that was written", () => {
    for (const payload of ["", "holder", "holder.onboard answered", "holder.onboard answered x"]) {
      expect(() => read(payload)).toThrow("op1")
    }
  })
})
