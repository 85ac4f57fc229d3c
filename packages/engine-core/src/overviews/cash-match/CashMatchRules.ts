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

/** Orders that have the same amount due, in one direction and currency. */
interface Bucket {
  /** In the order of their keys. */
  readonly orders: ReadonlyArray<WaitingCash>
  /** Days of their claims, ascending. */
  readonly claims: ReadonlyArray<Date.Date>
  /** Days of the claims of each holder, ascending. */
  readonly claimsOf: ReadonlyMap<string, ReadonlyArray<Date.Date>>
}

/** Orders that wait, by their id and by what is due. */
export interface WaitingIndex {
  readonly byId: ReadonlyMap<string, ReadonlyArray<WaitingCash>>
  readonly byDue: ReadonlyMap<string, Bucket>
}

const dueKeyOf = (
  { currency, direction }: Pick<WaitingCash, "currency" | "direction">,
  amount: Decimal.Decimal
): string => `${direction}/${currency}/${Decimal.formatPlain(amount)}`

const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Bucket of orders that are in the order of their keys. */
const bucketOf = (orders: ReadonlyArray<WaitingCash>): Bucket => {
  const byClaim = orders.toSorted((a, b) => inOrder(a.claimedOn, b.claimedOn))
  return {
    orders,
    claims: byClaim.map(({ claimedOn }) => claimedOn),
    claimsOf: new Map(
      [...Map.groupBy(byClaim, ({ holderId }) => holderId)].map(([holderId, own]) => [
        holderId,
        own.map(({ claimedOn }) => claimedOn)
      ])
    )
  }
}

/** Index of orders: each is keyed and sorted here, and by no line. */
export const indexOf = (orders: ReadonlyArray<WaitingCash>): WaitingIndex => {
  const sorted = orders
    .map((order) => [orderKeyOf(order), order] as const)
    .toSorted(([a], [b]) => inOrder(a, b))
    .map(([, order]) => order)
  const byDue = Map.groupBy(sorted, (order) => dueKeyOf(order, order.due))
  return {
    byId: Map.groupBy(sorted, ({ orderId }) => orderId),
    byDue: new Map([...byDue].map(([key, same]) => [key, bucketOf(same)]))
  }
}

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
  index.byDue.get(dueKeyOf(line, line.left))

/** Orders that the reference of a line names. */
const namedBy = (index: WaitingIndex, { reference }: Pick<LineLeft, "reference">) =>
  reference === null ? [] : [...idsIn(reference)].flatMap((id) => index.byId.get(id) ?? [])

/** Checks whether a line may match an order by any rule, whoever its counterparty is. */
export const mayMatch = (index: WaitingIndex, line: Omit<LineLeft, "holderIds">): boolean =>
  Decimal.isPositive(line.left) &&
  (ofDue(index, line) !== undefined || namedBy(index, line).length > 0)

/** The rule by which a line may pay an order of its bucket without its name; null: none. */
const ruleInBucket = (line: LineLeft, order: WaitingCash): CashMatchRule | null => {
  if (!fits(line, order)) return null
  if (line.holderIds.includes(order.holderId)) return "account-amount"
  return Date.isBefore(line.bookingDate, order.claimedOn) ? null : "amount"
}

/** Checks whether a line may pay an order also without its name. */
const isByAmount = (line: LineLeft, order: WaitingCash): boolean =>
  dueKeyOf(line, line.left) === dueKeyOf(order, order.due) && ruleInBucket(line, order) !== null

/** Number of leading members of a sorted list that pass: those that pass stand first. */
const leading = <A>(sorted: ReadonlyArray<A>, passes: (self: A) => boolean): number => {
  let [from, to] = [0, sorted.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (passes(sorted[middle] as A)) from = middle + 1
    else to = middle
  }
  return from
}

/** Number of orders of a bucket that a line may pay by account or by amount, by two searches. */
const countInBucket = ({ claims, claimsOf }: Bucket, line: LineLeft): number => {
  const isClaimed = (day: Date.Date) => !Date.isBefore(line.bookingDate, day)
  const isFit = (claimedOn: Date.Date) =>
    !Date.isBefore(line.bookingDate, firstDayOf({ claimedOn }))
  let count = leading(claims, isClaimed)
  for (const holderId of new Set(line.holderIds)) {
    const own = claimsOf.get(holderId) ?? []
    count += leading(own, isFit) - leading(own, isClaimed)
  }
  return count
}

