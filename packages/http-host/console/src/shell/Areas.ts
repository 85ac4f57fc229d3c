/**
 * Table of the pages that an area draws itself, beside those of the table of lists and records: the address
 * of each, and the reads that it makes. The first read decides who is offered the page.
 */

export type AreaName =
  | "cycles"
  | "distributions"
  | "holders"
  | "instruments"
  | "orders"
  | "reconciliation"
  | "reserves"
  | "restraints"
  | "statements"
  | "venue"

export interface AreaPage {
  /** Address below the console's; `:id` is the record's. */
  readonly path: string
  readonly area: AreaName
  /** Name of the page in its area's module. */
  readonly page: string
  /** Reads of one view of the page; a tab that is not shown reads nothing. */
  readonly reads: readonly [string, ...ReadonlyArray<string>]
}

export const areaPages: ReadonlyArray<AreaPage> = [
  { path: "dealing-cycles", area: "cycles", page: "CyclesPage", reads: ["dealing-cycles.list"] },
  {
    path: "dealing-cycles/:id",
    area: "cycles",
    page: "CyclePage",
    reads: ["dealing-cycles.get", "instruments.precheck"]
  },
  {
    path: "standing-settlements",
    area: "cycles",
    page: "StandingSettlementsPage",
    reads: ["standing-settlements.list"]
  },
  {
    path: "standing-settlements/:id",
    area: "cycles",
    page: "StandingSettlementPage",
    reads: ["standing-settlements.get", "open-orders.list"]
  },
  {
    path: "restrictions",
    area: "restraints",
    page: "RestrictionsPage",
    reads: ["restrictions.list"]
  },
  {
    path: "restrictions/:id",
    area: "restraints",
    page: "RestrictionPage",
    reads: ["restrictions.get"]
  },
  { path: "holds", area: "restraints", page: "HoldsPage", reads: ["holds.list"] },
  {
    path: "holds/:id",
    area: "restraints",
    page: "HoldPage",
    reads: ["holds.get", "findings.list"]
  },
  { path: "holders", area: "holders", page: "HoldersPage", reads: ["holders.list"] },
  { path: "holders/:id", area: "holders", page: "HolderPage", reads: ["holders.get"] },
  {
    path: "instruments",
    area: "instruments",
    page: "InstrumentsPage",
    reads: ["instruments.list"]
  },
  {
    path: "instruments/:id",
    area: "instruments",
    page: "InstrumentPage",
    reads: ["instruments.get", "reconciliation-verdict.list", "instruments.series"]
  },
  {
    path: "subscriptions",
    area: "orders",
    page: "SubscriptionsPage",
    reads: ["subscriptions.list"]
  },
  { path: "redemptions", area: "orders", page: "RedemptionsPage", reads: ["redemptions.list"] },
  {
    path: "subscriptions/:id",
    area: "orders",
    page: "SubscriptionPage",
    reads: [
      "subscriptions.get",
      "instruments.precheck",
      "instruments.precheck",
      "instruments.get",
      "events.list"
    ]
  },
  {
    path: "redemptions/:id",
    area: "orders",
    page: "RedemptionPage",
    reads: ["redemptions.get", "instruments.precheck", "instruments.get", "events.list"]
  },
  {
    path: "reconciliation",
    area: "reconciliation",
    page: "VerdictsPage",
    reads: ["reconciliation-verdict.list"]
  },
  {
    path: "reconciliation-runs",
    area: "reconciliation",
    page: "RunsPage",
    reads: ["reconciliation-runs.list"]
  },
  {
    path: "reconciliation-runs/:id",
    area: "reconciliation",
    page: "RunPage",
    reads: ["reconciliation-runs.get", "findings.list"]
  },
  { path: "findings", area: "reconciliation", page: "FindingsPage", reads: ["findings.list"] },
  {
    path: "findings/:id",
    area: "reconciliation",
    page: "FindingPage",
    reads: ["findings.get"]
  },
  {
    path: "external-sources",
    area: "statements",
    page: "SourcesPage",
    reads: ["external-sources.list"]
  },
  {
    path: "external-sources/:id",
    area: "statements",
    page: "SourcePage",
    reads: ["external-sources.get", "external-statements.list"]
  },
  {
    path: "external-statements",
    area: "statements",
    page: "StatementsPage",
    reads: ["external-statements.list"]
  },
  {
    path: "external-statements/:id",
    area: "statements",
    page: "StatementPage",
    reads: [
      "external-statements.get",
      "external-statements.lines",
      "external-statements.restatement"
    ]
  },
  {
    path: "external-accounts",
    area: "statements",
    page: "AccountsPage",
    reads: ["external-accounts.list"]
  },
  {
    path: "distribution-calendar",
    area: "distributions",
    page: "CalendarPage",
    reads: ["distribution-calendar.list"]
  },
  {
    path: "distribution-months/:id",
    area: "distributions",
    page: "MonthPage",
    reads: ["distribution-calendar.list", "instruments.precheck", "instruments.precheck"]
  },
  {
    path: "distributions",
    area: "distributions",
    page: "DistributionsPage",
    reads: ["distributions.list"]
  },
  {
    path: "distributions/:id",
    area: "distributions",
    page: "DistributionPage",
    reads: ["distributions.get", "distributions.lines"]
  },
  {
    path: "distributions/:id/lines/:inner",
    area: "distributions",
    page: "LinePage",
    reads: ["distributions.line"]
  },
  {
    path: "standing-approvals",
    area: "distributions",
    page: "StandingApprovalsPage",
    reads: ["standing-approvals.list"]
  },
  {
    path: "standing-approvals/:id",
    area: "distributions",
    page: "StandingApprovalPage",
    reads: ["standing-approvals.get"]
  },
  { path: "reserves", area: "reserves", page: "ReservesPage", reads: ["reserves.list"] },
  {
    path: "reserves/:id",
    area: "reserves",
    page: "ReservePage",
    reads: ["reserves.get", "reserves.get", "reserves.mints", "reserves.redemptions"]
  },
  {
    path: "reserves/:id/amendments/:inner",
    area: "reserves",
    page: "AmendmentPage",
    reads: ["reserves.amendment"]
  },
  {
    path: "reserves/:id/lock-agreements/:inner",
    area: "reserves",
    page: "LockAgreementPage",
    reads: ["reserves.lock-agreement"]
  },
  {
    path: "reserves/:id/mints/:inner",
    area: "reserves",
    page: "MintPage",
    reads: ["reserves.mint"]
  },
  {
    path: "reserves/:id/redemptions/:inner",
    area: "reserves",
    page: "RedemptionPage",
    reads: ["reserves.redemption"]
  },
  {
    path: "reserves/:id/reports/:inner",
    area: "reserves",
    page: "ReportPage",
    reads: ["reserves.report", "reserves.get"]
  },
  { path: "operations", area: "venue", page: "OperationsPage", reads: ["operations.list"] },
  {
    path: "operations/:id",
    area: "venue",
    page: "OperationPage",
    reads: ["operations.get", "events.list"]
  },
  { path: "audit-log", area: "venue", page: "AuditLogPage", reads: ["audit-log.list"] },
  { path: "webhooks", area: "venue", page: "WebhooksPage", reads: ["webhooks.list"] },
  {
    path: "webhooks/:id",
    area: "venue",
    page: "WebhookPage",
    reads: ["webhooks.get", "operations.list"]
  },
  { path: "venue", area: "venue", page: "VenuePage", reads: ["tenants.one", "health.one"] }
]
