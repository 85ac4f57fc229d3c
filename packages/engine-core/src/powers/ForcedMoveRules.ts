/**
 * Pure rules of forced moves: choice of holdings, release of locks, limit of one transaction.
 */
import * as Decimal from "../kernel/Decimal.ts"
import type { ReleasedLock } from "../templates/Powers.ts"

/** Largest number of moves of one act, whose figures an approver can still read. */
export const movesMax = 100

/** Lock of a holding, and the contract that locks it; null where the lock has expired. */
export interface Lock {
  readonly lockedBy: ReleasedLock
  readonly contractId: string | null
}

/** A holding of the holder; `stuck`: locked by a contract that no forced move releases. */
export interface MovePosition {
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

export interface PickedPortions {
  readonly portions: ReadonlyArray<Portion>
  /** Missing units: asked for and not held. */
  readonly short: Decimal.Decimal
  /** Stuck units: locked by a contract that no forced move releases. */
  readonly stuckUnits: Decimal.Decimal
}

/** Input contracts of a forced move besides holdings and their locks. */
const perMove = 6

/**
 * Input contracts of a portion: the holding, and for a lock at most an allocation and a commitment.
 */
const inputsOf = ({ lock }: Portion): number => (lock === null ? 1 : 3)

const rank = ({ lock }: MovePosition): number => {
  if (lock === "free") return 0
  return lock === "stuck" ? 2 : 1
}

/**
 * Order of choice: free holdings first, to release few locks; then the largest, to use few
 * contracts.
 */
const inOrder = (positions: ReadonlyArray<MovePosition>): ReadonlyArray<MovePosition> =>
  positions.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      Decimal.compare(b.amount, a.amount) ||
      (a.holdingCid < b.holdingCid ? -1 : 1)
  )

/** Chooses the holdings from which so many units move; `all`: every holding as a whole. */
export const pick = (
  positions: ReadonlyArray<MovePosition>,
  units: Decimal.Decimal | "all"
): PickedPortions => {
  const held = Decimal.sum(positions.map(({ amount }) => amount))
  let left = units === "all" ? held : units
  const portions: Array<Portion> = []
  let stuckUnits = Decimal.zero
  for (const { amount, holdingCid, lock } of inOrder(positions)) {
    if (!Decimal.isPositive(left)) break
    const part = Decimal.min(amount, left)
    left = Decimal.subtract(left, part)
    if (lock === "stuck") stuckUnits = Decimal.add(stuckUnits, part)
    else portions.push({ holdingCid, amount: part, lock: lock === "free" ? null : lock })
  }
  return { portions, short: left, stuckUnits }
}

/** Locks that a choice releases, with all units of the holding: a lock ends as a whole. */
export const releasedOf = (
  { portions }: Pick<PickedPortions, "portions">,
  positions: ReadonlyArray<MovePosition>
): ReadonlyArray<Lock & { readonly holdingCid: string; readonly amount: Decimal.Decimal }> => {
  const whole = new Map(positions.map(({ amount, holdingCid }) => [holdingCid, amount]))
  return portions.flatMap(({ amount, holdingCid, lock }) =>
    lock === null ? [] : [{ ...lock, holdingCid, amount: whole.get(holdingCid) ?? amount }]
  )
}

/**
 * The moves, in their order, that fit the largest number of inputs of one transaction; and whether
 * all do.
 */
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
