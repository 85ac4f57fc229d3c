/** Plan of a holder's priced orders: pays cash due, allocates units, requests burns. */
import { Decimal, Duration, Instant, type Party, Rational } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Agreements from "./Agreements.ts"
import * as Policy from "./Policy.ts"
import * as World from "./World.ts"

type Lot = Templates.Payload<typeof Templates.Lot>
type PricedRedemption = World.FoundContract<typeof Templates.PricedRedemption>

/** Time that the venue has to use an allocation. */
const within = Duration.days(7)

/** Cash due for a lot ordered in units: its price and the fee on it, each rounded up. */
export const dueOf = (lot: Lot): Decimal.Decimal | null => {
  if (lot.cash !== null) return lot.cash
  if (lot.cashDecimals === null) return null
  const price = Rational.multiply(Rational.of(lot.units), Rational.of(lot.price))
  const fee = Rational.multiply(price, Rational.of(lot.feeRate ?? Decimal.zero))
  const taken = { places: lot.cashDecimals, rounding: "ceiling" } as const
  return Decimal.add(Rational.round(price, taken), Rational.round(fee, taken))
}

/** Pays lots ordered in units, whose cash is fixed only by the price. */
export const dues =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.Lot).flatMap(({ contractId, payload: lot }) => {
      const { fund, paymentAsset, subscriptionId } = lot
      const due = lot.cash === null ? dueOf(lot) : null
      const mine = lot.mode === "ledger" && lot.holder === world.party
      if (!mine || due === null || fund === null || paymentAsset === null) return []
      const ids = [contractId, subscriptionId, lot.orderId ?? subscriptionId, lot.instrument.id]
      if (Policy.judge(policy, ids) !== "accept") return []
      return Agreements.put(world, {
        about: contractId,
        ids: [subscriptionId, lot.orderId],
        venue: lot.venue,
        receiver: fund,
        instrument: paymentAsset,
        amount: due,
        settleBefore: Instant.add(world.now, within)
      })
    })

/** Allocates the units of redemptions that are paid on the ledger. */
export const units =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    mine(world, policy, "ledger").flatMap(({ contractId, payload }) =>
      payload.fund === null
        ? []
        : Agreements.put(world, {
            about: contractId,
            ids: [payload.redemptionId, payload.orderId],
            venue: payload.venue,
            receiver: payload.fund,
            instrument: payload.instrument,
            amount: payload.units,
            settleBefore: Instant.add(world.now, within)
          })
    )

/**
 * Longest time between a price and the automatic request of a burn; later ones need a person. A
 * completed burn is no longer visible, and the ledger deduplicates a command for seven days only.
 */
const askedWithin = Duration.days(6)

/**
 * Requests the burns of redemptions that are paid by wire, where the holder's side makes the
 * request.
 */
export const burns =
  (policy: Policy.Policy, asks: (custodian: Party.Party | null) => boolean): World.Plan =>
  (world) =>
    mine(world, policy, "wire").flatMap((redemption) => {
      const { payload, createdAt } = redemption
      const late = Instant.atOrAfter(world.now, Instant.add(createdAt, askedWithin))
      if (late || !asks(payload.custodian) || isAsked(world, payload.redemptionId)) return []
      return Agreements.from(
        world,
        { instrument: payload.instrument, amount: payload.units },
        (holdingCid) => burn(world, redemption, holdingCid)
      )
    })

const mine = (
  world: World.World,
  policy: Policy.Policy,
  mode: Lot["mode"]
): ReadonlyArray<PricedRedemption> =>
  World.find(world, Templates.PricedRedemption).filter(({ contractId, payload }) => {
    const { redemptionId, orderId, instrument } = payload
    const ids = [contractId, redemptionId, orderId ?? redemptionId, instrument.id]
    return (
      payload.mode === mode &&
      payload.holder === world.party &&
      Policy.judge(policy, ids) === "accept"
    )
  })

const isAsked = (world: World.World, redemptionId: string): boolean =>
  requested(world).some(({ payload }) => payload.reference.id === redemptionId)

const requested = (world: World.World) =>
  World.find(world, Templates.BurnRequest).filter(
    ({ payload }) => payload.holder === world.party && payload.reference.kind === "redemption"
  )

const burn = (
  world: World.World,
  { contractId, payload }: PricedRedemption,
  holdingCid: string
): World.Act => ({
  name: "request-burn",
  about: contractId,
  change: {
    commandId: `request-burn:${contractId}`,
    commands: [
      Templates.exercise(Templates.Holding, holdingCid, "RequestBurn", {
        amount: payload.units,
        reference: { kind: "redemption", id: payload.redemptionId },
        custodian: payload.custodian,
        executeBefore: Instant.add(world.now, within)
      })
    ]
  },
  details: { redemptionId: payload.redemptionId, units: Decimal.formatPlain(payload.units) }
})

/** Withdraws burn requests whose redemption has ended and that a policy accepts, which unlocks their units. */
export const straysOf =
  (policy: Policy.Policy): World.Plan =>
  (world) => {
    const openRedemptionIds = new Set(
      World.find(world, Templates.PricedRedemption).map(({ payload }) => payload.redemptionId)
    )
    return requested(world)
      .filter(
        ({ contractId, payload: { reference } }) =>
          !openRedemptionIds.has(reference.id) &&
          Policy.judge(policy, [contractId, reference.id]) === "accept"
      )
      .map(({ contractId, payload }) =>
        World.answer(
          "withdraw-burn",
          { template: Templates.BurnRequest, contractId, choice: "Withdraw" },
          {},
          { redemptionId: payload.reference.id }
        )
      )
  }

/** Withdraws every burn request whose redemption has ended. */
export const strays: World.Plan = straysOf(Policy.acceptAll)
