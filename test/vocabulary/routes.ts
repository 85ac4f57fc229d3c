/** Every write and read by its route, with which the declarations are compared. */

interface GivenWrite {
  readonly route: string
  readonly makers: ReadonlyArray<string>
  readonly approvers: number
}

/** One line a write: its kind, its route, how many approve it, who makes it. */
const writes = `
instrument.record | POST /v1/instruments | 1 | operator
policy.set | POST /v1/instruments/{instrumentId}/policy:set | 1 | operator
admission-consent.propose | POST /v1/instruments/{instrumentId}/admission-consent:propose | 1 | operator
primary-market.propose | POST /v1/instruments/{instrumentId}/primary-market:propose | 1 | operator
provision-settlement.propose | POST /v1/instruments/{instrumentId}/provision-settlement:propose | 1 | operator
issuer-powers-agreement.propose | POST /v1/instruments/{instrumentId}/issuer-powers-agreement:propose | 1 | operator compliance
instrument.pause | POST /v1/instruments/{instrumentId}:pause | 0 | operator risk
instrument.force-transfer | POST /v1/instruments/{instrumentId}:force-transfer | 1 | operator compliance
instrument.recover | POST /v1/instruments/{instrumentId}:recover | 1 | operator compliance
holder.register | POST /v1/holders | 0 | operator app
holder.onboard | POST /v1/holders:onboard | 0 | operator app
holder.set-attributes | POST /v1/holders/{holderId}:set-attributes | 1 | operator compliance
holder.close | POST /v1/holders/{holderId}:close | 1 | operator compliance
holder.register-successor | POST /v1/holders/{holderId}:register-successor | 1 | operator compliance
holder.restrict | POST /v1/holders/{holderId}:restrict | 0 | operator risk compliance
holder.restrict-batch | POST /v1/holders:restrict-batch | 0 | operator risk compliance
holder.force-transfer | POST /v1/holders/{holderId}:force-transfer | 1 | operator compliance
holder.recover | POST /v1/holders/{holderId}:recover | 1 | operator compliance
admission.offer | POST /v1/holders/{holderId}/admissions | 0 | operator
admission.withdraw | POST /v1/holders/{holderId}/admissions/{instrumentId}:withdraw | 0 | operator compliance
accepted-terms.accept | POST /v1/holders/{holderId}/accepted-terms:accept | 0 | operator
issuer-powers-consent.offer | POST /v1/holders/{holderId}/issuer-powers-consents | 0 | operator
subscription.claim | POST /v1/subscriptions | 0 | operator app
subscription.withdraw | POST /v1/subscriptions/{subscriptionId}:withdraw | 0 | operator app
subscription.deliver | POST /v1/subscriptions/{subscriptionId}:deliver | 0 | operator
subscription.settle | POST /v1/subscriptions/{subscriptionId}:settle | 0 | operator
subscription.release | POST /v1/subscriptions/{subscriptionId}:release | 0 | operator
redemption.claim | POST /v1/redemptions | 0 | operator app
redemption.withdraw | POST /v1/redemptions/{redemptionId}:withdraw | 0 | operator app
redemption.settle | POST /v1/redemptions/{redemptionId}:settle | 0 | operator
redemption.release | POST /v1/redemptions/{redemptionId}:release | 0 | operator
dealing-cycle.open | POST /v1/dealing-cycles | 0 | operator
dealing-cycle.settle | POST /v1/dealing-cycles/{cycleId}:settle | 1 | operator
dealing-cycle.release | POST /v1/dealing-cycles/{cycleId}:release | 0 | operator risk
standing-settlement.open | POST /v1/standing-settlements | 1 | operator
standing-settlement.settle | POST /v1/standing-settlements/{standingSettlementId}:settle | 0 | operator
standing-settlement.pause | POST /v1/standing-settlements/{standingSettlementId}:pause | 0 | operator risk
standing-settlement.resume | POST /v1/standing-settlements/{standingSettlementId}:resume | 1 | operator
standing-settlement.close | POST /v1/standing-settlements/{standingSettlementId}:close | 0 | operator
distribution.execute | POST /v1/distributions | 1 | operator
distribution.roll | POST /v1/distributions/{distributionId}:roll | 0 | operator
standing-approval.grant | POST /v1/standing-approvals | 1 | operator
standing-approval.revoke | POST /v1/standing-approvals/{standingApprovalId}:revoke | 0 | operator approver risk
restriction.lift | POST /v1/restrictions/{restrictionId}:lift | 2 | operator compliance
hold.release | POST /v1/holds/{holdId}:release | 2 | operator risk
reserve.propose | POST /v1/reserves | 1 | operator
reserve.close | POST /v1/reserves/{reserveId}:close | 1 | operator
lock-agreement.propose | POST /v1/reserves/{reserveId}/lock-agreements | 1 | operator
lock-agreement.release | POST /v1/reserves/{reserveId}/lock-agreements/{lockAgreementId}:release | 1 | operator
mint.start | POST /v1/reserves/{reserveId}/mints | 0 | operator
mint.cancel | POST /v1/reserves/{reserveId}/mints/{mintId}:cancel | 0 | operator risk
reserve-redemption.start | POST /v1/reserves/{reserveId}/redemptions | 0 | operator
reserve-redemption.cancel | POST /v1/reserves/{reserveId}/redemptions/{reserveRedemptionId}:cancel | 0 | operator risk
reserve-report.create | POST /v1/reserves/{reserveId}/reports | 0 | operator risk
amendment.propose | POST /v1/reserves/{reserveId}/amendments | 1 | operator
amendment.withdraw | POST /v1/reserves/{reserveId}/amendments/{amendmentId}:withdraw | 0 | operator
external-account.map | POST /v1/external-accounts | 1 | operator
webhook.register | POST /v1/webhooks | 1 | operator
webhook.remove | DELETE /v1/webhooks/{webhookId} | 1 | operator
webhook.test | POST /v1/webhooks/{webhookId}:test | 0 | operator
`

