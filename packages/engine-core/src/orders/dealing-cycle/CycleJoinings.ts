/** Record of the claims under way that join a dealing cycle, before their orders are read. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"

/** One claim: the order that is to join, and its operation. */
const JoiningClaim = Schema.Struct({
  kind: Schema.Literals(["subscriptions", "redemptions"]),
  orderId: Schema.String,
  operationId: Schema.String
})
export type JoiningClaim = typeof JoiningClaim.Type

const CycleJoinings = Schema.Struct({
  cycleId: Schema.String,
  joinings: Schema.Array(JoiningClaim)
})

const Join = Schema.Struct({
  on: Schema.Literal("join"),
  /** The whole list of claims under way, without those that are read or failed. */
  joinings: Schema.Array(JoiningClaim)
})

/**
 * Lock by version: an order counts from the planning of its claim on, so that of claims at the same time
 * no two take the last room of a cycle.
 */
export const cycleJoinings = Collection.define<typeof CycleJoinings.Type, typeof Join.Type>(
  "cycle-joinings",
  {
    doc: "Claims under way that join a dealing cycle.",
    id: ({ cycleId }) => cycleId,
    record: CycleJoinings,
    fact: Join,
    evolve: (self, { joinings }) => ({ ...self, joinings }),
    keptBy: "engine",
    invariants: {
      "an order joins once": ({ joinings }) =>
        new Set(joinings.map(({ kind, orderId }) => `${kind}/${orderId}`)).size === joinings.length
    }
  }
)
