/** Facts from the ledger about holders: invited, registered, closed. */
import { Effect, Option, Schema } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { HolderInvitation, HolderRegistration } from "../../templates/Admission.ts"
import type { Payload } from "../../templates/Template.ts"
import { type Holder, holderParties, holders, HolderMachine, isReady } from "./Holder.ts"
import { HolderId } from "./HolderId.ts"

export const transitions = LedgerRecord.transitionsOf({
  collection: holders,
  machine: HolderMachine,
  resourceKind: "holder"
})

const inviting = TypedFromLedger.of(HolderInvitation, {
  created: Effect.fn("HolderInvitation.created")(function* (payload, node) {
    const records = yield* Records
    const holder = yield* records.find(holders, payload.holderId)
    if (Option.isSome(holder)) return yield* invitedAgain(holder.value, payload, node)
    yield* LedgerRecord.open(holders, opened(payload, node), node)
    const entry = yield* records.find(holderParties, payload.holder)
    if (Option.isNone(entry)) return yield* indexParty(payload, node)
    yield* transitions.keepBreach(node, payload.holderId, {
      on: "register",
      detail: `The party is the holder ${entry.value.holderId} already.`
    })
  }),
  exercised: {
    Decline: ({ payload }, node) => uninvited(payload.holderId, node),
    Withdraw: ({ payload }, node) => uninvited(payload.holderId, node)
  }
})

const registering = TypedFromLedger.of(HolderRegistration, {
  created: Effect.fn("HolderRegistration.created")(function* (payload, node) {
    if (Snapshot.isOf(node)) {
      // The snapshot holds no archived invitation, so the holder opens without its details.
      yield* LedgerRecord.open(holders, { ...opened(payload, node), invitationCid: null }, node)
      yield* indexParty(payload, node)
    }
    yield* transitions.withRecord(payload.holderId, node, "accept", (holder) =>
      registered(holder, payload, node)
    )
  }),
  exercised: {
    Close: ({ payload }, node) =>
      transitions.withRecord(payload.holderId, node, "close", (holder) => closed(holder, node))
  }
})

// Read first of a snapshot: its terms, offers and credentials name holders that these open.
const invitation: FromLedger = { ...inviting, inSnapshot: "first" }
const registration: FromLedger = { ...registering, inSnapshot: "first" }

export const fromLedger = [invitation, registration] as const

const opened = (payload: Payload<typeof HolderInvitation>, node: Node): Holder => ({
  holderId: Schema.decodeSync(HolderId)(payload.holderId),
  party: payload.holder,
  state: HolderMachine.initial,
  custodian: payload.custodian,
  legalName: null,
  lei: null,
  classification: null,
  taxResidences: [],
  registeredAt: node.effectiveAt,
  acceptedAt: null,
  validUntil: payload.validUntil,
  attributes: [],
  attributesFrom: null,
  screening: null,
  terms: null,
  successor: null,
  predecessor: payload.predecessor,
  consents: [],
  externalAccounts: [],
  closedAs: null,
  endedAt: null,
  invitationCid: node.contractId,
  registrationCid: null,
  signedTermsCid: null,
  told: { version: 1, at: node.effectiveAt }
})

/** Records a repeated invitation of a holder that is not registered; any other is a breach. */
const invitedAgain = Effect.fnUntraced(function* (
  holder: Stored<Holder>,
  { holder: party, validUntil }: Payload<typeof HolderInvitation>,
  node: Node
) {
  const records = yield* Records
  const isUnregistered = holder.state === "pending" && holder.registrationCid === null
  if (isUnregistered && holder.party === party && holder.invitationCid === null) {
    const invited = { on: "invite", invitationCid: node.contractId, validUntil } as const
    yield* records.append(holders, holder, { ...invited, at: node.effectiveAt }, node.act)
    return
  }
  yield* transitions.keepBreach(node, holder.holderId, {
    on: "register",
    detail: "A holder of this id exists."
  })
})

const indexParty = (payload: Payload<typeof HolderInvitation>, node: Node) =>
  LedgerRecord.open(
    holderParties,
    { party: payload.holder, holderId: Schema.decodeSync(HolderId)(payload.holderId) },
    node
  )

const uninvited = (holderId: string, node: Node) =>
  transitions.withRecord(holderId, node, "decline", (holder) =>
    transitions.record(holder, node, { on: "decline", at: node.effectiveAt })
  )

const registered = Effect.fnUntraced(function* (
  holder: Stored<Holder>,
  { validUntil }: Payload<typeof HolderRegistration>,
  node: Node
) {
  const records = yield* Records
  const from = { registrationCid: node.contractId, at: node.effectiveAt, validUntil }
  // A registration renewed with a past end lapses at once.
  if (transitions.allows(holder, "renew")) {
    return yield* records.append(holders, holder, { on: "renew", ...from }, node.act)
  }
  if (Machine.isTerminal(HolderMachine, holder.state)) {
    return yield* transitions.keepBreach(node, holder.holderId, {
      on: "accept",
      detail: `A holder in state ${holder.state} was registered.`
    })
  }
  const accepted = yield* records.append(holders, holder, { on: "accept", ...from }, node.act)
  yield* activateIfComplete(accepted, node)
})

/** Activates a pending holder once its registration, terms and screening are complete. */
export const activateIfComplete = Effect.fnUntraced(function* (
  holder: Stored<Holder>,
  { act, effectiveAt: at }: Pick<Node, "act" | "effectiveAt">
) {
  if (!isReady(holder)) return
  const records = yield* Records
  yield* records.append(holders, holder, { on: "activate", at }, act)
})

const closed = Effect.fnUntraced(function* (holder: Stored<Holder>, node: Node) {
  const records = yield* Records
  if (!transitions.allows(holder, "close")) {
    return yield* transitions.keepBreach(node, holder.holderId, {
      on: "close",
      detail: `A holder in state ${holder.state} was closed.`
    })
  }
  yield* records.append(holders, holder, { on: "close", at: node.effectiveAt }, node.act)
})
