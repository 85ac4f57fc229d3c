/** The tracer of journeys: what it adds to a source, and how it counts visits and returns. */
import { stripTypeScriptTypes } from "node:module"
import { expect, it } from "vitest"
import { countOf } from "./count.ts"
import { withCalls } from "./entries.ts"

it("counts a visit where the file changes, and a return where it was visited before", () => {
  expect(countOf(["a", "a", "b", "a", "c", "b", "b", "a"])).toEqual({
    visits: ["a", "b", "a", "c", "b", "a"],
    files: 3,
    returns: 3,
    returnsByFile: [
      ["a", 2],
      ["b", 1]
    ]
  })
  expect(countOf([])).toEqual({ visits: [], files: 0, returns: 0, returnsByFile: [] })
})

it("records each function of a source as it is entered, and changes no result", () => {
  const source = `function sum() {
    const twice = (x: number) => (y => y * 2)(x)
    const boxed = (x: number) => ({ x }) as const
    function* boxes(xs: ReadonlyArray<number>) { for (const x of xs) yield boxed(twice(x)) }
    class Sum { of(all: Iterable<{ x: number }>) { return [...all].length + 1 } }
    return new Sum().of(boxes([1, 2]))
  }`
  let entered = 0
  const script = stripTypeScriptTypes(withCalls(source, "enter()"))
  const sum = Function("enter", `${script}; return sum()`) as (enter: () => void) => number
  expect(sum(() => entered++)).toBe(3)
  // `sum`, `of` and `boxes`, then for each number both arrows of `twice`, and `boxed`.
  expect(entered).toBe(3 + 2 * 3)
})
