/** Table of the checks that a reconciliation run of this release has, with the facts of each. */
import { Stream } from "effect"
import * as Duration from "../../kernel/Duration.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Records } from "../../records/Records.ts"
import * as Check from "./Check.ts"
import { type CheckName, checkNames } from "../../vocabulary/ReconciliationChecks.ts"
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
import * as CashLookups from "./CashCheckLookups.ts"
import * as CashUnmatchedLookups from "./CashUnmatchedLookups.ts"
import * as CustodyLookups from "./CustodyCheckLookups.ts"
import * as DistributionLookups from "./DistributionCheckLookups.ts"
import * as SuspendedLineLookups from "./SuspendedLineLookups.ts"
import * as NavLookups from "./NavCheckLookups.ts"
import * as RegisterLineLookups from "./RegisterLineLookups.ts"
import * as DriftLookups from "./DriftLookups.ts"
import * as HolderLookups from "./HolderCheckLookups.ts"
import * as OrderLookups from "./OrderCheckLookups.ts"
import * as PolicyReplayLookups from "./PolicyReplayLookups.ts"
import * as ReserveLookups from "./ReserveCheckLookups.ts"
import * as RegisterLookups from "./RegisterLookups.ts"
import * as StatementLookups from "./StatementCheckLookups.ts"

const table = {
  "register-supply": Check.define({
    facts: RegisterLookups.sums,
    differences: RegisterSupply.differences
  }),
  "movements-balance": Check.define({
    facts: RegisterLookups.balances,
    differences: MovementsBalance.differences
  }),
  "register-line": Check.define({
    facts: RegisterLineLookups.lines,
    differences: (fact, _, { tolerance }) => RegisterLine.differences(fact, tolerance),
    again: (fact, _, { tolerance }) => RegisterLine.again(fact, tolerance),
    comparedAt: ({ comparedAt }) => comparedAt
  }),
  "statement-total": Check.define({
    isDated: true,
    facts: StatementLookups.totals,
    differences: StatementTotal.differences,
    comparedAt: ({ comparedAt }) => comparedAt
  }),
  "lots-holdings": Check.define({
    facts: RegisterLookups.positions,
    differences: LotsHoldings.differences
  }),
  "supply-outstanding": Check.define({
    isDated: true,
    facts: StatementLookups.outstanding,
    differences: (fact, _, { tolerance }) => SupplyOutstanding.differences(fact, tolerance),
    comparedAt: ({ comparedAt }) => comparedAt
  }),
  "statement-overdue": Check.define({
    facts: StatementLookups.owed,
    differences: StatementOverdue.differences
  }),
  "statement-gap": Check.define({
    facts: StatementLookups.gaps,
    differences: StatementGap.differences
  }),
  "cash-settlement": Check.define({
    facts: CashLookups.settled,
    differences: CashSettlement.differences
  }),
  "cash-unmatched": Check.define({
    facts: CashUnmatchedLookups.unmatched,
    differences: CashUnmatched.differences
  }),
  "cash-balance": Check.define({
    isDated: true,
    again: CashBalance.again,
    facts: StatementLookups.balances,
    differences: CashBalance.differences,
    comparedAt: (fact) => (fact.of === "balance" ? fact.comparedAt : null)
  }),
  "nav-price": Check.define({
    facts: NavLookups.datedFigures,
    differences: NavPrice.differences
  }),
  "nav-movement": Check.define({
    facts: NavLookups.moves,
    differences: NavMovement.differences
  }),
  "nav-usable": Check.define({
    facts: NavLookups.waiting,
    differences: NavUsable.differences
  }),
  "burned-unpaid": Check.define({
    facts: OrderLookups.burned,
    differences: BurnedUnpaid.differences
  }),
  "claim-aging": Check.define({
    facts: OrderLookups.waiting,
    differences: ClaimAging.differences
  }),
  "custody-reserve": Check.define({
    isDated: true,
    facts: CustodyLookups.stated,
    again: CustodyReserve.again,
    differences: CustodyReserve.differences,
    comparedAt: CustodyReserve.comparedAt
  }),
  "reserve-cover": Check.define({
    facts: ReserveLookups.covers,
    differences: ReserveCover.differences
  }),
  "reserve-report": Check.define({
    facts: ReserveLookups.reports,
    differences: (fact, _, { tolerance }) => ReserveReport.differences(fact, tolerance)
  }),
  "reserve-price-fresh": Check.define({
    facts: ReserveLookups.prices,
    differences: ReservePriceFresh.differences
  }),
  "distribution-recompute": Check.define({
    facts: DistributionLookups.recomputed,
    differences: DistributionRecompute.differences
  }),
  "distribution-identity": Check.define({
    facts: DistributionLookups.sums,
    differences: DistributionIdentity.differences
  }),
  "distribution-unpaid": Check.define({
    facts: DistributionLookups.payable,
    differences: DistributionUnpaid.differences
  }),
  "suspended-lines": Check.define({
    facts: SuspendedLineLookups.segregated,
    differences: SuspendedLines.differences,
    comparedAt: ({ comparedAt }) => comparedAt
  }),
  "restriction-effect": Check.define({
    facts: HolderLookups.leftAgainst,
    differences: RestrictionEffect.differences
  }),
  "admission-effect": Check.define({
    facts: HolderLookups.held,
    differences: AdmissionEffect.differences
  }),
  "holder-cap": Check.define({
    facts: HolderLookups.places,
    differences: HolderCap.differences
  }),
  "projection-drift": Check.define({
    facts: ({ instrumentId }, at): Stream.Stream<ProjectionDrift.Fact, Unavailable, Records> =>
      DriftLookups.lost(instrumentId, at),
    venueFacts: DriftLookups.kept,
    isGround: true,
    isMarked: true,
    servesFor: Duration.minutes(15),
    differences: ProjectionDrift.differences
  }),
  "orphan-locks": Check.define({
    facts: (instrument, at) =>
      Stream.concat(HolderLookups.locks(instrument, at), ReserveLookups.locks(instrument, at)),
    differences: OrphanLocks.differences
  }),
  "policy-replay": Check.define({
    facts: PolicyReplayLookups.replayed,
    venueFacts: PolicyReplayLookups.unattributed,
    isMarked: true,
    differences: PolicyReplay.differences
  })
} as const satisfies Readonly<Record<CheckName, Check.Check>>

export interface Row extends Check.Check {
  readonly name: CheckName
}

/** The checks in the order they run. */
export const checks: ReadonlyArray<Row> = checkNames.map((name) => ({ name, ...table[name] }))

/** Names of the checks on which all others rest. */
export const groundNames: ReadonlyArray<string> = checks.flatMap(({ isGround, name }) =>
  isGround === true ? [name] : []
)

/** Names of the checks that compare facts of the venue, once a run. */
export const venueNames: ReadonlyArray<string> = checks.flatMap(({ name, venueFacts }) =>
  venueFacts === undefined ? [] : [name]
)
