/** Look-ups of tax statements: the chain of successors, its payments, and its disposals. */
import { Effect, Option, Stream } from "effect"
import { distributions } from "../../distributions/distribution/Distribution.ts"
import {
  deliveredTimeOf,
  type DistributionLine
} from "../../distributions/distribution/DistributionLine.ts"
import * as AttributeRules from "../../holders/attribute/AttributeRules.ts"
import { type Holder, holderParties, holders } from "../../holders/holder/Holder.ts"
import { idOf as lotIdOf, type Lot, lots } from "../../instruments/lot/Lot.ts"
import { lotCost } from "../../instruments/lot/LotFormulas.ts"
import { oldestLotsOf } from "../../instruments/lot/LotLookups.ts"
import * as LotRules from "../../instruments/lot/LotRules.ts"
import { type PartyMovement, partyMovements } from "../../instruments/register/Movement.ts"
import { idOf as entryIdOf } from "../../instruments/register/RegisterEntry.ts"
import * as Currency from "../../kernel/Currency.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Formula from "../../kernel/Formula.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { LedgerReach } from "../../records/LedgerReach.ts"
import { Records } from "../../records/Records.ts"
import { reserveRedemptions } from "../../reserves/reserve-order/ReserveRedemption.ts"
import { movementsIn, together } from "../holder-statement/HolderStatementLookups.ts"
import * as DisposalRules from "./DisposalRules.ts"

/** Largest number of holders in a chain of successors; a longer one is a loop, which is a defect. */
const chainMax = 100

/**
 * Finds the holder that a holder's units were recovered to; of one that is succeeded without units to
 * recover, the successor that it registered. Null: it has none.
 */
const nextOf = Effect.fnUntraced(function* (
  { party, state, successor }: Holder,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  // The holder may itself have received units by recoveries, which come before those from it.
  const recovered = yield* records
    .stream(partyMovements, {
      pin,
      where: { party: [party], kind: ["recovery"] },
      direction: "desc"
    })
    .pipe(
      Stream.map(({ record }) => record),
      Stream.filter(({ from }) => from === party),
      Stream.runHead,
      Effect.map(Option.getOrNull)
    )
  const to = recovered?.to ?? (state === "succeeded" ? (successor?.party ?? null) : null)
  if (to === null) return null
  const named = Option.getOrNull(yield* records.find(holderParties, to, pin))
  if (named === null) return null
  return Option.getOrNull(yield* records.find(holders, named.holderId, pin))
})

/** Loads the chain of successors that a holder is part of, the first holder first. */
export const chainOf = Effect.fnUntraced(function* (holder: Holder, pin: Pin.ResolvedPin) {
  const records = yield* Records
  let first = holder
  for (let length = 0; first.predecessor !== null; length++) {
    if (length === chainMax) throw new Error(`the predecessors of ${holder.holderId} do not end`)
    const before = Option.getOrNull(yield* records.find(holders, first.predecessor, pin))
    if (before === null || (yield* nextOf(before, pin))?.holderId !== first.holderId) break
    first = before
  }
  const chain = [first]
  for (let next = yield* nextOf(first, pin); next !== null; next = yield* nextOf(next, pin)) {
    if (chain.length === chainMax)
      throw new Error(`the successors of ${holder.holderId} do not end`)
    chain.push(next)
  }
  return chain
})

/** Loads the distributions that paid lines are of. */
export const distributionsOf = Effect.fnUntraced(function* (
  lines: ReadonlyArray<Pick<DistributionLine, "distributionId">>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const ids = [...new Set(lines.map(({ distributionId }) => distributionId as string))]
  return ids.length === 0 ? [] : yield* records.many(distributions, ids, pin)
})

/**
 * Loads the exemption of each line's holder as it was valid when the line was paid, by line: of the
 * holder's version at the delivery, or of the earliest that is kept.
 */
