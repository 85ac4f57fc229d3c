/** The smaller sets of words that records and parameters take their values from. */
import type { OperationKind } from "./OperationKind.ts"
import { checkNames } from "./ReconciliationChecks.ts"
import * as ValueSet from "./ValueSet.ts"

const { closed, extensible, openToPlainWords } = ValueSet

// Closed: these gain no value within /v1.

export const ResponseFormat = closed("ResponseFormat", "The form an export answers in.", [
  "json",
  "csv"
])
export type ResponseFormat = ValueSet.Member<typeof ResponseFormat>

export const SeriesInterval = closed("SeriesInterval", "How long one step of a series is.", [
  "day",
  "week",
  "month"
])
export type SeriesInterval = ValueSet.Member<typeof SeriesInterval>

export const SortOrder = closed("SortOrder", "Which end of a list comes first.", ["asc", "desc"])
export type SortOrder = ValueSet.Member<typeof SortOrder>

export const Weekday = closed("Weekday", "A day of the week.", [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday"
])
export type Weekday = ValueSet.Member<typeof Weekday>

// Instruments.

export const ValuationMode = extensible(
  "ValuationMode",
  "How an instrument's unit has its value.",
  ["par", "accumulating", "rebasing"]
)
export type ValuationMode = ValueSet.Member<typeof ValuationMode>

export const DistributionSchedule = extensible(
  "DistributionSchedule",
  "Whether and how often an instrument distributes.",
  ["none", "monthly"]
)
export type DistributionSchedule = ValueSet.Member<typeof DistributionSchedule>

export const DistributionFrequency = extensible(
  "DistributionFrequency",
  "How often a calendar sets a record date.",
  ["monthly"]
)
export type DistributionFrequency = ValueSet.Member<typeof DistributionFrequency>

export const PayoutForm = extensible("PayoutForm", "What a distribution is paid in.", [
  "units",
  "cash"
])
export type PayoutForm = ValueSet.Member<typeof PayoutForm>

export const PricingRule = extensible(
  "PricingRule",
  "Whether an order deals at the next point after its cut-off or at the last one before it.",
  ["forward", "historic"]
)
export type PricingRule = ValueSet.Member<typeof PricingRule>

export const ResidualRule = extensible(
  "ResidualRule",
  "Whether the cash an order's units do not use goes back to the holder or stays in the fund.",
  ["refund", "fund"]
)
export type ResidualRule = ValueSet.Member<typeof ResidualRule>

export const RateChange = extensible(
  "RateChange",
  "What happens to a period whose points carry more than one withholding rate.",
  ["alert", "refuse"]
)
export type RateChange = ValueSet.Member<typeof RateChange>

export const PartialDistribution = extensible(
  "PartialDistribution",
  "What happens to a period while an earlier line of a holder is not rolled.",
  ["carry", "refuse"]
)
export type PartialDistribution = ValueSet.Member<typeof PartialDistribution>

export const RateSource = extensible(
  "RateSource",
  "Where a line's withholding rate is from: the instrument's terms, a price point, or the holder.",
  ["default", "point", "attribute"]
)
export type RateSource = ValueSet.Member<typeof RateSource>

export const BasisMissing = extensible(
  "BasisMissing",
  "Why a distribution line is read without a basis: retention has deleted its register or points, a snapshot of the ledger showed it without the plan of its execution, or the register gives no such line.",
  ["before-horizon", "plan-missing", "not-computed"]
)
export type BasisMissing = ValueSet.Member<typeof BasisMissing>

export const LineReason = extensible(
  "LineReason",
  "Why a distribution line is suspended (the first of its causes, in this order), or carried.",
  [
    "restriction",
    "court-order",
    "registration",
    "admission",
    "attribute",
    "screening",
    "no-holder",
    "unrolled",
    "below-smallest"
  ]
)
export type LineReason = ValueSet.Member<typeof LineReason>

export const SeriesMetric = extensible(
  "SeriesMetric",
  "What a time series of an instrument shows.",
  ["supply", "price", "holders", "subscriptions", "redemptions", "distributions", "cover"]
)
export type SeriesMetric = ValueSet.Member<typeof SeriesMetric>

export const MovementKind = extensible("MovementKind", "Why units moved.", [
  "mint",
  "burn",
  "transfer",
  "subscription",
  "redemption",
  "distribution",
  "rebase",
  "forced-transfer",
  "recovery",
  "lock",
  "unlock"
])
export type MovementKind = ValueSet.Member<typeof MovementKind>

const judgedActs = [
  "admission.offer",
  "subscription.claim",
  "subscription.deliver",
  "subscription.settle",
  "redemption.claim",
  "redemption.settle",
  "dealing-cycle.settle",
  "distribution.execute",
  "instrument.force-transfer",
  "instrument.recover",
  "mint.start",
  "reserve-redemption.start"
] as const satisfies ReadonlyArray<OperationKind>

