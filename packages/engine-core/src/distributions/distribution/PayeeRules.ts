/**
 * Pure rules of the payees of a register's units: a chain of successors is one payee, its last
 * holder (docs/domain/distributions.md#payees).
 */
import type { Holder } from "../../holders/holder/Holder.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { isRecovered, type Recovery } from "../../powers/Recovery.ts"
import type { PayeePosition } from "./DistributionRules.ts"

/** A holder with the recovery of its units of one instrument; null: none was recovered. */
export interface Succession {
  readonly holder: Pick<Holder, "state" | "successor">
  readonly recovery: Pick<Recovery, "toHolderId" | "moved" | "told"> | null
}

/** Name of a successor: a recovery names its holder, and a succeeded holder its party. */
export type PayeeSuccessor =
  | { readonly by: "holder"; readonly holderId: string }
  | { readonly by: "party"; readonly party: string }

/**
 * Returns the successor to whom a holder's income of an instrument belongs: the one that its units of
 * the instrument were recovered to, once the recovery has ended; of a holder that is succeeded
 * altogether, and had no units of this instrument left, its registered successor. Null: the holder's
 * income is its own.
 */
export const successorOf = ({ holder, recovery }: Succession): PayeeSuccessor | null => {
  if (recovery !== null && isRecovered(recovery)) {
    return { by: "holder", holderId: recovery.toHolderId }
  }
  const { state, successor } = holder
  return state === "succeeded" && successor !== null
    ? { by: "party", party: successor.party }
    : null
}

/** Checks whether a successor is named by its holder id or by its party. */
export const isNamed = (
  { holderId, party }: Pick<Holder, "holderId" | "party">,
  successor: PayeeSuccessor | null
): boolean => {
  switch (successor?.by) {
    case "holder":
      return successor.holderId === holderId
    case "party":
      return successor.party === party
    case undefined:
      return false
  }
}

/**
 * Returns the position of a chain of successors: units, units by point, carries and lots of all its
 * holders, added before anything is rounded. The rate is the last holder's, and an unrolled line of
 * any of them leaves the payee out.
 */
export const positionOfChain = (
  payee: PayeePosition,
  predecessors: ReadonlyArray<PayeePosition>
): PayeePosition => {
  if (predecessors.length === 0) return payee
  const all = [payee, ...predecessors]
  const accruals = new Map(payee.accruals.map((accrual) => [accrual.id, accrual]))
  for (const accrual of predecessors.flatMap((position) => position.accruals)) {
    const units = accruals.get(accrual.id)?.units ?? Decimal.zero
    accruals.set(accrual.id, { ...accrual, units: Decimal.add(accrual.units, units) })
  }
  return {
    units: Decimal.sum(all.map(({ units }) => units)),
    baseUnits: Decimal.sum(all.map(({ baseUnits }) => baseUnits)),
    accruals: [...accruals.values()],
    lots: all.flatMap(({ lots }) => lots),
    carryIn: Decimal.sum(all.map(({ carryIn }) => carryIn)),
    rate: payee.rate,
    isUnrolled: all.some(({ isUnrolled }) => isUnrolled)
  }
}
