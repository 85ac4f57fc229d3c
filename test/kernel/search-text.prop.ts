/** Folding of searched texts: once and for all, without case, and cut at whole characters. */
import { SearchText } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const text = fc.string({ unit: "binary", maxLength: 60 })

describe("a folded text", () => {
  it("folds to itself", () => {
    fc.assert(
      fc.property(text, (any) => {
        const folded = SearchText.fold(any)
        expect(SearchText.fold(folded)).toBe(folded)
      }),
      { numRuns: 2_000 }
    )
  })

  it("folds to itself at each character by itself", () => {
    for (let point = 1; point <= 0x10ffff; point++) {
      if (point >= 0xd800 && point <= 0xdfff) continue
      const folded = SearchText.fold(String.fromCodePoint(point))
      if (SearchText.fold(folded) !== folded) expect.fail(`U+${point.toString(16)}`)
    }
  })

  it("is the same whatever case its letters have", () => {
    const name = fc.string({ unit: fc.constantFrom(..."aÄßéσςΣıŉǆﬁ ЖжÅΐ"), maxLength: 20 })
    fc.assert(
      fc.property(name, (any) => {
        expect(SearchText.fold(any.toUpperCase())).toBe(SearchText.fold(any))
      })
    )
  })

  it("begins with each of its own beginnings, folded", () => {
    fc.assert(
      fc.property(text, (any) => {
        const characters = [...SearchText.fold(any)]
        for (let length = 1; length <= characters.length; length++) {
          const begin = characters.slice(0, length).join("")
          if (begin.endsWith(" ")) continue
          expect(SearchText.fold(any).startsWith(SearchText.fold(begin))).toBe(true)
        }
      })
    )
  })

  it("is cut at a character, at no more bytes than a term has", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), (any) => {
        const folded = SearchText.fold(any)
        const cut = SearchText.cut(folded)
        expect(folded.startsWith(cut)).toBe(true)
        expect(cut.isWellFormed()).toBe(true)
        expect(new TextEncoder().encode(cut).length).toBeLessThanOrEqual(120)
        if (new TextEncoder().encode(folded).length <= 120) expect(cut).toBe(folded)
      })
    )
  })

  it("is ordered as its bytes are", () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        const [left, right] = [SearchText.fold(a), SearchText.fold(b)]
        const bytes = Buffer.compare(Buffer.from(left), Buffer.from(right))
        expect(Math.sign(SearchText.compare(left, right))).toBe(bytes)
      })
    )
  })

  it("is a name from each of its words on", () => {
    expect(SearchText.fromEachWord("o'neill & söhne 2")).toEqual([
      "o'neill & söhne 2",
      "neill & söhne 2",
      "söhne 2",
      "2"
    ])
    expect(SearchText.fromEachWord("(a) b")).toEqual(["(a) b", "a) b", "b"])
    expect(SearchText.fromEachWord("%")).toEqual(["%"])
    expect(SearchText.fromEachWord("")).toEqual([])
  })
})
