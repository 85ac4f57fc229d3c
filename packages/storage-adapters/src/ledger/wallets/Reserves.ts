/**
 * Plans of the parties of a backed instrument: its issuer, the reserve's holder, the registrars of
 * its assets, and those who mint and redeem.
 */
import { Decimal, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as Agreements from "./Agreements.ts"
import * as Policy from "./Policy.ts"
import * as World from "./World.ts"

const sameAsset = (left: Templates.Asset, right: Templates.Asset): boolean =>
  left.admin === right.admin && left.id === right.id

/** The issuer and the reserve's holder accept a reserve, in any order. */
export const proposals =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.ReserveProposal).flatMap(({ contractId, payload }) => {
      const { reserveId, instrument, issuer, holder, accepted } = payload
      const isAwaited = [issuer, holder].includes(world.party) && !accepted.includes(world.party)
      if (!isAwaited) return []
      const to = { template: Templates.ReserveProposal, contractId } as const
      const argument = { party: world.party }
      const details = { reserveId, instrumentId: instrument.id }
      switch (Policy.judge(policy, [contractId, reserveId, instrument.id])) {
        case "accept":
          return [World.answer("accept-reserve", { ...to, choice: "Accept" }, argument, details)]
        case "reject":
          return [World.answer("decline-reserve", { ...to, choice: "Decline" }, argument, details)]
        case "wait":
          return []
      }
    })

/** Returns the reserve of an id that the party signed at the venue. */
const reserveOf = (
  world: World.World,
  { venue, reserveId }: { readonly venue: Party.Party; readonly reserveId: string }
) =>
  World.find(world, Templates.Reserve).find(
    ({ payload }) => payload.venue === venue && payload.reserveId === reserveId
  )

type Lock = World.FoundContract<typeof Templates.LockAgreementProposal>

/** The asset's registrar accepts a lock agreement first; then the holder, which locks its amount. */
export const locks =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.LockAgreementProposal).flatMap((proposal) => {
      const { contractId, payload } = proposal
      const { lockAgreementId, reserveId, asset, holder, accepted } = payload
      const isAwaited =
        [asset.admin, holder].includes(world.party) && !accepted.includes(world.party)
      if (!isAwaited) return []
      const to = { template: Templates.LockAgreementProposal, contractId } as const
      const details = detailsOfLock(proposal)
      switch (Policy.judge(policy, [contractId, lockAgreementId, reserveId, asset.id])) {
        case "accept":
          return acceptLock(world, proposal)
        case "reject":
          return [
            World.answer(
              "decline-lock",
              { ...to, choice: "Decline" },
              { party: world.party },
              details
            )
          ]
        case "wait":
          return []
      }
    })

const detailsOfLock = ({ payload }: Lock) => ({
  lockAgreementId: payload.lockAgreementId,
  reserveId: payload.reserveId,
  assetId: payload.asset.id,
  amount: Decimal.formatPlain(payload.amount)
})

const acceptLock = (world: World.World, proposal: Lock): ReadonlyArray<World.Act> => {
  const { contractId, payload } = proposal
  const { asset, holder, accepted, amount } = payload
  const accept = (argument: {
    readonly reserveCid: string | null
    readonly holdingCids: ReadonlyArray<string>
  }) =>
    World.answer(
      "accept-lock",
      { template: Templates.LockAgreementProposal, contractId, choice: "Accept" },
      { party: world.party, ...argument },
      detailsOfLock(proposal)
    )
  if (world.party !== holder) return [accept({ reserveCid: null, holdingCids: [] })]
  const isAgreed = asset.admin === holder || accepted.includes(asset.admin)
  const reserveCid = reserveOf(world, payload)?.contractId
  if (!isAgreed || reserveCid === undefined) return []
  if (Decimal.isZero(amount)) return [accept({ reserveCid, holdingCids: [] })]
  const exact = World.find(world, Templates.Holding).find(
    (holding) =>
      holding.payload.owner === world.party &&
      holding.payload.lock === null &&
      sameAsset(holding.payload.instrument, asset) &&
      Decimal.equals(holding.payload.amount, amount)
  )
  if (exact !== undefined) return [accept({ reserveCid, holdingCids: [exact.contractId] })]
  return Agreements.from(world, { instrument: asset, amount }, (holdingCid) =>
    cutOff(world, { contractId, asset, amount, holdingCid })
  )
}

