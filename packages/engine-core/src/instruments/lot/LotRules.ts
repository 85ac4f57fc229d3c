/**
 * Pure rules of lots: the fold of lots over movements of units, oldest lot first
 * (docs/domain/lots.md).
 */
import * as Currency from "../../kernel/Currency.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Formula from "../../kernel/Formula.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import type { Movement } from "../register/Movement.ts"
import { idOf, type RegisterEntry } from "../register/RegisterEntry.ts"
import {
  type Acquisition,
  type EqualisationLot,
  evolve,
  isOpen,
  type Lot,
  type Part
} from "./Lot.ts"
import { lotPart } from "./LotFormulas.ts"

/** The members of a movement that lots depend on. */
export type LotMovement = Pick<
  Movement,
  | "registrar"
  | "instrumentId"
  | "seq"
  | "kind"
  | "from"
  | "to"
  | "units"
  | "ledgerTime"
  | "reference"
>

export interface Changes {
  /** The units that left the giver's lots, oldest first; none where they were minted. */
  readonly parts: ReadonlyArray<Part>
  /** The lots that came into the receiver's books; none where the units were burned. */
  readonly opened: ReadonlyArray<Lot>
  /** Units of the movement that the giver's lots lack; 0 while lots and register agree. */
  readonly missing: Decimal.Decimal
}

/**
 * Computes what one movement does to lots. Minted units open a lot; burned units
 * are relieved from the giver's oldest lots; units that change hands leave the giver's oldest lots
 * and open one lot for each of them in the receiver's books, with its date, base price, origin and
 * share of the cost; but for a recovery, with the time at which they were received. A lock changes
 * nothing. `lots` are the giver's open lots, oldest first, at
 * least as many as hold the units.
 */
export const changesOf = (
  movement: LotMovement,
  {
    lots,
    acquisition
  }: { readonly lots: ReadonlyArray<Lot>; readonly acquisition: Acquisition | null }
): Changes => {
  const { from, to, units } = movement
  if (from === to) return { parts: [], opened: [], missing: Decimal.zero }
  if (from === null) {
    return { parts: [], opened: opened(movement, acquisition), missing: Decimal.zero }
  }
  const parts = partsOf(lots, units)
  return {
    parts,
    opened:
      to === null
        ? []
        : parts.map((part, index) =>
            received(part, { movement, party: to, lotId: numbered(movement, index) })
          ),
    missing: Decimal.subtract(units, Decimal.sum(parts.map((part) => part.units)))
  }
}

/** The lot of minted units; without an acquisition it has neither base price nor cost. */
const opened = (movement: LotMovement, acquisition: Acquisition | null): ReadonlyArray<Lot> => {
  const { registrar, instrumentId, to: party, units, ledgerTime, reference } = movement
  if (party === null) return []
  const { lotId, ...paid } = acquisition ?? { ...unpaid, lotId: null, origin: reference }
  return [
    {
      ...{ registrar, instrumentId, party, units, ...paid },
      lotId: lotId ?? numbered(movement, 0),
      acquiredAt: ledgerTime,
      receivedAt: null,
      remaining: units,
      costLeft: paid.cost
    }
  ]
}

const unpaid = { basePrice: null, cost: null, currency: null } as const

/**
 * Id of the lot that a movement opens: its number and the place among the lots that it opens, with
 * leading zeros, so that lots of one instant sort as they came in. It has a sign that no record's id
 * may have, and so equals the id of no subscription.
 */
export const numbered = ({ seq }: Pick<LotMovement, "seq">, index: number): string =>
  `${Offset.sortable(Offset.of(seq))}/${Offset.sortable(Offset.of(index))}`

/** The receiver's lot of units that changed hands. */
const received = (
  { lot, units, cost }: Part,
  { movement, party, lotId }: Pick<Lot, "party" | "lotId"> & { readonly movement: LotMovement }
): Lot => ({
  ...{ ...lot, lotId, party, units, remaining: units, cost, costLeft: cost },
  receivedAt: movement.kind === "recovery" ? lot.receivedAt : movement.ledgerTime
})

