/** Plans of several wallets: accepting proposals, and allocating holdings. */
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Policy from "./Policy.ts"
import * as World from "./World.ts"

type Market = Templates.Payload<typeof Templates.PrimaryMarketProposal>

/** The fund or the registrar accepts a primary market, in any order. */
export const primaryMarkets =
  (policy: Policy.Policy, mine: (market: Market, party: Party.Party) => boolean): World.Plan =>
  (world) =>
    World.find(world, Templates.PrimaryMarketProposal).flatMap(({ contractId, payload }) => {
      const { marketId, instrument, accepted } = payload
      if (!mine(payload, world.party) || accepted.includes(world.party)) return []
      const to = { template: Templates.PrimaryMarketProposal, contractId } as const
      const argument = { party: world.party }
      const details = { marketId, instrumentId: instrument.id }
      switch (Policy.judge(policy, [contractId, marketId, instrument.id])) {
        case "accept":
          return [World.answer("accept-market", { ...to, choice: "Accept" }, argument, details)]
        case "reject":
          return [World.answer("decline-market", { ...to, choice: "Decline" }, argument, details)]
        case "wait":
          return []
      }
    })

/** Index of the credentials by holder and instrument. */
const credentials = World.remembered((world) =>
  Map.groupBy(
    World.find(world, Templates.Credential),
    ({ payload: { holder, registrar, instrumentId } }) =>
      JSON.stringify([holder, registrar, instrumentId])
  )
)

/** Returns the party's valid credential for the instrument, if any; that of `issuer` where given. */
export const credentialOf = (
  world: World.World,
  {
    holder,
    instrument,
    issuer
  }: {
    readonly holder: Party.Party
    readonly instrument: Templates.Asset
    readonly issuer?: Party.Party
  }
): string | null =>
  credentials(world)
    .get(JSON.stringify([holder, instrument.admin, instrument.id]))
    ?.find(
      ({ payload }) =>
        (issuer === undefined || payload.issuer === issuer) &&
        (payload.validFrom === null || payload.validFrom <= world.now) &&
        (payload.validUntil === null || world.now < payload.validUntil)
    )?.contractId ?? null

/** Index of the configurations of the party's own instruments. */
const configurations = World.remembered(
  (world) =>
    new Map(
      World.find(world, Templates.InstrumentConfiguration)
        .filter(({ payload }) => payload.registrar === world.party)
        .toReversed()
        .map((configuration) => [configuration.payload.instrument.id, configuration])
    )
)

/** Returns the configuration of an instrument that the party keeps the register of. */
export const configurationOf = (world: World.World, instrumentId: string) =>
  configurations(world).get(instrumentId)

/** Accepts holdings that are offered to the party. */
export const transferOffers =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.TransferOffer).flatMap(({ contractId, payload }) => {
      const { receiver, sender, instrument, amount, executeBefore } = payload
      if (receiver !== world.party || world.now >= executeBefore) return []
      const to = { template: Templates.TransferOffer, contractId } as const
      const details = { instrumentId: instrument.id, amount: Decimal.formatPlain(amount), sender }
      const credentialCid = credentialOf(world, { holder: receiver, instrument })
      switch (Policy.judge(policy, [contractId, instrument.id, sender])) {
        case "accept":
          return [
            World.answer("accept-transfer", { ...to, choice: "Accept" }, { credentialCid }, details)
          ]
        case "reject":
          return [World.answer("reject-transfer", { ...to, choice: "Reject" }, {}, details)]
        case "wait":
          return []
      }
    })

/** Largest number of holdings merged at a time, as CIP-56 recommends for a transaction's inputs. */
const joinedMax = 100

/**
 * Uses one holding of the asset that is large enough. Where only several together are, they are
 * merged first, and the act follows at the next evaluation of the plan.
 */
export const from = (
  world: World.World,
  {
    instrument,
    amount
  }: { readonly instrument: Templates.Asset; readonly amount: Decimal.Decimal },
  act: (holdingCid: string) => World.Act
): ReadonlyArray<World.Act> => {
  const unlocked = free(world).get(assetKey(instrument)) ?? []
  const holding = unlocked.find(({ payload }) => Decimal.atLeast(payload.amount, amount))
  if (holding !== undefined) return [act(holding.contractId)]
  const [first, ...others] = together(unlocked, amount)
  return first === undefined ? [] : [join(first, others)]
}

const assetKey = ({ admin, id }: Templates.Asset): string => JSON.stringify([admin, id])

/** The party's unlocked holdings by asset, the smallest first. */
const free = World.remembered((world) =>
  Map.groupBy(
    World.find(world, Templates.Holding)
      .filter(({ payload }) => payload.owner === world.party && payload.lock === null)
      .toSorted(
        (left, right) =>
          Decimal.compare(left.payload.amount, right.payload.amount) ||
          (left.contractId < right.contractId ? -1 : 1)
      ),
    ({ payload }) => assetKey(payload.instrument)
  )
)

type FoundHolding = World.FoundContract<typeof Templates.Holding>

