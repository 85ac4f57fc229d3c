/** Checks of reconciliation that find orders that nobody goes on with, and locks that nothing needs. */
import { Effect, Stream } from "effect"
import { compare, withoutAmounts } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf, type Holding, holdings } from "../../instruments/register/Holding.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import { holderOrders, nameOf } from "../../orders/order/HolderOrder.ts"
import { type Redemption, redemptions } from "../../orders/redemption/Redemption.ts"
import { standingSettlements } from "../../orders/standing-settlement/StandingSettlement.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import { Records } from "../../records/Records.ts"
import { reserveHoldings } from "../../reserves/reserve/ReserveHolding.ts"
import { reserveRedemptions } from "../../reserves/reserve-order/ReserveRedemption.ts"
import * as Check from "./Check.ts"
import { holderIdsOf } from "./MovementSumLookups.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** A redemption that is burned and not settled. */
interface BurnedRedemption {
  readonly instrumentId: string
  readonly redemptionId: string
  readonly holderId: string
  readonly currency: string
  /** Cash that the holder is owed, in `currency`. */
  readonly proceeds: Decimal.Decimal
  /** Cash that bank lines have paid of it. */
  readonly paidAmount: Decimal.Decimal
  readonly burnedAt: Instant.Instant
}

/** Without amounts where all is paid and the ledger has not settled the redemption. */
export const burnedUnpaid = Check.define("burned-unpaid", {
  doc: "Finds redemptions whose units are burned, and which are not paid, or are paid and not settled on the ledger, after the grace time.",
  rule: "burned-and-unpaid",
  needs: "A redemption that is burned and not settled.",
  cannot: {},
  facts: (instrument, at) =>
    redemptionsIn(instrument, at, ["burned"]).pipe(Stream.map(burnedRedemption)),
  differences: (redemption: BurnedRedemption, tolerance, timing) => {
    if (!Check.isOverdue(redemption.burnedAt, timing)) return []
    const about = {
      instrumentId: redemption.instrumentId,
      subject: { resourceKind: "redemption", id: redemption.redemptionId },
      holderId: redemption.holderId,
      severity: "blocking"
    } as const
    const { currency: unit, proceeds: expected, paidAmount: actual } = redemption
    const short = compare({ ...about, unit, expected, actual, tolerance })
    return short.length > 0 ? short : [withoutAmounts({ ...about, unit: "settlement" })]
  }
})

const burnedRedemption = (self: Redemption): BurnedRedemption => {
  const { burnedAt, cash, currency, holderId, instrumentId, proceeds, redemptionId } = self
  if (burnedAt === null || proceeds === null) {
    throw new Error(`redemption ${redemptionId}: corrupt history, burned without proceeds`)
  }
  const paidAmount = cash.matched
  return { instrumentId, redemptionId, holderId, currency, proceeds, paidAmount, burnedAt }
}

/** Streams the redemptions of an instrument in these states at the point. */
const redemptionsIn = (
  { instrumentId }: InstrumentIdentity,
  { pin }: Check.Point,
  state: ReadonlyArray<"claimed" | "funded" | "burned">
) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records
        .stream(redemptions, { pin, where: { instrumentId: [instrumentId], state } })
        .pipe(Stream.map(({ record }) => record))
    )
  )

/** An order that waits to be priced, or a funded redemption that waits for its burn. */
interface WaitingOrder {
  readonly instrumentId: string
  readonly kind: "subscription" | "redemption"
  readonly orderId: string
  readonly holderId: string
  /** The cash or units that the order names. */
  readonly ordered: Decimal.Decimal
  /** `units`, or the currency of the cash. */
  readonly unit: string
  /** The cut-off of a claimed order, the burn request of a funded redemption. */
  readonly since: Instant.Instant
}

/** Difference of an order that waits: its whole amount, since none of it is settled. */
export const claimAging = Check.define("claim-aging", {
  doc: "Warns of orders that nobody prices after their cut-off, and of redemptions that nobody burns after their burn request.",
  rule: "ageing-orders",
  needs: "An order that is claimed, or a redemption that is funded.",
  cannot: {},
  facts: (instrument, at) =>
    Stream.concat(
      claimedSubscriptions(instrument, at),
      redemptionsIn(instrument, at, ["claimed", "funded"]).pipe(
        Stream.map(
          (self): WaitingOrder => ({
            instrumentId: instrument.instrumentId,
            kind: "redemption",
            orderId: self.redemptionId,
            holderId: self.holderId,
            ...orderedOf(self),
            since: self.fundedAt ?? self.cutOffAt
          })
        )
      )
    ),
  differences: (order: WaitingOrder, tolerance, timing) =>
    Check.isOverdue(order.since, timing)
      ? compare({
          instrumentId: order.instrumentId,
          subject: { resourceKind: order.kind, id: order.orderId },
          holderId: order.holderId,
          severity: "warning",
          unit: order.unit,
          expected: order.ordered,
          actual: Decimal.zero,
          tolerance
        })
      : []
})

const claimedSubscriptions = ({ instrumentId }: InstrumentIdentity, { pin }: Check.Point) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(subscriptions, {
        pin,
        where: { instrumentId: [instrumentId], state: ["claimed"] }
      })
    )
  ).pipe(
    Stream.map(
      ({ record }): WaitingOrder => ({
        instrumentId,
        kind: "subscription",
        orderId: record.subscriptionId,
        holderId: record.holderId,
        ...orderedOf(record),
        since: record.cutOffAt
      })
    )
  )

