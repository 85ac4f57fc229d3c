/**
 * Templates of the registrar: instruments, holdings, and the movements that need a second party.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { define } from "./Template.ts"
import type { TypeRef } from "./Template.ts"

const named = (entity: string): TypeRef => ({
  packageName: "bursar-registry-v1",
  module: "Bursar.Registry",
  entity
})

const cid = Field.contractId
const created = Schema.Struct({ contractId: cid })
const nothing = { consuming: true, argument: Field.unit, result: Field.unit } as const

/** Identifier of an instrument by a scheme, such as an ISIN. */
export const Identifier = Schema.Struct({
  source: Field.text,
  id: Field.text,
  scheme: Field.text
})

/** A claim a holder or issuer must carry, and who must have issued it. */
export const Requirement = Schema.Struct({
  issuer: Field.party,
  property: Field.text,
  value: Field.text
})

const configurable = {
  defaultIdentifier: Identifier,
  additionalIdentifiers: Field.list(Identifier),
  holderRequirements: Field.list(Requirement),
  issuerRequirements: Field.list(Requirement)
}

/** Configuration of an instrument by its registrar. */
export const InstrumentConfiguration = define({
  typeRef: named("InstrumentConfiguration"),
  payload: Schema.Struct({
    registrar: Field.party,
    provider: Field.party,
    issuer: Field.party,
    instrument: Field.asset,
    ...configurable
  }),
  choices: {
    Update: { consuming: true, argument: Schema.Struct(configurable), result: created },
    Retire: nothing
  }
})

/** Lock of a holding: its holders, its end and its reason. */
export const Lock = Schema.Struct({
  holders: Field.parties,
  observers: Field.parties,
  context: Field.text,
  expiresAt: Field.optional(Field.instant)
})

/** Rest of a holding after a part of it moved; null where nothing is left. */
const change = Field.optional(cid)

/** Units of an asset that a party owns. */
export const Holding = define({
  typeRef: named("Holding"),
  payload: Schema.Struct({
    registrar: Field.party,
    owner: Field.party,
    provider: Field.party,
    instrument: Schema.Struct({ admin: Field.party, id: Field.name }),
    amount: Field.decimal,
    restricted: Field.flag,
    lock: Field.optional(Lock),
    label: Field.text,
    meta: Field.textMap
  }),
  choices: {
    Transfer: {
      consuming: true,
      argument: Schema.Struct({
        newOwner: Field.party,
        amount: Field.decimal,
        credentialCid: Field.optional(cid)
      }),
      result: Schema.Struct({ received: cid, change })
    },
    Lock: {
      consuming: true,
      argument: Schema.Struct({ ...Lock.fields, amount: Field.decimal }),
      result: Schema.Struct({ locked: cid, change })
    },
    Merge: {
      consuming: true,
      argument: Schema.Struct({ holdingCids: Field.list(cid) }),
      result: created
    },
    Allocate: {
      consuming: true,
      argument: Schema.Struct({
        allocationId: Field.text,
        executor: Field.party,
        receiver: Field.party,
        amount: Field.decimal,
        settleBefore: Field.instant
      }),
      result: Schema.Struct({ allocation: cid, change })
    },
    OfferTransfer: {
      consuming: true,
      argument: Schema.Struct({
        receiver: Field.party,
        amount: Field.decimal,
        executeBefore: Field.instant
      }),
      result: Schema.Struct({ offer: cid, change })
    },
    RequestBurn: {
      consuming: true,
      argument: Schema.Struct({
        amount: Field.decimal,
        reference: Field.reference,
        custodian: Field.optional(Field.party),
        executeBefore: Field.instant
      }),
      result: Schema.Struct({ burnRequest: cid, change })
    },
    Unlock: {
      consuming: true,
      /**
       * Parties that release the lock: its holders beside the owner, or the owner alone after
       * expiry.
       */
      argument: Schema.Struct({ releasers: Field.parties }),
      result: created
    },
    Burn: nothing
  }
})

