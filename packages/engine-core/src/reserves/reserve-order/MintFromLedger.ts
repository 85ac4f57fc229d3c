/** Facts from the ledger about mints: started, accepted with an allocation, settled, ended; and the deposit's request. */
import { Effect, Option, Schema } from "effect"
import * as SettlementEventSteps from "../../orders/proposal/SettlementEventSteps.ts"
import type { Node, FromLedger, Whole } from "../../projection/FromLedger.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records } from "../../records/Records.ts"
import { Allocation } from "../../templates/Registry.ts"
import { MintOrder, type Reserve as ReserveTemplate } from "../../templates/Reserve.ts"
import { SettlementIntent } from "../../templates/Settlement.ts"
import type { Payload } from "../../templates/Template.ts"
import { MintId, mints } from "./Mint.ts"
import * as StartedSteps from "./StartedSteps.ts"

type Order = Omit<Payload<typeof MintOrder>, "venue" | "issuer" | "holder" | "instrument">
type Intent = Payload<typeof SettlementIntent>

const mint = StartedSteps.follow(mints)

const opened = Effect.fnUntraced(function* (
  { mintId, reserveId, depositor, asset, units, deposit, allocationCid, executeBefore }: Order,
  start: Parameters<typeof StartedSteps.membersOf>[2],
  node: Node
) {
  const contractMembers = {
    id: mintId,
    ...{ reserveId, party: depositor, asset, units },
    partyName: "depositor",
    deadline: executeBefore,
    heldCid: allocationCid
  } as const
  const members = yield* StartedSteps.membersOf(mints, contractMembers, start, node)
  if (members === null) return
  const self = {
    mintId: Schema.decodeSync(MintId)(mintId),
    ...members,
    deposit,
    intentCid: null
  }
  yield* LedgerRecord.open(mints, self, node)
})

/** Opens the mint that the reserve starts, at the prices that the ledger used. */
export const started = Effect.fnUntraced(function* (
  choosing: TypedFromLedger.ChoiceExercise<typeof ReserveTemplate, "StartMint">,
  node: Node
) {
  const { argument, payload, result } = choosing
  const { sharePrice, ...prices } = yield* StartedSteps.pricesOf(choosing, node)
  // A deposit buys at the share price that is rounded up.
  const start = { ...prices, sharePrice: sharePrice?.up ?? null, orderCid: result.contractId }
  const order = { ...argument, reserveId: payload.reserveId, allocationCid: null }
  yield* opened(order, start, node)
})

const order = TypedFromLedger.of(MintOrder, {
  created: Effect.fn("MintOrder.created")(function* (payload, node) {
    if (Snapshot.isOf(node)) {
      const start = { ...StartedSteps.unpriced, orderCid: node.contractId }
      return yield* opened(payload, start, node)
    }
    // The reserve's choice has opened the record; an acceptance creates the order again.
    const { allocationCid: heldCid, mintId } = payload
    if (heldCid === null) return
    const accepted = { orderCid: node.contractId, heldCid, at: node.effectiveAt }
    yield* mint.withRecord(mintId, node, "allocate", ({ state }) =>
      mint.moveBy(mintId, node, {
        on: state === "ready" ? "reallocate" : "allocate",
        ...accepted
      })
    )
  }),
  exercised: {
    Decline: ({ payload }, node) => StartedSteps.ended(mints, payload.mintId, "decline", node),
    Settle: ({ payload, result }, node) =>
      StartedSteps.settled(mints, payload.mintId, result, node),
    Cancel: ({ payload }, node) => StartedSteps.ended(mints, payload.mintId, "cancel", node)
  }
})

const intent = TypedFromLedger.of(SettlementIntent, {
  // In a snapshot the request may precede its order.
  created: (payload, node) => (Snapshot.isOf(node) ? Effect.void : requested(payload, node)),
  exercised: {
    Complete: ({ payload }, node) => requestEnded(payload, node),
    AllocationRequest_Withdraw: ({ payload }, node) => requestEnded(payload, node),
    AllocationRequest_Reject: ({ payload }, node) => requestEnded(payload, node)
  }
})

/** Reads the requests of a snapshot once all of its orders have been opened. */
const requestedInSnapshot = Effect.fnUntraced(function* (update: Whole) {
  if (update.from !== "snapshot") return
  for (const { payload, node } of TypedFromLedger.madeIn(SettlementIntent, update)) {
    yield* requested(payload, node)
  }
})

const requested = Effect.fnUntraced(function* (payload: Intent, node: Node) {
  const found = yield* requestedFor(payload)
  if (found === null) return
  const records = yield* Records
  yield* records.append(mints, found, { on: "request", intentCid: node.contractId }, node.act)
  const { holderId, instrumentId, mintId: reference, party } = found
  const about = { reference, instrumentId, party, holderIds: [holderId] }
  yield* records.announce([SettlementEventSteps.proposed(node, about)])
})

/** Finds the mint whose deposit is requested; null: the request settles something else. */
const requestedFor = Effect.fnUntraced(function* ({ reference: { kind, id } }: Intent) {
  if (kind !== "mint") return null
  const records = yield* Records
  return Option.getOrNull(yield* records.find(mints, id))
})

const requestEnded = Effect.fnUntraced(function* (payload: Intent, node: Node) {
  const self = yield* requestedFor(payload)
  if (self?.intentCid !== node.contractId) return
  const records = yield* Records
  yield* records.append(mints, self, { on: "request", intentCid: null }, node.act)
})

/** An allocation that ends without its mint leaves a ready order without a deposit. */
const allocationEnded = (
  { payload: { reference } }: { readonly payload: Payload<typeof Allocation> },
  node: Node
) => StartedSteps.lost(mints, reference, node)

const allocation = TypedFromLedger.of(Allocation, {
  exercised: {
    Allocation_ExecuteTransfer: allocationEnded,
    Allocation_Cancel: allocationEnded,
    Allocation_Withdraw: allocationEnded
  }
})

export const fromLedger: ReadonlyArray<FromLedger> = [
  {
    ...order,
    looks: ({ mintId }) => (typeof mintId === "string" ? [{ collection: mints, id: mintId }] : []),
    whole: (update) => {
      const made = TypedFromLedger.madeIn(MintOrder, update)
      const orders = made.map(({ node, payload: { allocationCid: heldCid, mintId: id } }) => ({
        ...{ id, heldCid, node }
      }))
      return StartedSteps.lostBefore(mints, orders, update)
    }
  },
  { ...intent, whole: requestedInSnapshot },
  {
    ...allocation,
    looks: ({ reference }) =>
      typeof reference === "string" ? [{ collection: mints, id: reference }] : []
  }
]
