/** Nearest words of misspelt ones. */
import { HostConfig } from "@bursar/http-host"
import { describe, expect, it } from "vitest"
import * as Nearest from "#core/kernel/Nearest.ts"

const words = ["holder.register", "holder.restrict", "hold.release", "holder.recover", "port"]

describe("the nearest word", () => {
  it.each([
    ["holder.registr", "holder.register"],
    ["Holder.Register", "holder.register"],
    ["hold.relase", "hold.release"],
    ["holder-restrict", "holder.restrict"],
    // Two letters changed place in a short word.
    ["prot", "port"],
    // The first part of a dotted word is left out.
    ["release", "hold.release"]
  ])("of %s is %s", (word, nearest) => {
    expect(Nearest.near(word, words)).toBe(nearest)
  })

  it("of a word of the set is the word itself", () => {
    const names = Object.keys(HostConfig.settings)
    for (const set of [words, names]) {
      expect(set.filter((word) => Nearest.near(word, set) !== word)).toEqual([])
    }
  })

  it.each(["", "qq", "webhook.test", "x".repeat(1_000)])("of %j is none", (word) => {
    expect(Nearest.near(word, words)).toBeNull()
  })

  it("is left out of a sentence on a word that none is near to", () => {
    const found = Nearest.sentence("write", { word: "hold.relase", set: words })
    expect(found).toBe('There is no write "hold.relase"; the nearest is "hold.release".')
    expect(Nearest.sentence("write", { word: "qq", set: words })).toBe('There is no write "qq".')
  })
})
