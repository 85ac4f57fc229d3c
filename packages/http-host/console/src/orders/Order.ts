/** What the pages of orders show, computed from their records: states, terms, cash, and acts by state. */
import type { ColumnRow } from "../record/Columns.ts"
import { type Fact, type FactRow, factsOf } from "../record/Fact.ts"
import * as Decimals from "../words/Decimals.ts"
import { isDecimal } from "../words/Figures.ts"

export type OrderKind = "subscription" | "redemption"

type Row = Readonly<Record<string, unknown>>

/** A step of an order's life: reached at an instant, or still ahead, with the party whose move it is. */
export interface Step {
  readonly name: string
  readonly at: string | null
  readonly who: string
}

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null

const textAt = (row: Row, member: string): string | null => {
  const value = row[member]
  return typeof value === "string" ? value : null
}

interface StepRow {
  readonly name: string
  readonly member: string
  readonly who: string
}

const stepRows: Readonly<Record<OrderKind, ReadonlyArray<StepRow>>> = {
  subscription: [
    { name: "claimed", member: "claimedAt", who: "the holder or the venue" },
    { name: "priced", member: "pricedAt", who: "the attestors" },
    { name: "delivered", member: "deliveredAt", who: "the venue" }
  ],
  redemption: [
    { name: "claimed", member: "claimedAt", who: "the holder or the venue" },
    { name: "priced", member: "pricedAt", who: "the oracle" },
    { name: "funded", member: "fundedAt", who: "the holder or its custodian" },
    { name: "burned", member: "burnedAt", who: "the registrar" }
  ]
}

/**
 * Steps of an order in their order. Of one that has ended only those that it reached are left, since no
 * other will follow.
 */
export const stepsOf = (kind: OrderKind, row: Row): ReadonlyArray<Step> => {
  const steps = stepRows[kind].map(({ member, name, who }) => ({
    name,
    who,
    at: textAt(row, member)
  }))
  const endedAs = textAt(row, "endedAs")
  const end = textAt(row, "endedAt") ?? textAt(row, "settledAt")
  const last = kind === "subscription" ? "closed" : "settled"
  return endedAs === null
    ? [...steps, { name: last, at: null, who: "the venue" }]
    : [...steps.filter(({ at }) => at !== null), { name: endedAs, at: end, who: "the venue" }]
}

/** Step that an order stands in: the last that it reached. */
export const presentStep = (steps: ReadonlyArray<Step>): number =>
  steps.findLastIndex(({ at }) => at !== null)

const money = { unitOf: "currency" } as const
const units = { unit: "units" } as const

/** Facts of an order by the sheet that they stand on. */
export const orderSheets: ReadonlyArray<{
  readonly title: string
  readonly rows: ReadonlyArray<FactRow>
}> = [
  {
    title: "Order",
    rows: [
      { member: "orderedAs", name: "Ordered as" },
      { member: "payment", name: "Paid by" },
      { member: "party" },
      { member: "dealingDate" },
      { member: "settleBy" },
      { member: "valueDate" },
      { member: "cycleId", name: "Dealing cycle" },
      { member: "policyVersion" }
    ]
  },
  {
    title: "Figures",
    rows: [
      { member: "amount", ...money },
      { member: "units", ...units },
      { member: "price", name: "Price of a unit", ...money },
      { member: "fee", ...money },
      { member: "proceeds", ...money },
      { member: "residual", ...money },
      { member: "refund", ...money },
      { member: "refunded", ...money },
      { member: "index" },
      { member: "baseUnits", unit: "base units" },
      { member: "pointCid", name: "Price point" }
    ]
  }
]

/** Cash of an order: what it expects, what lines have paid, and what is still due. */
export interface Cash {
  readonly expected: string | null
  readonly matched: string
  /** Expected less matched, computed here; null: nothing is expected yet. */
  readonly due: string | null
  readonly lines: ReadonlyArray<CashLine>
}

export interface CashLine {
  readonly statementId: string
  readonly line: string
  readonly amount: string
}

export const cashOf = (row: Row): Cash | null => {
  const cash = row["cash"]
  if (!isRow(cash)) return null
  const { expected, lines, matched } = cash
  const paid = typeof matched === "string" && isDecimal(matched) ? matched : "0"
  const wanted = typeof expected === "string" && isDecimal(expected) ? expected : null
  return {
    expected: wanted,
    matched: paid,
    due: wanted === null ? null : Decimals.less(wanted, paid),
    lines: Array.isArray(lines)
      ? (lines as ReadonlyArray<Row>).map(({ amount, line, statementId }) => ({
          statementId: String(statementId),
          line: String(line),
          amount: String(amount)
        }))
      : []
  }
}

