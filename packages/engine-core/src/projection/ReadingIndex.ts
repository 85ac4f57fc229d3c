/** Index of the readings by the template that they read. */
import { Context, Layer } from "effect"
import type { TypeRef } from "../ports/Ledger.ts"
import { key } from "../templates/Template.ts"
import type { Reading } from "./Reading.ts"

export class Readings extends Context.Service<
  Readings,
  {
    readonly all: ReadonlyArray<Reading>
    /**
     * Returns the readings of a template in the order declared: several records may learn from one
     * template.
     */
    readonly of: (template: TypeRef) => ReadonlyArray<Reading>
  }
>()("@bursar/engine-core/projection/Readings") {}

export const make = (all: ReadonlyArray<Reading>): Readings["Service"] => {
  const byTemplate = Map.groupBy(all, ({ template }) => key(template))
  return { all, of: (template) => byTemplate.get(key(template)) ?? [] }
}

export const layer = (all: ReadonlyArray<Reading>) => Layer.succeed(Readings, make(all))
