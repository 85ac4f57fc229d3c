/** Lock of a holder id or party by a registration that is not on the ledger yet. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"

const HolderNameLock = Schema.Struct({
  /** Locked name: `holder:<id>` or `party:<party>`. */
  name: Schema.String,
  /** Latest registration that locked the name. */
  operationId: Schema.String
})
type HolderNameLock = typeof HolderNameLock.Type

const Take = Schema.Struct({ on: Schema.Literal("take"), operationId: Schema.String })

/**
 * The ledger shows a holder only after its registration has committed: two registrations judged
 * before that would both find the id and the party free. The second to plan reads the first one's
 * lock, or conflicts with it and is judged again. The lock of a failed registration may be taken
 * over. Stores of earlier versions keep its records under the collection's name.
 */
export const holderNameLocks = Collection.define<HolderNameLock, typeof Take.Type>("holder-claim", {
  doc: "Which registration under way has taken a holder id or a party.",
  id: ({ name }) => name,
  record: HolderNameLock,
  fact: Take,
  evolve: (self, { operationId }) => ({ ...self, operationId }),
  keptBy: "engine"
})
