/** The writes that this engine knows, by kind. */
import { Context, Layer } from "effect"
import type { OperationKind } from "../vocabulary/OperationKind.ts"
import type { Operation } from "./Operation.ts"

export class Operations extends Context.Service<
  Operations,
  {
    readonly all: ReadonlyArray<Operation>
    /**
     * Finds the write of a kind; an undeclared kind is a defect, since an operation of it is
     * stored.
     */
    readonly of: (kind: OperationKind) => Operation
  }
>()("@bursar/engine-core/writes/Operations") {}

export const layer = (all: ReadonlyArray<Operation>): Layer.Layer<Operations> => {
  const byKind = new Map(all.map((operation) => [operation.kind, operation]))
  if (byKind.size !== all.length) throw new Error("an operation kind is declared twice")
  return Layer.succeed(Operations, {
    all,
    of: (kind) => {
      const operation = byKind.get(kind)
      if (operation === undefined) throw new Error(`no operation is declared for ${kind}`)
      return operation
    }
  })
}
