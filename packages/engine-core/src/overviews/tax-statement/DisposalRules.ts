/**
 * Pure rules of disposals: the lots of units that left a party's books, with their cost and their
 * proceeds (docs/domain/reports.md#disposals).
 */
import { idOf as lotIdOf, type Lot, type Part } from "../../instruments/lot/Lot.ts"
import * as LotRules from "../../instruments/lot/LotRules.ts"
import type { PartyMovement } from "../../instruments/register/Movement.ts"
import { idOf } from "../../instruments/register/RegisterEntry.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"

/** Units of a lot that left by a movement, with their share of the proceeds. */
export interface DisposedUnits {
  readonly movement: PartyMovement
  readonly part: Part
  readonly proceeds: Decimal.Decimal | null
  /** Inputs of the share of the proceeds; null without proceeds. */
  readonly shared: { readonly amount: Decimal.Decimal; readonly units: Decimal.Decimal } | null
}

/** The lot as it came in. */
export const asOpened = (lot: Lot): Lot => ({ ...lot, remaining: lot.units, costLeft: lot.cost })

/**
 * Enters a movement, as one of its parties sees it, into the open lots of parties, and returns the parts
 * of lots that left the party's books: the oldest lot first, as in the ledger of lots. `opened` are the
 * lots that the movement brought.
 */
export const enter = (
  books: LotRules.OpenBooks,
  movement: PartyMovement,
  opened: ReadonlyArray<Lot>
): ReadonlyArray<Part> => {
  if (movement.from === movement.party) {
    // The receiver's books are entered by its own side of the movement.
    return LotRules.enter(books, { movement: { ...movement, to: null }, acquisition: null }).parts
  }
  const entry = idOf(movement)
  books.set(
    entry,
    [...(books.get(entry) ?? []), ...opened.map(asOpened)].toSorted(LotRules.compare)
  )
  return []
}

/** Ids of the lots that a movement into a party's books may have opened, from the place `from` on. */
export const openedIdsOf = (
  movement: PartyMovement,
  { from, count }: { readonly from: number; readonly count: number }
): ReadonlyArray<string> => {
  const { reference } = movement
  const places = Array.from({ length: count }, (_, nth) => LotRules.numbered(movement, from + nth))
  // The lot of a subscription has the id of its order.
  const named = from === 0 && reference?.resourceKind === "subscription" ? [reference.id] : []
  return [...named, ...places].map((lotId) => lotIdOf({ ...movement, lotId }))
}

/**
 * Returns those of the lots that were looked up which a movement opened. A second mint in the name of a
 * subscription has a number of its own, and is not the lot of the order.
 */
export const openedOf = (
  movement: PartyMovement,
  found: ReadonlyArray<Lot>
): ReadonlyArray<Lot> => {
  const { ledgerTime, party, reference, units } = movement
  const numbered = found.filter(({ lotId }) => lotId !== reference?.id)
  if (numbered.length > 0) return numbered
  return found.filter(
    (lot) =>
      lot.party === party && lot.units === units && Instant.equals(lot.acquiredAt, ledgerTime)
  )
}

const actOf = ({ reference }: PartyMovement): string =>
  reference === null ? "" : `${reference.resourceKind} ${reference.id}`

/** Proceeds of an act that burned units, in a currency. */
export interface Proceeds {
  readonly proceeds: Decimal.Decimal
  readonly currency: string
}

/**
 * Splits the proceeds of each act over the parts that it paid for, in their order: the last part
 * takes the rest, so that the parts of an act add up to its proceeds.
 */
export const withProceeds = (
  parts: ReadonlyArray<Pick<DisposedUnits, "movement" | "part">>,
  proceedsOf: (movement: PartyMovement) => Proceeds | null
): ReadonlyArray<DisposedUnits> => {
  const paidParts = parts.filter(({ movement }) => proceedsOf(movement) !== null)
  const byAct = Map.groupBy(paidParts, ({ movement }) => actOf(movement))
  const shares = new Map<Part, Pick<DisposedUnits, "proceeds" | "shared">>()
  for (const [, partsOfAct] of byAct) {
    const paid = proceedsOf(partsOfAct[0]!.movement)
    if (paid === null) continue
    let units = Decimal.sum(partsOfAct.map(({ part }) => part.units))
    let amount = paid.proceeds
    const split = LotRules.proceedsOf(
      partsOfAct.map(({ part }) => part),
      paid
    )
    for (const [nth, { part }] of partsOfAct.entries()) {
      const proceeds = split[nth]!
      shares.set(part, { proceeds, shared: { amount, units } })
      units = Decimal.subtract(units, part.units)
      amount = Decimal.subtract(amount, proceeds)
    }
  }
  return parts.map(({ movement, part }) => ({
    movement,
    part,
    ...(shares.get(part) ?? { proceeds: null, shared: null })
  }))
}
