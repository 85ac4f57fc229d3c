/** An interface made of a table of routes. */
import type { Operation, Read } from "@bursar/engine-core"
import { Instant, Offset, Zone } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import { HttpApi, HttpApiGroup } from "effect/http-api"
import { answerOf } from "./answerOf.ts"
import { type Binding, wire } from "./Binding.ts"
import * as Endpoint from "./Endpoint.ts"
import * as Route from "./Route.ts"
import type { ServedRoute } from "./Served.ts"

export type Interface = HttpApi.HttpApi<"bursar", Endpoint.Group>

export const make = (routes: ReadonlyArray<Route.Route>, binding: Binding = wire): Interface => {
  const [first, ...rest] = Route.groupsOf(routes).flatMap((name) => groupOf(name, routes, binding))
  if (first === undefined) throw new Error("an interface without a route")
  return HttpApi.make("bursar").add(first, ...rest)
}

const groupOf = (
  name: Route.RouteGroup,
  routes: ReadonlyArray<Route.Route>,
  binding: Binding
): ReadonlyArray<Endpoint.Group> => {
  const [first, ...rest] = routes
    .filter(({ group }) => group === name)
    .map((route) => endpointOf(route, binding))
  if (first === undefined) return []
  return [HttpApiGroup.make<string>(name).add(first, ...rest)]
}

const endpointOf = (route: Route.Route, binding: Binding): Endpoint.Endpoint => {
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

/** Derives an endpoint from an operation: its route, its body, its answers. */
const fromOperation = (
  { name, path }: Pick<Route.Route, "name" | "path">,
  operation: Operation.Operation,
  binding: Binding
): Endpoint.Endpoint => {
  const answer = answerOf(operation)
  const parts = { name, path, success: { 202: answer, 200: answer } }
  return path.method === "DELETE"
    ? Endpoint.remove(parts, binding)
    : Endpoint.post({ ...parts, input: operation.input }, binding)
}

/** Derives an endpoint from a hand-written route. */
const fromServed = (
  { name, path }: Pick<Route.Route, "name" | "path">,
  { params, body, file, success }: ServedRoute,
  binding: Binding
): Endpoint.Endpoint =>
  file !== undefined
    ? Endpoint.upload({ name, path, query: params, success }, binding)
    : body === null
      ? Endpoint.get({ name, path, query: params, success }, binding)
      : Endpoint.post({ name, path, success, input: body }, binding)

/** Derives an endpoint from a read: its route, and the envelope of its answer. */
const fromRead = (
  { name, path }: Pick<Route.Route, "name" | "path">,
  read: Read.Read,
  binding: Binding
): Endpoint.Endpoint =>
  Endpoint.get({ name, path, query: read.params, success: { 200: envelope(read) } }, binding)

type Fields = Readonly<Record<string, Schema.Codec<unknown, unknown>>>

/** Schema of the read envelope around a read's value. */
const envelope = (read: Read.Read): Schema.Codec<unknown, unknown> => {
  const ledgerTime: Fields = read.pinned ? { ledgerTime: Schema.NullOr(Instant.schema) } : {}
  const value: Fields =
    read.shape === "list"
      ? { value: Schema.Array(read.item), next: Schema.NullOr(Schema.String) }
      : { value: read.value }
  const zone: Fields = read.shape === "list" && read.zone !== undefined ? { zone: Zone.schema } : {}
  const fields: Fields = {
    offset: Offset.schema,
    ...ledgerTime,
    now: Instant.schema,
    ...zone,
    ...value
  }
  return Schema.Struct(fields)
}
