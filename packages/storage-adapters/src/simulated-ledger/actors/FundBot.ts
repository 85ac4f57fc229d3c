/** The fund's program: agrees to the markets proposed to it, takes the cash offered to it, pays the legs it owes. */
import * as Agreements from "./Agreements.ts"
import type * as Policy from "./Policy.ts"
import type * as World from "./World.ts"

export interface Options {
  readonly policy: Policy.Policy
}

export const plan = ({ policy }: Options): World.Plan =>
  Agreements.all(
    Agreements.primaryMarkets(policy, ({ fund }, party) => fund === party),
    Agreements.transferOffers(policy),
    Agreements.legs(policy)
  )
