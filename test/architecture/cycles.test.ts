/** Import cycles: no import, of a value or of a type, leads back to its own file. */
import { describe, expect, it } from "vitest"
import { fileOf, sources } from "./sources.ts"

type Graph = ReadonlyMap<string, ReadonlyArray<string>>

/** The first cycle that is met, file by file, or nothing. */
const cycleIn = (graph: Graph): ReadonlyArray<string> => {
  const done = new Set<string>()
  const visit = (file: string, trail: ReadonlyArray<string>): ReadonlyArray<string> => {
    const firstIndex = trail.indexOf(file)
    if (firstIndex !== -1) return [...trail.slice(firstIndex), file]
    if (done.has(file)) return []
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next, [...trail, file])
      if (cycle.length > 0) return cycle
    }
    done.add(file)
    return []
  }
  for (const file of graph.keys()) {
    const cycle = visit(file, [])
    if (cycle.length > 0) return cycle
  }
  return []
}

const values: Graph = new Map(
  sources.map(({ imports, path }) => [
    path,
    imports
      .filter(({ kind }) => kind === "value")
      .map(({ specifier }) => fileOf(path, specifier))
      .filter((file) => file !== null)
  ])
)

const all: Graph = new Map(
  sources.map(({ imports, path }) => [
    path,
    imports.map(({ specifier }) => fileOf(path, specifier)).filter((file) => file !== null)
  ])
)

describe("imports of types", () => {
  it("form no cycle, alone or together with those of values", () => {
    expect(cycleIn(all)).toEqual([])
  })
})

describe("value imports", () => {
  it("form no cycle", () => {
    expect(cycleIn(values)).toEqual([])
  })

  it("a cycle would be named, file by file", () => {
    const ring = new Map([
      ["a", ["b", "c"]],
      ["b", []],
      ["c", ["d"]],
      ["d", ["b", "c"]]
    ])
    expect(cycleIn(ring)).toEqual(["c", "d", "c"])
  })

  it("are read from every package", () => {
    expect(values.size).toBeGreaterThan(100)
    expect([...values.values()].flat().length).toBeGreaterThan(100)
  })
})
