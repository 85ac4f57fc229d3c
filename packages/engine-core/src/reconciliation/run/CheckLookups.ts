/** Table of the checks that a reconciliation run of this release has, with the facts of each. */
import * as Check from "./Check.ts"
import { type CheckName, checkNames } from "./CheckNames.ts"
import * as DistributionIdentity from "./checks/DistributionIdentity.ts"
import * as DistributionRecompute from "./checks/DistributionRecompute.ts"
import * as LotsHoldings from "./checks/LotsHoldings.ts"
import * as MovementsBalance from "./checks/MovementsBalance.ts"
import * as RegisterSupply from "./checks/RegisterSupply.ts"
import * as DistributionLookups from "./DistributionCheckLookups.ts"
import * as RegisterLookups from "./RegisterLookups.ts"

const table = {
  "register-supply": Check.define({
    facts: RegisterLookups.sums,
    differences: RegisterSupply.differences
  }),
  "movements-balance": Check.define({
    facts: RegisterLookups.balances,
    differences: MovementsBalance.differences
  }),
  "lots-holdings": Check.define({
    facts: RegisterLookups.positions,
    differences: LotsHoldings.differences
  }),
  "distribution-recompute": Check.define({
    facts: DistributionLookups.recomputed,
    differences: DistributionRecompute.differences
  }),
  "distribution-identity": Check.define({
    facts: DistributionLookups.sums,
    differences: DistributionIdentity.differences
  })
} as const satisfies Readonly<Record<CheckName, Check.Check>>

export interface Row extends Check.Check {
  readonly name: CheckName
}

/** The checks in the order they run. */
export const checks: ReadonlyArray<Row> = checkNames.map((name) => ({ name, ...table[name] }))