/** Facts of the contracts that an order has on the ledger. */
export const contractFacts = (order: Row): ReadonlyArray<Fact> => {
  const parts: ReadonlyArray<readonly [member: string, rows: ReadonlyArray<FactRow>]> = [
    [
      "lot",
      [
        { member: "lotId", name: "Lot" },
        { member: "units", name: "Units of the lot", ...units },
        { member: "remaining", name: "Left of the lot", ...units },
        { member: "basePrice", name: "Base price of the lot" },
        { member: "cid", name: "Contract of the lot" }
      ]
    ],
    [
      "allocation",
      [
        { member: "amount", name: "Allocated" },
        { member: "settleBefore", name: "Allocated until" },
        { member: "cid", name: "Contract of the allocation" }
      ]
    ],
    [
      "unitsAllocation",
      [
        { member: "amount", name: "Units allocated", ...units },
        { member: "settleBefore", name: "Units allocated until" },
        { member: "cid", name: "Contract of the units' allocation" }
      ]
    ]
  ]
  return [
    ...parts.flatMap(([member, rows]) => {
      const value = order[member]
      return isRow(value)
        ? factsOf(value, rows).map((fact) => ({ ...fact, member: `${member}/${fact.member}` }))
        : []
    }),
    ...factsOf(order, [{ member: "burnRequestCid", name: "Request to burn" }])
  ]
}

/** Sentence of each act of an order, beside its button. */
export const actSays: Readonly<Record<string, string>> = {
  "subscription.withdraw": "Withdraws the claim before it is priced. Nothing has moved.",
  "subscription.deliver": "Mints the units to the holder; the cash is settled afterwards.",
  "subscription.settle": "Takes the cash to the fund and closes the order.",
  "subscription.release": "Gives up the priced order: no unit is delivered.",
  "redemption.withdraw": "Withdraws the claim before its units are burned.",
  "redemption.settle": "Pays the proceeds and ends the order.",
  "redemption.release": "Gives up the order before its units are burned."
}

/** Columns of the lists of orders. */
export const orderColumns: Readonly<Record<OrderKind, ReadonlyArray<ColumnRow>>> = {
  subscription: [
    { member: "orderState", title: "State", as: "state" },
    { member: "instrumentId", title: "Instrument" },
    { member: "holderId", title: "Holder" },
    { member: "amount", as: "figure", unitOf: "currency" },
    { member: "units", as: "figure" },
    { member: "waitingOn", as: "moves" },
    { member: "settleBy", as: "deadline" }
  ],
  redemption: [
    { member: "orderState", title: "State", as: "state" },
    { member: "instrumentId", title: "Instrument" },
    { member: "holderId", title: "Holder" },
    { member: "units", as: "figure" },
    { member: "proceeds", as: "figure", unitOf: "currency" },
    { member: "waitingOn", as: "moves" },
    { member: "settleBy", as: "deadline" }
  ]
}

/** How an order ended besides its state, in words; empty where there is nothing to say. */
export const remarks = (row: Row): ReadonlyArray<string> => [
  ...(row["recovered"] === true ? ["Recovered: it went on under the holder's successor."] : []),
  ...(row["lost"] === true ? ["Lost: the ledger no longer has its contract."] : [])
]

/** Number of the orders of a page by state, the most frequent first. */
export const counted = (
  rows: ReadonlyArray<Row>
): ReadonlyArray<readonly [state: string, count: number]> => {
  const counts = new Map<string, number>()
  for (const { state } of rows) {
    if (typeof state === "string") counts.set(state, (counts.get(state) ?? 0) + 1)
  }
  return [...counts].toSorted(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
}

/** Orders whose deadline has passed come first on the line over the table. */
export const overdueCount = (rows: ReadonlyArray<Row>, isPast: (at: string) => boolean): number =>
  rows.filter(({ by }) => typeof by === "string" && isPast(by)).length

/** Page of an open order, by its kind. */
export const pageOf = (row: Row): string | null => {
  const id = encodeURIComponent(String(row["orderId"] ?? ""))
  return row["kind"] === "subscription"
    ? `subscriptions/${id}`
    : row["kind"] === "redemption"
      ? `redemptions/${id}`
      : null
}
