/** Plan that commits a party's funding to standing settlements, once for each request. */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Agreements from "./Agreements.ts"
import * as Policy from "./Policy.ts"
import * as World from "./World.ts"

type StandingSettlement = World.FoundContract<typeof Templates.StandingSettlement>
type Funding = StandingSettlement["payload"]["funding"][number]

/**
 * Longest time between a request and its automatic commitment; later ones need a person. A
 * commitment that has been used up is no longer visible, and the ledger deduplicates a command for
 * seven days only.
 */
const committedWithin = Duration.days(6)

export const commitments =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.StandingSettlement).flatMap((settlement) => {
      const { contractId, createdAt, payload } = settlement
      const { standingSettlementId, instrument } = payload
      const late = Instant.atOrAfter(world.now, Instant.add(createdAt, committedWithin))
      if (late || Instant.atOrAfter(world.now, payload.expiresAt)) return []
      const ids = [contractId, standingSettlementId, instrument.id]
      if (Policy.judge(policy, ids) !== "accept") return []
      return payload.funding
        .filter(
          (funding) => funding.party === world.party && !isCommitted(world, settlement, funding)
        )
        .flatMap((funding) =>
          Agreements.from(
            world,
            { instrument: funding.asset, amount: funding.amount },
            (holdingCid) => commit(settlement, funding, holdingCid)
          )
        )
    })

const isCommitted = (
  world: World.World,
  { payload }: StandingSettlement,
  { asset }: Funding
): boolean =>
  World.find(world, Templates.StandingCommitment).some(
    (commitment) =>
      commitment.payload.standingSettlementId === payload.standingSettlementId &&
      commitment.payload.party === world.party &&
      commitment.payload.asset.admin === asset.admin &&
      commitment.payload.asset.id === asset.id
  )

const commit = (
  { contractId, payload }: StandingSettlement,
  { party, asset, amount }: Funding,
  holdingCid: string
): World.Act => ({
  name: "commit",
  about: contractId,
  change: {
    // Named after the settlement, which is created anew at each pause: an asset is committed once.
    commandId: `commit:${payload.standingSettlementId}:${asset.id}:${asset.admin}`.slice(0, 255),
    commands: [
      Templates.exercise(Templates.StandingSettlement, contractId, "Commit", {
        party,
        holdingCid,
        amount
      })
    ]
  },
  details: {
    standingSettlementId: payload.standingSettlementId,
    instrumentId: asset.id,
    amount: Decimal.formatPlain(amount)
  }
})
