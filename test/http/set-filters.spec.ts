/** A filter whose values are words of a set refuses a word that is none, by the parameter's name. */
import { Catalogue, type Read } from "@bursar/engine-core"
import { Result, Schema, type SchemaAST } from "effect"
import { describe, expect, it } from "vitest"
import { checkNames } from "#core/vocabulary/ReconciliationChecks.ts"
import { ReconciliationCheck } from "#core/vocabulary/sets.ts"
import { served as feeds } from "#host/api/FeedsApi.ts"
import { sets } from "#host/api/Sets.ts"
import * as Verb from "#host/api/Verb.ts"
import { mayGrow } from "#core/vocabulary/ValueSet.ts"
import { asking } from "#host/handlers/read.ts"

type Fields = Readonly<Record<string, { readonly ast: SchemaAST.AST }>>

const fieldsOf = (schema: object): Fields =>
  "fields" in schema
    ? (schema.fields as Fields)
    : "schema" in schema
      ? fieldsOf(schema.schema as object)
      : {}

/** Words of a parameter that is one of a set, or a list of such; undefined: it has no set. */
const wordsOf = (ast: SchemaAST.AST): ReadonlyArray<unknown> | undefined => {
  if (ast._tag === "Arrays") return ast.rest[0] === undefined ? undefined : wordsOf(ast.rest[0])
  if (ast._tag === "Literal") return typeof ast.literal === "string" ? [ast.literal] : undefined
  if (ast._tag !== "Union") return undefined
  // The open side of a set to which rooms add words is no word.
  const parts = ast.types.filter((type) => type._tag !== "String" || !mayGrow(ast)).map(wordsOf)
  return parts.includes(undefined) ? undefined : parts.flatMap((part) => part ?? [])
}

const queries = [
  ...Catalogue.queries.map(({ name, params, route }) => ({
    name: name as string,
    params,
    route: route as string
  })),
  ...feeds
    .filter(({ route }) => route.startsWith("GET "))
    .map(({ name, params, route }) => ({ name: name as string, params, route: route as string }))
]

const filters = queries.flatMap(({ name, params, route }) =>
  Object.entries(fieldsOf(params)).flatMap(([parameter, { ast }]) => {
    const words = wordsOf(ast)
    return words === undefined ? [] : [[name, parameter, words, params, route] as const]
  })
)

const faultsOf = (
  params: Read.Read["params"],
  route: string,
  query: string
): ReadonlyArray<string> => {
  const inPath = new Set(Verb.parse(route as Read.ReadRoute).names)
  const arrival = { query, params: {} } as unknown as Parameters<ReturnType<typeof asking>>[0]
  const judged = asking({ params: params as never, standard: new Set<string>(), inPath })(arrival)
  return Result.isFailure(judged)
    ? (judged.failure.details.errors ?? []).map(({ pointer }) => pointer)
    : []
}

describe("a filter on a set", () => {
  it("is found in the lists that have one, the check of findings among them", () => {
    expect(filters.length).toBeGreaterThan(30)
    const named = filters.map(([name, parameter]) => `${name} ${parameter}`)
    expect(named).toContain("findings.list check")
    expect(named).toContain("findings.list state")
  })

  it.each(filters)(
    "%s by %s refuses a word that is none",
    (_name, parameter, words, params, route) => {
      const pointer = `/query/${parameter}`
      for (const wrong of ["no-such-word", "constructor", "", String(words[0]).toUpperCase()]) {
        const faults = faultsOf(params, route, `${parameter}=${wrong}`)
        expect([wrong, faults.includes(pointer)]).toEqual([wrong, true])
      }
      const beside = faultsOf(
        params,
        route,
        `${parameter}=${String(words[0])}&${parameter}=no-such-word`
      )
      expect(beside).toContain(pointer)
      for (const word of words) {
        expect([
          word,
          faultsOf(params, route, `${parameter}=${String(word)}`).includes(pointer)
        ]).toEqual([word, false])
      }
    }
  )

  it("takes no text at all where the same member of its items has a set", () => {
    const names = new Set(sets.map(({ name }) => name))
    const open = Catalogue.queries.flatMap((read) => {
      if (read.shape !== "list") return []
      const items = fieldsOf(read.item)
      return Object.entries(fieldsOf(read.params))
        .filter(([name, { ast }]) => {
          const item = items[name]?.ast.annotations?.["identifier"]
          return typeof item === "string" && names.has(item) && wordsOf(ast) === undefined
        })
        .map(([name]) => `${read.name} ${name}`)
    })
    expect(open).toEqual([])
  })
})

it("the set of checks is the checks that a run has, in their order", () => {
  expect(ReconciliationCheck.members).toEqual(checkNames)
  expect(Result.isFailure(Schema.decodeUnknownResult(ReconciliationCheck.schema)("none"))).toBe(
    true
  )
})
