/** Reservation of a holder id or party by a registration that is not on the ledger yet. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"

const HolderClaim = Schema.Struct({
  /** Reserved name: `holder:<id>` or `party:<party>`. */
  name: Schema.String,
  /** Latest registration that reserved the name. */
  operationId: Schema.String
})
type HolderClaim = typeof HolderClaim.Type

const Take = Schema.Struct({ on: Schema.Literal("take"), operationId: Schema.String })

/**
 * The ledger shows a holder only after its registration has committed: two registrations judged
 * before that would both find the id and the party free. The second to plan reads the first one's
 * claim, or conflicts with it and is judged again. The claim of a failed registration may be taken
 * over.
 */
export const holderClaims = Collection.define<HolderClaim, typeof Take.Type>("holder-claim", {
  doc: "Which registration under way has taken a holder id or a party.",
  id: ({ name }) => name,
  record: HolderClaim,
  fact: Take,
  evolve: (self, { operationId }) => ({ ...self, operationId }),
  keptBy: "engine"
})
