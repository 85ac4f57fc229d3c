/**
 * Templates of issuer powers: the agreement of issuer and registrar, the holder's consent, and the
 * forced move.
 */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { define } from "./Template.ts"
import type { TypeRef } from "./Template.ts"

const named = (entity: string): TypeRef => ({
  packageName: "bursar-admin-v1",
  module: "Bursar.Admin.Powers",
  entity
})

const cid = Field.contractId
const made = Schema.Struct({ contractId: cid })
const nothing = { consuming: true, argument: Field.unit, result: Field.unit } as const

/** Argument of a choice that either party of an agreement exercises, named by `party`. */
const by = Schema.Struct({ party: Field.party })

/** Powers of an issuer: move units under a cited order, or to a registered successor. */
export const IssuerPower = Schema.Literals(["force-transfer", "recover"])
export type IssuerPower = typeof IssuerPower.Type

const agreement = {
  venue: Field.party,
  issuerPowersAgreementId: Field.text,
  instrument: Field.asset,
  issuer: Field.party,
  registrar: Field.party,
  powers: Field.list(IssuerPower),
  /** True where a holder that consented to these powers may revoke its consent by itself. */
  consentRevocable: Field.flag,
  /** No move is forced at or after it; absent, until the issuer or the registrar ends it. */
  until: Field.optional(Field.instant)
} as const

/**
 * The venue asks an instrument's issuer and its registrar for powers; each accepts once, in any
 * order.
 */
export const IssuerPowersAgreementProposal = define({
  typeRef: named("IssuerPowersAgreementProposal"),
  payload: Schema.Struct({ ...agreement, accepted: Field.parties }),
  choices: {
    /** Returns the proposal with one more signature; on the last signature, the agreement. */
    Accept: {
      consuming: true,
      argument: by,
      result: Schema.Struct({
        proposal: Field.optional(cid),
        agreement: Field.optional(cid)
      })
    },
    Decline: { consuming: true, argument: by, result: Field.unit },
    Withdraw: nothing
  }
})

/**
 * Contracts that keep a holding locked. A committed holding is released by its commitment, which
 * ends the allocation behind it: the ledger cannot tell such an allocation from another, and
 * releasing the allocation alone would leave a commitment to nothing. A holding that is locked in
 * any other way, for a reserve above all, is not released by a forced move: the move is refused,
 * and the lock's own contract is to end first.
 */
export const ReleasedLock = Schema.Literals([
  "allocation",
  "burn-request",
  "transfer-offer",
  /** Commitment of the holder to a standing settlement, behind an allocation. */
  "standing-commitment",
  /** A lock that has lapsed: its owner alone releases it, and no contract keeps it. */
  "lapsed"
])
export type ReleasedLock = typeof ReleasedLock.Type

/**
 * A locked holding that is to move, and the contract that locks it; none where the lock has lapsed.
 */
const release = {
  holdingCid: cid,
  lockedBy: ReleasedLock,
  contractId: Field.optional(cid)
} as const

/** A holding, and how much of it moves; the rest stays with the holder. */
const portion = { holdingCid: cid, amount: Field.decimal } as const

const moving = {
  /** Moves in the order of the request: source holding, target holding, and the rest that stays. */
  moved: Field.list(Schema.Struct({ ...portion, received: cid, change: Field.optional(cid) })),
  /** Sum of the moved units. */
  units: Field.decimal,
  /** Every lock that ended so that its units could move, with the holding it left unlocked. */
  released: Field.list(Schema.Struct({ ...release, amount: Field.decimal, unlockedCid: cid }))
} as const

/**
 * Why units are moved. Forced: under an order, named by the SHA-256 of its document, so that
 * nothing of a person is on the ledger. Recovery: to the holder's registered successor, who is the
 * receiver.
 */
export const ForceCause = Schema.Struct({
  kind: Schema.Literals(["forced", "recovery"]),
  /** Needed where the move is forced. */
  orderRef: Field.optional(Field.digest),
  /** Needed where the move is a recovery, and there alone. */
  successor: Field.optional(Field.party)
})
export type ForceCause = typeof ForceCause.Type