/** Returns the largest holdings of one kind whose sum suffices; none where it does not. */
const together = (
  smallestFirst: ReadonlyArray<FoundHolding>,
  amount: Decimal.Decimal
): ReadonlyArray<FoundHolding> => {
  const kinds = Map.groupBy(
    smallestFirst.toReversed(),
    ({ payload }) => `${payload.provider} ${payload.restricted}`
  )
  for (const kind of kinds.values()) {
    const most = kind.slice(0, joinedMax)
    if (Decimal.atLeast(Decimal.sum(most.map(({ payload }) => payload.amount)), amount)) return most
  }
  return []
}

const join = (first: FoundHolding, others: ReadonlyArray<FoundHolding>): World.Act => ({
  name: "join",
  about: first.contractId,
  change: {
    commandId: `join:${first.contractId}`,
    commands: [
      Templates.exercise(Templates.Holding, first.contractId, "Merge", {
        holdingCids: others.map(({ contractId }) => contractId)
      })
    ]
  },
  details: { instrumentId: first.payload.instrument.id, holdings: String(others.length + 1) }
})

/** The settlements that request funding. A mint is funded by its order, so that none is paid for without one. */
const requests = (world: World.World) =>
  World.find(world, Templates.SettlementIntent).filter(
    ({ payload }) => payload.reference.kind !== "mint"
  )

/** Allocates the legs of a settlement that the party pays and has not allocated. */
export const legs =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    requests(world).flatMap(({ contractId, payload }) => {
      const { reference, settlementId, venue, settleBefore } = payload
      if (Instant.atOrAfter(world.now, payload.allocateBefore)) return []
      if (Policy.judge(policy, [contractId, settlementId, reference.id]) !== "accept") return []
      return payload.legs.flatMap((leg) => {
        const { sender, receiver, instrument, amount } = leg
        if (sender !== world.party || has(allocated(world), [reference.id], instrument)) return []
        // Named after the intent and not the holding: a leg is paid once, from any holding.
        const commandId = `allocate:${contractId}:${leg.legId}`.slice(0, 255)
        const put = { venue, receiver, amount, settleBefore, reference: reference.id }
        return from(world, { instrument, amount }, (holdingCid) =>
          allocation({ about: contractId, commandId, holdingCid }, put)
        )
      })
    })

/** Funding of an order by a party, besides the legs of settlements. */
export interface OrderFunding {
  /** Contract that requests the funding; each is answered once. */
  readonly about: string
  /** Ids of the order: the first is the allocation's reference. */
  readonly ids: readonly [string, ...ReadonlyArray<string | null>]
  readonly venue: Party.Party
  readonly receiver: Party.Party
  readonly instrument: Templates.Asset
  readonly amount: Decimal.Decimal
  readonly settleBefore: Instant.Instant
}

/**
 * Allocates an asset to the venue for an order, unless it is allocated already or a settlement
 * requests it.
 */
export const put = (world: World.World, funding: OrderFunding): ReadonlyArray<World.Act> => {
  const { about, ids, instrument, amount } = funding
  if (has(allocated(world), ids, instrument) || has(askedFor(world), ids, instrument)) return []
  const to = { about, commandId: `allocate:${about}` }
  return from(world, { instrument, amount }, (holdingCid) =>
    allocation({ ...to, holdingCid }, { ...funding, reference: ids[0] })
  )
}

const legKey = (reference: string, { admin, id }: Templates.Asset): string =>
  JSON.stringify([admin, id, reference])

/** Index of the party's allocations, by order and asset. */
const allocated = World.remembered(
  (world) =>
    new Set(
      World.find(world, Templates.Allocation)
        .filter(({ payload }) => payload.sender === world.party)
        .map(({ payload }) => legKey(payload.reference, payload.instrument))
    )
)

/** Index of the legs that settlements request of the party, by order and asset. */
const askedFor = World.remembered(
  (world) =>
    new Set(
      requests(world).flatMap(({ payload }) =>
        payload.legs
          .filter(({ sender }) => sender === world.party)
          .map(({ instrument }) => legKey(payload.reference.id, instrument))
      )
    )
)

const has = (
  legs: ReadonlySet<string>,
  ids: ReadonlyArray<string | null>,
  asset: Templates.Asset
): boolean => ids.some((id) => id !== null && legs.has(legKey(id, asset)))

const allocation = (
  {
    about,
    commandId,
    holdingCid
  }: { readonly about: string; readonly commandId: string; readonly holdingCid: string },
  to: Pick<OrderFunding, "venue" | "receiver" | "amount" | "settleBefore"> & {
    readonly reference: string
  }
): World.Act => ({
  name: "allocate",
  about,
  change: {
    commandId,
    commands: [
      Templates.exercise(Templates.Holding, holdingCid, "Allocate", {
        allocationId: to.reference,
        executor: to.venue,
        receiver: to.receiver,
        amount: to.amount,
        settleBefore: to.settleBefore
      })
    ]
  },
  details: { reference: to.reference, amount: Decimal.formatPlain(to.amount) }
})

/** Concatenates plans. */
export const all =
  (...plans: ReadonlyArray<World.Plan>): World.Plan =>
  (world) =>
    plans.flatMap((plan) => plan(world))