export const exemptionsOf = Effect.fnUntraced(function* (
  lines: ReadonlyArray<DistributionLine>,
  pin: Pin.ResolvedPin
) {
  const exemptions = new Map<string, string>()
  const offsets = lines.map(({ delivery }) => delivery?.offset ?? pin.offset)
  if (offsets.length === 0) return exemptions
  const records = yield* Records
  const ids = [...new Set(lines.flatMap(({ holderId }) => holderId ?? []))]
  const from = offsets.reduce((a, b) => (a < b ? a : b))
  const through = offsets.reduce((a, b) => (a > b ? a : b))
  const within = yield* records.versions(holders, ids, { from, through })
  const holdersWithin = new Set(within.map(({ record }) => record.holderId as string))
  const pruned = ids.filter((id) => !holdersWithin.has(id))
  const versionsAfter =
    pruned.length === 0
      ? []
      : yield* records.versions(holders, pruned, { from: through, through: pin.offset })
  const versions = Map.groupBy(
    [...within, ...versionsAfter],
    ({ record }) => record.holderId as string
  )
  for (const [nth, line] of lines.entries()) {
    const holderVersions = versions.get(line.holderId ?? "") ?? []
    const version =
      holderVersions.findLast(({ fromOffset }) => fromOffset <= offsets[nth]!) ?? holderVersions[0]
    const paidAt = deliveredTimeOf(line)
    const exemption = version?.record.attributes.find(
      (attribute) => attribute.name === "tax-exemption" && AttributeRules.counts(attribute, paidAt)
    )
    if (exemption !== undefined) exemptions.set(line.lineId, exemption.value)
  }
  return exemptions
})

/** The last offset before an instant, at most that of the read; null: the kept history begins later. */
export const offsetBefore = Effect.fnUntraced(function* (
  instant: Instant.Instant,
  { offset }: Pin.ResolvedPin
) {
  const reach = yield* LedgerReach
  return Option.getOrNull(yield* reach.offsetBefore(instant, offset))
})

type Units = ReadonlyMap<string, Decimal.Decimal>

/** Units that left each party's books, by register entry. */
const unitsOf = (movements: ReadonlyArray<PartyMovement>): Units => {
  const units = new Map<string, Decimal.Decimal>()
  for (const movement of movements) {
    const entry = entryIdOf(movement)
    units.set(entry, Decimal.add(units.get(entry) ?? Decimal.zero, movement.units))
  }
  return units
}

/** Movements whose opened lots are looked up together. */
const movementsAtOnce = 500

/**
 * Finds the parts of lots that movements took from the books of their parties, in their order. The lots
 * are those that were open before the first of them, the oldest as far as the units that left, and those
 * that were opened meanwhile: nothing older or younger is read. Where the kept history begins later, the
 * books are followed from their first movement.
 */
export const partsOf = Effect.fnUntraced(function* (
  lotMovements: ReadonlyArray<PartyMovement>,
  pin: Pin.ResolvedPin
) {
  const [first, last] = [lotMovements[0], lotMovements.at(-1)]
  const found: Array<TakenUnits> = []
  if (first === undefined || last === undefined) return found
  const { horizon } = yield* LedgerReach
  const before = Offset.of(first.offset - 1)
  const isKept = before >= (yield* horizon)
  const entries = new Set(lotMovements.map(entryIdOf))
  const wanted = new Set(lotMovements.map(movementIdOf))
  const begun = isKept
    ? yield* oldestLotsOf(unitsOf(lotMovements), {
        ...pin,
        offset: before,
        select: { by: "offset" }
      })
    : yield* snapshotLotsOf(lotMovements, pin)
  const books: LotRules.OpenBooks = Map.groupBy(begun, entryIdOf)
  yield* movementsIn({
    parties: [...new Set(lotMovements.map(({ party }) => party))],
    instrumentIds: [...new Set(lotMovements.map(({ instrumentId }) => instrumentId))],
    ...{ pin, before: isKept ? before : Offset.zero, start: first.ledgerTime },
    end: Instant.add(last.ledgerTime, Duration.millis(1))
  }).pipe(
    Stream.filter((movement) => entries.has(entryIdOf(movement))),
    Stream.takeWhile(({ offset }) => offset <= last.offset),
    Stream.grouped(movementsAtOnce),
    Stream.runForEach((movements) =>
      Effect.map(openedBy(movements, pin), (opened) => {
        for (const movement of movements) {
          const parts = DisposalRules.enter(books, movement, opened.get(movement) ?? [])
          // Books that are followed from their first movement have earlier ones too.
          if (!wanted.has(movementIdOf(movement))) continue
          for (const part of parts) found.push({ movement, part })
        }
      })
    )
  )
  return found
})

