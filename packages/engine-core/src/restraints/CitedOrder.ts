/** Cited order of a court or authority: authority, reference, hash of its document. */
import { Schema } from "effect"
import * as Field from "../templates/Field.ts"

const line = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(200))

/**
 * A court's or an authority's order, shown to venue staff alone and in no event
 * (docs/domain/restraints.md#restricting).
 */
export const CitedOrder = Schema.Struct({
  /** The court or authority that gave it. */
  authority: line,
  /** Its number there. */
  reference: line,
  /** SHA-256 of the document, in lower-case hex. */
  documentHash: Field.digest
}).annotate({
  identifier: "CitedOrder",
  description: "An order of a court or an authority that an act of the venue cites."
})
export type CitedOrder = typeof CitedOrder.Type
