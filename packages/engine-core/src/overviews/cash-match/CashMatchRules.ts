/**
 * Pure rules of which bank line may pay which order: proposals that a person takes or leaves
 * (docs/domain/statements.md#proposals-of-payment).
 */
import * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Zone from "../../kernel/Zone.ts"
import { directionOf, type Pays, unrefunded } from "../../orders/order/CashLine.ts"
import type { OrderKind } from "../../orders/order/HolderOrder.ts"
import type { Redemption } from "../../orders/redemption/Redemption.ts"
import { owesRefund, type Subscription } from "../../orders/subscription/Subscription.ts"
import type { CashEntry } from "../../statements/external-statement/StatementLine.ts"
import { type CashDirection, CashMatchRule } from "../../vocabulary/sets.ts"

/** Days before an order's claim; a line that was booked earlier pays the order by no rule. */
const daysBefore = 366

/** Cash that an order waits for, or that it owes: a bank line of this direction pays it. */
export interface WaitingCash {
  readonly kind: OrderKind
  readonly orderId: string
  readonly instrumentId: string
  readonly holderId: string
  readonly pays: Pays
  readonly direction: CashDirection
  readonly currency: string
  /** Cash that no line has paid yet; above 0. */
  readonly due: Decimal.Decimal
  /** Day of the claim in the order's zone. */
  readonly claimedOn: Date.Date
}

/** A booked line with something left. */
export interface LineLeft
  extends Pick<CashEntry, "bookingDate" | "currency" | "direction" | "reference"> {
  /** Cash that the entry has left, over all lines that state it. */
  readonly left: Decimal.Decimal
  /** Holders that the counterparty's account is mapped to. */
  readonly holderIds: ReadonlyArray<string>
}

/** An order that a line may pay. */
export interface Match {
  readonly order: WaitingCash
  /** The strongest rule that holds. */
  readonly rule: CashMatchRule
  /** The smaller of what the line has left and what is due. */
  readonly amount: Decimal.Decimal
}

const claimedOn = ({ claimedAt, zone }: Pick<Subscription, "claimedAt" | "zone">): Date.Date =>
  Zone.dateAt(zone, claimedAt)

const waiting = (order: WaitingCash): ReadonlyArray<WaitingCash> =>
  Decimal.isPositive(order.due) ? [order] : []

const unmatchedCash = ({ cash }: Pick<Subscription, "cash">): Decimal.Decimal =>
  Decimal.subtract(cash.expected ?? Decimal.zero, cash.matched)

/**
 * Cash that a subscription waits for while it is priced or delivered, and the refund that it owes once
 * it is delivered: of one that is paid by wire, and that no new ledger epoch lost.
 */
export const ofSubscription = (self: Subscription): ReadonlyArray<WaitingCash> => {
  if (self.payment !== "wire" || self.lost) return []
  const { currency, holderId, instrumentId, subscriptionId: orderId } = self
  const waitingFor = (pays: Pays, due: Decimal.Decimal) =>
    waiting({
      ...{ kind: "subscription", orderId, instrumentId, holderId, pays, currency, due },
      direction: directionOf("subscription", pays),
      claimedOn: claimedOn(self)
    })
  const isPriced = self.state === "priced" || self.state === "delivered"
  const owes = self.state === "delivered" || owesRefund(self)
  return [
    ...(isPriced ? waitingFor("cash", unmatchedCash(self)) : []),
    ...(owes ? waitingFor("refund", unrefunded(self)) : [])
  ]
}

/** Cash that a burned redemption owes its holder by wire. */
export const ofRedemption = (self: Redemption): ReadonlyArray<WaitingCash> => {
  if (self.payment !== "wire" || self.lost || self.state !== "burned") return []
  const { currency, holderId, instrumentId, redemptionId: orderId } = self
  return waiting({
    ...{ kind: "redemption", orderId, instrumentId, holderId, pays: "cash", currency },
    due: unmatchedCash(self),
    direction: directionOf("redemption", "cash"),
    claimedOn: claimedOn(self)
  })
}

/** Key of an order among all that wait. */
export const orderKeyOf = ({
  kind,
  orderId,
  pays
}: Pick<WaitingCash, "kind" | "orderId" | "pays">): string => `${kind}/${pays}/${orderId}`

