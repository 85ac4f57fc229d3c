/** Spans of traces: the parts of a read or a write are named by it, so that a trace says whose they are. */
import { describe, expect, it } from "vitest"
import { sources } from "./sources.ts"

const declaration = /(?=\bRead\.\w+(?:<[^(]*>)?\(\{|\bOperation\.define\w*\(\s*")/u
const declared = /^(?:Read\.\w+(?:<[^(]*>)?\(\{\s*name:|Operation\.define\w*\()\s*"(?<name>[^"]+)"/u
const span = /^ +\w+: Effect\.fn\("(?<name>[^"]+)"\)/gmu

const spans = sources.flatMap(({ path, text }) =>
  text
    .split(declaration)
    .slice(1)
    .flatMap((part) =>
      [...part.matchAll(span)].map(({ groups }) => ({
        path,
        owner: declared.exec(part)?.groups?.["name"] ?? null,
        name: groups?.["name"] ?? ""
      }))
    )
)

describe("the spans of reads and writes", () => {
  it("have the name of their read or write, alone or before the part", () => {
    const wrong = spans.filter(
      ({ name, owner }) => owner === null || (name !== owner && !name.startsWith(`${owner}.`))
    )
    expect(wrong).toEqual([])
    expect(spans.length).toBeGreaterThan(90)
  })
})