export const PrecheckAct = extensible("PrecheckAct", "An act a precheck judges.", judgedActs)
export type PrecheckAct = ValueSet.Member<typeof PrecheckAct>

// Holders.

export const HolderClassification = extensible("HolderClassification", "What a holder is in law.", [
  "individual",
  "entity",
  "fund",
  "nominee"
])
export type HolderClassification = ValueSet.Member<typeof HolderClassification>

export const ExternalAccountKind = extensible(
  "ExternalAccountKind",
  "Whether an account outside the ledger holds cash or assets.",
  ["cash", "custody"]
)
export type ExternalAccountKind = ValueSet.Member<typeof ExternalAccountKind>

// Orders.

export const PaymentMode = extensible(
  "PaymentMode",
  "Whether an order's cash moves by wire, outside the ledger, or on it.",
  ["wire", "ledger"]
)
export type PaymentMode = ValueSet.Member<typeof PaymentMode>

export const OrderedAs = extensible(
  "OrderedAs",
  "Whether an order names an amount of cash or a number of units.",
  ["amount", "units"]
)
export type OrderedAs = ValueSet.Member<typeof OrderedAs>

export const CycleEnding = extensible("CycleEnding", "How a dealing cycle ended.", [
  "settled",
  "released"
])
export type CycleEnding = ValueSet.Member<typeof CycleEnding>

export const OpenOrderKind = extensible("OpenOrderKind", "What an open order is an order for.", [
  "subscription",
  "redemption",
  "mint",
  "reserve-redemption"
])
export type OpenOrderKind = ValueSet.Member<typeof OpenOrderKind>

export const OpenOrderState = extensible(
  "OpenOrderState",
  "What an open order still needs before its value date; a refund is awaited after it. A mint or a reserve redemption is started, ready, or expired until it is cancelled.",
  [
    "awaiting-price",
    "awaiting-cash",
    "awaiting-units",
    "awaiting-registrar",
    "awaiting-payment",
    "ready",
    "awaiting-refund",
    "started",
    "expired"
  ]
)
export type OpenOrderState = ValueSet.Member<typeof OpenOrderState>

export const ProposalKind = extensible(
  "ProposalKind",
  "What an open proposal on the ledger asks of the party it waits on.",
  [
    "admission-consent",
    "admission-offer",
    "accepted-terms",
    "primary-market",
    "reserve",
    "lock-agreement",
    "amendment",
    "provision-settlement",
    "issuer-powers-agreement",
    "issuer-powers-consent",
    "burn-request",
    "mint-request"
  ]
)
export type ProposalKind = ValueSet.Member<typeof ProposalKind>

// Controls.

/** Mode of a restriction: which movements of its holder it stops. */
export const RestrictionMode = extensible(
  "RestrictionMode",
  "What a restriction lets pass: freeze nothing in or out; receive-only units and cash in, nothing " +
    "out; redeem-only units out to the fund alone, and the cash for them in. A new subscription is " +
    "claimed under none of them; one claimed before is delivered under receive-only.",
  ["freeze", "receive-only", "redeem-only"]
)
export type RestrictionMode = ValueSet.Member<typeof RestrictionMode>

export const RestrictionReason = extensible("RestrictionReason", "Why a holder is restricted.", [
  "sanctions",
  "court-order",
  "compliance-review",
  "kyc-expired",
  "bankruptcy",
  "deceased",
  "pledge",
  "lost-key",
  "holder-request",
  "other"
])
export type RestrictionReason = ValueSet.Member<typeof RestrictionReason>

export const HoldSource = extensible("HoldSource", "What opened a hold.", [
  "manual",
  "reconciliation",
  "cover"
])
export type HoldSource = ValueSet.Member<typeof HoldSource>

export const HoldBlock = extensible("HoldBlock", "What a hold blocks.", [
  "all",
  "distribution",
  "mint"
])
export type HoldBlock = ValueSet.Member<typeof HoldBlock>

export const IssuerPower = extensible("IssuerPower", "A forced act an issuer may be agreed.", [
  "force-transfer",
  "recover"
])
export type IssuerPower = ValueSet.Member<typeof IssuerPower>

// Reserves.

export const CoverState = extensible("CoverState", "Whether a reserve covers what it backs.", [
  "covered",
  "low",
  "unknown"
])
export type CoverState = ValueSet.Member<typeof CoverState>

export const ChangeDirection = extensible(
  "ChangeDirection",
  "Whether a change widens what can happen or narrows it.",
  ["loosen", "tighten"]
)
export type ChangeDirection = ValueSet.Member<typeof ChangeDirection>

