/** What the pages of orders show, computed from their records: the strip of states, and acts by state. */

/** A step of an order's life: reached at an instant, or still ahead. */
export interface Step {
  readonly name: string
  readonly at: string | null
}

type Row = Readonly<Record<string, unknown>>

const at = (row: Row, member: string): string | null => {
  const value = row[member]
  return typeof value === "string" ? value : null
}

/** Strip of a subscription: the instants it was claimed, priced, delivered and ended. */
export const subscriptionSteps = (row: Row): ReadonlyArray<Step> => [
  { name: "claimed", at: at(row, "claimedAt") },
  { name: "priced", at: at(row, "pricedAt") },
  { name: "delivered", at: at(row, "deliveredAt") },
  { name: typeof row["endedAs"] === "string" ? row["endedAs"] : "settled", at: at(row, "endedAt") }
]

/** Strip of a redemption. */
export const redemptionSteps = (row: Row): ReadonlyArray<Step> => [
  { name: "claimed", at: at(row, "claimedAt") },
  { name: "priced", at: at(row, "pricedAt") },
  { name: "funded", at: at(row, "fundedAt") },
  { name: "burned", at: at(row, "burnedAt") },
  {
    name: typeof row["endedAs"] === "string" ? row["endedAs"] : "settled",
    at: at(row, "endedAt") ?? at(row, "settledAt")
  }
]

/** Members of a subscription's terms, in the order of the page. */
export const subscriptionTerms = [
  "instrumentId",
  "holderId",
  "party",
  "orderedAs",
  "amount",
  "units",
  "currency",
  "payment",
  "fee",
  "price",
  "pointCid",
  "policyVersion",
  "cutOffAt",
  "dealingDate",
  "cycleId",
  "settleBy",
  "valueDate",
  "index",
  "baseUnits"
] as const

export const redemptionTerms = [
  "instrumentId",
  "holderId",
  "party",
  "orderedAs",
  "amount",
  "units",
  "currency",
  "payment",
  "fee",
  "price",
  "proceeds",
  "pointCid",
  "policyVersion",
  "cutOffAt",
  "dealingDate",
  "cycleId",
  "settleBy",
  "valueDate",
  "index",
  "baseUnits"
] as const

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
