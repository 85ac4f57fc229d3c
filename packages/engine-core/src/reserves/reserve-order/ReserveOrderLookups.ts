/** Look-ups of the records that the acts of mints and reserve redemptions are checked against. */
import { Effect, Option, Stream } from "effect"
import * as AdmissionLookups from "../../admissions/AdmissionLookups.ts"
import { holderParties, holders } from "../../holders/holder/Holder.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { heldBy } from "../../instruments/register/HoldingLookups.ts"
import { freeUnits } from "../../instruments/register/RegisterRules.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import { controlsOf } from "../../orders/order/ControlLookups.ts"
import * as OpenOrder from "../../orders/order/OpenOrder.ts"
import { Records } from "../../records/Records.ts"
import type * as Field from "../../templates/Field.ts"
import { liveKeyOf, lockAgreements } from "../lock-agreement/LockAgreement.ts"
import type { Reserve } from "../reserve/Reserve.ts"
import * as ReserveLookups from "../reserve/ReserveLookups.ts"
import { keyOf } from "../reserve/ReserveTerms.ts"
import { mints } from "./Mint.ts"
import { reserveRedemptions } from "./ReserveRedemption.ts"

/** A holder's order with a reserve in an asset. */
interface OrderedAsset {
  readonly holderId: string
  readonly asset: Field.Asset
}

/**
 * Loads the records that every act of an order is checked against: instrument, holder, controls,
 * books.
 */
const contextOf = Effect.fnUntraced(function* (
  reserve: Reserve,
  { holderId, asset }: OrderedAsset,
  now: Instant.Instant
) {
  const records = yield* Records
  const { instrumentId } = reserve
  const holder = yield* records.get(holders, holderId)
  const controls = yield* controlsOf({ instrumentId, holderIds: [holderId] })
  const instrument = yield* Effect.fromResult(
    recorded(yield* records.get(instruments, instrumentId))
  )
  const loaded = yield* ReserveLookups.booksOf(reserve, { at: now })
  return { ...controls, instrument, holder, reserve, loaded, books: loaded.books, asset, now }
})

/**
 * Finds the credential by which a party may receive an asset: one is needed where the asset is an
 * instrument of the venue whose registrar asks for admitted holders. The ledger moves every other
 * asset without one.
 */
const assetCredentialOf = Effect.fnUntraced(function* (asset: Field.Asset, party: Party.Party) {
  const records = yield* Records
  const sufficient = { assetCredential: "given", credentialCid: null } as const
  const instrument = Option.getOrNull(yield* records.find(instruments, asset.id))
  if (instrument === null || instrument.registrar !== asset.admin) return sufficient
  if ((yield* AdmissionLookups.requiredOf(instrument)).length === 0) return sufficient
  const missing = { assetCredential: "missing", credentialCid: null } as const
  const holder = Option.getOrNull(yield* records.find(holderParties, party))
  if (holder === null) return missing
  const { instrumentId } = instrument
  const admission = yield* AdmissionLookups.latest({ holderId: holder.holderId, instrumentId })
  return admission?.state === "admitted" && admission.credentialCid !== null
    ? ({ assetCredential: "given", credentialCid: admission.credentialCid } as const)
    : missing
})

/** Loads the records that a mint is checked against, at its start and again at its settlement. */
export const ofMint = Effect.fnUntraced(function* (
  reserve: Reserve,
  orderedAsset: OrderedAsset,
  now: Instant.Instant
) {
  const records = yield* Records
  const context = yield* contextOf(reserve, orderedAsset, now)
  const { instrument } = context
  const admission = yield* AdmissionLookups.latest({
    holderId: context.holder.holderId,
    instrumentId: instrument.instrumentId
  })
  const required = yield* AdmissionLookups.requiredOf(instrument)
  const [agreement] = yield* records.list(lockAgreements, {
    where: { live: [liveKeyOf({ reserveId: reserve.reserveId, asset: orderedAsset.asset })] },
    limit: 1
  })
  const { assetCredential, credentialCid } = yield* assetCredentialOf(
    orderedAsset.asset,
    reserve.holder
  )
  return {
    ...context,
    admission,
    required,
    agreement: agreement?.record ?? null,
    assetCredential,
    depositCredentialCid: credentialCid
  }
})
type MintContext = Effect.Success<ReturnType<typeof ofMint>>

/**
 * Loads the records that a redemption is checked against, at its start and again at its settlement.
 */
export const ofRedemption = Effect.fnUntraced(function* (
  reserve: Reserve,
  orderedAsset: OrderedAsset,
  now: Instant.Instant
) {
  const context = yield* contextOf(reserve, orderedAsset, now)
  const { assetCredential, credentialCid } = yield* assetCredentialOf(
    orderedAsset.asset,
    context.holder.party
  )
  return { ...context, assetCredential, payoutCredentialCid: credentialCid }
})

/**
 * Loads the records that the start of a redemption is checked against, with the owner's free units
 * and the payouts of open redemptions in the asset. An open redemption counts as if its units were
 * locked already.
 */
export const ofStartingRedemption = Effect.fnUntraced(function* (
  reserve: Reserve,
  orderedAsset: OrderedAsset,
  now: Instant.Instant
) {
  const records = yield* Records
  const context = yield* ofRedemption(reserve, orderedAsset, now)
  const { holder, instrument } = context
  const { units, locked } = yield* heldBy({ ...instrument, party: holder.party })
  const open = yield* Stream.runCollect(
    records.stream(reserveRedemptions, { where: { openOf: [reserve.reserveId] } })
  )
  const orders = open.map(({ record }) => record)
  const key = keyOf(orderedAsset.asset)
  return {
    ...context,
    free: freeUnits({
      units,
      locked,
      pledged: Decimal.sum(
        orders
          .filter(({ holderId, heldCid }) => holderId === holder.holderId && heldCid === null)
          .map((order) => order.units)
      )
    }),
    promised: Decimal.sum(
      orders.filter((order) => keyOf(order.asset) === key).map(({ payout }) => payout)
    )
  }
})

/**
 * Loads the contracts that the ledger itself judges an order by: every holding that is locked for
 * the reserve, and the points of the terms in force. `lockedCid` is the holding of the order's
 * asset.
 */
export const judgingOf = Effect.fnUntraced(function* (
  reserve: Reserve,
  { loaded, asset }: Pick<MintContext, "loaded" | "asset">
) {
  const holdings = yield* ReserveLookups.countedHoldingsOf(reserve)
  return {
    lockedCid: holdings.get(keyOf(asset)) ?? null,
    judging: {
      supply: loaded.supply,
      holdingCids: [...holdings.values()],
      pointCids: [...loaded.points.values()].flatMap(({ contractId }) => contractId ?? [])
    }
  }
})

/**
 * Finds the id of an open mint or reserve redemption of a holder; null: none. An order that a new ledger
 * epoch lost is none, since no act can end it.
 */
export const openOrderOf = Effect.fnUntraced(function* (holderId: string) {
  const records = yield* Records
  const queryOf = (kind: "mint" | "reserve-redemption") =>
    ({ where: { holderId: [holderId], open: OpenOrder.openTexts(kind) }, limit: 1 }) as const
  const [minting] = yield* records.list(mints, queryOf("mint"))
  if (minting !== undefined) return minting.record.mintId
  const [redeeming] = yield* records.list(reserveRedemptions, queryOf("reserve-redemption"))
  return redeeming?.record.reserveRedemptionId ?? null
})
