/** Derives an endpoint from an operation: its route, its body, its answers. */
import type { Operation } from "@bursar/engine-core"
import { answerOf } from "./answerOf.ts"
import type { Binding } from "./Binding.ts"
import * as Endpoint from "./Endpoint.ts"
import type { Route } from "./Route.ts"

export const fromOperation = (
  { name, path }: Pick<Route, "name" | "path">,
  operation: Operation.Operation,
  binding: Binding
): Endpoint.Endpoint => {
  const answer = answerOf(operation)
  const parts = { name, path, success: { 202: answer, 200: answer } }
  return path.method === "DELETE"
    ? Endpoint.remove(parts, binding)
    : Endpoint.post({ ...parts, input: operation.input }, binding)
}
