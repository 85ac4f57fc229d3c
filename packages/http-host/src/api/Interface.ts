/** An interface made of a table of routes. */
import { HttpApi, HttpApiGroup } from "effect/http-api"
import { type Binding, wire } from "./Binding.ts"
import type { Endpoint, Group } from "./Endpoint.ts"
import { fromOperation } from "./fromOperation.ts"
import { fromRead } from "./fromRead.ts"
import { fromServed } from "./fromServed.ts"
import * as Route from "./Route.ts"

export type Interface = HttpApi.HttpApi<"bursar", Group>

export const make = (routes: ReadonlyArray<Route.Route>, binding: Binding = wire): Interface => {
  const [first, ...rest] = Route.groupsOf(routes).flatMap((name) => groupOf(name, routes, binding))
  if (first === undefined) throw new Error("an interface without a route")
  return HttpApi.make("bursar").add(first, ...rest)
}

const groupOf = (
  name: Route.RouteGroup,
  routes: ReadonlyArray<Route.Route>,
  binding: Binding
): ReadonlyArray<Group> => {
  const [first, ...rest] = routes
    .filter(({ group }) => group === name)
    .map((route) => endpointOf(route, binding))
  if (first === undefined) return []
  return [HttpApiGroup.make<string>(name).add(first, ...rest)]
}

const endpointOf = (route: Route.Route, binding: Binding): Endpoint => {
  const { answers } = route
  switch (answers.with) {
    case "write":
      return fromOperation(route, answers.operation, binding)
    case "hand":
      return fromServed(route, answers.served, binding)
    default:
      return fromRead(route, answers.read, binding)
  }
}
