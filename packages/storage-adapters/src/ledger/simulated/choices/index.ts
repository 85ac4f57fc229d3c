/** Registry of the choice bodies of every template. */
import type { Entity } from "../Entity.ts"
import * as Admission from "./Admission.ts"
import * as DealingCycle from "./DealingCycle.ts"
import * as Distribution from "./Distribution.ts"
import * as Market from "./Market.ts"
import * as Powers from "./Powers.ts"
import * as Price from "./Price.ts"
import * as Redemption from "./Redemption.ts"
import * as Registry from "./Registry.ts"
import * as Reserve from "./Reserve.ts"
import * as Runner from "./Runner.ts"
import * as Settlement from "./Settlement.ts"
import * as Standing from "./Standing.ts"
import * as Subscription from "./Subscription.ts"

export const all: ReadonlyArray<Entity> = [
  Registry.instrumentConfiguration,
  Registry.holding,
  Registry.allocation,
  Registry.transferOffer,
  Registry.mintRequest,
  Registry.burnRequest,
  Registry.credential,
  Admission.admissionConsentProposal,
  Admission.admissionConsent,
  Admission.admissionOffer,
  Admission.holderInvitation,
  Admission.holderRegistration,
  Admission.signedTerms,
  Admission.acceptedTerms,
  Market.primaryMarketProposal,
  Market.primaryMarket,
  Subscription.subscriptionOrder,
  Subscription.subscriptionClaim,
  Subscription.lot,
  Subscription.deliveredLot,
  Subscription.owedRefund,
  Redemption.redemptionOrder,
  Redemption.redemptionClaim,
  Redemption.pricedRedemption,
  DealingCycle.dealingCycle,
  Settlement.settlementIntent,
  Settlement.provisionSettlementProposal,
  Settlement.provisionSettlement,
  Standing.standingSettlement,
  Standing.standingCommitment,
  Price.oraclePoint,
  Distribution.distributionSlot,
  Distribution.distribution,
  Distribution.distributionLine,
  Distribution.deliveredLine,
  Powers.issuerPowersAgreementProposal,
  Powers.issuerPowersAgreement,
  Powers.issuerPowersConsentOffer,
  Powers.issuerPowersConsent,
  Reserve.reserveProposal,
  Reserve.reserve,
  Reserve.lockAgreementProposal,
  Reserve.lockAgreement,
  Reserve.mintOrder,
  Reserve.reserveRedemptionOrder,
  Reserve.amendmentProposal,
  Reserve.reserveReport,
  Runner.spentCommand
]
