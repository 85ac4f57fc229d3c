/** Names of the checks that a reconciliation run of this release has, in the order they run. */
import * as DistributionIdentity from "./checks/DistributionIdentity.ts"
import * as DistributionRecompute from "./checks/DistributionRecompute.ts"
import * as LotsHoldings from "./checks/LotsHoldings.ts"
import * as MovementsBalance from "./checks/MovementsBalance.ts"
import * as RegisterSupply from "./checks/RegisterSupply.ts"

export const checkNames = [
  RegisterSupply.check,
  MovementsBalance.check,
  LotsHoldings.check,
  DistributionRecompute.check,
  DistributionIdentity.check
] as const
export type CheckName = (typeof checkNames)[number]