/** First booking date of a line that may pay an order. */
export const firstDayOf = ({ claimedOn }: Pick<WaitingCash, "claimedOn">): Date.Date =>
  Date.addDays(claimedOn, -daysBefore)

/** Orders that wait, by their id and by what is due. */
export interface WaitingIndex {
  readonly byId: ReadonlyMap<string, ReadonlyArray<WaitingCash>>
  readonly byDue: ReadonlyMap<string, ReadonlyArray<WaitingCash>>
}

const dueKeyOf = (
  { currency, direction }: Pick<WaitingCash, "currency" | "direction">,
  amount: Decimal.Decimal
): string => `${direction}/${currency}/${Decimal.formatPlain(amount)}`

export const indexOf = (orders: ReadonlyArray<WaitingCash>): WaitingIndex => ({
  byId: Map.groupBy(orders, ({ orderId }) => orderId),
  byDue: Map.groupBy(orders, (order) => dueKeyOf(order, order.due))
})

/** Words of a text that may be ids: runs of letters, digits and the signs of an id. */
const words = /[\p{L}\p{N}\p{M}._~-]+/gu
/** Most characters of an id. */
const idMax = 128
const isSign = (character: string | undefined): boolean =>
  character !== undefined && "._~-".includes(character)

/**
 * Ids that stand in a text as whole words, with and without the signs at their end: a full stop may end
 * a sentence or an id.
 */
export const idsIn = (text: string): ReadonlySet<string> => {
  const ids = new Set<string>()
  for (const [word] of text.matchAll(words)) {
    let from = 0
    while (isSign(word[from])) from += 1
    let last = word.length
    while (isSign(word[last - 1]) && last > from + idMax) last -= 1
    for (; last > from && last - from <= idMax; last -= 1) {
      ids.add(word.slice(from, last))
      if (!isSign(word[last - 1])) break
    }
  }
  return ids
}

/** Checks whether a line's direction, currency and booking date fit an order at all. */
const fits = (line: LineLeft, order: WaitingCash): boolean =>
  line.direction === order.direction &&
  line.currency === order.currency &&
  !Date.isBefore(line.bookingDate, firstDayOf(order))

const rankOf = (rule: CashMatchRule): number => CashMatchRule.members.indexOf(rule)

/** Text by which the orders of one line are ordered: the strongest rule first, then by the order. */
export const rankTextOf = ({ order, rule }: Pick<Match, "order" | "rule">): string =>
  `${rankOf(rule)} ${orderKeyOf(order)}`

/** Orders that have exactly this amount due. */
const ofDue = (index: WaitingIndex, line: Pick<LineLeft, "currency" | "direction" | "left">) =>
  index.byDue.get(dueKeyOf(line, line.left)) ?? []

/** Orders that the reference of a line names. */
const namedBy = (index: WaitingIndex, { reference }: Pick<LineLeft, "reference">) =>
  reference === null ? [] : [...idsIn(reference)].flatMap((id) => index.byId.get(id) ?? [])

/** Checks whether a line may match an order by any rule, whoever its counterparty is. */
export const mayMatch = (index: WaitingIndex, line: Omit<LineLeft, "holderIds">): boolean =>
  Decimal.isPositive(line.left) &&
  (ofDue(index, line).length > 0 || namedBy(index, line).length > 0)

/** Orders that a line may pay: each once, by the strongest rule, the strongest first. */
export const matchesOf = (index: WaitingIndex, line: LineLeft): ReadonlyArray<Match> => {
  if (!Decimal.isPositive(line.left)) return []
  const rules = new Map<WaitingCash, CashMatchRule>()
  for (const order of namedBy(index, line)) rules.set(order, "reference")
  for (const order of ofDue(index, line)) {
    if (rules.has(order)) continue
    if (line.holderIds.includes(order.holderId)) rules.set(order, "account-amount")
    else if (!Date.isBefore(line.bookingDate, order.claimedOn)) rules.set(order, "amount")
  }
  return [...rules]
    .filter(([order]) => fits(line, order))
    .map(([order, rule]) => ({ order, rule, amount: Decimal.min(line.left, order.due) }))
    .toSorted((a, b) => (rankTextOf(a) < rankTextOf(b) ? -1 : 1))
}
