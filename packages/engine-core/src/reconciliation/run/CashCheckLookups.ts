/**
 * Look-ups of the check of orders' cash: delivered orders, and those whose cash a correction lost.
 */
import { Effect, Option, Stream } from "effect"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { type CashTaking, cashTakings, orderKeyOf } from "../../orders/order/CashTaking.ts"
import { type Redemption, redemptions } from "../../orders/redemption/Redemption.ts"
import { type Subscription, subscriptions } from "../../orders/subscription/Subscription.ts"
import { Records } from "../../records/Records.ts"
import type { Point } from "./Check.ts"
import type * as CashSettlement from "./checks/CashSettlement.ts"

type Of = Pick<Instrument, "instrumentId">
type Settled = CashSettlement.Settled

const ofCash = (
  self: Pick<Subscription | Redemption, "instrumentId" | "holderId" | "currency" | "cash">,
  of: Pick<Settled, "kind" | "orderId" | "isLost"> & { readonly since: Instant.Instant }
): Settled => ({
  ...of,
  instrumentId: self.instrumentId,
  holderId: self.holderId,
  currency: self.currency,
  due: self.cash.expected ?? Decimal.zero,
  paid: self.cash.matched
})

/**
 * Facts of a subscription: its cash; or its refund, where bank lines have all of its cash and not
 * all of its refund.
 */
const ofSubscription = (
  self: Subscription,
  { isLost }: Pick<Settled, "isLost">
): ReadonlyArray<Settled> => {
  if (self.payment !== "wire" || self.deliveredAt === null) return []
  const order = { kind: "subscription" as const, orderId: self.subscriptionId, isLost }
  const fact = ofCash(self, { ...order, since: self.deliveredAt })
  const isWhole = Decimal.atLeast(fact.paid, fact.due)
  if (!isWhole || !isLost) return [fact]
  const back = Decimal.sum(self.refunds.map(({ amount }) => amount))
  return [{ ...fact, due: self.refunded ?? Decimal.zero, paid: back }]
}

const ofRedemption = (
  self: Redemption,
  { isLost }: Pick<Settled, "isLost">
): ReadonlyArray<Settled> =>
  self.payment !== "wire" || self.settledAt === null
    ? []
    : [
        ofCash(self, {
          kind: "redemption",
          orderId: self.redemptionId,
          isLost,
          since: self.settledAt
        })
      ]

/** Loads the order of a taking, as facts of the check. */
const orderOf = Effect.fnUntraced(function* ({ kind, orderId }: CashTaking, { pin }: Point) {
  const records = yield* Records
  if (kind === "subscription") {
    const found = yield* records.find(subscriptions, orderId, pin)
    return Option.isNone(found) ? [] : ofSubscription(found.value, { isLost: true })
  }
  const found = yield* records.find(redemptions, orderId, pin)
  return Option.isNone(found) ? [] : ofRedemption(found.value, { isLost: true })
})

/**
 * Streams the cash of the instrument's orders that are delivered and not closed, and of those,
 * closed or not, of which a correction took cash back.
 */
export const settled = (
  { instrumentId }: Of,
  at: Point
): Stream.Stream<Settled, Unavailable, Records> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const { pin } = at
      const losing = yield* records.stream(cashTakings, { pin, where: { losing: ["true"] } }).pipe(
        Stream.map(({ record }) => record),
        Stream.runCollect
      )
      const byOrder = new Map(losing.map((taking) => [orderKeyOf(taking), taking]))
      const lost = Stream.fromIterable(byOrder.values()).pipe(
        Stream.mapEffect((taking) => orderOf(taking, at)),
        Stream.flatMap(Stream.fromIterable),
        Stream.filter((fact) => fact.instrumentId === instrumentId)
      )
      const delivered = records
        .stream(subscriptions, {
          pin,
          where: { instrumentId: [instrumentId], state: ["delivered"] }
        })
        .pipe(
          Stream.map(({ record }) => record),
          Stream.filter(
            ({ subscriptionId: orderId }) =>
              !byOrder.has(orderKeyOf({ kind: "subscription", orderId }))
          ),
          Stream.flatMap((self) => Stream.fromIterable(ofSubscription(self, { isLost: false })))
        )
      return Stream.concat(delivered, lost)
    })
  )