/** Number of orders that a line may pay: those that its reference names are looked at, and no other. */
export const countOf = (index: WaitingIndex, line: LineLeft): number => {
  if (!Decimal.isPositive(line.left)) return 0
  const bucket = ofDue(index, line)
  const named = namedBy(index, line).filter((order) => fits(line, order))
  return (
    named.filter((order) => !isByAmount(line, order)).length +
    (bucket === undefined ? 0 : countInBucket(bucket, line))
  )
}

/** Narrows the matches of a line. */
export interface MatchesQuery {
  /** Rank text that the matches come after. */
  readonly after?: string | undefined
  readonly orderId?: string | undefined
  readonly rule?: ReadonlyArray<CashMatchRule> | undefined
}

/**
 * Orders that a line may pay: each once, by the strongest rule, the strongest first. Each is made when
 * it is taken, so that a page costs its own matches and not those that follow.
 */
export function* matchesOf(
  index: WaitingIndex,
  line: LineLeft,
  { after, orderId, rule: rules }: MatchesQuery = {}
): Generator<Match, void> {
  if (!Decimal.isPositive(line.left)) return
  const isOfQuery = (order: WaitingCash) => orderId === undefined || order.orderId === orderId
  const named = new Set(namedBy(index, line).filter((order) => fits(line, order)))
  const due = dueKeyOf(line, line.left)
  const inBucket =
    orderId === undefined
      ? (index.byDue.get(due)?.orders ?? [])
      : (index.byId.get(orderId) ?? []).filter((order) => dueKeyOf(order, order.due) === due)
  for (const rule of CashMatchRule.members) {
    if (rules !== undefined && !rules.includes(rule)) continue
    const candidates =
      rule === "reference"
        ? [...named].toSorted((a, b) => inOrder(orderKeyOf(a), orderKeyOf(b)))
        : inBucket
    // Ranks are one digit, so that an earlier rule has the smaller text.
    const start =
      after === undefined ? 0 : leading(candidates, (order) => rankTextOf({ order, rule }) <= after)
    for (let at = start; at < candidates.length; at += 1) {
      const order = candidates[at] as WaitingCash
      const isOfRule =
        rule === "reference"
          ? isOfQuery(order)
          : !named.has(order) && ruleInBucket(line, order) === rule
      if (isOfRule) yield { order, rule, amount: Decimal.min(line.left, order.due) }
    }
  }
}

/** Counts of the lines that may pay each order, in memory that grows with days and not with pairs. */
export interface LineTally {
  /** Counts a line of which `matchesOf` may have matches. */
  add(line: LineLeft): void
  /** Number of counted lines that may pay an order. */
  countOf(order: WaitingCash): number
}

export const tallyOf = (index: WaitingIndex): LineTally => {
  /** Lines on each day, by what they have left, and by that and a holder. */
  const days = new Map<string, Map<Date.Date, number>>()
  /** Lines that name an order and may not pay it otherwise. */
  const named = new Map<WaitingCash, number>()
  const note = (key: string, day: Date.Date) => {
    const own = days.get(key) ?? new Map<Date.Date, number>()
    days.set(key, own.set(day, (own.get(day) ?? 0) + 1))
  }
  return {
    add: (line) => {
      if (!Decimal.isPositive(line.left)) return
      for (const order of namedBy(index, line)) {
        if (!fits(line, order) || isByAmount(line, order)) continue
        named.set(order, (named.get(order) ?? 0) + 1)
      }
      if (ofDue(index, line) === undefined) return
      const key = dueKeyOf(line, line.left)
      note(key, line.bookingDate)
      for (const holderId of new Set(line.holderIds)) note(`${key}/${holderId}`, line.bookingDate)
    },
    countOf: (order) => {
      const key = dueKeyOf(order, order.due)
      const first = firstDayOf(order)
      let count = named.get(order) ?? 0
      for (const [day, lines] of days.get(key) ?? []) {
        if (!Date.isBefore(day, order.claimedOn)) count += lines
      }
      for (const [day, lines] of days.get(`${key}/${order.holderId}`) ?? []) {
        if (Date.isBefore(day, order.claimedOn) && !Date.isBefore(day, first)) count += lines
      }
      return count
    }
  }
}
