/**
 * Pure rules of who is paid for a register's units: a chain of successors is one payee, its last
 * holder (docs/domain/distributions.md#payees).
 */
import * as Decimal from "../../kernel/Decimal.ts"
import type { Position } from "./DistributionRules.ts"

/** Recovery of a holder's units of the instrument to its successor. */
export interface Succession {
  readonly from: string
  readonly to: string
}

/**
 * Returns the function from a holder to the last of its successors; a holder that nobody succeeded
 * is its own. A chain that leads back to itself is a defect.
 */
export const payeesOf = (recoveries: ReadonlyArray<Succession>): ((holderId: string) => string) => {
  const successors = new Map(recoveries.map(({ from, to }) => [from, to]))
  return (holderId) => {
    const passed = new Set<string>()
    let payee = holderId
    for (let next = successors.get(payee); next !== undefined; next = successors.get(payee)) {
      passed.add(payee)
      if (passed.has(next)) throw new Error(`the successors of ${holderId} lead back to it`)
      payee = next
    }
    return payee
  }
}

/**
 * Returns the position of a chain of successors: units, units by point, carries and lots of all its
 * holders, added before anything is rounded. The rate is the last holder's, and an unrolled line of
 * any of them leaves the payee out.
 */
export const positionOfChain = (
  payee: Position,
  predecessors: ReadonlyArray<Position>
): Position => {
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
