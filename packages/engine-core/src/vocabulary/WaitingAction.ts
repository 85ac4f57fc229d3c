/** Actions that a record can wait for: writes of this API, choices on the ledger, and others. */
import * as ValueSet from "./ValueSet.ts"
import { type BuiltInOperationKind, OperationKind } from "./OperationKind.ts"
import type { OwnDottedWord } from "./OwnWord.ts"

/**
 * Every move a record can wait for that is no write of this API. `Template.Choice` is a choice of a
 * contract on the ledger, and a template alone a contract that is to be created there: an outside
 * party makes those from its own wallet or node.
 */
export const waitingActions = {
  approve: "An approver signs the four-eyes action.",
  "distribution.clear": "A reconciliation run clears the distribution.",
  "statement.correct": "The source corrects the statement, which a check could not compare.",
  "amendment.begin": "Accepted terms of a reserve come into force by their date.",
  "standing-approval.begin": "The standing approval comes into force by its date.",
  "policy.begin": "The policy version comes into force by its date.",
  "screening.adjudicate": "The screening source decides on a possible hit.",
  "screening.answer": "The screening source answers.",
  "AdmissionConsentProposal.Accept": "The registrar consents to admissions.",
  "AdmissionOffer.Accept": "The holder accepts its admission.",
  "AmendmentProposal.Accept": "The issuer accepts other terms of the reserve.",
  "BurnRequest.Accept": "The registrar burns the units.",
  "DistributionLine.Deliver": "The registrar pays the line.",
  "Holding.Allocate": "The party allocates its leg, cash or units.",
  "Holding.RequestBurn": "The holder, or its custodian, asks for the burn of its units.",
  "HolderInvitation.Accept": "The holder accepts its registration.",
  InstrumentConfiguration: "The registrar puts the instrument on its registry.",
  "IssuerPowersAgreementProposal.Accept": "The issuer or the registrar agrees to the powers.",
  "IssuerPowersConsentOffer.Accept": "The holder consents to the powers.",
  "LockAgreementProposal.Accept":
    "The asset's registrar, then the reserve's holder, agrees to the lock.",
  "MintOrder.Accept": "The depositor names the allocation of its deposit.",
  "MintRequest.Accept": "The registrar mints the units.",
  "PrimaryMarketProposal.Accept": "The fund or the registrar agrees to the market.",
  "ProvisionSettlementProposal.Accept": "The fund agrees to the provision.",
  "ReserveProposal.Accept": "The issuer or the reserve's holder agrees to the reserve.",
  "ReserveRedemptionOrder.Accept": "The owner names the units that it redeems.",
  "RedemptionClaim.Price": "The oracle prices the redemption.",
  SignedTerms: "The holder signs the venue's terms.",
  "StandingSettlement.Commit": "The party commits what it puts in.",
  "SubscriptionClaim.Attest": "The attestor attests the price."
} as const

const own = Object.keys(waitingActions) as ReadonlyArray<keyof typeof waitingActions>

/** Actions of the engine, which declarations name instead of inlining them. */
type BuiltInWaitingAction = BuiltInOperationKind | keyof typeof waitingActions
/** An action of the engine, or of a room that a venue adds. */
export type WaitingAction = BuiltInWaitingAction | OwnDottedWord

export const WaitingAction: ValueSet.RoomSet<WaitingAction, BuiltInWaitingAction> =
  ValueSet.openToDottedWords(
    "WaitingAction",
    [
      "The action that a record waits for: the kind of a write of this API, or one of these.",
      "`Template.Choice` is a choice of a contract on the ledger, a template alone a contract to be created there.",
      "",
      ...own.map((action) => `- \`${action}\`: ${waitingActions[action]}`)
    ].join("\n"),
    [...OperationKind.members, ...own]
  )