/**
 * Splits units that leave a party's books into parts of its lots. A part's cost is hu(costLeft ·
 * part / remaining) at the places of its currency (`lot-part`); the last part of a lot takes the
 * cost that is left, so that parts add up to the lot's cost.
 */
const partsOf = (lots: ReadonlyArray<Lot>, units: Decimal.Decimal): ReadonlyArray<Part> => {
  const parts: Array<Part> = []
  let wanted = units
  for (const lot of lots) {
    if (Decimal.isZero(wanted)) break
    const part = Decimal.min(wanted, lot.remaining)
    parts.push({ lot, units: part, cost: costOfPart(lot, part) })
    wanted = Decimal.subtract(wanted, part)
  }
  return parts
}

const costOfPart = (lot: Lot, part: Decimal.Decimal): Decimal.Decimal | null =>
  lot.costLeft === null || lot.currency === null
    ? null
    : shareOf({ amount: lot.costLeft, part, units: lot.remaining, currency: lot.currency })

interface SharedAmount {
  readonly amount: Decimal.Decimal
  readonly part: Decimal.Decimal
  readonly units: Decimal.Decimal
  readonly currency: string
}

const shareOf = ({ currency, ...inputs }: SharedAmount): Decimal.Decimal =>
  Formula.compute(lotPart, { ...inputs, cashDecimals: Currency.decimals(currency) }).share

/** The giver's lot after the units of the part have left it. */
export const leftOf = ({ lot, ...part }: Part): Lot => evolve(lot, part)

/** Order in which lots are relieved: by the instant they were acquired at, then by id. */
export const compare = (self: Lot, that: Lot): number => {
  const byAge = Instant.compare(self.acquiredAt, that.acquiredAt)
  if (byAge !== 0) return byAge
  return self.lotId < that.lotId ? -1 : self.lotId > that.lotId ? 1 : 0
}

// ---- fold

/** Open lots, oldest first, by the id of the party's register entry (`RegisterEntry.idOf`). */
export type Books = ReadonlyMap<string, ReadonlyArray<Lot>>

/** A movement with the acquisition that it brought; null where it minted nothing that has a price. */
export interface Step {
  readonly movement: LotMovement
  readonly acquisition: Acquisition | null
}

/**
 * Fold: the open lots after the movements, from those before them. The movements of an instrument
 * come in order of their numbers; several instruments may be mixed.
 */
export const fold = (before: Books, steps: Iterable<Step>): Books => {
  const books: OpenBooks = new Map([...before].map(([id, lots]) => [id, [...lots]]))
  for (const step of steps) enter(books, step)
  return books
}

/** Books that `enter` changes. */
export type OpenBooks = Map<string, Array<Lot>>

/**
 * Enters one movement into the books, which it changes in place, and returns the lots that changed.
 */
export const enter = (books: OpenBooks, { movement, acquisition }: Step): Changes => {
  const giver = movement.from === null ? null : idOf({ ...movement, party: movement.from })
  const lots = (giver === null ? undefined : books.get(giver)) ?? []
  const changes = changesOf(movement, { lots, acquisition })
  const { parts, opened } = changes
  const left = parts.map(leftOf).filter(isOpen)
  lots.splice(0, parts.length, ...left)
  if (giver !== null && lots.length === 0) books.delete(giver)
  const [first] = opened
  if (first === undefined) return changes
  const receiver = idOf(first)
  const held = books.get(receiver) ?? []
  books.set(receiver, held)
  add(held, opened)
  return changes
}

/** Adds lots, oldest first, to a party's lots; minted units are the youngest and need no sorting. */
const add = (lots: Array<Lot>, opened: ReadonlyArray<Lot>): void => {
  const youngest = lots.at(-1)
  for (const lot of opened) lots.push(lot)
  const [first] = opened
  if (youngest !== undefined && first !== undefined && compare(youngest, first) > 0) {
    lots.sort(compare)
  }
}