/** The power that a cause needs: forced needs force-transfer, recovery needs recover. */
export const powerOf = ({ kind }: Pick<ForceCause, "kind">): IssuerPower =>
  kind === "forced" ? "force-transfer" : "recover"

/**
 * Agreement in which issuer and registrar authorize the venue beforehand to move the units of
 * holders who consent (docs/domain/powers.md#forced-acts).
 *
 * Reading a forced move: its node is the exercise of ForceMove, and every act that follows from it
 * has a node id in (nodeId, lastDescendant]. The holdings' own Transfer and the ends of what locked
 * them (Allocation_Withdraw, BurnRequest.Withdraw, TransferOffer.Withdraw,
 * StandingCommitment.Withdraw, Holding.Unlock) are among them: they are parts of the move, and not
 * a holder's own acts. The result of ForceMove names them all. From is the consent's holder: the
 * owner of each moved holding.
 */
export const IssuerPowersAgreement = define({
  typeRef: named("IssuerPowersAgreement"),
  payload: Schema.Struct(agreement),
  choices: {
    /**
     * Moves units of one holder to one receiver. Several holders or instruments need one exercise
     * each.
     */
    ForceMove: {
      consuming: false,
      argument: Schema.Struct({
        consentCid: cid,
        holdingCids: Field.list(cid),
        /** Amounts, one for each holding: above 0, and at most the holding. */
        amounts: Field.list(Field.decimal),
        receiverCredentialCid: cid,
        cause: ForceCause,
        /** Locks, one for each locked holding. */
        releases: Field.list(Schema.Struct(release))
      }),
      result: Schema.Struct(moving)
    },
    /** Ends the agreement, by issuer or registrar; no move is forced after it. */
    End: { consuming: true, argument: by, result: Field.unit }
  }
})

const consent = {
  venue: Field.party,
  issuerPowersConsentId: Field.text,
  holderId: Field.text,
  holder: Field.party,
  /** Instrument of the consent; absent: every instrument, also future ones. */
  instrument: Field.optional(Field.asset),
  /** For one instrument, its issuer alone; else the issuers that observe the consent. */
  issuers: Field.parties,
  /** The registrars of the issuers' instruments, who observe the consent. */
  registrars: Field.parties,
  /**
   * Powers that the holder consents to, repeated from the agreement, so that a wider agreement made
   * later does not widen the signed consent.
   */
  powers: Field.list(IssuerPower),
  /** True where the holder may revoke the consent by itself, as the agreement allows. */
  revocable: Field.flag,
  /** End of the consent, excluded; absent: the consent lasts until it is revoked. */
  validUntil: Field.optional(Field.instant)
} as const

/** The venue asks a holder to let an issuer's powers reach its units. */
export const IssuerPowersConsentOffer = define({
  typeRef: named("IssuerPowersConsentOffer"),
  payload: Schema.Struct({
    ...consent,
    /** Last instant at which the holder may accept. */
    expiresAt: Field.optional(Field.instant)
  }),
  choices: {
    Accept: { consuming: true, argument: Field.unit, result: made },
    Decline: nothing,
    Withdraw: nothing
  }
})

/**
 * A holder's consent that an issuer's powers move its units. Units move only with the consent and
 * only inside a ForceMove, since Use needs the authority of venue, issuer and registrar together.
 * Use names no cause, because its holder sees it.
 */
export const IssuerPowersConsent = define({
  typeRef: named("IssuerPowersConsent"),
  payload: Schema.Struct(consent),
  choices: {
    Use: {
      consuming: false,
      argument: Schema.Struct({
        instrument: Field.asset,
        issuer: Field.party,
        power: IssuerPower,
        portions: Field.list(Schema.Struct(portion)),
        receiverCredentialCid: cid,
        releases: Field.list(Schema.Struct(release))
      }),
      result: Schema.Struct(moving)
    },
    Withdraw: nothing
  }
})