export const ReportTrigger = extensible("ReportTrigger", "What a reserve report was made for.", [
  "demand",
  "schedule"
])
export type ReportTrigger = ValueSet.Member<typeof ReportTrigger>

// Reconciliation.

export const StatementKind = extensible("StatementKind", "What an external statement states.", [
  "nav",
  "holdings",
  "cash",
  "custody"
])
export type StatementKind = ValueSet.Member<typeof StatementKind>

export const StatementAdapter = extensible(
  "StatementAdapter",
  "The form that the statements of a source are read in.",
  ["camt.053", "semt.002", "semt.003", "reda.001", "csv", "json"]
)
export type StatementAdapter = ValueSet.Member<typeof StatementAdapter>

export const StatementBasis = extensible(
  "StatementBasis",
  "When the positions of a statement count a trade: as of its trade, its value date or its settlement.",
  ["trade", "contractual", "settled"]
)
export type StatementBasis = ValueSet.Member<typeof StatementBasis>

export const AccountIs = extensible("AccountIs", "What the account of a line of holdings names.", [
  "external-account",
  "holder",
  "party"
])
export type AccountIs = ValueSet.Member<typeof AccountIs>

export const CashDirection = extensible(
  "CashDirection",
  "Whether cash of an account came in or went out.",
  ["credit", "debit"]
)
export type CashDirection = ValueSet.Member<typeof CashDirection>

export const CashMatch = extensible(
  "CashMatch",
  "How much of a line of a cash statement pays orders.",
  ["unmatched", "partial", "matched"]
)
export type CashMatch = ValueSet.Member<typeof CashMatch>

export const CashPays = extensible("CashPays", "Whether cash pays an order or its refund.", [
  "cash",
  "refund"
])
export type CashPays = ValueSet.Member<typeof CashPays>

/** Strongest first. */
export const CashMatchRule = extensible(
  "CashMatchRule",
  "Why a bank line may pay an order: its reference names the order; it has the amount that is due and comes from an account of the holder; it has that amount.",
  ["reference", "account-amount", "amount"]
)
export type CashMatchRule = ValueSet.Member<typeof CashMatchRule>

export const RestatedKind = extensible(
  "RestatedKind",
  "What a row of a restatement is about: an order, a line, or a distribution in which a payee would have had a line.",
  ["subscription", "redemption", "distribution-line", "distribution"]
)
export type RestatedKind = ValueSet.Member<typeof RestatedKind>

export const RestatedField = extensible(
  "RestatedField",
  "The figure that a corrected NAV changes, signed from the holder: what it pays or gives is below 0.",
  ["units", "proceeds", "cash", "refund", "gross", "net", "carry"]
)
export type RestatedField = ValueSet.Member<typeof RestatedField>

export const SourceState = extensible(
  "SourceState",
  "Whether the configuration still names a source of statements.",
  ["active", "inactive"]
)
export type SourceState = ValueSet.Member<typeof SourceState>

export const RawEncoding = extensible(
  "RawEncoding",
  "How the bytes of a statement are shown as text.",
  ["utf-8", "base64"]
)
export type RawEncoding = ValueSet.Member<typeof RawEncoding>

export const RunTrigger = extensible("RunTrigger", "What a reconciliation run was started by.", [
  "schedule",
  "manual",
  "statement",
  "release"
])
export type RunTrigger = ValueSet.Member<typeof RunTrigger>

export const Verdict = extensible("Verdict", "What a reconciliation run comes to.", [
  "clear",
  "findings",
  "blocked",
  "incomplete"
])
export type Verdict = ValueSet.Member<typeof Verdict>

/** The checks of this release in the order they run; a later release may have more. */
export const ReconciliationCheck = openToPlainWords(
  "ReconciliationCheck",
  "A check of reconciliation runs.",
  checkNames
)
export type ReconciliationCheck = ValueSet.Member<typeof ReconciliationCheck>

export const FindingSeverity = extensible("FindingSeverity", "How much a finding stops.", [
  "blocking",
  "warning",
  "info"
])
export type FindingSeverity = ValueSet.Member<typeof FindingSeverity>

export const FindingState = extensible("FindingState", "Where a finding stands.", [
  "open",
  "cleared",
  "accepted"
])
export type FindingState = ValueSet.Member<typeof FindingState>

// Feeds.

export const WebhookSource = extensible("WebhookSource", "Where a webhook was set up.", [
  "config",
  "api"
])
export type WebhookSource = ValueSet.Member<typeof WebhookSource>

export const DeliveryFailure = ValueSet.extensible(
  "DeliveryFailure",
  "Why an attempt to post an event to a webhook failed.",
  ["dns", "address-refused", "connect", "tls", "timeout", "status"]
)
export type DeliveryFailure = ValueSet.Member<typeof DeliveryFailure>