/**
 * The lots that a projection which began from a snapshot begins with: one for each party that holds
 * units, acquired at the snapshot's ledger time, without base price and cost.
 */
export const ofSnapshot = (
  entries: Iterable<Pick<RegisterEntry, "registrar" | "instrumentId" | "party" | "units">>,
  at: Instant.Instant
): ReadonlyArray<Lot> =>
  [...entries]
    .filter(({ units }) => Decimal.isPositive(units))
    .map(({ registrar, instrumentId, party, units }) => ({
      ...{ registrar, instrumentId, party, units, ...unpaid },
      lotId: snapshotLotIdOf(party),
      acquiredAt: at,
      receivedAt: null,
      remaining: units,
      costLeft: null,
      origin: null
    }))

/** Id of the lot that a party begins with where the projection began from a snapshot. */
export const snapshotLotIdOf = (party: string): string => `${Offset.sortable(Offset.zero)}/${party}`

// ---- figures of lots

/** Sums the units that remain of the lots. */
export const remainingOf = (lots: Iterable<Pick<Lot, "remaining">>): Decimal.Decimal =>
  Decimal.sum(Array.from(lots, ({ remaining }) => remaining))

/** Sums the cost that is left of the lots; null where one of them has none, which is not 0. */
export const costOf = (lots: ReadonlyArray<Pick<Lot, "costLeft">>): Decimal.Decimal | null => {
  const costs = lots.flatMap(({ costLeft }) => (costLeft === null ? [] : [costLeft]))
  return costs.length === lots.length ? Decimal.sum(costs) : null
}

/**
 * Splits the proceeds of burned units over the parts of lots that they were relieved from, in their
 * order, by `lot-part`: each takes its share of what is left, half up at the currency's places, and
 * the last takes the rest.
 */
export const proceedsOf = (
  parts: ReadonlyArray<Pick<Part, "units">>,
  { proceeds, currency }: { readonly proceeds: Decimal.Decimal; readonly currency: string }
): ReadonlyArray<Decimal.Decimal> => {
  let units = Decimal.sum(parts.map((part) => part.units))
  let amount = proceeds
  return parts.map((part) => {
    const share = shareOf({ amount, part: part.units, units, currency })
    units = Decimal.subtract(units, part.units)
    amount = Decimal.subtract(amount, share)
    return share
  })
}

/** Income of an instrument that was distributed before, as the equalisation of a holder depends on it. */
interface DistributedIncome {
  /** End of the record date of the holder's last line with a gross above 0; null: it had none. */
  readonly paidUntil: Instant.Instant | null
  /** Ends of the record dates of earlier distributions with an entitlement above 0. */
  readonly incomeEnds: ReadonlyArray<Instant.Instant>
}

/**
 * The lots that a holder's equalisation is computed from: those with a base price whose units bought
 * income that no line has paid yet, and that no other holder was entitled to
 * (docs/domain/lots.md#equalisation).
 */
export const equalisationLots = (
  lots: ReadonlyArray<Lot>,
  { incomeEnds, paidUntil }: DistributedIncome
): ReadonlyArray<EqualisationLot> =>
  lots.flatMap((lot) => {
    const { lotId, remaining, basePrice, acquiredAt } = lot
    const isPaid = paidUntil !== null && Instant.isBefore(acquiredAt, paidUntil)
    return basePrice === null || isPaid || incomeEnds.some((end) => wasElsewhere(lot, end))
      ? []
      : [{ lotId, remaining, basePrice }]
  })

/** Checks whether another holder had the lot's units at an instant, and not yet this one. */
const wasElsewhere = (
  { acquiredAt, receivedAt }: Pick<Lot, "acquiredAt" | "receivedAt">,
  at: Instant.Instant
): boolean =>
  receivedAt !== null && Instant.isBefore(acquiredAt, at) && Instant.atOrBefore(at, receivedAt)
