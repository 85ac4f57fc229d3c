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

/** An order of a snapshot, whose start prices are unknown. */
const unpriced: Prices = { price: null, pointCid: null, sharePrice: null }

/**
 * Handlers for the typed readings of a kind of order: its readings bind them to the choices of its
 * own template. `O` is the payload of a contract of the kind.
 */
export const of = <R extends Members, O>(kind: {
  readonly collection: Collection<R, Fact>
  readonly resourceKind: "mint" | "reserve-redemption"
  /** Name that the contract gives the order's party. */
  readonly partyName: "depositor" | "owner"
  /** Side to which the share price of such an order is rounded. */
  readonly side: "up" | "down"
  stated(order: O): ContractMembers
  record(order: O, members: Members): R
}) => {
  const { collection } = kind
  const follow = LedgerRecord.transitionsOf({
    collection,
    machine: ReserveOrderMachine,
    resourceKind: kind.resourceKind
  })

  /**
   * Opens the record; an order of no reserve, or of a party that is no holder, is recorded as a
   * breach.
   */
  const opened = Effect.fnUntraced(function* (
    order: O,
    prices: Prices & Pick<Members, "orderCid">,
    node: Node
  ) {
    const records = yield* Records
    const { deadline, id, ...stated } = kind.stated(order)
    const reserve = Option.getOrNull(yield* records.find(reserves, stated.reserveId))
    const holderId = yield* holderOf(stated.party)
    if (reserve === null || holderId === null) {
      return yield* follow.keepBreach(node, id, {
        on: "open",
        detail:
          reserve === null ? "There is no such reserve." : `The ${kind.partyName} is no holder.`
      })
    }
    const isReady = stated.heldCid !== null
    const members: Members = {
      ...stated,
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
      deadline,
      readyAt: isReady ? node.effectiveAt : null,
      endedAt: null,
      updateId: null,
      lost: false,
      ...prices
    }
    yield* LedgerRecord.open(collection, kind.record(order, members), node)
  })

  /** Opens the order that the reserve starts, at the prices that the ledger used. */
  const started = Effect.fnUntraced(function* (
    order: O,
    { payload, argument, result }: StartChoice,
    node: Node
  ) {
    const { price, pointCid, sharePrice } = yield* pricesOf(payload, argument, node)
    const prices = { price, pointCid, sharePrice: sharePrice?.[kind.side] ?? null }
    yield* opened(order, { ...prices, orderCid: result.contractId }, node)
  })

  /** Opens the order whose contract a snapshot holds. */
  const fromSnapshot = (order: O, node: Node): LedgerRecord.LedgerEffect =>
    opened(order, { ...unpriced, orderCid: node.contractId }, node)

  const settled = (id: string, { coverBefore, coverAfter }: Covers, node: Node) =>
    follow.moveBy(id, node, {
      on: "settle",
      at: node.effectiveAt,
      coverBefore: coverBefore.ratio,
      coverAfter: coverAfter.ratio,
      updateId: node.updateId
    })

  /** Ends the order; one that is past its deadline ends as expired, also where people cancel it. */
  const ended = (id: string, on: "decline" | "cancel", node: Node): LedgerRecord.LedgerEffect =>
    follow.withRecord(id, node, on, ({ state }) =>
      follow.moveBy(id, node, { on: state === "expired" ? "release" : on, at: node.effectiveAt })
    )

  /**
   * Records that the allocation or the locked units of an order have ended, if they are this
   * contract.
   */
  const lost = Effect.fnUntraced(function* (id: string, node: Node) {
    const records = yield* Records
    const self = Option.getOrNull(yield* records.find(collection, id))
    if (self?.heldCid === node.contractId) yield* follow.record(self, node, { on: "lose" })
  })

  /**
   * Records, once all of a snapshot has been read, which allocations and locked units of its orders
   * had ended before.
   */
  const lostBefore = Effect.fnUntraced(function* (
    orders: ReadonlyArray<{ readonly payload: O; readonly node: Node }>,
    { events, from }: Whole
  ) {
    if (from !== "snapshot") return
    const active = new Set(events.map(({ contractId }) => contractId))
    for (const { payload, node } of orders) {
      const { heldCid: contractId, id } = kind.stated(payload)
      if (contractId === null || active.has(contractId)) continue
      yield* lost(id, { ...node, contractId })
    }
  })

  return { ...follow, ended, fromSnapshot, lost, lostBefore, settled, started }
}

/**
 * Loads the prices that an order was started at: the asset's, and the share's both ways. The ledger
 * derives them from the reserve's contract and the points that the venue named, and so do these
 * steps.
 */
const pricesOf = Effect.fnUntraced(function* (
  payload: StartChoice["payload"],
  argument: StartChoice["argument"],
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
