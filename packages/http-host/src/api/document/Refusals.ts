/** Refusals of the routes: those that every route has, and its own. */
import { Catalogue, type Refusal } from "@bursar/engine-core"
import type { Route } from "../Route.ts"
import { always, signedIn, withBody } from "./RouteSlugs.ts"

/** Slugs that do not depend on what a route does. */
export const common: ReadonlySet<string> = new Set([...always, ...signedIn, ...withBody])

/** Rows of the refusals of an interface, by their slugs: those of the engine, then those of rooms. */
export type RefusalTable = Catalogue.Catalogue["refusals"]

/** Row of a refusal. Throws where the table has none: a route refuses what nobody declares. */
export const rowOf = (table: RefusalTable, slug: string): Refusal.RefusalRow => {
  const row = table[slug]
  if (row === undefined) throw new Error(`no table of refusals has ${slug}`)
  return row
}

/** Slugs of all refusals of a route, in the order of the table of refusals. */
export const of = (
  route: Route,
  table: RefusalTable = Catalogue.builtIn.refusals
): ReadonlyArray<Refusal.Slug> => {
  const slugs = new Set<string>([
    ...always,
    ...(route.admits.by === "anyone" ? [] : signedIn),
    ...(route.bodyMax === 0 ? [] : withBody),
    ...route.refuses
  ])
  // Cast: the keys of the table are slugs.
  return (Object.keys(table) as Array<Refusal.Slug>).filter((slug) => slugs.has(slug))
}
