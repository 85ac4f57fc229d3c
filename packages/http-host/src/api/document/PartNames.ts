/** Names of the schemas and members that several components of the document have alike. */

/**
 * Inner schemas, each with the place where it is found: a component, then names of members, `[]` for the
 * items of a list and `{}` for the values of a map. An inner schema of another one comes before it. What is
 * sent has a name that says so, where it is not what is answered.
 */
export const inner: Readonly<Record<string, string>> = {
  Asset: "MintView.asset",
  AssetAsSent: "MintStartBody.asset",
  CashLimit: "PolicySetBody.limits.maxSubscription",
  UnitsLimit: "PolicySetBody.limits.maxRedemption",
  Tolerance: "PolicySetBody.tolerances.{}",
  ResourceName: "WaitingOn.resource",
  ControlEvent: "WebhookRegisterBody.events.[]",
  DistributionDates: "InstrumentView.distribution.calendar",
  DistributionTerms: "InstrumentView.distribution",
  DistributionTermsAsSent: "PolicySetBody.distribution",
  OtherIdentifier: "InstrumentView.identifiers.others.[]",
  OtherIdentifierAsSent: "PolicySetBody.identifiers.others.[]",
  Identifiers: "InstrumentView.identifiers",
  IdentifiersAsSent: "PolicySetBody.identifiers",
  InstrumentDisplay: "InstrumentView.display",
  InstrumentDisplayAsSent: "PolicySetBody.display",
  CutOff: "InstrumentView.cutOff",
  Fees: "InstrumentView.fees",
  Swing: "InstrumentView.swing",
  SwingAsSent: "PolicySetBody.swing",
  NavGuardrail: "InstrumentView.navGuardrail",
  NavGuardrailAsSent: "PolicySetBody.guardrail",
  NavFeed: "InstrumentView.navFeed",
  NavFeedAsSent: "PolicySetBody.navFeed",
  ClaimedProperty: "AdmissionOfferBody.claims.[]",
  PrimaryMarketTerms: "PrimaryMarketView.terms",
  OrderCash: "SubscriptionView.cash",
  OrderAllocation: "SubscriptionView.allocation",
  ExecutedBy: "DistributionView.executedBy",
  HolderOfMove: "ForcedMove.from",
  ReadAt: "FindingView.asOf",
  Instrument: "InstrumentRecordAnswer.result",
  PolicyTerms: "PolicyVersion.body"
}

/** Members that the named components have alike; whichever component has all of them refers to them too. */
export const shared: Readonly<Record<string, ReadonlyArray<string>>> = {
  InstrumentTerms: ["Instrument", "PolicyTerms"],
  InstrumentTermsAsSent: ["InstrumentRecordBody", "PolicySetBody"],
  DistributionRecord: ["DistributionView", "DistributionTouched"],
  OrderRecord: ["SubscriptionView", "RedemptionView"],
  OrderAsSent: ["SubscriptionClaimBody", "RedemptionClaimBody"],
  ReserveOrderRecord: ["MintView", "ReserveRedemptionView"],
  ActionRecord: ["WriteAnswer", "Approval"],
  PaidAmounts: ["DistributionTotals", "TaxRow"],
  RecordStamp: ["HolderView", "HoldView"]
}
