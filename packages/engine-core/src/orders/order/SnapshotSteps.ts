/**
 * Opens the dealing cycles and the orders that a snapshot of the ledger shows, once their instrument is
 * recorded (docs/domain/orders.md#after-a-snapshot).
 */
import { Effect, Option, Schema, Stream } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import {
  type Instrument,
  instruments,
  isRecorded
} from "../../instruments/instrument/Instrument.ts"
import { pricePoints } from "../../instruments/price/PricePoint.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import {
  type ActiveContract,
  type ActiveOf,
  createdOf,
  projected,
  shownBy,
  type TypedContract,
  typedOf
} from "../../projection/ActiveContracts.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger, Whole } from "../../projection/FromLedger.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import { type SnapshotTaken, taken } from "../../projection/SnapshotTaken.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { DealingCycle as CycleTemplate } from "../../templates/DealingCycle.ts"
import { DeliveredLot, Lot, SubscriptionClaim } from "../../templates/Market.ts"
import { PricedRedemption, RedemptionClaim } from "../../templates/Redemption.ts"
import { Allocation, BurnRequest, MintRequest } from "../../templates/Registry.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import type { Payload, Template } from "../../templates/Template.ts"
import { asServed } from "./AllocationRules.ts"
import { lock, onceRecorded } from "../../instruments/instrument/AwaitingTermsSteps.ts"
import { type DealingCycle, dealingCycles } from "../dealing-cycle/DealingCycle.ts"
import * as DealingCycleFromLedger from "../dealing-cycle/DealingCycleFromLedger.ts"
import * as DealingDayFromLedger from "../dealing-cycle/DealingDayFromLedger.ts"
import { allocationOf, legOf, mayAllocate, misfitOf } from "./AllocationFromLedger.ts"
import type { CashRequest } from "./OrderFacts.ts"
import * as CutOffRules from "./CutOffRules.ts"
import { holderOrders, type OrderKind, nameOf } from "./HolderOrder.ts"
import { type ClaimOpening, openingOf } from "./OrderClaimLookups.ts"
import { beyondAnOrder } from "./OrderSize.ts"
import * as ProposalFromLedger from "../proposal/ProposalFromLedger.ts"
import { type Redemption, RedemptionId, redemptions } from "../redemption/Redemption.ts"
import * as RedemptionOpening from "../redemption/RedemptionOpening.ts"
import { misfitOfBurn } from "../redemption/RedemptionFromLedger.ts"
import { type Subscription, SubscriptionId, subscriptions } from "../subscription/Subscription.ts"
import * as SubscriptionOpening from "../subscription/SubscriptionOpening.ts"

/** Number of orders whose records, holders and points are looked up together. */
const ordersMax = 1_000

/**
 * Opens the open cycles and orders of an instrument that the ledger shows and no record has. Does nothing
 * for an instrument without terms, or in a projection that read the ledger from its first update. Only
 * inside `Records.transact`.
 */
const openShown = (
  instrumentId: string,
  shownOf: ActiveOf,
  act: Act
): Effect.Effect<void, Unavailable, Records> =>
  Effect.gen(function* () {
    const snapshot = yield* taken
    if (snapshot === null) return
    const records = yield* Records
    const instrument = Option.getOrNull(yield* records.find(instruments, instrumentId))
    if (instrument === null || !isRecorded(instrument)) return
    yield* lock(instrumentId)
    const shown: ShownContracts = {
      act,
      snapshot,
      activeOf: (template) =>
        Stream.filter(shownOf(template), ({ payload }) => isOurs(payload, snapshot)),
      instrument
    }
    const cycles = yield* openCycles(shown)
    const beside = yield* contractsBeside(shown)
    const bought = yield* openSubscriptions(shown, { beside, cycles })
    const sold = yield* openRedemptions(shown, { beside, cycles })
    yield* DealingDayFromLedger.countShown({ subscriptions: bought, redemptions: sold }, { act })
    yield* DealingDayFromLedger.dealShown([...bought, ...sold], { act })
    for (const allocation of beside.ofFund) {
      yield* DealingCycleFromLedger.allocatedByFund(allocation.typed, nodeOf(shown, allocation))
    }
    yield* openProposals(shown)
  })