/** Divides a holding, so that one of the exact amount can be locked. */
const cutOff = (
  world: World.World,
  {
    contractId,
    holdingCid,
    amount,
    asset
  }: {
    readonly contractId: string
    readonly asset: Templates.Asset
    readonly amount: Decimal.Decimal
    readonly holdingCid: string
  }
): World.Act => ({
  name: "divide",
  about: contractId,
  change: {
    commandId: `divide:${contractId}`,
    commands: [
      Templates.exercise(Templates.Holding, holdingCid, "Transfer", {
        newOwner: world.party,
        amount,
        credentialCid: Agreements.credentialOf(world, {
          holder: world.party,
          instrument: asset
        })
      })
    ]
  },
  details: { assetId: asset.id, amount: Decimal.formatPlain(amount) }
})

/** Locks more of the holder's own assets under an agreement; `reference` makes it happen once. */
export const lockMore =
  ({
    lockAgreementId,
    amount,
    reference
  }: {
    readonly lockAgreementId: string
    readonly amount: Decimal.Decimal
    readonly reference: string
  }): World.Plan =>
  (world) =>
    World.find(world, Templates.LockAgreement)
      .filter(
        ({ contractId, payload }) =>
          [contractId, payload.lockAgreementId].includes(lockAgreementId) &&
          payload.holder === world.party
      )
      .flatMap(({ contractId, payload }) => {
        const reserve = reserveOf(world, payload)
        if (reserve === undefined) return []
        const before = World.find(world, Templates.Holding).find(
          (holding) =>
            holding.payload.owner === world.party &&
            holding.payload.lock?.context === payload.reserveId &&
            sameAsset(holding.payload.instrument, payload.asset)
        )
        return Agreements.from(world, { instrument: payload.asset, amount }, (holding) =>
          locked(
            { contractId, payload },
            {
              reserveCid: reserve.contractId,
              holdingCid: holding,
              amount,
              lockedCid: before?.contractId ?? null
            },
            reference
          )
        )
      })

const locked = (
  agreement: Pick<World.FoundContract<typeof Templates.LockAgreement>, "contractId" | "payload">,
  argument: Templates.Argument<typeof Templates.LockAgreement, "LockMore">,
  reference: string
): World.Act => ({
  name: "lock-more",
  about: agreement.contractId,
  change: {
    commandId: `lock-more:${reference}`,
    commands: [
      Templates.exercise(Templates.LockAgreement, agreement.contractId, "LockMore", argument)
    ]
  },
  details: {
    lockAgreementId: agreement.payload.lockAgreementId,
    assetId: agreement.payload.asset.id,
    amount: Decimal.formatPlain(argument.amount)
  }
})

/** The issuer accepts other terms of its reserve. */
export const amendments =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.AmendmentProposal).flatMap(({ contractId, payload }) => {
      const { amendmentId, reserveId, issuer } = payload
      const reserveCid = reserveOf(world, payload)?.contractId
      if (issuer !== world.party || reserveCid === undefined) return []
      const to = { template: Templates.AmendmentProposal, contractId } as const
      const details = { amendmentId, reserveId }
      switch (Policy.judge(policy, [contractId, amendmentId, reserveId])) {
        case "accept":
          return [
            World.answer("accept-amendment", { ...to, choice: "Accept" }, { reserveCid }, details)
          ]
        case "reject":
          return [World.answer("decline-amendment", { ...to, choice: "Decline" }, {}, details)]
        case "wait":
          return []
      }
    })

/** The issuer sets the reserve's count of its units right. */
export const recount =
  ({
    reserveId,
    units
  }: {
    readonly reserveId: string
    readonly units: Decimal.Decimal
  }): World.Plan =>
  (world) =>
    World.find(world, Templates.Reserve)
      .filter(
        ({ contractId, payload }) =>
          [contractId, payload.reserveId].includes(reserveId) && payload.issuer === world.party
      )
      .map(({ contractId, payload }) =>
        World.answer(
          "recount",
          { template: Templates.Reserve, contractId, choice: "Recount" },
          { outstanding: units },
          { reserveId: payload.reserveId, units: Decimal.formatPlain(units) }
        )
      )

type Mint = World.FoundContract<typeof Templates.MintOrder>

/** A depositor allocates its deposit to the reserve's holder and names it in the order. */
export const mints =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.MintOrder).flatMap((order) => {
      const { contractId, payload } = order
      const { mintId, depositor, allocationCid } = payload
      if (depositor !== world.party || allocationCid !== null) return []
      // Judged by the order's own ids: a policy that lists an instrumentId pays for no order of it.
      switch (Policy.judge(policy, [contractId, mintId])) {
        case "accept":
          return world.now < payload.executeBefore ? acceptMint(world, order) : []
        case "reject":
          return [declineMint(world, order)]
        case "wait":
          return []
      }
    })

