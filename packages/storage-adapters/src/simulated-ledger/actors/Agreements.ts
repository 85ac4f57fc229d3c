/** Proposals that more than one kind of party agrees to, and holdings that move by agreement. */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Policy from "./Policy.ts"
import * as World from "./World.ts"

type Market = Templates.Payload<typeof Templates.PrimaryMarketProposal>

/** The fund and the registrar each agree to a primary market, in any order. */
export const primaryMarkets =
  (policy: Policy.Policy, mine: (market: Market, party: Party.Party) => boolean): World.Plan =>
  (world) =>
    World.find(world, Templates.PrimaryMarketProposal).flatMap(({ contractId, payload }) => {
      const { marketId, instrument, accepted } = payload
      if (!mine(payload, world.party) || accepted.includes(world.party)) return []
      const to = { template: Templates.PrimaryMarketProposal, contractId } as const
      const argument = { party: world.party }
      const told = { marketId, instrumentId: instrument.id }
      switch (Policy.judge(policy, [contractId, marketId, instrument.id])) {
        case "accept":
          return [World.answer("accept-market", { ...to, choice: "Accept" }, argument, told)]
        case "reject":
          return [World.answer("decline-market", { ...to, choice: "Decline" }, argument, told)]
        case "wait":
          return []
      }
    })

/** The party's own live credential for the instrument, where it has one. */
export const credentialOf = (
  world: World.World,
  of: { readonly holder: Party.Party; readonly instrument: Templates.Asset }
): string | null =>
  World.find(world, Templates.Credential).find(
    ({ payload }) =>
      payload.holder === of.holder &&
      payload.registrar === of.instrument.admin &&
      payload.instrumentId === of.instrument.id &&
      (payload.validFrom === null || payload.validFrom <= world.now) &&
      (payload.validUntil === null || world.now < payload.validUntil)
  )?.contractId ?? null

/** Holdings that are offered to the party. */
export const transferOffers =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.TransferOffer).flatMap(({ contractId, payload }) => {
      const { receiver, sender, instrument, amount, executeBefore } = payload
      if (receiver !== world.party || world.now >= executeBefore) return []
      const to = { template: Templates.TransferOffer, contractId } as const
      const told = { instrumentId: instrument.id, amount: Decimal.formatPlain(amount), sender }
      const credentialCid = credentialOf(world, { holder: receiver, instrument })
      switch (Policy.judge(policy, [contractId, instrument.id, sender])) {
        case "accept":
          return [
            World.answer("accept-transfer", { ...to, choice: "Accept" }, { credentialCid }, told)
          ]
        case "reject":
          return [World.answer("reject-transfer", { ...to, choice: "Reject" }, {}, told)]
        case "wait":
          return []
      }
    })

/** The smallest unlocked holding of the asset that is large enough. */
export const enough = (
  world: World.World,
  of: { readonly instrument: Templates.Asset; readonly amount: Decimal.Decimal }
): World.Found<typeof Templates.Holding> | undefined =>
  World.find(world, Templates.Holding)
    .filter(
      ({ payload }) =>
        payload.owner === world.party &&
        payload.lock === null &&
        payload.instrument.admin === of.instrument.admin &&
        payload.instrument.id === of.instrument.id &&
        Decimal.atLeast(payload.amount, of.amount)
    )
    .toSorted((left, right) => Decimal.compare(left.payload.amount, right.payload.amount))[0]

/** The legs of a settlement that the party pays, while it has no allocation for them. */
export const legs =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.SettlementIntent).flatMap((intent) => {
      const { payload, contractId } = intent
      if (Instant.atOrAfter(world.now, payload.allocateBefore)) return []
      const ids = [contractId, payload.settlementId, payload.reference.id]
      if (Policy.judge(policy, ids) !== "accept") return []
      return payload.legs.flatMap((leg) => {
        if (leg.sender !== world.party || isAllocated(world, payload.reference.id)) return []
        const holding = enough(world, leg)
        return holding === undefined ? [] : [allocation(intent, leg, holding.contractId)]
      })
    })

const isAllocated = (world: World.World, reference: string): boolean =>
  World.find(world, Templates.Allocation).some(
    ({ payload }) => payload.sender === world.party && payload.reference === reference
  )

/** Named after the intent, not the holding: one leg is paid once, from whichever holding. */
const allocation = (
  { contractId, payload }: World.Found<typeof Templates.SettlementIntent>,
  leg: Templates.Payload<typeof Templates.SettlementIntent>["legs"][number],
  holdingCid: string
): World.Act => ({
  name: "allocate",
  about: contractId,
  change: {
    commandId: `allocate:${contractId}:${leg.legId}`.slice(0, 255),
    commands: [
      Templates.exercise(Templates.Holding, holdingCid, "Allocate", {
        allocationId: payload.reference.id,
        executor: payload.venue,
        receiver: leg.receiver,
        amount: leg.amount,
        settleBefore: payload.settleBefore
      })
    ]
  },
  told: { reference: payload.reference.id, amount: Decimal.formatPlain(leg.amount) }
})

/** Several plans as one. */
export const all =
  (...plans: ReadonlyArray<World.Plan>): World.Plan =>
  (world) =>
    plans.flatMap((plan) => plan(world))
