/** View of a provision settlement: its terms, its id and its state. */
import { Struct } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import { ProvisionSettlement, provisionSettlements } from "./ProvisionSettlement.ts"

const shown = Struct.pick(ProvisionSettlement.fields, [
  "provisionSettlementId",
  "instrumentId",
  "fund",
  "paymentAsset",
  "limit",
  "until",
  "state"
])

export const ProvisionSettlementView = RecordView.schemaOf(shown, {
  identifier: "ProvisionSettlementView",
  description: "A fund's consent to provisions, and whom it waits on."
})
export type ProvisionSettlementView = typeof ProvisionSettlementView.Type

export const of = (settlement: Stored<ProvisionSettlement>): ProvisionSettlementView =>
  RecordView.of(provisionSettlements, shown, settlement)
