/**
 * Templates of standing settlements: repeated by the same parties out of what they committed once.
 */
import { Effect, Schema } from "effect"
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

/**
 * Funding that one party is to commit of one asset: orders are settled out of it until it is used
 * up.
 */
export const Funding = Schema.Struct({
  party: Field.party,
  asset: Field.asset,
  amount: Field.decimal
})

/**
 * A settlement that the same parties repeat. Each commits its funding from its own wallet; each
 * iteration takes what its orders cost out of what is committed. It asks for the funding itself:
 * there is no SettlementIntent beside it, which a wallet would answer with a bare allocation.
 */
export const StandingSettlement = define({
  typeRef: named("StandingSettlement"),
  payload: Schema.Struct({
    venue: Field.party,
    fund: Field.party,
    registrar: Field.party,
    standingSettlementId: Field.text,
    instrument: Field.asset,
    cash: Field.asset,
    funding: Field.list(Funding),
    paused: Field.flag,
    /** The end that the parties agreed to; absent, it lasts as long as the commitments. */
    deadline: Field.optional(Field.instant),
    /** End of the commitments. */
    expiresAt: Field.instant
  }),
  choices: {
    /** A party of the funding commits: its holding is locked, and released for orders alone. */
    Commit: {
      consuming: false,
      argument: Schema.Struct({
        party: Field.party,
        holdingCid: cid,
        amount: Field.decimal
      }),
      result: Schema.Struct({ commitment: cid, change: Field.optional(cid) })
    },
    Settle: {
      consuming: false,
      argument: Schema.Struct({
        marketCid: cid,
        /** The commitments that this iteration may draw on: one for each party and asset. */
        commitments: Field.list(cid),
        lots: Field.list(
          Schema.Struct({
            lotCid: cid,
            /** Cash that the lot costs; the lot refuses another amount. */
            due: Field.decimal,
            credentialCid: cid,
            configurationCid: Field.optional(cid),
            /** Part of the cash that goes back to the holder. */
            refund: Field.optional(Field.decimal)
          })
        ),
        redemptions: Field.list(
          Schema.Struct({
            redemptionCid: cid,
            /** The holder's own allocation of the units; absent, they come from its commitment. */
            unitsAllocationCid: Field.optional(cid)
          })
        )
      }),
      /** Commitments after the iteration; each that it drew on is a new contract. */
      result: Schema.Struct({ commitments: Field.list(cid) })
    },
    Pause: { consuming: true, argument: Field.unit, result: made },
    Resume: { consuming: true, argument: Field.unit, result: made },
    /** The venue ends it, and all commitments go back. */
    Close: {
      consuming: true,
      argument: Schema.Struct({ commitments: Field.list(cid) }),
      result: Field.unit
    },
    /**
     * The fund ends it, and what it names of what is still committed goes back to its parties in
     * the same transaction; a party takes back by itself what was not named. An end that was
     * written before the fund could name any names none.
     */
    End: {
      consuming: true,
      argument: Schema.Struct({
        commitments: Field.list(cid).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
      }),
      result: Field.unit
    }
  }
})

/**
 * Commitment of a party's cash or units to a standing settlement, behind an allocation. Without
 * this contract the venue could neither split a committed allocation between orders nor give it
 * back, since both take the party's own authority
 * (docs/domain/standing-settlements.md#commitments).
 */
export const StandingCommitment = define({
  typeRef: named("StandingCommitment"),
  payload: Schema.Struct({
    venue: Field.party,
    fund: Field.party,
    party: Field.party,
    standingSettlementId: Field.text,
    asset: Field.asset,
    allocationCid: cid,
    amount: Field.decimal,
    expiresAt: Field.instant
  }),
  choices: {
    /** Inside an iteration alone: gives an order its own allocation, and commits the rest anew. */
    Use: {
      consuming: true,
      argument: Schema.Struct({
        reference: Field.text,
        receiver: Field.party,
        amount: Field.decimal
      }),
      result: Schema.Struct({ allocation: cid, commitment: Field.optional(cid) })
    },
    Cancel: { consuming: true, argument: Field.unit, result: made },
    Withdraw: { consuming: true, argument: Field.unit, result: made }
  }
})
