/** The OpenAPI document of a table of routes, generated and then mended to say what the wire says. */
import { OpenApi } from "effect/http-api"
import { shown } from "./Binding.ts"
import * as Interface from "./Interface.ts"
import type { Route } from "./Route.ts"

export const text = (routes: ReadonlyArray<Route>): string =>
  `${JSON.stringify(OpenApi.fromApi(Interface.make(routes, shown)), null, 2)}\n`
