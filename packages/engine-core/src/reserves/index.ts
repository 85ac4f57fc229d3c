/**
 * Declarations of the room reserves: assets that back issued units, and their mints and redemptions.
 */
import { amendments } from "./amendment/Amendment.ts"
import { AmendmentMachine } from "./amendment/AmendmentMachine.ts"
import * as AmendmentOperations from "./amendment/AmendmentOperations.ts"
import * as AmendmentReadings from "./amendment/AmendmentReadings.ts"
import * as AmendmentReads from "./amendment/AmendmentReads.ts"
import { lockAgreements } from "./lock-agreement/LockAgreement.ts"
import { LockAgreementMachine } from "./lock-agreement/LockAgreementMachine.ts"
import * as LockAgreementOperations from "./lock-agreement/LockAgreementOperations.ts"
import * as LockAgreementReads from "./lock-agreement/LockAgreementReads.ts"
import * as LockAgreementReadings from "./lock-agreement/LockAgreementReadings.ts"
import * as ReportOperations from "./report/ReportOperations.ts"
import * as ReportReads from "./report/ReportReads.ts"
import { reserveReports } from "./report/ReserveReport.ts"
import * as ReserveReportReadings from "./report/ReserveReportReadings.ts"
import { reserves } from "./reserve/Reserve.ts"
import { reserveHoldings } from "./reserve/ReserveHolding.ts"
import * as ReserveHoldingReadings from "./reserve/ReserveHoldingReadings.ts"
import { ReserveMachine } from "./reserve/ReserveMachine.ts"
import * as ReserveOperations from "./reserve/ReserveOperations.ts"
import * as ReserveProposalReadings from "./ReserveProposalReadings.ts"
import * as ReserveReads from "./reserve/ReserveReads.ts"
import * as ReserveReadings from "./reserve/ReserveReadings.ts"
import { mints } from "./reserve-order/Mint.ts"
import * as MintReadings from "./reserve-order/MintReadings.ts"
import { reserveRedemptions } from "./reserve-order/ReserveRedemption.ts"
import * as ReserveRedemptionReadings from "./reserve-order/ReserveRedemptionReadings.ts"
import * as MintLotLookups from "./reserve-order/MintLotLookups.ts"
import * as MintOperations from "./reserve-order/MintOperations.ts"
import { openOrderOf } from "./reserve-order/ReserveOrderLookups.ts"
import { ReserveOrderMachine } from "./reserve-order/ReserveOrderMachine.ts"
import * as ReserveOrderReads from "./reserve-order/ReserveOrderReads.ts"
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
export const reads = [
  ...ReserveReads.reads,
  ...LockAgreementReads.reads,
  ...AmendmentReads.reads,
  ...ReportReads.reads,
  ...ReserveOrderReads.reads
] as const
export const timely = [...MintOperations.timely, ...ReserveRedemptionOperations.timely] as const
export const readings = [
  ...ReserveReadings.readings,
  ...LockAgreementReadings.readings,
  ...MintReadings.readings,
  ...ReserveRedemptionReadings.readings,
  ...AmendmentReadings.readings,
  ...ReserveReportReadings.readings,
  // Placed after the readings of reserves, which name the instruments.
  ...ReserveProposalReadings.readings,
  // Placed after the readings of orders: a settlement ends its order before the holding that it
  // takes.
  ...ReserveHoldingReadings.readings
] as const
export { events } from "./events.ts"
export { formulas } from "./ReserveFormulas.ts"
