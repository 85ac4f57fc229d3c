/** Pure rule: which items in flight explain a difference (docs/domain/reconciliation.md#explained). */
import * as Decimal from "../kernel/Decimal.ts"
import * as Instant from "../kernel/Instant.ts"
import type { Finding } from "./Finding.ts"

/** An item in flight, such as an order that is priced and not delivered. */
export interface ExplainedItem {
  readonly resourceKind: Finding["subject"]["resourceKind"]
  readonly id: string
  /** Part of the difference that the item accounts for: actual less expected. */
  readonly amount: Decimal.Decimal
  /** Instant since which the item is in flight: the oldest are taken first. */
  readonly since: Instant.Instant
}

/** The items that may explain one difference. */
export interface Items {
  /** Items that the statement's basis already counts or no longer counts; every one is taken. */
  readonly must: ReadonlyArray<ExplainedItem>
  /** Items in flight between the statement's moment and its day; taken only where they fit. */
  readonly may: ReadonlyArray<ExplainedItem>
}

export const noItems: Items = { must: [], may: [] }

/** The difference, split into what items explain and the rest. */
interface Split {
  readonly explained: Finding["explained"]
  /** The difference less the explained amount. */
  readonly unexplained: Decimal.Decimal
}

/**
 * Splits a difference into what items explain of it and the rest. Items are taken whole: every
 * `must` item; then, where the rest is beyond the tolerance, of the `may` items the oldest that alone
 * brings the rest within it, else all of them where together they do, else from the oldest on each
 * that brings the rest nearer to zero without passing it.
 */
export const explain = (
  difference: Decimal.Decimal,
  { must, may, tolerance }: Items & { readonly tolerance: Decimal.Decimal }
): Split => {
  const rest = Decimal.subtract(difference, sumOf(must))
  const taken = [...oldestFirst(must), ...fitting(rest, { may: oldestFirst(may), tolerance })]
  const amount = sumOf(taken)
  return {
    explained: {
      amount,
      by: taken.map((item) => ({
        resourceKind: item.resourceKind,
        id: item.id,
        amount: item.amount
      }))
    },
    unexplained: Decimal.subtract(difference, amount)
  }
}

/** The `may` items that are taken of a rest, in their order. */
const fitting = (
  rest: Decimal.Decimal,
  { may, tolerance }: Pick<Items, "may"> & { readonly tolerance: Decimal.Decimal }
): ReadonlyArray<ExplainedItem> => {
  const isWithin = (amount: Decimal.Decimal): boolean =>
    Decimal.atMost(Decimal.abs(Decimal.subtract(rest, amount)), tolerance)
  if (isWithin(Decimal.zero)) return []
  const alone = may.find(({ amount }) => isWithin(amount))
  if (alone !== undefined) return [alone]
  return isWithin(sumOf(may)) ? may : nearing(rest, may)
}

/** The items, from the first on, that each bring the rest nearer to zero without passing it. */
const nearing = (
  rest: Decimal.Decimal,
  may: ReadonlyArray<ExplainedItem>
): ReadonlyArray<ExplainedItem> => {
  const isNegative = Decimal.isNegative(rest)
  let left = rest
  return may.filter(({ amount }) => {
    const isNearer =
      !Decimal.isZero(amount) &&
      Decimal.isNegative(amount) === isNegative &&
      Decimal.atMost(Decimal.abs(amount), Decimal.abs(left))
    if (isNearer) left = Decimal.subtract(left, amount)
    return isNearer
  })
}

const sumOf = (items: ReadonlyArray<ExplainedItem>): Decimal.Decimal =>
  Decimal.sum(items.map(({ amount }) => amount))

/** Total order of items, so that the order in which they were loaded decides nothing. */
const oldestFirst = (items: ReadonlyArray<ExplainedItem>): ReadonlyArray<ExplainedItem> =>
  items.toSorted(
    (a, b) =>
      Instant.order(a.since, b.since) ||
      textOrder(a.id, b.id) ||
      textOrder(a.resourceKind, b.resourceKind) ||
      Decimal.compare(a.amount, b.amount)
  )

const textOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)
