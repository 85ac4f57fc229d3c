/** Nearest words of misspelt ones. */
import { describe, expect, it } from "vitest"
import * as Nearest from "#core/kernel/Nearest.ts"

const words = ["holder.register", "holder.restrict", "hold.release", "holder.recover"]

describe("the nearest word", () => {
  it.each([
    ["holder.registr", "holder.register"],
    ["Holder.Register", "holder.register"],
    ["hold.relase", "hold.release"],
    ["holder-restrict", "holder.restrict"]
  ])("of %s is %s", (word, nearest) => {
    expect(Nearest.near(word, words)).toBe(nearest)
  })

  it.each(["", "webhook.test", "x".repeat(1_000)])("of %j is none", (word) => {
    expect(Nearest.near(word, words)).toBeNull()
  })

  it("is left out of a sentence on a word that none is near to", () => {
    const found = Nearest.sentence("write", { word: "hold.relase", set: words })
    expect(found).toBe('There is no write "hold.relase"; the nearest is "hold.release".')
    expect(Nearest.sentence("write", { word: "qq", set: words })).toBe('There is no write "qq".')
  })
})