/** Active contracts of one instrument, and the act under which their records are opened. */
interface ShownContracts {
  readonly act: Act
  readonly snapshot: SnapshotTaken
  readonly activeOf: ActiveOf
  readonly instrument: Instrument
}

/** Contracts of the registry name no venue, and belong to an order by its id. */
const isOurs = ({ venue }: ActiveContract["payload"], snapshot: SnapshotTaken): boolean =>
  venue === undefined || venue === snapshot.venue

/** Position of a contract: its creation, under the act that opens its record. */
const nodeOf = ({ act, snapshot: { venue } }: ShownContracts, active: ActiveContract): Node =>
  Snapshot.nodeOf({ act, venue, nodeId: 0 }, active)

/** Streams the contracts of a template that are of the instrument and its register; decodes no other. */
const ofInstrument = <T extends Template>(template: T, { activeOf, instrument }: ShownContracts) =>
  typedOf(template, (contractTemplate) =>
    Stream.filter(activeOf(contractTemplate), ({ payload: { instrument: asset } }) => {
      const named = asset as { readonly admin?: unknown; readonly id?: unknown } | undefined
      return named?.id === instrument.instrumentId && named.admin === instrument.registrar
    })
  )

const keepBreach = (
  shownContracts: ShownContracts,
  active: ActiveContract,
  keptRecord: {
    readonly kind: OrderKind
    readonly id: string
    readonly on: string
    readonly detail: string
  }
) =>
  Unexpected.keep(nodeOf(shownContracts, active), {
    resourceKind: keptRecord.kind,
    resourceId: keptRecord.id,
    on: keptRecord.on,
    detail: keptRecord.detail
  })

/** Keeps an act of an outside party that moves nothing, as a breach that warns. */
const keepIdle = (
  shownContracts: ShownContracts,
  active: ActiveContract,
  { kind, ...fact }: Parameters<typeof keepBreach>[2]
) =>
  Unexpected.keep(nodeOf(shownContracts, active), {
    resourceKind: Unexpected.idleKindOf(kind),
    resourceId: fact.id,
    on: fact.on,
    detail: fact.detail
  })

/** Keeps the price of an order whose figures are beyond those of one. */
const keepMispriced = (
  shownContracts: ShownContracts,
  active: ActiveContract,
  {
    order,
    ...named
  }: {
    readonly kind: OrderKind
    readonly id: string
    readonly order: Pick<Redemption, "mispricedCid">
  }
) =>
  order.mispricedCid === null
    ? Effect.void
    : keepBreach(shownContracts, active, { ...named, on: "price", detail: beyondAnOrder })

// ---- cycles

/** Opens the cycles, and returns all open ones of the instrument by their id. */
const openCycles = Effect.fnUntraced(function* (shownContracts: ShownContracts) {
  const records = yield* Records
  const open = new Map<string, DealingCycle>()
  const contracts = yield* Stream.runCollect(ofInstrument(CycleTemplate, shownContracts))
  for (const each of contracts) {
    const { cycleId } = each.typed
    if (Option.isNone(yield* records.find(dealingCycles, cycleId))) {
      yield* DealingCycleFromLedger.opened(each.typed, nodeOf(shownContracts, each))
    }
    const cycle = Option.getOrNull(yield* records.find(dealingCycles, cycleId))
    if (cycle !== null) open.set(cycleId, cycle)
  }
  return open
})

// ---- proposals

/** Opens the proposals that were left out because no record of their instrument was there. */
const openProposals = (shownContracts: ShownContracts) =>
  Effect.forEach(
    ProposalFromLedger.fromLedger,
    ({ created, template: typeRef }) =>
      Stream.runForEach(shownContracts.activeOf({ typeRef }), (active) => {
        const event = createdOf(active, { typeRef })
        return created?.(active.payload, nodeOf(shownContracts, active), event) ?? Effect.void
      }),
    { discard: true }
  )

// ---- contracts beside an order's own

type ActiveAllocation = TypedContract<typeof Allocation>