/** One line a read: its routes below /v1, then who reads how much of it. */
const queries = `
/instruments | app approver auditor investor operator risk
/instruments/{instrumentId} | app approver auditor investor operator risk registrar:near
/instruments/{instrumentId}/policy /instruments/{instrumentId}/policy/versions /instruments/{instrumentId}/prices /instruments/{instrumentId}/series | operator approver risk compliance auditor investor app registrar:near
/instruments/{instrumentId}/register /instruments/{instrumentId}/movements | operator approver risk compliance auditor app registrar:near
/instruments/{instrumentId}/precheck | operator approver risk compliance auditor app investor:own
/holders /holders/{holderId} /holders/{holderId}/admissions /holders/{holderId}/movements /holders/{holderId}/statements /holders/{holderId}/portfolio /holders/{holderId}/tax-statements/{year} | operator approver risk compliance auditor app investor:own
/subscriptions /subscriptions/{subscriptionId} /redemptions /redemptions/{redemptionId} | operator approver risk compliance auditor app investor:own registrar:near
/dealing-cycles /dealing-cycles/{cycleId} /standing-settlements /standing-settlements/{standingSettlementId} | operator approver risk auditor app investor:own
/distributions /distributions/{distributionId} /distributions/{distributionId}/export /distributions/{distributionId}/lines /distributions/{distributionId}/lines/{lineId} /distribution-calendar | operator approver risk compliance auditor app investor:own registrar:near
/standing-approvals /standing-approvals/{standingApprovalId} | operator approver risk auditor
/restrictions /restrictions/{restrictionId} | operator approver risk compliance auditor
/holds /holds/{holdId} | operator approver risk auditor app registrar:near
/reserves /reserves/{reserveId} /reserves/{reserveId}/amendments /reserves/{reserveId}/mints /reserves/{reserveId}/redemptions /reserves/{reserveId}/lock-agreements /reserves/{reserveId}/reports /reserves/{reserveId}/amendments/{amendmentId} /reserves/{reserveId}/mints/{mintId} /reserves/{reserveId}/redemptions/{reserveRedemptionId} /reserves/{reserveId}/lock-agreements/{lockAgreementId} /reserves/{reserveId}/reports/{reportId} | operator approver risk auditor app registrar:near
/search | operator approver risk compliance auditor
/proposals /open-orders | operator approver risk compliance auditor app investor:own registrar:near
/work /work-counts | operator approver risk compliance auditor
/external-statements /external-statements/{externalStatementId} /external-statements/{externalStatementId}/lines /external-statements/{externalStatementId}/restatement | approver auditor operator risk
/cash-matches | operator approver risk auditor
/external-sources /external-sources/{externalSourceId} | approver auditor operator risk
/external-accounts | operator approver auditor
/reconciliation-runs /reconciliation-runs/{runId} | operator approver risk auditor
/findings /findings/{findingId} | operator approver risk auditor
/reconciliation-verdict | operator approver risk auditor app monitor
/operations /operations/{operationId} | operator approver risk compliance auditor app:own
/approvals /approvals/{actionKey} | operator approver risk compliance auditor
/webhooks /webhooks/{webhookId} /webhooks/{webhookId}/deliveries | auditor operator
/events | app approver auditor operator risk monitor:redacted
/audit-log | auditor compliance operator risk
`

const rows = (table: string): ReadonlyArray<ReadonlyArray<string>> =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()))

export const givenWrites: ReadonlyMap<string, GivenWrite> = new Map(
  rows(writes).map(([kind = "", route = "", approvers = "", makers = ""]) => [
    kind,
    { route, makers: makers.split(" "), approvers: Number(approvers) }
  ])
)

/** Per route, what each role sees. */
export const givenReads: ReadonlyMap<string, Readonly<Record<string, string>>> = new Map(
  rows(queries).flatMap(([routes = "", readers = ""]) => {
    const audience = Object.fromEntries(
      readers.split(" ").map((reader) => {
        const [role = "", sight = "all"] = reader.split(":")
        return [role, sight]
      })
    )
    return routes.split(" ").map((route) => [`GET /v1${route}`, audience] as const)
  })
)