/** Declines the order and, where the party is asked for the deposit, the request for it. */
const declineMint = (world: World.World, { contractId, payload }: Mint): World.Act => {
  const { mintId, venue } = payload
  const request = World.find(world, Templates.SettlementIntent).find(
    (intent) =>
      intent.payload.venue === venue &&
      intent.payload.reference.kind === "mint" &&
      intent.payload.reference.id === mintId
  )
  return {
    name: "decline-mint",
    about: contractId,
    change: {
      commandId: `decline-mint:${contractId}`,
      commands: [
        Templates.exercise(Templates.MintOrder, contractId, "Decline", {}),
        ...(request === undefined ? [] : [rejected(world, request.contractId)])
      ]
    },
    details: { mintId }
  }
}

const rejected = ({ party }: World.World, contractId: string) =>
  Templates.exercise(Templates.SettlementIntent, contractId, "AllocationRequest_Reject", {
    actor: party
  })

const acceptMint = (world: World.World, order: Mint): ReadonlyArray<World.Act> => {
  const { contractId, payload } = order
  const { mintId, venue, holder, asset, deposit, units, executeBefore } = payload
  const allocated = World.find(world, Templates.Allocation).find((allocation) =>
    isFor(allocation, order)
  )
  return allocated === undefined
    ? Agreements.put(world, {
        about: contractId,
        ids: [mintId],
        venue,
        receiver: holder,
        instrument: asset,
        amount: deposit,
        settleBefore: executeBefore
      })
    : [
        World.answer(
          "accept-mint-order",
          { template: Templates.MintOrder, contractId, choice: "Accept" },
          { allocationCid: allocated.contractId },
          {
            mintId,
            assetId: asset.id,
            deposit: Decimal.formatPlain(deposit),
            units: Decimal.formatPlain(units)
          }
        )
      ]
}

const isFor = (
  { payload }: World.FoundContract<typeof Templates.Allocation>,
  { payload: order }: Mint
): boolean =>
  payload.sender === order.depositor &&
  payload.executor === order.venue &&
  payload.receiver === order.holder &&
  payload.reference === order.mintId &&
  sameAsset(payload.instrument, order.asset) &&
  Decimal.equals(payload.amount, order.deposit) &&
  payload.settleBefore >= order.executeBefore

/** An owner locks the units that it redeems. */
export const redemptions =
  (policy: Policy.Policy): World.Plan =>
  (world) =>
    World.find(world, Templates.ReserveRedemptionOrder).flatMap(({ contractId, payload }) => {
      const { reserveRedemptionId, instrument, owner, units, asset, payout } = payload
      if (owner !== world.party || payload.lockedUnitsCid !== null) return []
      const to = { template: Templates.ReserveRedemptionOrder, contractId } as const
      const details = {
        reserveRedemptionId,
        units: Decimal.formatPlain(units),
        assetId: asset.id,
        payout: Decimal.formatPlain(payout)
      }
      switch (Policy.judge(policy, [contractId, reserveRedemptionId])) {
        case "accept":
          return world.now < payload.executeBefore
            ? Agreements.from(world, { instrument, amount: units }, (holdingCid) =>
                World.answer(
                  "accept-reserve-redemption",
                  { ...to, choice: "Accept" },
                  { holdingCid },
                  details
                )
              )
            : []
        case "reject":
          return [
            World.answer("decline-reserve-redemption", { ...to, choice: "Decline" }, {}, details)
          ]
        case "wait":
          return []
      }
    })

/** The sender of an allocation takes it back. */
export const withdrawAllocation =
  (reference: string): World.Plan =>
  (world) =>
    World.find(world, Templates.Allocation)
      .filter(
        ({ contractId, payload }) =>
          payload.sender === world.party && [contractId, payload.reference].includes(reference)
      )
      .map(({ contractId, payload }) =>
        World.answer(
          "withdraw-allocation",
          { template: Templates.Allocation, contractId, choice: "Allocation_Withdraw" },
          {},
          { reference: payload.reference }
        )
      )

/** Contracts of reserves that an investor's wallet answers. */
export const orders = (policy: Policy.Policy): World.Plan =>
  Agreements.all(mints(policy), redemptions(policy))

/** Contracts of reserves that the issuer of a backed instrument answers. */
export const issuing = (policy: Policy.Policy): World.Plan =>
  Agreements.all(proposals(policy), amendments(policy))
