/**
 * Look-ups of the check of orders' cash: delivered orders, and those whose cash a correction lost.
 */
import { Effect, Option, Stream } from "effect"
import type { Difference } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import { type CashLine, nameOf } from "../../orders/order/CashLine.ts"
import { type CashTaking, cashTakings, linesOf, orderKeyOf } from "../../orders/order/CashTaking.ts"
import { type Redemption, redemptions } from "../../orders/redemption/Redemption.ts"
import { type Subscription, subscriptions } from "../../orders/subscription/Subscription.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import * as EntryLookups from "../../statements/external-statement/EntryLookups.ts"
import * as EntryRules from "../../statements/external-statement/EntryRules.ts"
import { ownerOf } from "../../statements/external-statement/ExternalStatement.ts"
import * as LineRows from "../../statements/external-statement/LineRows.ts"
import { cashInForce } from "../../statements/external-statement/StatementLookups.ts"
import type { Facts, Point } from "./Check.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** An order paid by wire that is delivered or settled. */
export interface SettledOrder {
  readonly instrumentId: string
  readonly kind: "subscription" | "redemption"
  readonly orderId: string
  readonly holderId: string
  readonly currency: string
  /** Cash of the order, or of its refund, in `currency`. */
  readonly due: Decimal.Decimal
  /** Cash of it that lines of statements in force have. */
  readonly paidAmount: Decimal.Decimal
  /** Since when the cash is owed: the delivery of the units. */
  readonly since: Instant.Instant
  /** True where a correction, or a reversal by the bank, took back cash that the order had taken. */
  readonly isLost: boolean
  /** Line of the entry that the order took and the bank took back; null: there is none. */
  readonly entry: Difference["entry"]
}

const ofCash = (
  self: Pick<Subscription | Redemption, "instrumentId" | "holderId" | "currency" | "cash">,
  settlement: Pick<SettledOrder, "kind" | "orderId" | "isLost" | "entry"> & {
    readonly since: Instant.Instant
  }
): SettledOrder => ({
  ...settlement,
  instrumentId: self.instrumentId,
  holderId: self.holderId,
  currency: self.currency,
  due: self.cash.expected ?? Decimal.zero,
  paidAmount: self.cash.matched
})

/**
 * Facts of a subscription: its cash; or its refund, where bank lines have all of its cash and not
 * all of its refund.
 */
const ofSubscription = (
  self: Subscription,
  takenBack: TakenBackCash
): ReadonlyArray<SettledOrder> => {
  // Cash that the bank took back is missing before the units are delivered, too.
  const since = self.deliveredAt ?? (takenBack.entry === null ? null : self.claimedAt)
  if (self.payment !== "wire" || since === null) return []
  const { isLost, entry } = takenBack
  const order = { kind: "subscription" as const, orderId: self.subscriptionId, isLost, entry }
  const fact = less(ofCash(self, { ...order, since }), takenBack.cash)
  const isWhole = Decimal.atLeast(fact.paidAmount, fact.due)
  if (!isWhole || !isLost) return [fact]
  const back = Decimal.sum(self.refunds.map(({ amount }) => amount))
  return [less({ ...fact, due: self.refunded ?? Decimal.zero, paidAmount: back }, takenBack.refund)]
}

const ofRedemption = (self: Redemption, takenBack: TakenBackCash): ReadonlyArray<SettledOrder> => {
  const since = self.settledAt ?? (takenBack.entry === null ? null : self.claimedAt)
  if (self.payment !== "wire" || since === null) return []
  const { isLost, entry } = takenBack
  const order = { kind: "redemption" as const, orderId: self.redemptionId, isLost, entry }
  return [less(ofCash(self, { ...order, since }), takenBack.cash)]
}

/** Cash of an order that a correction or its bank took back. */
interface TakenBackCash extends Pick<SettledOrder, "isLost" | "entry"> {
  /** Sums of entries that the bank took back, of the order's cash and of its refund. */
  readonly cash: Decimal.Decimal
  readonly refund: Decimal.Decimal
}

const nothing: TakenBackCash = {
  isLost: false,
  entry: null,
  cash: Decimal.zero,
  refund: Decimal.zero
}

const less = (fact: SettledOrder, amount: Decimal.Decimal): SettledOrder => ({
  ...fact,
  paidAmount: Decimal.subtract(fact.paidAmount, amount)
})

