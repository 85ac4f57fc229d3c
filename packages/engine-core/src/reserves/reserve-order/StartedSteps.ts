/**
 * Steps of an order that the ledger reports: started at the prices that the ledger used, settled,
 * ended, and left without its allocation or locked units.
 */
import { Effect, Option, Schema } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import type { Collection } from "../../kernel/Collection.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, Whole } from "../../projection/FromLedger.ts"
import { Records } from "../../records/Records.ts"
import type * as Field from "../../templates/Field.ts"
import type { Reserve as ReserveTemplate } from "../../templates/Reserve.ts"
import type { Payload } from "../../templates/Template.ts"
import * as BooksRules from "../reserve/BooksRules.ts"
import * as CoverRules from "../reserve/CoverRules.ts"
import { pointsOf } from "../reserve/PointLookups.ts"
import { reserves } from "../reserve/Reserve.ts"
import { keyOf } from "../reserve/ReserveTerms.ts"
import { type Fact, type Members, ReserveOrderMachine } from "./ReserveOrder.ts"

/** Members of an order's record that its contract states. */
interface ContractMembers {
  readonly id: string
  readonly reserveId: string
  readonly party: Party.Party
  /** Name that the contract gives that party. */
  readonly partyName: "depositor" | "owner"
  readonly asset: Field.Asset
  readonly units: Decimal.Decimal
  readonly deadline: Instant.Instant
  /** Contract by which the party has set assets aside for the order; null: none yet. */
  readonly heldCid: string | null
}

/** A choice of the reserve's contract by which an order starts. */
interface StartChoice {
  readonly payload: Payload<typeof ReserveTemplate>
  readonly argument: {
    readonly asset: Field.Asset
    readonly pointCids: ReadonlyArray<string>
    readonly supply: Decimal.Decimal
  }
  readonly result: { readonly contractId: string }
}

/**
 * Ratio of counted value to value outstanding before and after a settlement, as the ledger computed
 * it.
 */
interface Covers {
  readonly coverBefore: { readonly ratio: Decimal.Decimal | null }
  readonly coverAfter: { readonly ratio: Decimal.Decimal | null }
}

type Prices = Pick<Members, "price" | "pointCid" | "sharePrice">

/** Prices of an order of a snapshot: its start prices are unknown. */
export const unpriced: Prices = { price: null, pointCid: null, sharePrice: null }

/** Transitions of a kind of order. */
export const follow = <R extends Members>(collection: Collection<R, Fact>) =>
  LedgerRecord.transitionsOf({
    collection,
    machine: ReserveOrderMachine,
    resourceKind: collection.name
  })

/**
 * Makes the members that the record of an order opens with; null: the order of no reserve, or of a party
 * that is no holder, is kept as a breach.
 */
export const membersOf = Effect.fnUntraced(function* <R extends Members>(
  collection: Collection<R, Fact>,
  { id, partyName, ...contract }: ContractMembers,
  start: Prices & Pick<Members, "orderCid">,
  node: Node
) {
  const records = yield* Records
  const reserve = Option.getOrNull(yield* records.find(reserves, contract.reserveId))
  const holderId = yield* holderOf(contract.party)
  if (reserve === null || holderId === null) {
    const detail = reserve === null ? "There is no such reserve." : `The ${partyName} is no holder.`
    yield* follow(collection).keepBreach(node, id, { on: "open", detail })
    return null
  }
  const isReady = contract.heldCid !== null
  const members: Members = {
    ...contract,
    instrumentId: Schema.decodeSync(InstrumentId)(reserve.instrumentId),
    registrar: reserve.issuer,
    holder: reserve.holder,
    state: isReady ? "ready" : "started",
    endedAs: null,
    holderId,
    decimals: reserve.decimals,
    unit: reserve.unit,
    coverBefore: null,
    coverAfter: null,
    readyAt: isReady ? node.effectiveAt : null,
    endedAt: null,
    updateId: null,
    lost: false,
    ...start
  }
  return members
})

/** Settles the order, with the cover that the ledger computed before and after it. */
export const settled = <R extends Members>(
  collection: Collection<R, Fact>,
  id: string,
  { coverBefore, coverAfter }: Covers,
  node: Node
): LedgerRecord.LedgerEffect =>
  follow(collection).moveBy(id, node, {
    on: "settle",
    at: node.effectiveAt,
    coverBefore: coverBefore.ratio,
    coverAfter: coverAfter.ratio,
    updateId: node.updateId
  })

/** Ends the order; one that is past its deadline ends as expired, also where people cancel it. */
export const ended = <R extends Members>(
  collection: Collection<R, Fact>,
  id: string,
  on: "decline" | "cancel",
  node: Node
): LedgerRecord.LedgerEffect => {
  const { moveBy, withRecord } = follow(collection)
  return withRecord(id, node, on, ({ state }) =>
    moveBy(id, node, { on: state === "expired" ? "release" : on, at: node.effectiveAt })
  )
}

/**
 * Records that the allocation or the locked units of an order have ended, if they are this
 * contract.
 */
export const lost = Effect.fnUntraced(function* <R extends Members>(
  collection: Collection<R, Fact>,
  id: string,
  node: Node
) {
  const records = yield* Records
  const self = Option.getOrNull(yield* records.find(collection, id))
  if (self?.heldCid === node.contractId) {
    yield* follow(collection).record(self, node, { on: "lose" })
  }
})

/**
 * Records, once all of a snapshot has been read, which allocations and locked units of its orders
 * had ended before.
 */
export const lostBefore = Effect.fnUntraced(function* <R extends Members>(
  collection: Collection<R, Fact>,
  orders: ReadonlyArray<Pick<ContractMembers, "id" | "heldCid"> & { readonly node: Node }>,
  { events, from }: Whole
) {
  if (from !== "snapshot") return
  const active = new Set(events.map(({ contractId }) => contractId))
  for (const { id, heldCid: contractId, node } of orders) {
    if (contractId === null || active.has(contractId)) continue
    yield* lost(collection, id, { ...node, contractId })
  }
})

/**
 * Loads the prices that an order was started at: the asset's, and the share's both ways. The ledger
 * derives them from the reserve's contract and the points that the venue named, and so do these
 * steps.
 */
export const pricesOf = Effect.fnUntraced(function* (
  { argument, payload }: StartChoice,
  node: Node
) {
  const points = yield* pointsOf(argument.pointCids)
  const books = BooksRules.booksAt(BooksRules.bodyOf(payload), {
    points,
    supply: argument.supply,
    at: node.effectiveAt
  })
  const key = keyOf(argument.asset)
  return {
    price: CoverRules.assetsOf(books).find((asset) => asset.key === key)?.price ?? null,
    pointCid: points.get(key)?.contractId ?? null,
    sharePrice: CoverRules.sharePriceOf(books)
  }
})

/** Finds the holder of a party; null: it is none. */
const holderOf = Effect.fnUntraced(function* (party: Party.Party) {
  const records = yield* Records
  const found = yield* records.find(holderParties, party)
  return Option.match(found, { onNone: () => null, onSome: ({ holderId }) => holderId })
})
