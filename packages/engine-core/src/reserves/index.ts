/**
 * Declarations of the room reserves: assets that back issued units, and their mints and redemptions.
 */
import { amendments, AmendmentMachine, amendmentEvents } from "./amendment/Amendment.ts"
import * as AmendmentOperations from "./amendment/AmendmentOperations.ts"
import * as AmendmentFromLedger from "./amendment/AmendmentFromLedger.ts"
import * as AmendmentQueries from "./amendment/AmendmentQueries.ts"
import { lockAgreements, LockAgreementMachine } from "./lock-agreement/LockAgreement.ts"
import * as LockAgreementOperations from "./lock-agreement/LockAgreementOperations.ts"
import * as LockAgreementQueries from "./lock-agreement/LockAgreementQueries.ts"
import * as LockAgreementFromLedger from "./lock-agreement/LockAgreementFromLedger.ts"
import * as ReportOperations from "./report/ReportOperations.ts"
import * as ReportQueries from "./report/ReportQueries.ts"
import { reserveReports, reserveReportEvents } from "./report/ReserveReport.ts"
import * as ReserveReportFromLedger from "./report/ReserveReportFromLedger.ts"
import { reserves, ReserveMachine } from "./reserve/Reserve.ts"
import { reserveHoldings } from "./reserve/ReserveHolding.ts"
import * as ReserveHoldingFromLedger from "./reserve/ReserveHoldingFromLedger.ts"
import * as ReserveOperations from "./reserve/ReserveOperations.ts"
import * as ReserveProposalFromLedger from "./ReserveProposalFromLedger.ts"
import * as ReserveQueries from "./reserve/ReserveQueries.ts"
import * as ReserveFromLedger from "./reserve/ReserveFromLedger.ts"
import { mints, mintEvents } from "./reserve-order/Mint.ts"
import * as MintFromLedger from "./reserve-order/MintFromLedger.ts"
import { reserveRedemptions, reserveRedemptionEvents } from "./reserve-order/ReserveRedemption.ts"
import * as ReserveRedemptionFromLedger from "./reserve-order/ReserveRedemptionFromLedger.ts"
import * as MintLotLookups from "./reserve-order/MintLotLookups.ts"
import * as MintOperations from "./reserve-order/MintOperations.ts"
import { openOrderOf } from "./reserve-order/ReserveOrderLookups.ts"
import { ReserveOrderMachine } from "./reserve-order/ReserveOrder.ts"
import * as ReserveOrderQueries from "./reserve-order/ReserveOrderQueries.ts"
import * as ReserveRedemptionOperations from "./reserve-order/ReserveRedemptionOperations.ts"

export const acquisitions = { mint: MintLotLookups.acquisitionsOf } as const
/** Contribution to the ties of a holder: an open order with a reserve keeps the holder from being closed. */
export const holderTies = { openReserveOrder: openOrderOf } as const
export const machines = [
  ReserveMachine,
  AmendmentMachine,
  LockAgreementMachine,
  ReserveOrderMachine
] as const
export const collections = [
  reserves,
  reserveHoldings,
  lockAgreements,
  mints,
  reserveRedemptions,
  amendments,
  reserveReports
] as const
export const operations = [
  ...ReserveOperations.operations,
  ...LockAgreementOperations.operations,
  ...AmendmentOperations.operations,
  ...ReportOperations.operations,
  ...MintOperations.operations,
  ...ReserveRedemptionOperations.operations
] as const
export const queries = [
  ...ReserveQueries.queries,
  ...LockAgreementQueries.queries,
  ...AmendmentQueries.queries,
  ...ReportQueries.queries,
  ...ReserveOrderQueries.queries
] as const
export const timely = [...MintOperations.timely, ...ReserveRedemptionOperations.timely] as const
export const fromLedger = [
  ...ReserveFromLedger.fromLedger,
  ...LockAgreementFromLedger.fromLedger,
  ...MintFromLedger.fromLedger,
  ...ReserveRedemptionFromLedger.fromLedger,
  ...AmendmentFromLedger.fromLedger,
  ...ReserveReportFromLedger.fromLedger,
  // Placed after the readings of reserves, which name the instruments.
  ...ReserveProposalFromLedger.fromLedger,
  // Placed after the readings of orders: a settlement ends its order before the holding that it
  // takes.
  ...ReserveHoldingFromLedger.fromLedger
] as const
export { formulas } from "./ReserveFormulas.ts"
/** Events that the room announces. */
export const events = {
  ...mintEvents,
  ...reserveRedemptionEvents,
  ...reserveReportEvents,
  ...amendmentEvents
} as const
