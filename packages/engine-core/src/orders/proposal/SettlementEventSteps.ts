/**
 * Journal event of a settlement that was proposed on the ledger: its party, and the record that it
 * settles.
 */
import type { Announcement } from "../../kernel/Announcement.ts"
import type { Node } from "../../projection/FromLedger.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import { Schema } from "effect"
import { about, announcing } from "../../records/EventDeclaration.ts"

/** Events of a settlement that an app proposes. */
export const settlementEvents = {
  "settlement.proposed": about(
    "contract",
    Schema.Struct({ contractId: Schema.String, reference: Schema.NullOr(Schema.String) })
  )
} as const

const makeEvent = announcing(settlementEvents)

/**
 * Makes the event of the contract that a node created; `reference` is the id of the record that it
 * settles.
 */
export const proposed = (
  node: Node,
  {
    reference,
    ...concerned
  }: Pick<Announcement, "instrumentId" | "party" | "holderIds"> & { readonly reference: string }
): Announcement => ({
  ...makeEvent("settlement.proposed", { contractId: node.contractId, reference }),
  resourceKind: "contract",
  resourceId: node.contractId,
  ...concerned,
  journal: {
    at: node.effectiveAt,
    offset: node.offset,
    source: Snapshot.sourceOf(node, "settlement.proposed")
  }
})
