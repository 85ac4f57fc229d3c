/** Templates of settlement: requests to allocate legs, and a fund's provision of cash. */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { define } from "./Template.ts"
import type { TypeRef } from "./Template.ts"

const named = (entity: string): TypeRef => ({
  packageName: "bursar-admin-v1",
  module: "Bursar.Admin.Settlement",
  entity
})

const cid = Field.contractId
const made = Schema.Struct({ contractId: cid })
const nothing = { consuming: true, argument: Field.unit, result: Field.unit } as const

/** Leg of a settlement: one asset from one party to another. */
export const Leg = Schema.Struct({
  legId: Field.text,
  sender: Field.party,
  receiver: Field.party,
  instrument: Field.asset,
  amount: Field.decimal
})

/** The venue's request that the parties of a settlement allocate their legs. */
export const SettlementIntent = define({
  typeRef: named("SettlementIntent"),
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

const provision = {
  venue: Field.party,
  fund: Field.party,
  provisionId: Field.text,
  instrumentId: Field.text,
  cash: Field.asset,
  /** The most that one draw may take; any amount where it is absent. */
  limit: Field.optional(Field.decimal),
  until: Field.optional(Field.instant)
} as const

/** The venue asks a fund to let it pay what the fund owes from cash the fund names. */
export const ProvisionSettlementProposal = define({
  typeRef: named("ProvisionSettlementProposal"),
  payload: Schema.Struct(provision),
  choices: {
    Accept: {
      consuming: true,
      argument: Field.unit,
      result: made
    },
    Decline: nothing,
    Withdraw: nothing
  }
})

/**
 * A fund's standing consent that the venue pays legs of the fund from cash the fund names: the fund
 * names it by making the venue its provider, so that the venue sees it.
 */
export const ProvisionSettlement = define({
  typeRef: named("ProvisionSettlement"),
  payload: Schema.Struct(provision),
  choices: {
    Draw: {
      consuming: false,
      argument: Schema.Struct({
        holdingCids: Field.list(cid),
        receiver: Field.party,
        amount: Field.decimal,
        reference: Field.text,
        settleBefore: Field.instant
      }),
      result: Schema.Struct({ allocation: cid, change: Field.optional(cid) })
    },
    End: nothing
  }
})
