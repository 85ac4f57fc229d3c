/** Declaration, look-ups and ledger commands that the claims of subscriptions and redemptions share. */
import { Effect, Option } from "effect"
import { holders } from "../../holders/holder/Holder.ts"
import {
  assetOf,
  type InstrumentId,
  instruments,
  isRecorded
} from "../../instruments/instrument/Instrument.ts"
import { notRecorded, recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import type { Collection } from "../../kernel/Collection.ts"
import { judge, type Judgement } from "../../kernel/Gates.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import { type Refused, refused, type Unavailable } from "../../kernel/Refusal.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import { create } from "../../templates/Template.ts"
import type { Command } from "../../ports/Ledger.ts"
import type { Plan } from "../../writes/Operation.ts"
import * as ControlGates from "../ControlGates.ts"
import { controlsOf } from "../ControlLookups.ts"
import * as Currency from "../../kernel/Currency.ts"
import { joining } from "../dealing-cycle/OpenCycleLookups.ts"
import type { ClaimInput } from "../OrderClaim.ts"
import { isSized } from "../OrderSize.ts"
import { isRebasing } from "../RebasingRules.ts"
import { latestMarket } from "../primary-market/PrimaryMarketLookups.ts"
import { againstSigned, signedOrder } from "../SignedOrderLookups.ts"
import type { Kind } from "./HolderOrder.ts"
import { nextCutOff, settleBy } from "./CutOffRules.ts"
import { shownAfter } from "./OrderSteps.ts"

/** Input of a claim of either kind. */
interface Input extends ClaimInput {
  readonly instrumentId: InstrumentId
  readonly holderId: string
}

/** Strategy: the parts of a claim that differ by the kind of order. */
interface ClaimStrategy<I extends Input, R, F, V, J extends JudgedClaim> {
  readonly kind: Kind
  readonly orders: Collection<R, F>
  /** The id under which the order is claimed; null in a precheck, which places none. */
  idOf(input: I): string | null
  /** The movement that a restriction of the holder may stop: ordering in, or giving units back. */
  readonly passing: "order-in" | "units-back"
  view(record: Stored<R>, now: Instant.Instant): V
  /** Loads the further records that this kind is checked against, and makes one row for each condition. */
  judged(
    input: I,
    loaded: LoadedClaim
  ): Effect.Effect<J, Refused<"not-found" | "rule-refused"> | Unavailable, Records>
  /** Creates the claim contract of a wire-paid order; `fields` are the members that both kinds share. */
  byWire(judged: J, orderId: string, fields: WireFields): Command
  /** Exercises the choice of the market that claims the order which the holder signed. */
  onLedger(judged: J, orderId: string, market: MarketFields): Command
}

interface JudgedClaim extends LoadedClaim {
  readonly rows: ReadonlyArray<Judgement>
}

/** Makes the members of a claim's declaration that are the same for both kinds of order. */
export const declaration = <I extends Input, R, F, V, J extends JudgedClaim>(
  strategy: ClaimStrategy<I, R, F, V, J>
) => {
  const { kind } = strategy
  const shown = shownAfter(strategy.orders, strategy.view)
  const idOf = (input: I): string => {
    const id = strategy.idOf(input)
    if (id === null) throw new Error(`a ${kind} is claimed under an id`)
    return id
  }
  const judged = Effect.fnUntraced(function* (input: I, subject: Subject, act: OperationAct) {
    return yield* strategy.judged(input, yield* load(kind, input, subject, act))
  })
  return {
    makers: ["operator", "app"],
    approvers: 0,
    resource: {
      kind,
      id: idOf,
      href: (input: I) => `/v1/${kind}s/${idOf(input)}`,
      instrumentId: ({ instrumentId }: I) => instrumentId,
      holderId: ({ holderId }: I) => holderId
    },
    refuses: ["already-exists", "not-found", "rule-refused"],
    gates: Effect.fn(`${kind}.claim.gates`)(function* (input: I, act: OperationAct) {
      const subject = yield* subjectOf(strategy, input)
      if (!isRecorded(subject.instrument)) return [...subject.ofControls, notRecorded]
      return (yield* judged(input, subject, act)).rows
    }),
    plan: Effect.fn(`${kind}.claim.plan`)(function* (input: I, act: OperationAct) {
      const passed = yield* judged(input, yield* subjectOf(strategy, input), act)
      yield* Effect.fromResult(judge(passed.rows))
      return { commands: commandsOf(strategy, passed, idOf(input), act), last: true }
    }),
    finish: (input: I, act: OperationAct) => shown(idOf(input), act)
  } as const
}

/** Loads instrument, holder and controls, and checks the controls; refuses an id that exists. */
const subjectOf = Effect.fnUntraced(function* <I extends Input, R, F>(
  {
    idOf,
    orders,
    passing
  }: {
    readonly orders: Collection<R, F>
    readonly passing: "order-in" | "units-back"
    idOf(input: I): string | null
  },
  input: I
) {
  const { holderId, instrumentId } = input
  const records = yield* Records
  const id = idOf(input)
  if (id !== null && Option.isSome(yield* records.find(orders, id))) {
    return yield* Effect.fail(
      refused("already-exists", { detail: `A ${orders.name} of this id exists.` })
    )
  }
  const holder = yield* records.get(holders, holderId)
  const instrument = yield* records.get(instruments, instrumentId)
  const controls = yield* controlsOf({ instrumentId, holderIds: [holderId] })
  const ofControls = ControlGates.against(controls, { holder, instrumentId, passing })
  return { holder, instrument, controls, ofControls }
})
type Subject = Effect.Success<ReturnType<typeof subjectOf>>

/** Loads the records that a claim of either kind is checked against, with the terms in force now. */
const load = Effect.fnUntraced(function* (
  kind: Kind,
  input: Input,
  subject: Subject,
  { now }: OperationAct
) {
  const { instrumentId, payment } = input
  const { ofControls, controls, holder } = subject
  const instrument = yield* Effect.fromResult(recorded(subject.instrument, ofControls))
  const terms = yield* inForce(instrument, now)
  const market = yield* agreedMarket(instrumentId)
  const order = yield* signedOrder(kind, input, holder.party)
  const { amount, units } = order !== null && isSized(order) ? order : input
  const cutOffAt = nextCutOff(terms.cutOff, now).at
  const joins = payment === "ledger" ? yield* joining({ instrumentId, cutOffAt }, `${kind}s`) : null
  return {
    ...controls,
    instrument,
    holder,
    market,
    terms,
    /** The order that the holder signed on the ledger; null: none is signed, or it is paid by wire. */
    order,
    payment,
    /** Cash and units ordered: those of the holder's signed order, else those of the claim. */
    amount,
    units,
    cashDecimals: Currency.decimals(terms.manifest.currency),
    cutOffAt,
    /** Contract of the open cycle that the order joins; null: the order settles by itself. */
    cycleCid: joins?.cycle?.cycleCid ?? null,
    now,
    /** Rows of the conditions of the signed order and of the cycle that the claim joins. */
    ofOrder: [
      ...againstSigned(input, { order, instrument, holder, market, now }),
      ...(joins === null ? [] : [joins.against])
    ]
  }
})
export type LoadedClaim = Effect.Success<ReturnType<typeof load>>

const agreedMarket = (instrumentId: string) =>
  Effect.map(latestMarket(instrumentId), (market) => (market?.state === "agreed" ? market : null))

/**
 * Ledger commands of a claim that has passed its gates. An order by amount also requests an allocation
 * of its cash: from the holder for a subscription, from the fund for a redemption. The cash of an order
 * in units is requested once it is priced, and the redemptions of a dealing cycle are paid by the cycle.
 */
const commandsOf = <I extends Input, R, F, V, J extends JudgedClaim>(
  { byWire, kind, onLedger }: ClaimStrategy<I, R, F, V, J>,
  judged: J,
  orderId: string,
  act: OperationAct
): Plan["commands"] => {
  const { cutOffAt, cycleCid, holder, market, order } = judged
  if (market === null || order === null) return [byWire(judged, orderId, wireFields(judged, act))]
  if (market.marketCid === null) throw new Error("an agreed market has a contract")
  const { custodian, party } = holder
  const { currency } = judged.terms.manifest
  const argument = { orderCid: order.cid, custodian, currency, cycleCid }
  const claimed = onLedger(judged, orderId, { marketCid: market.marketCid, argument })
  const isPaidByCycle = kind === "redemption" && cycleCid !== null
  if (order.amount === null || isPaidByCycle) return [claimed]
  const [sender, receiver] = kind === "subscription" ? [party, market.fund] : [market.fund, party]
  const by = settleBy(cutOffAt)
  const request = create(SettlementIntent, {
    venue: act.venue,
    settlementId: orderId,
    reference: { kind, id: orderId },
    legs: [
      { legId: "cash", sender, receiver, instrument: market.paymentAsset, amount: order.amount }
    ],
    requestedAt: act.now,
    allocateBefore: by,
    settleBefore: by
  })
  return [claimed, request]
}

const wireFields = ({ holder, instrument, terms }: LoadedClaim, { venue }: OperationAct) =>
  ({
    venue,
    orderId: null,
    instrument: assetOf(instrument),
    holder: holder.party,
    custodian: holder.custodian,
    fund: null,
    mode: "wire",
    currency: terms.manifest.currency,
    paymentAsset: null,
    cycleId: null,
    ...(isRebasing(terms.manifest) ? { shownDecimals: terms.manifest.unitDecimals } : {})
  }) as const
type WireFields = ReturnType<typeof wireFields>

/** The market's contract, and the arguments that its choices for both kinds of order share. */
interface MarketFields {
  readonly marketCid: string
  readonly argument: {
    readonly orderCid: string
    readonly custodian: Party.Party | null
    readonly currency: string
    readonly cycleCid: string | null
  }
}
