/**
 * Bot of a custodian for a party it hosts: accepts, pays, allocates units, requests burns; accepts
 * reserves and locks their assets as their holder.
 */
import * as Agreements from "./Agreements.ts"
import * as Orders from "./Orders.ts"
import type * as Policy from "./Policy.ts"
import * as Reserves from "./Reserves.ts"
import type * as World from "./World.ts"

/** Options of a custodian's program. */
export interface Options {
  readonly policy: Policy.Policy
}

/** Acts as the hosted party, whose holdings the custodian keeps. */
export const plan = ({ policy }: Options): World.Plan =>
  Agreements.all(
    Agreements.transferOffers(policy),
    Agreements.legs(policy),
    Orders.dues(policy),
    Orders.units(policy),
    Orders.burns(policy, (custodian) => custodian !== null),
    Orders.strays,
    Reserves.proposals(policy),
    Reserves.locks(policy),
    Reserves.orders(policy)
  )
