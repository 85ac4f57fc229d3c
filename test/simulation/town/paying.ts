/**
 * Payment of orders by bank lines, or by cash and units locked for them on the ledger, and their
 * next moves.
 */
import type { Caller } from "@bursar/engine-core"
import { Effect } from "effect"
import * as B from "../books.ts"
import { plain, written } from "./figures.ts"
import * as BankAccounts from "./bank-accounts.ts"
import * as BankStatements from "./bank-statements.ts"
import type { When } from "./model.ts"
import * as People from "./people.ts"
import * as Precheck from "./precheck.ts"
import { submit } from "./asking.ts"
import { type Debt, note, type Order, type Town } from "./town.ts"
import { asksOf } from "./placing.ts"
import * as Wallets from "./wallets.ts"

/**
 * Bank lines that pay an order: mostly exactly; too little, or a line of another's, now and then. The
 * bank books each that is new, and states them.
 */
const linesOf = Effect.fnUntraced(function* (
  town: Town,
  cents: bigint,
  entry: { readonly instrumentId: string; readonly direction: "credit" | "debit" }
) {
  const before = town.bank.lines
  const lines = linesFor(town, cents)
  const { instrumentId, direction } = entry
  for (const [line, amount] of lines) {
    if (line <= before || town.bank.stated.has(line)) continue
    town.bank.stated.set(line, amount)
    yield* BankStatements.books(town, instrumentId, { id: line, cents: amount, direction })
  }
  if (lines.length > 0) yield* BankStatements.sends(town, instrumentId)
  const again = BankAccounts.usedAgain(town, { ...entry, cents })
  return again === null ? lines : [again]
})

const linesFor = (town: Town, cents: bigint): ReadonlyArray<readonly [number, bigint]> => {
  const { bank, die } = town
  const line = () => ++bank.lines
  switch (die.roll(10)) {
    case 0:
      return []
    case 1:
      return cents > 1n ? [[line(), cents - 1n]] : []
    case 2:
      return cents > 1n
        ? [
            [line(), cents / 2n],
            [line(), cents - cents / 2n]
          ]
        : [[line(), cents]]
    case 3:
      return [[1 + die.roll(Math.max(1, bank.lines)), cents]]
    default:
      return [[line(), cents]]
  }
}

type Lines = ReadonlyArray<readonly [number, bigint]>

/** Lines as a body names them: each by any statement in force that has it. */
const linesText = (town: Town, lines: Lines): string =>
  lines
    .map(([id, cents]) => {
      const { line, statementId } = BankAccounts.placeOf(town, id) ?? {
        statementId: "none",
        line: 1
      }
      return `{"statementId":"${statementId}","line":${line},"amount":${plain(cents, 2)}}`
    })
    .join(",")

/** Debt of an order that closed by wire, in the books from the first mention of it. */
export const debtOf = (town: Town, order: Order): Debt => {
  const debt = town.debts.get(order.id) ?? { order, paid: 0n }
  town.debts.set(order.id, debt)
  return debt
}

/** Bank lines paid an order back: no more than its units left over, each line for it alone. */
const repaid = (town: Town, order: Order, lines: Lines) => (when: When) => {
  pays(town, order, lines)(when)
  const debt = debtOf(town, order)
  debt.paid += lines.reduce((sum, [, cents]) => sum + cents, 0n)
  const refund = order.priced?.refund ?? 0n
  B.holds(debt.paid <= refund, `${order.id} was paid back ${debt.paid} of ${refund}`)
  note(town, debt.paid < refund ? "refund by wire in part" : "refund by wire")
}

const usedBy =
  ({ id: by }: Order) =>
  ([line, cents]: Lines[number]) => ({ line, by, cents })

/** Orders take no more of an entry than the bank booked, and nothing of one that it has taken back. */
const pays = (town: Town, order: Order, lines: Lines) => (when: When) => {
  const { stated, used } = town.bank
  for (const [line, cents] of lines) {
    const use = usedBy(order)([line, cents])
    used.push(use)
    const all = used.reduce((sum, each) => (each.line === line ? sum + each.cents : sum), 0n)
    const most = stated.get(line) ?? 0n
    B.holds(all <= most, `line ${line} of ${most} paid ${all}, at last ${order.id}`)
    const since = BankAccounts.takenBackSince(town.banking, line)
    B.holds(
      since === null || since >= when.since,
      `line ${line} paid ${order.id}, and was taken back at step ${since}`
    )
    BankAccounts.uses(town.banking, use)
  }
}

