/** Nouns of the room reserves: assets that back issued units, and their mints and redemptions. */
import * as Noun from "../nouns/Noun.ts"
import { formulas } from "./ReserveFormulas.ts"
import * as ReserveProposalFromLedger from "./ReserveProposalFromLedger.ts"
import { amendments, AmendmentMachine, amendmentEvents } from "./amendment/Amendment.ts"
import * as AmendmentFromLedger from "./amendment/AmendmentFromLedger.ts"
import * as AmendmentOperations from "./amendment/AmendmentOperations.ts"
import * as AmendmentQueries from "./amendment/AmendmentQueries.ts"
import { lockAgreements, LockAgreementMachine } from "./lock-agreement/LockAgreement.ts"
import * as LockAgreementFromLedger from "./lock-agreement/LockAgreementFromLedger.ts"
import * as LockAgreementOperations from "./lock-agreement/LockAgreementOperations.ts"
import * as LockAgreementQueries from "./lock-agreement/LockAgreementQueries.ts"
import * as ReportOperations from "./report/ReportOperations.ts"
import * as ReportQueries from "./report/ReportQueries.ts"
import { reserveReports, reserveReportEvents } from "./report/ReserveReport.ts"
import * as ReserveReportFromLedger from "./report/ReserveReportFromLedger.ts"
import { mints, mintEvents } from "./reserve-order/Mint.ts"
import * as MintFromLedger from "./reserve-order/MintFromLedger.ts"
import * as MintLotLookups from "./reserve-order/MintLotLookups.ts"
import * as MintOperations from "./reserve-order/MintOperations.ts"
import { ReserveOrderMachine } from "./reserve-order/ReserveOrder.ts"
import { openOrderOf } from "./reserve-order/ReserveOrderLookups.ts"
import * as ReserveOrderQueries from "./reserve-order/ReserveOrderQueries.ts"
import { reserveRedemptions, reserveRedemptionEvents } from "./reserve-order/ReserveRedemption.ts"
import * as ReserveRedemptionFromLedger from "./reserve-order/ReserveRedemptionFromLedger.ts"
import * as ReserveRedemptionOperations from "./reserve-order/ReserveRedemptionOperations.ts"
import { reserves, ReserveMachine } from "./reserve/Reserve.ts"
import * as ReserveFromLedger from "./reserve/ReserveFromLedger.ts"
import { reserveHoldings } from "./reserve/ReserveHolding.ts"
import * as ReserveHoldingFromLedger from "./reserve/ReserveHoldingFromLedger.ts"
import * as ReserveOperations from "./reserve/ReserveOperations.ts"
import * as ReserveQueries from "./reserve/ReserveQueries.ts"

const reserve = Noun.declare({
  collections: [reserves],
  machine: ReserveMachine,
  writes: ReserveOperations.operations,
  queries: ReserveQueries.queries,
  fromLedger: ReserveFromLedger.fromLedger,
  formulas
})

const lockAgreement = Noun.declare({
  collections: [lockAgreements],
  machine: LockAgreementMachine,
  writes: LockAgreementOperations.operations,
  queries: LockAgreementQueries.queries,
  fromLedger: LockAgreementFromLedger.fromLedger
})

const amendment = Noun.declare({
  collections: [amendments],
  machine: AmendmentMachine,
  writes: AmendmentOperations.operations,
  queries: AmendmentQueries.queries,
  fromLedger: AmendmentFromLedger.fromLedger,
  events: amendmentEvents
})

const reserveReport = Noun.declare({
  collections: [reserveReports],
  writes: ReportOperations.operations,
  queries: ReportQueries.queries,
  fromLedger: ReserveReportFromLedger.fromLedger,
  events: reserveReportEvents
})

/** Mints and redemptions, which share states and routes. */
const reserveOrder = Noun.declare({
  collections: [mints, reserveRedemptions],
  machine: ReserveOrderMachine,
  writes: [...MintOperations.operations, ...ReserveRedemptionOperations.operations],
  queries: ReserveOrderQueries.queries,
  fromLedger: [...MintFromLedger.fromLedger, ...ReserveRedemptionFromLedger.fromLedger],
  timely: [...MintOperations.timely, ...ReserveRedemptionOperations.timely],
  events: { ...mintEvents, ...reserveRedemptionEvents }
})

/** Proposals of parties, after the facts of reserves, which name the instruments. */
const reserveProposal = Noun.declare({ fromLedger: ReserveProposalFromLedger.fromLedger })

const reserveHolding = Noun.declare({
  collections: [reserveHoldings],
  // After the facts of orders: a settlement ends its order before the holding that it takes.
  fromLedger: ReserveHoldingFromLedger.fromLedger
})

export const nouns = [
  reserve,
  lockAgreement,
  amendment,
  reserveReport,
  reserveOrder,
  reserveProposal,
  reserveHolding
] as const

/** Cost of the units that mints create. */
export const acquisitions = { mint: MintLotLookups.acquisitionsOf } as const
/** Contribution to the ties of a holder: an open order with a reserve keeps the holder from being closed. */
export const holderTies = { openReserveOrder: openOrderOf } as const