interface ContractsByOrder {
  readonly intents: ReadonlyMap<string, TypedContract<typeof SettlementIntent>>
  readonly mints: ReadonlyMap<string, TypedContract<typeof MintRequest>>
  readonly burns: ReadonlyMap<string, TypedContract<typeof BurnRequest>>
  /** Allocations that the venue executes, by their reference: an order's id, or the holder's own. */
  readonly allocations: ReadonlyMap<string, ReadonlyArray<ActiveAllocation>>
  /** Allocations of a fund to itself: its cash for a dealing cycle. */
  readonly ofFund: ReadonlyArray<ActiveAllocation>
}

const orderKey = ({ kind, id }: { readonly kind: string; readonly id: string }): string =>
  `${kind}:${id}`

/** Loads the requests and allocations of all orders of the instrument, with one look-up a template. */
const contractsBeside = Effect.fnUntraced(function* (shownContracts: ShownContracts) {
  const byOrder = <T extends typeof SettlementIntent | typeof MintRequest | typeof BurnRequest>(
    found: ReadonlyArray<TypedContract<T>>
  ) =>
    new Map(
      found.map((each) => [
        orderKey((each.typed as Payload<typeof SettlementIntent>).reference),
        each
      ])
    )
  const { activeOf, snapshot } = shownContracts
  const allocations = (yield* Stream.runCollect(typedOf(Allocation, activeOf))).filter(
    ({ typed }) => typed.executor === snapshot.venue
  )
  const isOfFund = ({ typed }: ActiveAllocation): boolean => typed.sender === typed.receiver
  const requested = yield* Stream.runCollect(ofInstrument(MintRequest, shownContracts))
  return {
    intents: byOrder(yield* Stream.runCollect(typedOf(SettlementIntent, activeOf))),
    mints: byOrder(requested.filter(({ typed }) => typed.requester === snapshot.venue)),
    burns: byOrder(yield* Stream.runCollect(ofInstrument(BurnRequest, shownContracts))),
    allocations: Map.groupBy(
      allocations.filter((each) => !isOfFund(each)),
      ({ typed }) => typed.reference
    ),
    ofFund: allocations.filter(isOfFund)
  } satisfies ContractsByOrder
})

/**
 * Folds the allocations of an order's legs that agree with its price; any other moves nothing and is
 * kept as idle, as one that is read later.
 */
const legsOf = <O extends Subscription | Redemption>(
  order: O,
  {
    id,
    kind,
    shownContracts,
    beside
  }: {
    readonly id: string
    readonly kind: OrderKind
    readonly shownContracts: ShownContracts
    readonly beside: ContractsByOrder
  }
) =>
  Effect.gen(function* () {
    const found = [id, ...(order.orderId === null ? [] : [order.orderId])]
      .flatMap((reference) => beside.allocations.get(reference) ?? [])
      .filter(({ typed }) => mayAllocate(order, typed.sender))
    const legs: { cash: Leg; units: Leg } = { cash: null, units: null }
    for (const each of found) {
      const leg = legOf(order, each.typed)
      const filled = { ...order, allocation: legs.cash, unitsAllocation: legs.units }
      const misfit = misfitOf(asServed(filled, shownContracts.act.now), each.typed, leg)
      if (misfit === null) legs[leg] = allocationOf(each.typed, each)
      else yield* keepIdle(shownContracts, each, { kind, id, on: "allocate", detail: misfit })
    }
    return legs
  })
type Leg = ReturnType<typeof allocationOf> | null

// ---- orders

/** Parts that the openings of both kinds of order are made from. */
interface OpeningParts {
  readonly beside: ContractsByOrder
  readonly cycles: ReadonlyMap<string, DealingCycle>
}

type OrderTemplate =
  | typeof SubscriptionClaim
  | typeof Lot
  | typeof DeliveredLot
  | typeof RedemptionClaim
  | typeof PricedRedemption

