/** Readings of the ledger about a holder: invited, registered, gone. */
import { Effect, Option, Schema } from "effect"
import * as Machine from "../../kernel/Machine.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, Reading } from "../../projection/Reading.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { HolderInvitation, HolderRegistration } from "../../templates/Admission.ts"
import type { Payload } from "../../templates/Template.ts"
import { type Holder, HolderId, holderParties, holders } from "./Holder.ts"
import { HolderMachine, isReady } from "./HolderMachine.ts"

const invitation = TypedReading.of(HolderInvitation, {
  created: Effect.fn("HolderInvitation.created")(function* (payload, node) {
    const records = yield* Records
    const there = yield* records.find(holders, payload.holderId)
    if (Option.isSome(there)) return yield* invitedAgain(there.value, payload, node)
    yield* LedgerRecord.open(holders, opened(payload, node), node)
    const known = yield* records.find(holderParties, payload.holder)
    if (Option.isNone(known)) return yield* namesParty(payload, node)
    yield* surprise(node, payload.holderId, {
      on: "register",
      detail: `The party is the holder ${known.value.holderId} already.`
    })
  }),
  exercised: {
    Decline: ({ payload }, node) => uninvited(payload.holderId, node),
    Withdraw: ({ payload }, node) => uninvited(payload.holderId, node)
  }
})

const registering = TypedReading.of(HolderRegistration, {
  created: Effect.fn("HolderRegistration.created")(function* (payload, node) {
    if (Snapshot.isOf(node)) {
      // Its invitation is gone, and with it nothing but what the venue alone knew of the holder.
      yield* LedgerRecord.open(holders, { ...opened(payload, node), invitationCid: null }, node)
      yield* namesParty(payload, node)
    }
    yield* known(payload.holderId, node, "accept", (holder) => registered(holder, payload, node))
  }),
  exercised: {
    Close: ({ payload }, node) =>
      known(payload.holderId, node, "close", (holder) => closed(holder, node))
  }
})

/** A snapshot's terms and credentials are of holders that its registrations name. */
const registration: Reading = { ...registering, inSnapshot: "first" }

export const readings = [invitation, registration] as const

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

/** A holder that is not registered yet may be invited again; any other exists already. */
const invitedAgain = Effect.fnUntraced(function* (
  holder: Stored<Holder>,
  { holder: party, validUntil }: Payload<typeof HolderInvitation>,
  node: Node
) {
  const records = yield* Records
  const waits = holder.state === "pending" && holder.registrationCid === null
  if (waits && holder.party === party && holder.invitationCid === null) {
    const invited = { on: "invite", invitationCid: node.contractId, validUntil } as const
    yield* records.record(holders, holder, { ...invited, at: node.effectiveAt }, node.act)
    return
  }
  yield* surprise(node, holder.holderId, {
    on: "register",
    detail: "A holder of this id exists."
  })
})

const namesParty = (payload: Payload<typeof HolderInvitation>, node: Node) =>
  LedgerRecord.open(
    holderParties,
    { party: payload.holder, holderId: Schema.decodeSync(HolderId)(payload.holderId) },
    node
  )

const uninvited = (holderId: string, node: Node) =>
  known(holderId, node, "decline", (holder) =>
    Effect.flatMap(Records, (records) =>
      records.record(holders, holder, { on: "decline", at: node.effectiveAt }, node.act)
    )
  )

const registered = Effect.fnUntraced(function* (
  holder: Stored<Holder>,
  { validUntil }: Payload<typeof HolderRegistration>,
  node: Node
) {
  const records = yield* Records
  const from = { registrationCid: node.contractId, at: node.effectiveAt, validUntil }
  // A registration renewed with a past end lapses at once.
  if (Machine.allows(HolderMachine, holder.state, "renew")) {
    return yield* records.record(holders, holder, { on: "renew", ...from }, node.act)
  }
  if (Machine.isTerminal(HolderMachine, holder.state)) {
    return yield* surprise(node, holder.holderId, {
      on: "accept",
      detail: `A holder in state ${holder.state} was registered.`
    })
  }
  const accepted = yield* records.record(holders, holder, { on: "accept", ...from }, node.act)
  yield* activated(accepted, node)
})

/** The last of the facts that a pending holder waits for makes it active. */
export const activated = Effect.fnUntraced(function* (
  holder: Stored<Holder>,
  { act, effectiveAt: at }: Pick<Node, "act" | "effectiveAt">
) {
  if (!isReady(holder)) return
  const records = yield* Records
  yield* records.record(holders, holder, { on: "activate", at }, act)
})

const closed = Effect.fnUntraced(function* (holder: Stored<Holder>, node: Node) {
  const records = yield* Records
  if (!Machine.allows(HolderMachine, holder.state, "close")) {
    return yield* surprise(node, holder.holderId, {
      on: "close",
      detail: `A holder in state ${holder.state} was closed.`
    })
  }
  yield* records.record(holders, holder, { on: "close", at: node.effectiveAt }, node.act)
})

/** Finds the holder of a contract; a contract about an unknown holder is kept as unexpected. */
export const known = <A, E, R>(
  holderId: string,
  node: Node,
  on: string,
  read: (holder: Stored<Holder>) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const records = yield* Records
    const holder = yield* records.find(holders, holderId)
    if (Option.isSome(holder)) yield* read(holder.value)
    else yield* surprise(node, holderId, { on, detail: "There is no such holder." })
  })

export const surprise = (
  node: Node,
  holderId: string,
  of: { readonly on: string; readonly detail: string }
) => Unexpected.keep(node, { resourceKind: "holder", resourceId: holderId, ...of })
