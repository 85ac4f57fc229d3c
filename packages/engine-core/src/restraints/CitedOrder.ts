/** Schema of a cited order of a court or an authority. */
import { Schema } from "effect"
import * as Field from "../templates/Field.ts"

const line = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/**
 * A court's or an authority's order, shown to venue staff alone and in no event
 * (docs/domain/restraints.md#restricting).
 */
export const CitedOrder = Schema.Struct({
  /** Court or authority that issued the order. */
  authority: line,
  /** File number of the order at that authority. */
  reference: line,
  /** SHA-256 of the document, in lower-case hex. */
  documentHash: Field.digest
}).annotate({
  identifier: "CitedOrder",
  description: "An order of a court or an authority that an act of the venue cites."
})
export type CitedOrder = typeof CitedOrder.Type
