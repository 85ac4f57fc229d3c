/** Bot of an attestor: prices each claim at a published point, at the instrument's places. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Policy from "./Policy.ts"
import * as Pricing from "./Pricing.ts"
import * as World from "./World.ts"

/** Terms of an instrument that are not on the ledger. */
export const Terms = Pricing.Terms
export type Terms = Pricing.Terms

/** Options of an attestor's program. */
export interface Options {
  readonly instruments: ReadonlyArray<Terms>
  readonly policy: Policy.Policy
}

/** Plan of an attestor: it attests what it is asked for at the point that is in force. */
export const plan =
  ({ instruments, policy }: Options): World.Plan =>
  (world) =>
    World.find(world, Templates.SubscriptionClaim).flatMap((claim) => {
      const { payload, contractId } = claim
      const terms = instruments.find(({ instrumentId }) => instrumentId === payload.instrument.id)
      const mine =
        payload.attestors.includes(world.party) && !payload.attested.includes(world.party)
      if (terms === undefined || !mine) return []
      const ids = [contractId, payload.subscriptionId, payload.instrument.id]
      if (Policy.judge(policy, ids) !== "accept") return []
      const point = Pricing.pointFor(world, { ...payload, claimedAt: claim.createdAt }, terms)
      return point === undefined ? [] : attest(world, { claim, point, terms })
    })

const attest = (
  world: World.World,
  {
    claim,
    point,
    terms
  }: {
    readonly claim: World.FoundContract<typeof Templates.SubscriptionClaim>
    readonly point: Pricing.Point
    readonly terms: Terms
  }
): ReadonlyArray<World.Act> => {
  const price = Pricing.priceOf(point, terms)
  if (price === undefined) return []
  const { cash, orderedUnits } = claim.payload
  const units = Pricing.boughtBy({ cash, units: orderedUnits }, { point, price, terms })
  if (units === null || !Decimal.isPositive(units)) return []
  return [
    World.answer(
      "attest",
      {
        template: Templates.SubscriptionClaim,
        contractId: claim.contractId,
        choice: "Attest"
      },
      { attestor: world.party, pointCid: point.contractId, price, units },
      {
        subscriptionId: claim.payload.subscriptionId,
        price: Decimal.formatPlain(price),
        units: Decimal.formatPlain(units)
      }
    )
  ]
}
