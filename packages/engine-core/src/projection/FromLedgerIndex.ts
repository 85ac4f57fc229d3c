/** Index of the readings by the template that they read. */
import { Context, Layer } from "effect"
import type { TypeRef } from "../ports/Ledger.ts"
import { key } from "../templates/Template.ts"
import type { FromLedger } from "./FromLedger.ts"

/** Declarations of what is read from the ledger, by template. */
export class FromLedgerIndex extends Context.Service<
  FromLedgerIndex,
  {
    readonly all: ReadonlyArray<FromLedger>
    /**
     * Returns the readings of a template in the order declared: several records may learn from one
     * template.
     */
    readonly of: (template: TypeRef) => ReadonlyArray<FromLedger>
  }
>()("@bursar/engine-core/projection/FromLedgerIndex") {}

export const make = (all: ReadonlyArray<FromLedger>): FromLedgerIndex["Service"] => {
  const byTemplate = Map.groupBy(all, ({ template }) => key(template))
  return { all, of: (template) => byTemplate.get(key(template)) ?? [] }
}

export const layer = (all: ReadonlyArray<FromLedger>) => Layer.succeed(FromLedgerIndex, make(all))
