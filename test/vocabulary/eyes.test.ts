/** Tighten alone, loosen together: the eyes each write asks for are those that its direction needs. */
import { Catalogue } from "@bursar/engine-core"
import { describe, expect, it } from "vitest"
import { type BuiltInOperationKind, OperationKind } from "#core/vocabulary/OperationKind.ts"
import { effects, eyes, eyesOf } from "../../packages/engine-core/scripts/pages/eyes.ts"
import { givenWrites } from "./routes.ts"

const kinds = OperationKind.members

describe("how many eyes a write needs", () => {
  it("is said of every kind there is, and of no other", () => {
    expect(Object.keys(effects).toSorted()).toEqual([...kinds].toSorted())
  })

  it.each(Catalogue.operations.map((one) => [one.kind, one.approvers] as const))(
    "%s is declared with those it needs: %i",
    (kind, approvers) => {
      expect(approvers).toBe(eyesOf(kind as BuiltInOperationKind).approvers)
    }
  )

  it.each(
    kinds.flatMap((kind) => {
      const listedWrite = givenWrites.get(kind)
      return listedWrite === undefined ? [] : [[kind, listedWrite.approvers] as const]
    })
  )("%s needs as many as the routes give it: %i", (kind, approvers) => {
    expect(eyesOf(kind as BuiltInOperationKind).approvers).toBe(approvers)
  })

  it("is one person for whatever takes back, pauses, restricts or calls off", () => {
    const taking = /[.](?:pause|restrict|restrict-batch|cancel|revoke|withdraw)$/u
    expect(kinds.filter((kind) => taking.test(kind) && effects[kind] !== "tighten")).toEqual([])
  })

  it("is never one person for what widens, and two besides the maker for what a control stopped", () => {
    const widening = Object.entries(eyes).filter(([effect]) => effect.startsWith("loosen"))
    expect(widening.filter(([, { approvers }]) => approvers === 0)).toEqual([])
    const two = kinds.filter((kind) => eyesOf(kind as BuiltInOperationKind).approvers === 2)
    expect(two).toEqual(["restriction.lift", "hold.release"])
  })
})