/** Amount that an order names: cash of an order by amount, units of any other. */
const orderedOf = ({
  amount,
  currency,
  units
}: Pick<Redemption, "amount" | "units"> & { readonly currency: string }) => {
  if (amount !== null) return { ordered: amount, unit: currency }
  if (units === null) throw new Error("an order names neither an amount nor units")
  return { ordered: units, unit: "units" }
}

/** A holding that is locked for something of the venue's. */
interface OrderLock {
  readonly instrumentId: string
  /** The locked holding. */
  readonly contractId: string
  readonly holderId: string | null
  readonly units: Decimal.Decimal
  /** Whether the order or reserve that the lock names still needs it. */
  readonly isLive: boolean
}

export const orphanLocks = Check.define("orphan-locks", {
  doc: "Warns of units that are locked for an order or a reserve that has ended.",
  rule: "orphan-locks",
  needs: "A locked holding whose lock names an order or an ended reserve of the venue.",
  cannot: {},
  facts: (instrument, at) =>
    Stream.concat(locksForOrders(instrument, at), locksForReserves(instrument, at)),
  differences: ({ instrumentId, contractId, holderId, units, isLive }: OrderLock, tolerance) =>
    isLive
      ? []
      : compare({
          instrumentId,
          subject: { resourceKind: "contract", id: contractId },
          holderId,
          severity: "warning",
          unit: "units",
          expected: Decimal.zero,
          actual: units,
          tolerance
        })
})

/** Streams the holdings that are locked for reserves of the instrument that have ended. */
const locksForReserves = (
  { instrumentId }: InstrumentIdentity,
  { pin, reserves: { orphaned } }: Check.BatchPoint
) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const reserveId = (yield* orphaned).get(instrumentId) ?? []
      if (reserveId.length === 0) return Stream.empty
      return records.stream(reserveHoldings, { pin, where: { reserveId } }).pipe(
        Stream.map(
          ({ record: { amount, contractId } }): OrderLock => ({
            instrumentId,
            contractId,
            holderId: null,
            units: amount,
            isLive: false
          })
        )
      )
    })
  )

/** Number of locks that are judged together. */
const locksMax = 500

/** Streams the locked holdings of an instrument whose lock names an order of the venue. */
const locksForOrders = (
  instrument: Pick<Instrument, "instrumentId" | "registrar">,
  at: Check.Point
) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records.stream(holdings, { pin: at.pin, where: { asset: [assetKeyOf(instrument)] } }).pipe(
        Stream.map(({ record }) => record),
        Stream.filter(({ lock }) => lock !== null),
        Stream.grouped(locksMax),
        Stream.mapEffect((locked) => ownLocks(instrument, locked, at)),
        Stream.flattenIterable
      )
    )
  )

/**
 * Selects the locks that name an order of the venue, by its id or by the id of the order that its
 * owner signed.
 */
const ownLocks = Effect.fnUntraced(function* (
  { instrumentId }: InstrumentIdentity,
  locked: ReadonlyArray<Holding>,
  at: Check.Point
) {
  const records = yield* Records
  const { pin } = at
  const signedIds = locked.flatMap(({ lock, owner: party }) =>
    (["subscription", "redemption"] as const).map((kind) =>
      nameOf({ kind, party, orderId: lock?.context ?? "" })
    )
  )
  const signed = yield* records.many(holderOrders, [...new Set(signedIds)], pin)
  const contexts = locked.map(({ lock }) => lock?.context ?? "")
  const claimed = signed.flatMap(({ claimedAs }) => claimedAs ?? [])
  const ids = [...new Set([...contexts, ...claimed])]
  const isLive = new Map<string, boolean>()
  const add = (id: string, endedAt: Instant.Instant | null): void => {
    isLive.set(id, endedAt === null || isLive.get(id) === true)
  }
  for (const self of yield* records.many(subscriptions, ids, pin)) {
    add(self.subscriptionId, self.endedAt)
  }
  for (const self of yield* records.many(redemptions, ids, pin)) {
    add(self.redemptionId, self.endedAt)
  }
  for (const self of yield* records.many(standingSettlements, ids, pin)) {
    add(self.standingSettlementId, self.endedAt)
  }
  for (const self of yield* records.many(reserveRedemptions, ids, pin)) {
    add(self.reserveRedemptionId, self.endedAt)
  }
  const signedBy = Map.groupBy(signed, ({ party, orderId }) => `${party}/${orderId}`)
  const holderIds = yield* holderIdsOf(
    locked.map(({ owner }) => owner),
    at
  )
  return locked.flatMap(({ amount, contractId, lock, owner }): ReadonlyArray<OrderLock> => {
    const context = lock?.context ?? ""
    const own = signedBy.get(`${owner}/${context}`) ?? []
    const lives = [
      isLive.get(context),
      ...own.map(({ claimedAs, state }) =>
        claimedAs === null ? state === "signed" : isLive.get(claimedAs)
      )
    ].filter((live) => live !== undefined)
    if (lives.length === 0) return []
    const holderId = holderIds.get(owner) ?? null
    return [{ instrumentId, contractId, holderId, units: amount, isLive: lives.includes(true) }]
  })
})
