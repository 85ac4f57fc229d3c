/** Names of the checks that a reconciliation run of this release has, in the order they run. */
import * as MovementsBalance from "./checks/MovementsBalance.ts"
import * as RegisterSupply from "./checks/RegisterSupply.ts"

export const checkNames = [RegisterSupply.check, MovementsBalance.check] as const
export type CheckName = (typeof checkNames)[number]
