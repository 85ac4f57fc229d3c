/** Nouns of the rooms: what the catalogue gathers has one noun each, and every declaration has one. */
import { describe, expect, it } from "vitest"
import * as Catalogue from "#core/catalogue.ts"
import { sources } from "./sources.ts"

const repeated = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> =>
  values.filter((value, index) => values.indexOf(value) !== index)

const core = sources.filter(({ path }) => path.startsWith("packages/engine-core/src/"))

/** Names of a kind of declaration in the sources: the first text that its maker is given. */
const declaredIn = (maker: RegExp): ReadonlyArray<string> =>
  core.flatMap(({ text }) => [...text.matchAll(maker)].map(([, name]) => name ?? "")).toSorted()

describe("the nouns of all rooms", () => {
  it.each([
    ["machine", Catalogue.machines],
    ["judged states", Catalogue.judged],
    ["collection", Catalogue.collections],
    ["write", Catalogue.operations],
    ["query", Catalogue.queries],
    ["timely write", Catalogue.timely],
    ["consequence", Catalogue.consequences],
    ["worker", Catalogue.workers],
    ["step of retention", Catalogue.retentionSteps]
  ])("no %s belongs to two nouns", (_, declarations) => {
    expect(repeated(declarations)).toEqual([])
  })

  it("every machine of the sources belongs to a noun", () => {
    const agreements = declaredIn(/Agreement\.declareStates\(\s*"([^"]+)"/gu)
    expect([...declaredIn(/Machine\.declare\(\s*"([^"]+)"/gu), ...agreements].toSorted()).toEqual(
      Catalogue.machines.map(({ name }) => name).toSorted()
    )
  })
})
