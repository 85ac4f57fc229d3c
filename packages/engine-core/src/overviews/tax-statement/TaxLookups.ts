/** Look-ups of tax statements: the chain of successors, its payments, and its disposals. */
import { Effect, Option, Stream } from "effect"
import { distributions } from "../../distributions/distribution/Distribution.ts"
import type { DistributionLine } from "../../distributions/distribution/DistributionLine.ts"
import * as AttributeRules from "../../holders/attribute/AttributeRules.ts"
import { type Holder, holderParties, holders } from "../../holders/holder/Holder.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import { type Lot, lots } from "../../instruments/lot/Lot.ts"
import { lotCost } from "../../instruments/lot/LotFormulas.ts"
import { idOf as versionIdOf, policyVersions } from "../../instruments/policy/PolicyVersion.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import {
  lockings,
  type PartyMovement,
  partyMovements
} from "../../instruments/register/Movement.ts"
import { idOf as entryIdOf } from "../../instruments/register/RegisterEntry.ts"
import * as Currency from "../../kernel/Currency.ts"
import * as Formula from "../../kernel/Formula.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { Records } from "../../records/Records.ts"
import { reserveRedemptions } from "../../reserves/reserve-order/ReserveRedemption.ts"
import * as PaidLineRules from "../PaidLineRules.ts"
import type { Proceeds } from "./DisposalRules.ts"

/** Largest number of holders of a chain of successors; more are a loop, a bug. */
const chainMax = 100

/**
 * Finds the holder that a holder's units were recovered to; of one that is succeeded without units to
 * recover, the successor that it registered. Null: it has none.
 */
const nextOf = Effect.fnUntraced(function* (
  { party, state, successor }: Holder,
  pin: Pin.Resolved
) {
  const records = yield* Records
  const recovered = yield* records.list(partyMovements, {
    pin,
    where: { party: [party], kind: ["recovery"] },
    limit: chainMax
  })
  // The holder may itself have received units by a recovery.
  const to =
    recovered.find(({ record }) => record.from === party)?.record.to ??
    (state === "succeeded" ? (successor?.party ?? null) : null)
  if (to === null) return null
  const named = Option.getOrNull(yield* records.find(holderParties, to, pin))
  if (named === null) return null
  return Option.getOrNull(yield* records.find(holders, named.holderId, pin))
})

/** Loads the chain of successors that a holder is part of, the first holder first. */
export const chainOf = Effect.fnUntraced(function* (of: Holder, pin: Pin.Resolved) {
  const records = yield* Records
  let first = of
  for (let length = 0; first.predecessor !== null; length++) {
    if (length === chainMax) throw new Error(`the predecessors of ${of.holderId} do not end`)
    const before = Option.getOrNull(yield* records.find(holders, first.predecessor, pin))
    if (before === null || (yield* nextOf(before, pin))?.holderId !== first.holderId) break
    first = before
  }
  const chain = [first]
  for (let next = yield* nextOf(first, pin); next !== null; next = yield* nextOf(next, pin)) {
    if (chain.length === chainMax) throw new Error(`the successors of ${of.holderId} do not end`)
    chain.push(next)
  }
  return chain
})

/** Instruments and policy versions of paid lines, by line: what the policy that paid a line says. */
export const incomeCodesOf = Effect.fnUntraced(function* (
  lines: ReadonlyArray<Pick<DistributionLine, "distributionId">>,
  pin: Pin.Resolved
) {
  if (lines.length === 0) return new Map<string, string | null>()
  const records = yield* Records
  const ids = [...new Set(lines.map(({ distributionId }) => distributionId as string))]
  const found = yield* records.many(distributions, ids, pin)
  const versions = yield* records.many(policyVersions, [...new Set(found.map(versionIdOf))], pin)
  const codes = new Map(
    versions.map((version) => [versionIdOf(version), version.manifest.distribution.incomeCode])
  )
  return new Map<string, string | null>(
    found.map((distribution) => [
      distribution.distributionId,
      codes.get(versionIdOf(distribution)) ?? null
    ])
  )
})

/**
 * Loads the exemption of each line's holder as it was valid when the line was paid, by line: of the
 * holder's version at the delivery, or of the earliest that is kept.
 */
