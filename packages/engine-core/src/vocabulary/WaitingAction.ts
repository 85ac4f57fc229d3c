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

/** Sentence on each write of this API that records wait for, as the list of work shows it. */
const awaitedWrites: { readonly [K in BuiltInOperationKind]?: string } = {
  "accepted-terms.accept": "An operator countersigns the terms that the holder signed.",
  "admission.offer": "An operator offers the holder an admission to the instrument.",
  "dealing-cycle.settle": "An operator settles the dealing cycle at its price.",
  "distribution.execute": "An operator executes the distribution.",
  "distribution.roll": "An operator rolls what was delivered, which closes it.",
  "hold.release": "Operator or risk asks for the release of the hold, which two approvers sign.",
  "holder.close": "An operator closes the holder, or invites its party again.",
  "holder.register": "An operator registers the party as a holder.",
  "holder.set-attributes": "Compliance verifies the holder's evidence.",
  "instrument.record": "An operator records the instrument and its policy.",
  "lock-agreement.release": "An operator releases the lock agreements of the reserve.",
  "mint.cancel": "The engine cancels the mint, whose deadline has passed.",
  "mint.settle": "The engine settles the mint.",
  "redemption.claim": "An operator places the redemption that the holder signed.",
  "redemption.settle": "An operator settles the redemption.",
  "redemption.withdraw": "An operator withdraws the redemption, whose price is wrong.",
  "reserve-redemption.cancel": "The engine cancels the redemption, whose deadline has passed.",
  "reserve-redemption.settle": "The engine settles the redemption from the reserve.",
  "restriction.lift":
    "Operator or compliance asks that the restriction be lifted, which two approvers sign.",
  "standing-settlement.resume": "An operator resumes the standing settlement.",
  "subscription.claim": "An operator places the subscription that the holder signed.",
  "subscription.deliver": "An operator matches the cash and delivers the units.",
  "subscription.settle": "An operator settles the subscription with the cash that pays it.",
  "subscription.withdraw": "An operator withdraws the subscription, whose price is wrong."
}

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

const sentences: ReadonlyMap<string, string> = new Map([
  ...Object.entries(waitingActions),
  ...Object.entries(awaitedWrites)
])

/** One sentence that says who does what, for a record that waits for the action. */
export const moveSentenceOf = (action: string): string =>
  sentences.get(action) ?? `The record waits for ${action}.`