/** Units that their owner set aside for one leg of a settlement. */
export const Allocation = define({
  typeRef: named("Allocation"),
  payload: Schema.Struct({
    registrar: Field.party,
    sender: Field.party,
    receiver: Field.party,
    executor: Field.party,
    reference: Field.text,
    holdingCid: cid,
    instrument: Field.asset,
    amount: Field.decimal,
    settleBefore: Field.instant
  }),
  choices: {
    Allocation_ExecuteTransfer: {
      consuming: true,
      argument: Schema.Struct({ credentialCid: Field.optional(cid) }),
      result: Schema.Struct({ received: cid })
    },
    Allocation_Cancel: { consuming: true, argument: Field.unit, result: created },
    Allocation_Withdraw: { consuming: true, argument: Field.unit, result: created }
  }
})

/** Transfer that its receiver has not accepted yet. */
export const TransferOffer = define({
  typeRef: named("TransferOffer"),
  payload: Schema.Struct({
    registrar: Field.party,
    provider: Field.party,
    sender: Field.party,
    receiver: Field.party,
    holdingCid: cid,
    instrument: Field.asset,
    amount: Field.decimal,
    executeBefore: Field.instant
  }),
  choices: {
    Accept: {
      consuming: true,
      argument: Schema.Struct({ credentialCid: Field.optional(cid) }),
      result: Schema.Struct({ received: cid })
    },
    Reject: { consuming: true, argument: Field.unit, result: created },
    Withdraw: { consuming: true, argument: Field.unit, result: created }
  }
})

/** Request for units that the registrar mints. */
export const MintRequest = define({
  typeRef: named("MintRequest"),
  payload: Schema.Struct({
    requester: Field.party,
    holder: Field.party,
    instrument: Field.asset,
    amount: Field.decimal,
    reference: Field.reference,
    executeBefore: Field.optional(Field.instant)
  }),
  choices: {
    Accept: {
      consuming: true,
      argument: Schema.Struct({
        credentialCid: cid,
        configurationCid: Field.optional(cid)
      }),
      result: Schema.Struct({ holding: cid })
    },
    Reject: nothing,
    Withdraw: nothing
  }
})

/**
 * A holder's request that the registrar burns units; they are locked until the registrar answers.
 */
export const BurnRequest = define({
  typeRef: named("BurnRequest"),
  payload: Schema.Struct({
    registrar: Field.party,
    provider: Field.party,
    holder: Field.party,
    custodian: Field.optional(Field.party),
    instrument: Field.asset,
    amount: Field.decimal,
    holdingCid: cid,
    reference: Field.reference,
    requestedAt: Field.instant,
    executeBefore: Field.instant
  }),
  choices: {
    Accept: nothing,
    Reject: { consuming: true, argument: Field.unit, result: created },
    Withdraw: { consuming: true, argument: Field.unit, result: created }
  }
})

/** Claim of a credential: a property and its value. */
export const Claim = Schema.Struct({
  subject: Field.party,
  property: Field.text,
  value: Field.text
})

/** Credential by which an issuer states claims about a holder. */
export const Credential = define({
  typeRef: named("Credential"),
  payload: Schema.Struct({
    issuer: Field.party,
    holder: Field.party,
    registrar: Field.party,
    instrumentId: Field.text,
    credentialId: Field.text,
    claims: Field.list(Claim),
    validFrom: Field.optional(Field.instant),
    validUntil: Field.optional(Field.instant)
  }),
  choices: {
    Receive: {
      consuming: false,
      argument: Schema.Struct({
        amount: Field.decimal,
        reference: Field.reference,
        /**
         * Tells whether the instrument has holder requirements; without it the units are
         * restricted.
         */
        configurationCid: Field.optional(cid)
      }),
      result: Schema.Struct({ holding: cid })
    },
    ReceiveTransfer: {
      consuming: false,
      argument: Schema.Struct({
        holdingCid: cid,
        sender: Field.party,
        amount: Field.decimal
      }),
      result: Schema.Struct({ received: cid, change })
    },
    Revoke: nothing,
    Renounce: nothing
  }
})
