/** Derives an endpoint from a hand-written route. */
import type { Binding } from "./Binding.ts"
import * as Endpoint from "./Endpoint.ts"
import type { Route } from "./Route.ts"
import type { ServedRoute } from "./Served.ts"

export const fromServed = (
  { name, path }: Pick<Route, "name" | "path">,
  { params, body, file, success }: ServedRoute,
  binding: Binding
): Endpoint.Endpoint =>
  file !== undefined
    ? Endpoint.upload({ name, path, query: params, success }, binding)
    : body === null
      ? Endpoint.get({ name, path, query: params, success }, binding)
      : Endpoint.post({ name, path, success, input: body }, binding)
