/** Nearest words of misspelt ones. */
import { describe, expect, it } from "vitest"
import * as NearestWord from "#core/kernel/NearestWord.ts"

const words = ["holder.register", "holder.restrict", "hold.release", "holder.recover"]

describe("the nearest word", () => {
  it.each([
    ["holder.registr", "holder.register"],
    ["Holder.Register", "holder.register"],
    ["hold.relase", "hold.release"],
    ["holder-restrict", "holder.restrict"]
  ])("of %s is %s", (word, nearest) => {
    expect(NearestWord.of(word, words)).toBe(nearest)
  })

  it.each(["", "webhook.test", "x".repeat(1_000)])("of %j is none", (word) => {
    expect(NearestWord.of(word, words)).toBeNull()
  })

  it("is left out of a sentence on a word that none is near to", () => {
    const found = NearestWord.sentence("write", { word: "hold.relase", words })
    expect(found).toBe('There is no write "hold.relase"; the nearest is "hold.release".')
    expect(NearestWord.sentence("write", { word: "qq", words })).toBe('There is no write "qq".')
  })
})
