/**
 * Pure rules of forced moves: which holdings to move, which locks to release, how many fit one
 * transaction.
 */
import * as Decimal from "../kernel/Decimal.ts"
import type { ReleasedLock } from "../templates/Powers.ts"

/** How many moves one act may name or come to: so many figures a person can still look at. */
export const movesMax = 100

/** Lock of a holding and the contract behind it; null where the lock has expired. */
export interface Lock {
  readonly lockedBy: ReleasedLock
  readonly contractId: string | null
}

/** A holding of the holder's, free or locked; `stuck`: by something that no forced move releases. */
export interface Position {
  readonly holdingCid: string
  readonly amount: Decimal.Decimal
  readonly lock: Lock | "free" | "stuck"
}

/** The moved part of one holding; the rest stays with the holder. */
export interface Portion {
  readonly holdingCid: string
  readonly amount: Decimal.Decimal
  readonly lock: Lock | null
}

export interface Picked {
  readonly portions: ReadonlyArray<Portion>
  /** Missing units: asked for and not held. */
  readonly short: Decimal.Decimal
  /** Stuck units: locked by a contract that no forced move releases. */
  readonly stuck: Decimal.Decimal
}

/** Contracts of earlier transactions that a forced move uses besides holdings and what locks them. */
const perMove = 6

/** The holding alone, or with what locks it: at most an allocation and a commitment behind it. */
const inputsOf = ({ lock }: Portion): number => (lock === null ? 1 : 3)

const rank = ({ lock }: Position): number => {
  if (lock === "free") return 0
  return lock === "stuck" ? 2 : 1
}

/** Free units first, so that no lock ends that need not; then the largest, so that few contracts do. */
const inOrder = (positions: ReadonlyArray<Position>): ReadonlyArray<Position> =>
  positions.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      Decimal.compare(b.amount, a.amount) ||
      (a.holdingCid < b.holdingCid ? -1 : 1)
  )

/** The holdings from which so many units move; `all`: every one of them, whole. */
export const pick = (
  positions: ReadonlyArray<Position>,
  units: Decimal.Decimal | "all"
): Picked => {
  const held = Decimal.sum(positions.map(({ amount }) => amount))
  let left = units === "all" ? held : units
  const portions: Array<Portion> = []
  let stuck = Decimal.zero
  for (const { amount, holdingCid, lock } of inOrder(positions)) {
    if (!Decimal.isPositive(left)) break
    const part = Decimal.min(amount, left)
    left = Decimal.subtract(left, part)
    if (lock === "stuck") stuck = Decimal.add(stuck, part)
    else portions.push({ holdingCid, amount: part, lock: lock === "free" ? null : lock })
  }
  return { portions, short: left, stuck }
}

/** How many units of a locked holding are released: a lock ends whole, whatever part of it moves. */
export const releasedOf = (
  { portions }: Pick<Picked, "portions">,
  positions: ReadonlyArray<Position>
): ReadonlyArray<Lock & { readonly holdingCid: string; readonly amount: Decimal.Decimal }> => {
  const whole = new Map(positions.map(({ amount, holdingCid }) => [holdingCid, amount]))
  return portions.flatMap(({ amount, holdingCid, lock }) =>
    lock === null ? [] : [{ ...lock, holdingCid, amount: whole.get(holdingCid) ?? amount }]
  )
}

/** As much of the moves, in their order, as one transaction may use contracts; and whether that is all. */
export const fitting = <M extends { readonly portions: ReadonlyArray<Portion> }>(
  moves: ReadonlyArray<M>,
  inputsMax: number
): { readonly moves: ReadonlyArray<M>; readonly isAll: boolean } => {
  let room = inputsMax
  const taken: Array<M> = []
  for (const move of moves) {
    room -= perMove
    const portions: Array<Portion> = []
    for (const portion of move.portions) {
      room -= inputsOf(portion)
      if (room < 0) break
      portions.push(portion)
    }
    if (portions.length > 0) taken.push({ ...move, portions })
    if (portions.length < move.portions.length) return { moves: taken, isAll: false }
  }
  return { moves: taken, isAll: true }
}
