/** The API's table of routes as one value, from which host and client are made. */
import { Catalogue } from "@bursar/engine-core"
import * as Interface from "./Interface.ts"
import * as Route from "./Route.ts"

/** Every route of this engine. */
export const routes = Route.table(Catalogue)

/** Every route of a venue: those of the engine, and of its rooms. */
export const routesOf = (catalogue: Route.Tables): ReadonlyArray<Route.Route> =>
  catalogue === Catalogue.builtIn ? routes : Route.table(catalogue)

/** Interface of the host: every route with its input, its answer and its problems. */
export const Api = Interface.make(routes)

export * as ClientTable from "./ClientTable.ts"
