/** Write that claims a redemption: its checks, and its ledger commands. */
import { Effect, Option, Schema } from "effect"
import { type Holder, holders } from "../../holders/holder/Holder.ts"
import {
  assetOf,
  instruments,
  isRecorded,
  type Recorded
} from "../../instruments/instrument/Instrument.ts"
import { notRecorded, recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import { judge } from "../../kernel/Gates.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import { refused } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import * as Field from "../../templates/Field.ts"
import { PrimaryMarket as PrimaryMarketTemplate } from "../../templates/Market.ts"
import { RedemptionClaim } from "../../templates/Redemption.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import { create, exercise } from "../../templates/Template.ts"
import * as Operation from "../../writes/Operation.ts"
import * as ControlGates from "../ControlGates.ts"
import { controlsOf } from "../ControlLookups.ts"
import * as Currency from "../../kernel/Currency.ts"
import * as OrderClaim from "../OrderClaim.ts"
import { isSized } from "../OrderSize.ts"
import { againstSigned, signedOrder } from "../SignedOrderLookups.ts"
import { joining } from "../dealing-cycle/OpenCycleLookups.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import { standing as standingMarket } from "../primary-market/PrimaryMarketOperations.ts"
import type { HolderOrder } from "../subscription/HolderOrder.ts"
import { nextCutOff, settleBy } from "../subscription/SubscriptionRules.ts"
import { RedemptionId, redemptions } from "./Redemption.ts"
import * as Gates from "./RedemptionGates.ts"
import { lastPriceOf, unitsOf } from "./RedemptionLookups.ts"
import * as RedemptionView from "./RedemptionView.ts"

const Claim = Schema.Struct({
  /** Made by the engine when the caller names none. */
  redemptionId: Field.optional(RedemptionId),
  ...OrderClaim.fields
}).check(OrderClaim.isWhole)
type Claim = typeof Claim.Type

export const claim = Operation.defineOnLedger("redemption.claim", {
  doc: "Places a holder's order to give units back, by the units or by the cash it wants for them.",
  route: "POST /v1/redemptions",
  makers: ["operator", "app"],
  approvers: 0,
  resource: {
    kind: "redemption",
    id: (input) => idOf(input),
    href: (input) => `/v1/redemptions/${idOf(input)}`,
    instrumentId: ({ instrumentId }) => instrumentId,
    holderId: ({ holderId }) => holderId
  },
  input: Claim,
  complete: (input, makeId) =>
    input.redemptionId === null
      ? { ...input, redemptionId: Schema.decodeSync(RedemptionId)(makeId()) }
      : input,
  result: RedemptionView.RedemptionView,
  refuses: ["already-exists", "not-found", "rule-refused"],
  gates: Effect.fn("redemption.claim.gates")(function* (input, act) {
    const named = yield* namedBy(input)
    if (!isRecorded(named.found)) return [...named.before, notRecorded]
    return (yield* gathered(input, named, act)).rows
  }),
  plan: Effect.fn("redemption.claim.plan")(function* (input, act) {
    const judged = yield* gathered(input, yield* namedBy(input), act)
    yield* Effect.fromResult(judge(judged.rows))
    const { order, market, cutOffAt, cycle } = judged
    if (order === null || market === null) {
      return { commands: [byWire(input, judged, act)], last: true }
    }
    const on = { order, market, cutOffAt, cycleCid: cycle?.cycleCid ?? null }
    return { commands: onLedger(input, judged, on, act), last: true }
  }),
  finish: (input, act) =>
    Effect.flatMap(Records, (records) => records.get(redemptions, idOf(input))).pipe(
      Effect.catchTag("Refused", () =>
        Effect.die(new Error("a claim was not read off the ledger"))
      ),
      Effect.map((record) => RedemptionView.of(record, act.now))
    )
})

const idOf = ({ redemptionId }: Pick<Claim, "redemptionId">): RedemptionId => {
  if (redemptionId === null) throw new Error("a redemption is claimed under an id")
  return redemptionId
}

interface Judged {
  readonly instrument: Recorded
  readonly holder: Holder
  readonly market: PrimaryMarket | null
  readonly order: HolderOrder | null
  readonly oracle: Party.Party | null
}

/** Whose claim it is, of what, and what is asked of it before any terms; its id is taken by nobody. */
const namedBy = Effect.fnUntraced(function* ({ holderId, instrumentId, redemptionId }: Claim) {
  const records = yield* Records
  if (redemptionId !== null && Option.isSome(yield* records.find(redemptions, redemptionId))) {
    return yield* Effect.fail(
      refused("already-exists", { detail: "A redemption of this id exists." })
    )
  }
  const holder = yield* records.get(holders, holderId)
  const found = yield* records.get(instruments, instrumentId)
  const controls = yield* controlsOf({ instrumentId, holderIds: [holderId] })
  const controlled = { holder, instrumentId, passing: "units-back" } as const
  return { holder, found, controls, before: ControlGates.against(controls, controlled) }
})

/** Everything a claim is judged by, as the records say it now, and one row a check. */
const gathered = Effect.fnUntraced(function* (
  input: Claim,
  { before, controls, found, holder }: Effect.Success<ReturnType<typeof namedBy>>,
  { now }: OperationAct
) {
  const { instrumentId, payment } = input
  const instrument = yield* Effect.fromResult(recorded(found, before))
  const standing = yield* standingMarket(instrumentId)
  const market = standing?.state === "agreed" ? standing : null
  const order = yield* signedOrder("redemption", input, holder.party)
  const oracle = market?.terms.oracle ?? instrument.manifest.oracle
  const lastPrice = yield* lastPriceOf(instrument, oracle)
  const units = yield* unitsOf({ ...instrument, ...holder }, { payment, lastPrice })
  const ordered = order !== null && isSized(order) ? order : input
  const claiming: Gates.Claiming = {
    ...controls,
    instrument,
    holder,
    market,
    payment,
    amount: ordered.amount,
    units: ordered.units,
    cashDecimals: Currency.decimals(instrument.manifest.currency),
    terms: yield* inForce(instrument, now),
    oracle,
    held: units.held,
    leaving: units.leaving,
    free: units.free,
    lastPrice,
    now
  }
  const cutOffAt = nextCutOff(claiming.terms.cutOff, now).at
  const joins =
    payment === "ledger" ? yield* joining({ instrumentId, cutOffAt }, "redemptions") : null
  const judged = { instrument, holder, market, order, oracle }
  const own = [
    ...againstSigned(input, { ...judged, now }),
    ...(joins === null ? [] : [joins.against])
  ]
  const rows = Gates.againstClaim(claiming, own)
  return { ...judged, cutOffAt, cycle: joins?.cycle ?? null, rows }
})

const byWire = (input: Claim, { instrument, holder, oracle }: Judged, act: OperationAct) => {
  if (oracle === null) throw new Error("an order that passed its gates has an oracle")
  return create(RedemptionClaim, {
    venue: act.venue,
    redemptionId: idOf(input),
    orderId: null,
    instrument: assetOf(instrument),
    holder: holder.party,
    custodian: holder.custodian,
    fund: null,
    mode: "wire",
    currency: instrument.manifest.currency,
    paymentAsset: null,
    orderedUnits: input.units,
    orderedAmount: input.amount,
    oracle,
    cycleId: null,
    remainderOf: null,
    cutOffAt: null
  })
}

/**
 * The market takes the holder's order. Where the cash is known the fund is asked for it; an order in
 * units pays what its price makes of them, and the fund allocates that once it is priced. A cycle
 * pays its redemptions itself.
 */
const onLedger = (
  input: Claim,
  { instrument, holder }: Judged,
  on: {
    readonly order: HolderOrder
    readonly market: PrimaryMarket
    readonly cutOffAt: Instant.Instant
    readonly cycleCid: string | null
  },
  act: OperationAct
) => {
  const { order, market, cutOffAt, cycleCid } = on
  if (market.marketCid === null) throw new Error("an agreed market has a contract")
  const redemptionId = idOf(input)
  const claimed = exercise(PrimaryMarketTemplate, market.marketCid, "ClaimRedemption", {
    orderCid: order.cid,
    redemptionId,
    custodian: holder.custodian,
    currency: instrument.manifest.currency,
    cycleCid
  })
  if (order.amount === null || cycleCid !== null) return [claimed] as const
  const by = settleBy(cutOffAt)
  const asked = create(SettlementIntent, {
    venue: act.venue,
    settlementId: redemptionId,
    reference: { kind: "redemption", id: redemptionId },
    legs: [
      {
        legId: "cash",
        sender: market.fund,
        receiver: holder.party,
        instrument: market.paymentAsset,
        amount: order.amount
      }
    ],
    requestedAt: act.now,
    allocateBefore: by,
    settleBefore: by
  })
  return [claimed, asked] as const
}