export const exemptionsOf = Effect.fnUntraced(function* (
  lines: ReadonlyArray<DistributionLine>,
  pin: Pin.Resolved
) {
  const exemptions = new Map<string, string>()
  const offsets = lines.map(({ delivery }) => delivery?.offset ?? pin.offset)
  if (offsets.length === 0) return exemptions
  const records = yield* Records
  const ids = [...new Set(lines.flatMap(({ holderId }) => holderId ?? []))]
  const from = offsets.reduce((a, b) => (a < b ? a : b))
  const versions = yield* records.versions(holders, ids, { from, through: pin.offset })
  const byHolder = Map.groupBy(versions, ({ record }) => record.holderId as string)
  for (const [nth, line] of lines.entries()) {
    const of = byHolder.get(line.holderId ?? "") ?? []
    const version = of.findLast(({ fromOffset }) => fromOffset <= offsets[nth]!) ?? of[0]
    const paidAt = PaidLineRules.deliveredTimeOf(line)
    const exemption = version?.record.attributes.find(
      (attribute) => attribute.name === "tax-exemption" && AttributeRules.counts(attribute, paidAt)
    )
    if (exemption !== undefined) exemptions.set(line.lineId, exemption.value)
  }
  return exemptions
})

type Asset = Pick<Instrument, "registrar" | "instrumentId">

/** Movements of a party in an instrument before an instant, in their order; locks are left out. */
export const movementsOf = Effect.fnUntraced(function* (
  asset: Asset,
  of: { readonly party: string; readonly before: Instant.Instant; readonly pin: Pin.Resolved }
) {
  const records = yield* Records
  const rows = yield* Stream.runCollect(
    records.stream(partyMovements, {
      pin: of.pin,
      where: { party: [of.party], instrumentId: [asset.instrumentId] },
      ranges: { at: { to: Instant.sortable(of.before) } }
    })
  )
  return rows
    .map(({ record }): PartyMovement => record)
    .filter((movement) => assetKeyOf(movement) === assetKeyOf(asset))
    .filter(({ kind }) => !lockings.includes(kind))
})

/** Lots of one query. */
const lotsAtOnce = 500

/** Loads every lot of a party in an instrument, emptied ones too, the oldest first. */
export const lotsOf = Effect.fnUntraced(function* (
  asset: Asset,
  { party, pin }: { readonly party: Holder["party"]; readonly pin: Pin.Resolved }
) {
  const records = yield* Records
  const found: Array<Lot> = []
  // The sort key begins with the party's entry, which no other party's key begins with.
  const own = `${entryIdOf({ ...asset, party })} `
  for (let after = own, isMore = true; isMore; ) {
    const page = yield* records.list(lots, { pin, after, limit: lotsAtOnce })
    const mine = page.filter(({ sortKey }) => sortKey.startsWith(own))
    found.push(...mine.map(({ record }) => record))
    isMore = mine.length === lotsAtOnce
    after = mine.at(-1)?.sortKey ?? own
  }
  return found
})

/**
 * Loads what was paid for units that parties gave up, by the id of the act: the proceeds of redemptions,
 * and of reserve redemptions the payout at the asset's price. An act of another party or instrument
 * than the movement's pays nothing, since whoever asks for a burn writes its reference.
 */
export const proceedsOf = Effect.fnUntraced(function* (
  movements: ReadonlyArray<PartyMovement>,
  { currency, pin }: { readonly currency: string; readonly pin: Pin.Resolved }
) {
  const records = yield* Records
  const named = (kind: string) => [
    ...new Set(
      movements.flatMap(({ reference }) => (reference?.resourceKind === kind ? [reference.id] : []))
    )
  ]
  const ids = { redemption: named("redemption"), reserve: named("reserve-redemption") }
  const redeemed =
    ids.redemption.length === 0 ? [] : yield* records.many(redemptions, ids.redemption, pin)
  const reserved =
    ids.reserve.length === 0 ? [] : yield* records.many(reserveRedemptions, ids.reserve, pin)
  const byId = new Map(redeemed.map((order) => [order.redemptionId as string, order]))
  const byReserveId = new Map(reserved.map((order) => [order.reserveRedemptionId as string, order]))
  return ({ instrumentId, party, reference }: PartyMovement): Proceeds | null => {
    const isOf = (order: { readonly instrumentId: string; readonly party: string } | undefined) =>
      order !== undefined && order.instrumentId === instrumentId && order.party === party
    if (reference?.resourceKind === "redemption") {
      const order = byId.get(reference.id)
      return order !== undefined && isOf(order) && order.proceeds !== null
        ? { proceeds: order.proceeds, currency: order.currency }
        : null
    }
    if (reference?.resourceKind !== "reserve-redemption") return null
    const order = byReserveId.get(reference.id)
    if (order === undefined || !isOf(order) || order.price === null) return null
    const cashDecimals = Currency.decimals(currency)
    const { payout: units, price } = order
    return { proceeds: Formula.compute(lotCost, { units, price, cashDecimals }).cost, currency }
  }
})
