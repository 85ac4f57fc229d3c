/** Schema of one operation's write answer. */
import { type Operation, WriteAnswer } from "@bursar/engine-core"
import { Schema } from "effect"

/** The write answer with this operation's own result. */
export const answerOf = <K extends Operation.Operation["kind"], I, R>(
  operation: Pick<Operation.OperationDeclaration<K, I, R, never>, "kind" | "doc" | "result">
) =>
  Schema.Struct({ ...WriteAnswer.fields, result: Schema.NullOr(operation.result) }).annotate({
    identifier: `${pascal(operation.kind)}Answer`,
    description: operation.doc
  })

/** `subscription.settle` → `SubscriptionSettle`. */
const pascal = (kind: string): string =>
  kind.replaceAll(/(?:^|[.-])([a-z])/g, (_, letter: string) => letter.toUpperCase())
