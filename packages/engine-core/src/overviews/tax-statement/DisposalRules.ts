/**
 * Pure rules of disposals: which lots the units came from that left a party's books, at what cost and
 * for what proceeds (docs/domain/reports.md#disposals).
 */
import type { Lot, Part } from "../../instruments/lot/Lot.ts"
import { isOpen } from "../../instruments/lot/Lot.ts"
import * as LotRules from "../../instruments/lot/LotRules.ts"
import type { PartyMovement } from "../../instruments/register/Movement.ts"
import * as Decimal from "../../kernel/Decimal.ts"

/** Units of a lot that left by a movement, with their share of the proceeds. */
export interface Disposed {
  readonly movement: PartyMovement
  readonly part: Part
  readonly proceeds: Decimal.Decimal | null
  /** Inputs of the share of the proceeds; null without proceeds. */
  readonly shared: { readonly amount: Decimal.Decimal; readonly units: Decimal.Decimal } | null
}

/** Books of one party in one instrument, from its first movement on. */
export interface Books {
  readonly party: string
  /** Every lot of the party, emptied ones too. */
  readonly lots: ReadonlyArray<Lot>
  /** In the order of their numbers, without locks. */
  readonly movements: ReadonlyArray<PartyMovement>
}

/**
 * Number of the movement that opened a lot: a snapshot's lots are there before the first. Null: the
 * lot of an act whose movement is later than all of these.
 */
const openedBy = (lot: Lot, movements: ReadonlyArray<PartyMovement>): number | null => {
  const [numbered, rest] = lot.lotId.split("/")
  if (rest !== undefined) return Number(numbered)
  const mint = movements.find(
    ({ to, reference }) => to === lot.party && reference?.id === lot.lotId
  )
  return mint?.seq ?? null
}

/** The lot as it came in. */
const asOpened = (lot: Lot): Lot => ({ ...lot, remaining: lot.units, costLeft: lot.cost })

/**
 * Folds the party's movements over its lots, the oldest lot first, as the ledger of lots does, and
 * returns the parts that left by movements of which `isDisposal` holds.
 */
export const partsOf = (
  { party, lots, movements }: Books,
  isDisposal: (movement: PartyMovement) => boolean
): ReadonlyArray<Pick<Disposed, "movement" | "part">> => {
  const opened = Map.groupBy(lots.map(asOpened), (lot) => openedBy(lot, movements))
  let open = [...(opened.get(0) ?? [])].toSorted(LotRules.compare)
  const found: Array<Pick<Disposed, "movement" | "part">> = []
  for (const movement of movements) {
    if (movement.to === party) {
      open = [...open, ...(opened.get(movement.seq) ?? [])].toSorted(LotRules.compare)
      continue
    }
    const { parts } = LotRules.changesOf(movement, { lots: open, acquisition: null })
    open = [...parts.map(LotRules.leftOf).filter(isOpen), ...open.slice(parts.length)]
    if (isDisposal(movement)) found.push(...parts.map((part) => ({ movement, part })))
  }
  return found
}

const actOf = ({ reference }: PartyMovement): string =>
  reference === null ? "" : `${reference.resourceKind} ${reference.id}`

/** Proceeds of an act that burned units, in a currency. */
export interface Proceeds {
  readonly proceeds: Decimal.Decimal
  readonly currency: string
}

/**
 * Splits the proceeds of each act over the parts that it burned, in their order: the last part takes
 * what is left, so that the parts of an act add up to its proceeds.
 */
export const withProceeds = (
  parts: ReadonlyArray<Pick<Disposed, "movement" | "part">>,
  proceedsOf: (movement: PartyMovement) => Proceeds | null
): ReadonlyArray<Disposed> => {
  const byAct = Map.groupBy(parts, ({ movement }) => actOf(movement))
  const shares = new Map<Part, Pick<Disposed, "proceeds" | "shared">>()
  for (const [, of] of byAct) {
    const paid = proceedsOf(of[0]!.movement)
    if (paid === null) continue
    let units = Decimal.sum(of.map(({ part }) => part.units))
    let amount = paid.proceeds
    const split = LotRules.proceedsOf(
      of.map(({ part }) => part),
      paid
    )
    for (const [nth, { part }] of of.entries()) {
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
