/** An endpoint read off an operation: its route, its body, its answers. */
import { type Operation, WriteAnswer } from "@bursar/engine-core"
import { Schema } from "effect"
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

/** The write answer with this operation's own result. */
export const answerOf = <K extends Operation.Operation["kind"], I, R>(
  operation: Pick<Operation.Declared<K, I, R, never>, "kind" | "doc" | "result">
) =>
  Schema.Struct({ ...WriteAnswer.fields, result: Schema.NullOr(operation.result) }).annotate({
    identifier: `${pascal(operation.kind)}Answer`,
    description: operation.doc
  })

/** `subscription.settle` → `SubscriptionSettle`. */
const pascal = (kind: string): string =>
  kind.replaceAll(/(?:^|[.-])([a-z])/g, (_, letter: string) => letter.toUpperCase())
