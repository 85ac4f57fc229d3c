/** Names of the checks that a reconciliation run of this release has, in the order they run. */
import * as AdmissionEffect from "./checks/AdmissionEffect.ts"
import * as BurnedUnpaid from "./checks/BurnedUnpaid.ts"
import * as CashBalance from "./checks/CashBalance.ts"
import * as CashSettlement from "./checks/CashSettlement.ts"
import * as CashUnmatched from "./checks/CashUnmatched.ts"
import * as ClaimAging from "./checks/ClaimAging.ts"
import * as CustodyReserve from "./checks/CustodyReserve.ts"
import * as DistributionIdentity from "./checks/DistributionIdentity.ts"
import * as DistributionRecompute from "./checks/DistributionRecompute.ts"
import * as DistributionUnpaid from "./checks/DistributionUnpaid.ts"
import * as HolderCap from "./checks/HolderCap.ts"
import * as LotsHoldings from "./checks/LotsHoldings.ts"
import * as MovementsBalance from "./checks/MovementsBalance.ts"
import * as NavMovement from "./checks/NavMovement.ts"
import * as NavPrice from "./checks/NavPrice.ts"
import * as NavUsable from "./checks/NavUsable.ts"
import * as OrphanLocks from "./checks/OrphanLocks.ts"
import * as RegisterLine from "./checks/RegisterLine.ts"
import * as PolicyReplay from "./checks/PolicyReplay.ts"
import * as ProjectionDrift from "./checks/ProjectionDrift.ts"
import * as RegisterSupply from "./checks/RegisterSupply.ts"
import * as ReserveCover from "./checks/ReserveCover.ts"
import * as ReservePriceFresh from "./checks/ReservePriceFresh.ts"
import * as ReserveReport from "./checks/ReserveReport.ts"
import * as RestrictionEffect from "./checks/RestrictionEffect.ts"
import * as StatementGap from "./checks/StatementGap.ts"
import * as StatementOverdue from "./checks/StatementOverdue.ts"
import * as StatementTotal from "./checks/StatementTotal.ts"
import * as SupplyOutstanding from "./checks/SupplyOutstanding.ts"
import * as SuspendedLines from "./checks/SuspendedLines.ts"

export const checkNames = [
  RegisterSupply.check,
  MovementsBalance.check,
  RegisterLine.check,
  StatementTotal.check,
  LotsHoldings.check,
  SupplyOutstanding.check,
  NavPrice.check,
  NavMovement.check,
  NavUsable.check,
  StatementOverdue.check,
  StatementGap.check,
  CashSettlement.check,
  CashUnmatched.check,
  CashBalance.check,
  BurnedUnpaid.check,
  ClaimAging.check,
  CustodyReserve.check,
  ReserveCover.check,
  ReserveReport.check,
  ReservePriceFresh.check,
  DistributionRecompute.check,
  DistributionIdentity.check,
  DistributionUnpaid.check,
  SuspendedLines.check,
  RestrictionEffect.check,
  AdmissionEffect.check,
  HolderCap.check,
  ProjectionDrift.check,
  OrphanLocks.check,
  PolicyReplay.check
] as const
export type CheckName = (typeof checkNames)[number]