/** Runs `open` on these contracts, a page at a time, with the records that it looks up prefetched. */
const eachPage = <T extends OrderTemplate, A>(
  template: T,
  shownContracts: ShownContracts,
  by: {
    readonly orders: { readonly name: string }
    readonly idOf: (payload: Payload<T>) => string
    readonly open: (contract: TypedContract<T>) => Effect.Effect<A | null, Unavailable, Records>
  }
) =>
  ofInstrument(template, shownContracts).pipe(
    Stream.grouped(ordersMax),
    Stream.mapEffect((page) =>
      Effect.gen(function* () {
        const records = yield* Records
        yield* records.prefetch(
          page.flatMap(({ typed }) => [
            { collection: by.orders, id: by.idOf(typed) },
            { collection: holderParties, id: typed.holder },
            ...("pointCid" in typed && typed.pointCid !== null
              ? [{ collection: pricePoints, id: typed.pointCid }]
              : [])
          ])
        )
        const opened: Array<A> = []
        for (const contract of page) {
          const order = yield* by.open(contract)
          if (order !== null) opened.push(order)
        }
        return opened
      })
    ),
    Stream.runCollect,
    Effect.map((pages) => pages.flat())
  )

type ActiveIntent = TypedContract<typeof SettlementIntent>

const requestOf = (intent: ActiveIntent | undefined): CashRequest | null =>
  intent === undefined
    ? null
    : { intentCid: intent.contractId, settleBefore: intent.typed.settleBefore }

/** Times of a request for cash, which the ledger commits with its order's claim. */
const requestedAt = (intent: ActiveIntent | undefined): CutOffRules.CutOffShown["request"] =>
  intent === undefined
    ? null
    : { claimedAt: intent.createdAt, settleBefore: intent.typed.settleBefore }

/** Claim of an order with the terms and the cut-off that it deals at. */
interface ClaimTerms {
  readonly opening: ClaimOpening
  readonly cutOff: CutOffRules.CutOff
}

/** Loads terms and cut-off of a claim; keeps a breach and returns null where its holder is unknown. */
const claimOf = Effect.fnUntraced(function* (
  payload: Payload<typeof SubscriptionClaim> | Payload<typeof RedemptionClaim>,
  active: ActiveContract,
  {
    kind,
    id,
    shownContracts,
    from,
    valuedAt,
    named
  }: {
    readonly kind: OrderKind
    readonly id: string
    readonly shownContracts: ShownContracts
    readonly from: OpeningParts
    readonly valuedAt: Instant.Instant | null
    /** Cut-off that the claim of a remainder names. */
    readonly named: Instant.Instant | null
  }
) {
  const { createdAt } = active
  const cycle = payload.cycleId === null ? undefined : from.cycles.get(payload.cycleId)
  const opening = yield* openingOf(
    // A cycle that is not shown has ended without the order: the order settles by itself.
    { ...payload, cycleId: cycle?.cycleId ?? null },
    { contractId: active.contractId, effectiveAt: createdAt }
  )
  if (opening === null) {
    yield* keepBreach(shownContracts, active, {
      ...{ kind, id, on: "claim" },
      detail: "Its holder is not recorded."
    })
    return null
  }
  const { cutOff: rule, manifest } = opening.terms
  const isForward = manifest.pricing === "forward"
  const cutOff = CutOffRules.shownCutOff(rule, {
    named: named ?? cycle?.cutOffAt ?? null,
    request: requestedAt(from.beside.intents.get(orderKey({ kind, id }))),
    valuedAt: isForward ? valuedAt : null,
    createdAt
  })
  return { opening, cutOff } satisfies ClaimTerms
})

/** Opens the holder's signed order as claimed: allocations may name its id. */
const openSigned = Effect.fnUntraced(function* (
  order: Pick<
    Subscription,
    "orderId" | "party" | "fund" | "paymentAsset" | "amount" | "units" | "orderedAs"
  >,
  {
    kind,
    id: claimedAs,
    shownContracts,
    cid
  }: {
    readonly kind: OrderKind
    readonly id: string
    readonly shownContracts: ShownContracts
    readonly cid: string
  }
) {
  const { amount, fund, orderId, orderedAs, party, paymentAsset, units } = order
  if (orderId === null || fund === null || paymentAsset === null) return
  const records = yield* Records
  const { instrumentId, registrar } = shownContracts.instrument
  if (Option.isSome(yield* records.find(holderOrders, nameOf({ kind, party, orderId })))) return
  yield* LedgerRecord.open(
    holderOrders,
    {
      ...{ kind, orderId, party, state: "claimed", claimedAs, cid, fund, paymentAsset, amount },
      instrument: { admin: registrar, id: instrumentId },
      units: orderedAs === "units" ? units : null,
      expiresAt: null
    },
    { act: shownContracts.act }
  )
})

