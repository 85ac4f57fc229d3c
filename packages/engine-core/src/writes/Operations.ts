/** The writes that this engine knows, by kind. */
import { Context, Layer } from "effect"
import type { OperationKind } from "../vocabulary/OperationKind.ts"
import type { AnyOperation, Operation } from "./Operation.ts"

/** Operations of an engine, by kind. */
export class Operations extends Context.Service<
  Operations,
  {
    readonly all: ReadonlyArray<AnyOperation>
    /**
     * Finds the write of a kind, also one that only the engine opens; an undeclared kind is a
     * defect, since an operation of it is stored.
     */
    readonly anyOf: (kind: OperationKind) => AnyOperation
    /** Finds the write of a kind; undefined: a room declared it that the venue no longer has. */
    readonly find: (kind: OperationKind) => AnyOperation | undefined
    /** Finds the write of a kind that callers make; any other kind is a defect. */
    readonly of: (kind: OperationKind) => Operation
  }
>()("@bursar/engine-core/writes/Operations") {}

export const layer = (all: ReadonlyArray<AnyOperation>): Layer.Layer<Operations> => {
  const byKind = new Map(all.map((operation) => [operation.kind, operation]))
  if (byKind.size !== all.length) throw new Error("an operation kind is declared twice")
  const anyOf = (kind: OperationKind): AnyOperation => {
    const operation = byKind.get(kind)
    if (operation === undefined) throw new Error(`no operation is declared for ${kind}`)
    return operation
  }
  return Layer.succeed(Operations, {
    all,
    anyOf,
    find: (kind) => byKind.get(kind),
    of: (kind) => {
      const operation = anyOf(kind)
      if (!isRouted(operation)) throw new Error(`nobody calls ${kind}: only the engine opens it`)
      return operation
    }
  })
}

const isRouted = (operation: AnyOperation): operation is Operation => operation.route !== null
