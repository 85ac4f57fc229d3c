/** The OpenAPI document of a table of routes, generated and then corrected to match the wire. */
import { Catalogue } from "@bursar/engine-core"
import { HttpApi, OpenApi } from "effect/http-api"
import { shown } from "./Binding.ts"
import * as Interface from "./Interface.ts"
import * as Corrections from "./Corrections.ts"
import * as Examples from "./document/Examples.ts"
import * as Problem from "./Problem.ts"
import type * as Route from "./Route.ts"
import { setsOf } from "./Sets.ts"

/** The version of the interface, not of the package that serves it. */
export const version = "1.0.0"

/**
 * Document of a table of routes; the catalogue is the one that the routes were made of, for its sets of
 * words. Numbers of its examples are doubles, as a viewer reads them.
 */
export const make = (
  routes: ReadonlyArray<Route.Route>,
  catalogue: Catalogue.Catalogue = Catalogue.builtIn
): Corrections.Document => JSON.parse(text(routes, catalogue))

/** Memo of the text of a table of routes, by the table: it is served, shown at /docs and judged. */
const texts = new WeakMap<ReadonlyArray<Route.Route>, string>()

const corrected = (
  routes: ReadonlyArray<Route.Route>,
  catalogue: Catalogue.Catalogue
): Corrections.Document => {
  const api = Interface.make(routes, shown)
    .annotate(HttpApi.AdditionalSchemas, [
      Problem.Problem,
      ...setsOf(catalogue).map(({ schema }) => schema)
    ])
    .annotateMerge(
      OpenApi.annotations({
        title: "Bursar",
        version,
        description:
          "Administers assets that are recorded on a shared ledger, for one venue. An answer of JSON ends with its last bracket: no newline follows it. In the body of a request, a null of an optional member is taken as absent, at every depth, except where the null has a meaning of its own, as in policy.set.",
        license: { name: "Apache-2.0", url: "https://www.apache.org/licenses/LICENSE-2.0" },
        servers: [{ url: "/" }]
      })
    )
  return Corrections.document(OpenApi.fromApi(api), routes, catalogue)
}

/**
 * Text of the document, as the host serves it and the repository keeps it: a line for each operation
 * and each component, so that it is small and a difference of two of them can still be read.
 */
export const text = (
  routes: ReadonlyArray<Route.Route>,
  catalogue: Catalogue.Catalogue = Catalogue.builtIn
): string => {
  const memo = texts.get(routes)
  if (memo !== undefined) return memo
  const printed = `${Examples.putIn(lines(corrected(routes, catalogue), 3))}\n`
  texts.set(routes, printed)
  return printed
}

/** Prints JSON with a line for each member of the outer levels of objects. */
const lines = (value: unknown, levels: number): string => {
  if (levels === 0 || typeof value !== "object" || value === null || Array.isArray(value)) {
    return JSON.stringify(value)
  }
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : [`${JSON.stringify(name)}: ${lines(member, levels - 1)}`]
  )
  return `{\n${members.join(",\n")}\n}`
}