const openSubscriptions = Effect.fnUntraced(function* (
  shownContracts: ShownContracts,
  from: OpeningParts
) {
  const open = (contract: ActiveContract, orderContract: SubscriptionOpening.ShownSubscription) =>
    openSubscription(contract, orderContract, { shownContracts, from })
  const by = {
    orders: subscriptions,
    idOf: ({ subscriptionId }: SubscriptionReference) => subscriptionId
  }
  const claims = yield* eachPage(SubscriptionClaim, shownContracts, {
    ...by,
    open: (each) => open(each, { as: "claim", payload: each.typed })
  })
  const lots = yield* eachPage(Lot, shownContracts, {
    ...by,
    open: (each) => open(each, { as: "lot", payload: each.typed })
  })
  const delivered = yield* eachPage(DeliveredLot, shownContracts, {
    ...by,
    open: (each) => open(each, { as: "delivered", payload: each.typed })
  })
  return [...claims, ...lots, ...delivered]
})
type SubscriptionReference = Pick<Payload<typeof Lot>, "subscriptionId">

const openSubscription = Effect.fnUntraced(function* (
  active: ActiveContract,
  orderContract: SubscriptionOpening.ShownSubscription,
  { from, shownContracts }: { readonly shownContracts: ShownContracts; readonly from: OpeningParts }
) {
  const records = yield* Records
  const kind = "subscription"
  const id = orderContract.payload.subscriptionId
  if (!Schema.is(SubscriptionId)(id)) return null
  if (Option.isSome(yield* records.find(subscriptions, id))) return null
  const payload = SubscriptionOpening.claimOf(orderContract)
  if (payload === null) {
    yield* keepBreach(shownContracts, active, { kind, id, on: "price", detail: beyondAnOrder })
    return null
  }
  const { pointCid } = orderContract.payload
  const point =
    pointCid === null ? null : Option.getOrNull(yield* records.find(pricePoints, pointCid))
  const valuedAt =
    orderContract.as === "claim"
      ? (point?.valuationTime ?? null)
      : orderContract.payload.valuationTime
  const claimed = yield* claimOf(payload, active, {
    kind,
    id,
    shownContracts,
    from,
    valuedAt,
    named: null
  })
  if (claimed === null) return null
  const order = SubscriptionOpening.claimedAs(payload, claimed.opening, claimed.cutOff)
  const recoveredWith = (beside: SubscriptionOpening.OrderContracts) =>
    SubscriptionOpening.recoveredAs(order, orderContract, { ...active, beside })
  const { beside } = from
  const key = orderKey({ kind, id })
  const requests = {
    request: requestOf(beside.intents.get(key)),
    mintRequestCid: beside.mints.get(key)?.contractId ?? null,
    basePrice: point?.price ?? null
  }
  const priced = recoveredWith({ ...requests, allocation: null })
  const legs = yield* legsOf(priced, { id, kind, shownContracts, beside })
  const self = recoveredWith({ ...requests, allocation: legs.cash })
  yield* keepMispriced(shownContracts, active, { kind, id, order: self })
  yield* openSigned(self, { kind, id, shownContracts, cid: active.contractId })
  return yield* LedgerRecord.open(subscriptions, self, { act: shownContracts.act })
})

const openRedemptions = Effect.fnUntraced(function* (
  shownContracts: ShownContracts,
  from: OpeningParts
) {
  const open = (contract: ActiveContract, orderContract: RedemptionOpening.ShownRedemption) =>
    openRedemption(contract, orderContract, { shownContracts, from })
  const by = { orders: redemptions, idOf: ({ redemptionId }: RedemptionReference) => redemptionId }
  const claims = yield* eachPage(RedemptionClaim, shownContracts, {
    ...by,
    open: (each) => open(each, { as: "claim", payload: each.typed })
  })
  const priced = yield* eachPage(PricedRedemption, shownContracts, {
    ...by,
    open: (each) => open(each, { as: "priced", payload: each.typed })
  })
  return [...claims, ...priced]
})
type RedemptionReference = Pick<Payload<typeof RedemptionClaim>, "redemptionId">