export const moves = Effect.fnUntraced(function* (town: Town, order: Order, verb: string) {
  const { kind, payment } = order
  const act = `${kind}.${verb}`
  const movesUnits = verb === "deliver" || verb === "settle"
  const paidLater = kind === "subscription" && verb === "settle"
  const { instrumentId } = order.fund
  const direction = kind === "subscription" ? "credit" : "debit"
  const lines =
    movesUnits && payment === "wire" && !paidLater
      ? yield* linesOf(town, dueOf(order), { instrumentId, direction })
      : []
  const owed = paidLater && payment === "wire" ? (order.priced?.refund ?? 0n) : 0n
  const refunds =
    owed > 0n && town.die.once(2)
      ? yield* linesOf(town, owed, { instrumentId, direction: "debit" })
      : []
  const cash = `"cash":[${linesText(town, lines)}]`
  const back = refunds.length === 0 ? "" : `,"refunds":[${linesText(town, refunds)}]`
  const closes = verb === "settle" && payment === "wire"
  const acting = (by: Caller.Caller) =>
    submit(town, {
      by,
      params: { [`${kind}Id`]: order.id },
      body: movesUnits && payment === "wire" ? `{${cash}${back}}` : "{}",
      act: {
        kind: act,
        asks: movesUnits ? [asksOf(order, closes ? "close" : "exchange")] : [],
        begins: () => BankAccounts.asks(town.banking, [...lines, ...refunds].map(usedBy(order))),
        ...(lines.length === 0 ? {} : { succeeds: pays(town, order, lines) }),
        ...(refunds.length === 0 ? {} : { succeeds: repaid(town, order, refunds) })
      }
    })
  const looks = movesUnits && lines.length + refunds.length === 0
  const by = People.maker(town, act)
  const named = { act, instrumentId, [`${kind}Id`]: order.id }
  yield* looks ? Precheck.looked(town, named, by, acting) : acting(by)
})

/** The bank pays back what a closed order still owes, and the staff name the lines; or too much, or another's. */
export const repays = Effect.fnUntraced(function* (town: Town) {
  const owing = [...town.debts.values()].filter(
    ({ order, paid }) => paid < (order.priced?.refund ?? 0n) && town.closed.has(order.id)
  )
  const debt = owing[town.die.roll(Math.max(1, owing.length))]
  if (debt === undefined) return
  const { order, paid } = debt
  const left = (order.priced?.refund ?? 0n) - paid
  const { instrumentId } = order.fund
  const named = town.die.once(12) ? left + 1n : left
  const refunds = yield* linesOf(town, named, { instrumentId, direction: "debit" })
  const kind = "subscription.settle"
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { subscriptionId: order.id },
    body: `{"refunds":[${linesText(town, refunds)}]}`,
    act: {
      kind,
      asks: [asksOf(order, "close")],
      begins: () => BankAccounts.asks(town.banking, refunds.map(usedBy(order))),
      ...(refunds.length === 0 ? {} : { succeeds: repaid(town, order, refunds) })
    }
  })
})

/** The cash of an order as its price makes it. */
const dueOf = ({ amount, priced }: Order): bigint => priced?.cash ?? amount ?? 0n

const settlesFor = (order: Order) =>
  order.kind === "subscription" ? order.fund.fund : order.holder

/** Cash or units of an order are put in place for the venue to move. */
export const lays = Effect.fnUntraced(function* (town: Town, order: Order, what: "cash" | "units") {
  const { fund, holder, kind } = order
  const by = what === "units" || kind === "subscription" ? holder : fund.fund
  const due = what === "units" ? (order.priced?.units ?? 0n) : dueOf(order)
  const amount = what === "units" ? written(due) : plain(due, 2)
  if (due === 0n) return
  const assetId = what === "units" ? fund.instrumentId : "USD"
  if (what === "cash" && Wallets.free(town, by.party, "USD", amount) === undefined) {
    return yield* Wallets.pays(town, by, due)
  }
  const to = what === "units" ? fund.fund.party : settlesFor(order).party
  yield* Wallets.allocates(town, by, { assetId, amount, to, reference: order.id })
})

export const isAllocated = (town: Town, order: Order, assetId: string): boolean =>
  [
    ...town.observer
      .contractsOf(
        order.kind === "subscription" || assetId !== "USD"
          ? order.holder.party
          : order.fund.fund.party
      )
      .values()
  ].some(
    (one) =>
      one.entity === "Allocation" &&
      Wallets.member(one, "reference") === order.id &&
      Wallets.assetOf(one) === assetId
  )
