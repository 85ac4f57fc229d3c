/** A reserve in force with a record of each kind that belongs to it, for the tests that read them. */
import { Records } from "@bursar/engine-core"
import { Decimal, Duration, Instant, Offset } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { type Amendment, amendments } from "#core/reserves/amendment/Amendment.ts"
import { type LockAgreement, lockAgreements } from "#core/reserves/lock-agreement/LockAgreement.ts"
import { type ReserveReport, reserveReports } from "#core/reserves/report/ReserveReport.ts"
import { mints } from "#core/reserves/reserve-order/Mint.ts"
import type { Members } from "#core/reserves/reserve-order/ReserveOrder.ts"
import { reserveRedemptions } from "#core/reserves/reserve-order/ReserveRedemption.ts"
import { type Reserve, reserves } from "#core/reserves/reserve/Reserve.ts"
import type { StoredTerms } from "#core/reserves/reserve/ReserveTerms.ts"
import { at, id, party } from "./subscriptions.ts"

/** Ids of the records, by the parameter of a path that names each. */
export const ids = {
  reserveId: "res-1",
  amendmentId: "amendment-1",
  lockAgreementId: "lock-1",
  reportId: "report-1",
  mintId: "mint-1",
  reserveRedemptionId: "reserve-redemption-1"
} as const

const usd = { admin: party("bank"), id: "USD" }
const proposed = { proposedAt: at, offset: Offset.of(1), endedAt: null }

const terms: StoredTerms = {
  assets: [
    { asset: usd, priceSource: null, freshness: null, haircut: Decimal.zero, maxShare: null }
  ],
  minCover: Decimal.one
}

/** The registrar that reads them, and the instrument that the reserve backs. */
interface IssuedInstrument {
  readonly issuer: Reserve["issuer"]
  readonly instrumentId: string
}

export const reserve = ({ issuer, instrumentId }: IssuedInstrument): Reserve => ({
  ...proposed,
  reserveId: id(ids.reserveId),
  instrumentId,
  issuer,
  holder: party("custodian"),
  unit: "USD",
  decimals: 6,
  priceDecimals: 10,
  parValue: Decimal.one,
  initialSharePrice: null,
  loosenDelay: Duration.days(1),
  state: "active",
  acceptedBy: [issuer, party("custodian")],
  openedWith: terms,
  terms,
  pending: null,
  amendmentId: null,
  reserveCid: "00aa",
  outstanding: Decimal.of("10"),
  locked: [{ asset: usd, amount: Decimal.of("12") }],
  reportedAt: null,
  activatedAt: at,
  proposalCid: null
})

const amendment = ({ issuer, instrumentId }: IssuedInstrument): Amendment => ({
  ...proposed,
  amendmentId: id(ids.amendmentId),
  reserveId: ids.reserveId,
  instrumentId,
  issuer,
  state: "proposed",
  terms,
  change: [{ path: "/minCover", from: "1", to: "1.1", direction: "tighten" }],
  loosens: false,
  acceptedAt: null,
  effectiveAt: null,
  until: null,
  proposalCid: "00ab"
})

const lockAgreement = ({ issuer, instrumentId }: IssuedInstrument): LockAgreement => ({
  ...proposed,
  lockAgreementId: id(ids.lockAgreementId),
  reserveId: ids.reserveId,
  instrumentId,
  issuer,
  asset: usd,
  holder: party("custodian"),
  asked: Decimal.zero,
  state: "active",
  acceptedBy: [party("bank"), party("custodian")],
  activatedAt: at,
  proposalCid: null,
  agreementCid: "00ac"
})

const report = ({ issuer, instrumentId }: IssuedInstrument): ReserveReport => ({
  reportId: id(ids.reportId),
  reserveId: ids.reserveId,
  instrumentId,
  issuer,
  trigger: "demand",
  at,
  off: Offset.of(1),
  outstanding: Decimal.of("10"),
  required: Decimal.of("10"),
  counted: Decimal.of("12"),
  ratio: Decimal.of("1.2"),
  cover: "covered",
  sharePrice: Decimal.one,
  assets: [
    {
      asset: usd,
      units: Decimal.of("12"),
      price: Decimal.one,
      pricedAt: null,
      pointCid: null,
      fresh: true,
      value: Decimal.of("12"),
      counted: Decimal.of("12")
    }
  ],
  follows: { terms, parValue: Decimal.one, initialSharePrice: null, priceDecimals: 10 },
  pointCids: [],
  cid: "00ad"
})

const order = ({ issuer, instrumentId }: IssuedInstrument): Members => ({
  reserveId: ids.reserveId,
  instrumentId: id<"InstrumentId">(instrumentId),
  registrar: issuer,
  holder: party("custodian"),
  state: "settled",
  endedAs: "settled",
  holderId: id<"HolderId">("holder-of-orders"),
  party: party("orders"),
  asset: usd,
  units: Decimal.of("10"),
  price: Decimal.one,
  pointCid: null,
  sharePrice: Decimal.one,
  decimals: 6,
  unit: "USD",
  coverBefore: Decimal.of("1.2"),
  coverAfter: Decimal.of("1.2"),
  deadline: at,
  readyAt: at,
  endedAt: at,
  updateId: "update-1",
  orderCid: null,
  heldCid: null,
  lost: false
})

/** Opens the records as a request would; must run inside a transaction. */
export const plant = (issuer: IssuedInstrument) =>
  Effect.gen(function* () {
    const records = yield* Records
    const act = { cause: { by: "request" as const, requestId: "r" }, now: yield* Instant.now }
    yield* records.open(reserves, reserve(issuer), act)
    yield* records.open(amendments, amendment(issuer), act)
    yield* records.open(lockAgreements, lockAgreement(issuer), act)
    yield* records.open(reserveReports, report(issuer), act)
    const deposit = Decimal.of("10")
    const mintId = id<"MintId">(ids.mintId)
    yield* records.open(mints, { ...order(issuer), mintId, deposit, intentCid: null }, act)
    const reserveRedemptionId = id<"ReserveRedemptionId">(ids.reserveRedemptionId)
    const redemption = { ...order(issuer), reserveRedemptionId, payout: deposit }
    yield* records.open(reserveRedemptions, redemption, act)
  })
