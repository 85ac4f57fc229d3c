/** The venue's request that the parties of a settlement allocate their legs. */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { define } from "./Template.ts"

export const Leg = Schema.Struct({
  legId: Field.text,
  sender: Field.party,
  receiver: Field.party,
  instrument: Field.asset,
  amount: Field.decimal
})

export const SettlementIntent = define({
  typeRef: {
    packageName: "bursar-admin-v1",
    module: "Bursar.Admin.Settlement",
    entity: "SettlementIntent"
  },
  payload: Schema.Struct({
    venue: Field.party,
    settlementId: Field.text,
    reference: Field.reference,
    legs: Field.list(Leg),
    requestedAt: Field.instant,
    allocateBefore: Field.instant,
    settleBefore: Field.instant
  }),
  choices: {
    Complete: { consuming: true, argument: Field.unit, result: Field.unit },
    AllocationRequest_Withdraw: { consuming: true, argument: Field.unit, result: Field.unit },
    AllocationRequest_Reject: {
      consuming: true,
      argument: Schema.Struct({ actor: Field.party }),
      result: Field.unit
    }
  }
})
