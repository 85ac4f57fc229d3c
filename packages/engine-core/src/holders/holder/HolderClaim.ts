/** Reservation of a holder id or party by a registration that is not on the ledger yet. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"

const HolderClaim = Schema.Struct({
  /** The id or the party; the two never look alike, and each says which it is. */
  name: Schema.String,
  /** The registration that took it last. */
  operationId: Schema.String
})
export type HolderClaim = typeof HolderClaim.Type

const Take = Schema.Struct({ on: Schema.Literal("take"), operationId: Schema.String })

/**
 * The ledger shows a holder only once its registration has committed: two that are judged before
 * that would both find its id and its party free. Whoever plans second sees what the first has
 * taken, or is judged anew; a registration that failed leaves it to the next.
 */
export const holderClaims = Collection.define<HolderClaim, typeof Take.Type>("holder-claim", {
  doc: "Which registration under way has taken a holder id or a party.",
  id: ({ name }) => name,
  record: HolderClaim,
  fact: Take,
  evolve: (self, { operationId }) => ({ ...self, operationId }),
  keptBy: "engine"
})