const movementIdOf = (movement: PartyMovement): string => `${entryIdOf(movement)} ${movement.seq}`

/** Units of a lot that left its party's books by a movement. */
type TakenUnits = Pick<DisposalRules.DisposedUnits, "movement" | "part">

const snapshotLotsOf = Effect.fnUntraced(function* (
  movements: ReadonlyArray<PartyMovement>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const ids = movements.map((movement) =>
    lotIdOf({ ...movement, lotId: LotRules.snapshotLotIdOf(movement.party) })
  )
  const found = yield* records.many(lots, [...new Set(ids)], pin)
  return found.map((lot): Lot => DisposalRules.asOpened(lot))
})

/**
 * Loads the lots that movements brought into their party's books. A transfer brings as many as it took
 * parts, in places from 0 on: twice as many are looked up each time until they have all units.
 */
const openedBy = Effect.fnUntraced(function* (
  movements: ReadonlyArray<PartyMovement>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const opened = new Map<PartyMovement, ReadonlyArray<Lot>>()
  let open = movements.filter(({ from, party }) => from !== party)
  for (let from = 0, count = 1; open.length > 0; from += count, count = from) {
    const ids = new Map(
      open.map((movement) => [movement, DisposalRules.openedIdsOf(movement, { from, count })])
    )
    const rows = yield* records.many(lots, [...new Set([...ids.values()].flat())], pin)
    const byId = new Map<string, Lot>(rows.map((lot) => [lotIdOf(lot), lot]))
    open = open.filter((movement) => {
      const there = ids.get(movement)!.flatMap((id) => byId.get(id) ?? [])
      const lots = [...(opened.get(movement) ?? []), ...DisposalRules.openedOf(movement, there)]
      opened.set(movement, lots)
      const units = Decimal.sum(lots.map((lot) => lot.units))
      // Places have no gap: a movement that took more than its giver's lots had brought no more of them.
      return there.length >= count && Decimal.lessThan(units, movement.units)
    })
  }
  return opened
})

/**
 * Loads the payments for units that parties gave up, by the id of the act: the proceeds of
 * redemptions, and of reserve redemptions the payout at the asset's price. An act of another party
 * or instrument than the movement's is left out, and so is one that burned its units in another
 * update, since a requester of a burn may write any reference.
 */
export const proceedsOf = Effect.fnUntraced(function* (
  movements: ReadonlyArray<PartyMovement>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const named = (kind: string) => [
    ...new Set(
      movements.flatMap(({ reference }) => (reference?.resourceKind === kind ? [reference.id] : []))
    )
  ]
  const ids = { redemption: named("redemption"), reserve: named("reserve-redemption") }
  const { redeemed, reserved } = yield* Effect.all(
    {
      redeemed: records.many(redemptions, ids.redemption, pin),
      reserved: records.many(reserveRedemptions, ids.reserve, pin)
    },
    together
  )
  const byId = new Map(redeemed.map((order) => [order.redemptionId as string, order]))
  const byReserveId = new Map(reserved.map((order) => [order.reserveRedemptionId as string, order]))
  return (
    { at, instrumentId, party, reference }: PartyMovement,
    currency: string
  ): DisposalRules.Proceeds | null => {
    const isOf = (order: { readonly instrumentId: string; readonly party: string } | undefined) =>
      order !== undefined && order.instrumentId === instrumentId && order.party === party
    if (reference?.resourceKind === "redemption") {
      const order = byId.get(reference.id)
      return order !== undefined && isOf(order) && order.burnedAt === at && order.proceeds !== null
        ? { proceeds: order.proceeds, currency: order.currency }
        : null
    }
    if (reference?.resourceKind !== "reserve-redemption") return null
    const order = byReserveId.get(reference.id)
    if (order === undefined || !isOf(order) || order.endedAt !== at || order.price === null)
      return null
    const cashDecimals = Currency.decimals(currency)
    const { payout: units, price } = order
    return { proceeds: Formula.compute(lotCost, { units, price, cashDecimals }).cost, currency }
  }
})
