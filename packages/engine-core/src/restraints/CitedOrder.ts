/** Schema of a cited order of a court or an authority. */
import { Schema } from "effect"
import * as ReadableText from "../kernel/ReadableText.ts"
import * as Field from "../templates/Field.ts"

const lineMax = 200
/** Text as stored: an earlier one may be none that requests may name. */
const keptLine = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(lineMax))
const line = ReadableText.line(lineMax)

const annotations = {
  identifier: "CitedOrder",
  description: "An order of a court or an authority that an act of the venue cites."
}

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
}).annotate(annotations)

/** A cited order as it is stored and shown. */
export const KeptOrder = Schema.Struct({
  ...CitedOrder.fields,
  authority: keptLine,
  reference: keptLine
}).annotate(annotations)
export type CitedOrder = typeof CitedOrder.Type