/** Number of statements whose reversals are looked up together. */
const statementsMax = 100

/**
 * Loads what orders used of entries that the bank took back in statements of the instrument's account. What
 * an order has only reserved is not in its cash.
 */
const reversedTakings = Effect.fnUntraced(function* (instrument: InstrumentIdentity, at: Point) {
  const records = yield* Records
  const bulk = yield* Bulk
  const { pin } = at
  const found = new Map<string, { readonly taking: CashTaking; readonly place: CashLine }>()
  yield* cashInForce(instrument, pin).pipe(
    Stream.grouped(statementsMax),
    Stream.runForEach((statements) =>
      Effect.gen(function* () {
        const byOwner = new Map(statements.map((statement) => [ownerOf(statement), statement]))
        const rows = yield* orUnavailable(
          bulk.entries([...byOwner.keys()].map((owner) => ({ reversalsIn: owner })))
        )
        const lines = rows.flatMap((row) => {
          const [statement, entry] = [byOwner.get(row.owner), LineRows.lineOf(row)]
          return statement === undefined || entry.kind !== "cash" ? [] : [{ statement, entry }]
        })
        const byAccount = yield* EntryLookups.entriesAround(lines, pin)
        const reversed = [...byAccount.values()].flatMap((entries) => [
          ...EntryRules.reversalsOf(entries).keys()
        ])
        const places = reversed.flatMap(({ copies }) => copies.map(EntryRules.placeOf))
        if (places.length === 0) return
        const names = new Set(places.map(EntryRules.placeNameOf))
        const statementIds = [...new Set(places.map(({ statementId }) => statementId))]
        yield* records.stream(cashTakings, { pin, where: { statementId: statementIds } }).pipe(
          Stream.runForEach(({ record: taking }) =>
            Effect.sync(() => {
              for (const place of taking.state === "used" ? linesOf(taking) : []) {
                const key = `${orderKeyOf(taking)}/${taking.pays}/${nameOf(place)}`
                if (names.has(nameOf(place))) found.set(key, { taking, place })
              }
            })
          )
        )
      })
    )
  )
  return [...found.values()]
})

/** Loads the order of a taking, as facts of the check. */
const orderOf = Effect.fnUntraced(function* (
  { kind, orderId }: CashTaking,
  { at: { pin }, back }: { readonly at: Point; readonly back: TakenBackCash }
) {
  const records = yield* Records
  if (kind === "subscription") {
    const found = yield* records.find(subscriptions, orderId, pin)
    return Option.isNone(found) ? [] : ofSubscription(found.value, back)
  }
  const found = yield* records.find(redemptions, orderId, pin)
  return Option.isNone(found) ? [] : ofRedemption(found.value, back)
})

/**
 * Streams the cash of the instrument's orders that are delivered and not closed, and of those,
 * closed or not, of which a correction took cash back.
 */
export const settled = (instrument: InstrumentIdentity, at: Point): Facts<SettledOrder> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const { pin } = at
      const { instrumentId } = instrument
      const losing = yield* records.stream(cashTakings, { pin, where: { losing: ["true"] } }).pipe(
        Stream.map(({ record }) => record),
        Stream.runCollect
      )
      const reversed = yield* reversedTakings(instrument, at)
      const byOrder = new Map(
        [...losing, ...reversed.map(({ taking }) => taking)].map((taking) => [
          orderKeyOf(taking),
          taking
        ])
      )
      const backOf = (order: string): TakenBackCash => {
        const own = reversed.filter(({ taking }) => orderKeyOf(taking) === order)
        const sumOf = (pays: CashTaking["pays"]) =>
          Decimal.sum(
            own.flatMap(({ taking, place }) => (taking.pays === pays ? [place.amount] : []))
          )
        const [first] = own
        const entry =
          first === undefined
            ? null
            : { externalStatementId: first.place.statementId, line: first.place.line }
        return { isLost: true, entry, cash: sumOf("cash"), refund: sumOf("refund") }
      }
      const lost = Stream.fromIterable(byOrder).pipe(
        Stream.mapEffect(([order, taking]) => orderOf(taking, { at, back: backOf(order) })),
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
          Stream.flatMap((self) => Stream.fromIterable(ofSubscription(self, nothing)))
        )
      return Stream.concat(delivered, lost)
    })
  )
