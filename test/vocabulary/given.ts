/** The lists of the API, word for word, with which the vocabulary is compared. */

const list = (text: string): ReadonlyArray<string> => text.split(", ")

/** The operation kinds a caller can ask for. */
export const operationKinds = list(
  "instrument.record, policy.set, admission-consent.propose, instrument.pause, holder.register, holder.onboard, holder.close, holder.register-successor, holder.set-attributes, admission.offer, admission.withdraw, accepted-terms.accept, subscription.claim, subscription.withdraw, subscription.deliver, subscription.settle, subscription.release, primary-market.propose, redemption.claim, redemption.withdraw, redemption.release, redemption.settle, dealing-cycle.open, dealing-cycle.settle, dealing-cycle.release, standing-settlement.open, standing-settlement.settle, standing-settlement.pause, standing-settlement.resume, standing-settlement.close, reserve.propose, reserve.close, lock-agreement.propose, lock-agreement.release, mint.start, mint.cancel, reserve-redemption.start, reserve-redemption.cancel, reserve-report.create, amendment.propose, amendment.withdraw, provision-settlement.propose, distribution.execute, distribution.roll, standing-approval.grant, standing-approval.revoke, holder.restrict, holder.restrict-batch, restriction.lift, issuer-powers-agreement.propose, issuer-powers-consent.offer, holder.force-transfer, holder.recover, instrument.force-transfer, instrument.recover, hold.release, external-account.map, webhook.register, webhook.remove, webhook.test"
)

/** The two kinds added to them, which the engine alone opens. */
export const addedOperationKinds = list(
  "mint.settle, reserve-redemption.settle, distribution.instruct"
)

export const resourceKinds = list(
  "instrument, holder, subscription, redemption, dealing-cycle, standing-settlement, reserve, lock-agreement, mint, reserve-redemption, amendment, distribution, standing-approval, reconciliation-run, external-statement, primary-market, restriction, hold, webhook, external-account, external-source, issuer-powers-agreement, scheduled-distribution, contract, exercise, operation, distribution-line, finding, proposal"
)

export const roles = list(
  "operator, approver, risk, compliance, auditor, investor, app, monitor, feed, registrar"
)

export const eventKinds = list("journal, control")

export const controlEvents = list(
  "reconciliation.run, reconciliation.finding, reconciliation.hold, hold.released, statement.received, statement.overdue, distribution.payable, distribution.held, distribution.paid, holder.restricted, holder.unrestricted, holder.forced-transfer, holder.recovered, instrument.paused, distribution.rate-changed, distribution.carried, distribution.due, standing-approval.granted, standing-approval.revoked, reserve.minted, reserve.redeemed, reserve.cover-low, reserve.reported, reserve.amended, retention.pruned, operation.succeeded, operation.failed, approval.requested, approval.signed, approval.approved, approval.rejected, subscription.priced, subscription.delivered, subscription.ended, redemption.priced, redemption.funded, redemption.burned, redemption.settled, redemption.withdrawn, dealing-cycle.settled, dealing-cycle.released"
)

/** webhook.test is given apart from the list; approval.lapsed is added to it. */
export const otherControlEvents = list("webhook.test, approval.lapsed")

export const journalEvents = list(
  "settlement.proposed, price.point, subscription.created, admission.offered, admission.granted"
)

export const stateSets = list(
  "AdmissionState, AmendmentState, ApprovalState, AttributeState, DealingCycleState, DistributionLineState, DistributionPeriodState, DistributionRollState, DistributionState, HoldState, HolderState, IssuerPowersConsentState, LockAgreementState, NavFeedState, OperationState, PolicyVersionState, PrimaryMarketState, RedemptionOrderState, RedemptionState, ReserveOrderState, ReserveState, RestrictionState, ScreeningState, StandingApprovalState, StandingSettlementState, SubscriptionOrderState, SubscriptionState"
)

/** Three more that are no set of the API: they have the members of PrimaryMarketState. */
export const addedStateSets = list(
  "AdmissionConsentState, IssuerPowersAgreementState, ProvisionSettlementState"
)
/** The engine's own: no caller sees it. */
export const ownStateSets = list("DeliveryState")

/** The sets that gain no value within /v1, with their members. */
export const closedSets: Readonly<Record<string, ReadonlyArray<string>>> = {
  ResponseFormat: list("json, csv"),
  SeriesInterval: list("day, week, month"),
  SortOrder: list("asc, desc"),
  Weekday: list("monday, tuesday, wednesday, thursday, friday, saturday, sunday")
}

/** The other small sets that the API or the domain names, with their members. */
export const extensibleSets: Readonly<Record<string, ReadonlyArray<string>>> = {
  ValuationMode: list("par, accumulating, rebasing"),
  DistributionFrequency: list("monthly"),
  WebhookSource: list("config, api"),
  SeriesMetric: list("supply, price, holders, subscriptions, redemptions, distributions, cover"),
  MovementKind: list(
    "mint, burn, transfer, subscription, redemption, distribution, rebase, forced-transfer, recovery, lock, unlock"
  ),
  PrecheckAct: list(
    "admission.offer, subscription.claim, subscription.deliver, subscription.settle, redemption.claim, redemption.settle, dealing-cycle.settle, distribution.execute, instrument.force-transfer, instrument.recover, mint.start, reserve-redemption.start"
  ),
  ProposalKind: list(
    "admission-consent, admission-offer, accepted-terms, primary-market, reserve, lock-agreement, amendment, provision-settlement, issuer-powers-agreement, issuer-powers-consent, burn-request, mint-request"
  ),
  StatementKind: list("nav, holdings, cash, custody"),
  RestrictionMode: list("freeze, receive-only, redeem-only"),
  RestrictionReason: list(
    "sanctions, court-order, compliance-review, kyc-expired, bankruptcy, deceased, pledge, lost-key, holder-request, other"
  )
}