const openRedemption = Effect.fnUntraced(function* (
  active: ActiveContract,
  orderContract: RedemptionOpening.ShownRedemption,
  { from, shownContracts }: { readonly shownContracts: ShownContracts; readonly from: OpeningParts }
) {
  const records = yield* Records
  const kind = "redemption"
  const { payload } = orderContract
  const id = payload.redemptionId
  if (!Schema.is(RedemptionId)(id)) return null
  if (Option.isSome(yield* records.find(redemptions, id))) return null
  const valuedAt = orderContract.as === "claim" ? null : orderContract.payload.valuationTime
  const named = payload.cutOffAt
  const claimed = yield* claimOf(payload, active, {
    kind,
    id,
    shownContracts,
    from,
    valuedAt,
    named
  })
  if (claimed === null) return null
  const order = RedemptionOpening.claimedAs(payload, claimed.opening, claimed.cutOff)
  const recoveredWith = (beside: RedemptionOpening.OrderContracts) =>
    RedemptionOpening.recoveredAs(order, orderContract, { ...active, beside })
  const { beside } = from
  const key = orderKey({ kind, id })
  const priced = recoveredWith(RedemptionOpening.alone)
  const legs = yield* legsOf(priced, { id, kind, shownContracts, beside })
  const burn = beside.burns.get(key)
  const misfit = burn === undefined ? null : misfitOfBurn(priced, burn.typed)
  const isBurning = burn !== undefined && orderContract.as === "priced" && misfit === null
  if (burn !== undefined && !isBurning) {
    const detail = misfit ?? "A redemption that is not priced gives no units to burn."
    yield* keepIdle(shownContracts, burn, { kind, id, on: "fund", detail })
  }
  const self = recoveredWith({
    request: requestOf(beside.intents.get(key)),
    burnRequest: isBurning ? { cid: burn.contractId, at: burn.createdAt } : null,
    unitsAllocation: legs.units,
    allocation: legs.cash
  })
  yield* keepMispriced(shownContracts, active, { kind, id, order: self })
  yield* openSigned(self, { kind, id, shownContracts, cid: active.contractId })
  return yield* LedgerRecord.open(redemptions, self, { act: shownContracts.act })
})

// ---- read with the snapshot, or once the instrument is recorded

/** Templates whose contracts name the instruments that a snapshot has something to open of. */
const namingTemplates = [
  CycleTemplate,
  SubscriptionClaim,
  Lot,
  DeliveredLot,
  RedemptionClaim,
  PricedRedemption
] as const

/** Part of a snapshot that its orders and cycles are opened from. */
type ShownPart = Pick<Whole, "act" | "events">

/**
 * Opens the orders and cycles of instruments that are recorded when a snapshot is read: once every
 * reading has read it whole, since a day that has dealt is fixed at the units outstanding.
 */
const shownOrders: FromLedger = {
  template: SubscriptionClaim.typeRef,
  whole: ({ act, events, from }) =>
    Effect.succeed<ReadonlyArray<ShownPart>>(from === "update" ? [] : [{ act, events }]),
  batch: (parts) => Effect.forEach(parts as ReadonlyArray<ShownPart>, openAll, { discard: true })
}

const openAll = Effect.fnUntraced(function* ({ act, events }: ShownPart) {
  const shownOf = shownBy(events)
  const instrumentIds = new Set<string>()
  for (const template of namingTemplates) {
    const found = yield* Stream.runCollect(typedOf<Template>(template, shownOf))
    for (const { typed } of found) {
      instrumentIds.add((typed as Payload<typeof Lot>).instrument.id)
    }
  }
  for (const instrumentId of instrumentIds) yield* openShown(instrumentId, shownOf, act)
})
export const fromLedger = [shownOrders] as const

const atRecording = onceRecorded(
  "Opens the orders that a snapshot of the ledger showed, once their instrument is recorded.",
  (instrumentId, act) => openShown(instrumentId, projected, act)
)
export const consequences = [atRecording] as const
