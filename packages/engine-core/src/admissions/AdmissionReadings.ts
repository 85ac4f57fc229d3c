/** Readings of the ledger about an admission: offered, answered, ended. */
import { Effect, Option } from "effect"
import * as events from "./events.ts"
import { holderParties } from "../holders/holder/Holder.ts"
import * as Machine from "../kernel/Machine.ts"
import * as LedgerRecord from "../projection/LedgerRecord.ts"
import type { Node } from "../projection/Reading.ts"
import * as Snapshot from "../projection/Snapshot.ts"
import * as TypedReading from "../projection/TypedReading.ts"
import * as Unexpected from "../projection/Unexpected.ts"
import { Records, type Stored } from "../records/Records.ts"
import { AdmissionOffer } from "../templates/Admission.ts"
import { Credential } from "../templates/Registry.ts"
import type { Payload } from "../templates/Template.ts"
import { operations } from "../writes/OperationRecord.ts"
import { type Admission, admissions } from "./Admission.ts"
import { AdmissionMachine, type Fact } from "./AdmissionMachine.ts"

const offer = TypedReading.of(AdmissionOffer, {
  created: Effect.fn("AdmissionOffer.created")(function* (payload, node) {
    const records = yield* Records
    const holder = yield* records.find(holderParties, payload.holder)
    if (Option.isNone(holder)) {
      return yield* surprise(node, payload.credentialId, {
        on: "offer",
        detail: "The party offered to is no holder."
      })
    }
    const { holderId } = holder.value
    const { instrumentId, registrar, expiresAt, validFrom, validUntil } = payload
    const admission = yield* LedgerRecord.open(
      admissions,
      {
        admissionId: payload.credentialId,
        holderId,
        instrumentId,
        party: payload.holder,
        registrar,
        state: AdmissionMachine.initial,
        offeredAt: node.effectiveAt,
        offset: node.offset,
        expiresAt,
        admittedAt: null,
        validFrom,
        validUntil,
        offerCid: node.contractId,
        credentialCid: null,
        endedAt: null,
        endedBy: null,
        recoveredBy: null
      },
      node
    )
    yield* announced("admission.offered", admission, node)
  }),
  exercised: {
    Decline: ({ payload }, node) =>
      gone(payload.credentialId, node, { on: "decline", at: node.effectiveAt }),
    Withdraw: ({ payload }, node) =>
      Effect.flatMap(recoveryOf(node), (recoveredBy) =>
        gone(payload.credentialId, node, { on: "withdraw", recoveredBy, at: node.effectiveAt })
      )
  }
})

/** Ends a live admission; of an expired one only the contract is cleared. */
const gone = Effect.fnUntraced(function* (
  admissionId: string,
  node: Node,
  fact: Extract<Fact, { readonly on: "decline" | "withdraw" | "revoke" }>
) {
  const records = yield* Records
  const found = yield* records.find(admissions, admissionId)
  const at = node.effectiveAt
  if (Option.isSome(found) && found.value.state === "expired") {
    yield* records.record(admissions, found.value, { on: "clear", at }, node.act)
    return
  }
  yield* moved(admissionId, node, fact)
})

const recovering: ReadonlyArray<string> = ["holder.recover", "instrument.recover"]

/** The recovery in whose transaction the venue ended it; null: the venue ended it by itself. */
const recoveryOf = Effect.fnUntraced(function* ({ operationId }: Node) {
  if (operationId === null) return null
  const records = yield* Records
  const operation = Option.getOrNull(yield* records.find(operations, operationId))
  return operation !== null && recovering.includes(operation.kind) ? operationId : null
})

/** A credential names its venue as its issuer. */
const credential = TypedReading.of(Credential, {
  created: Effect.fn("Credential.created")(function* (payload, node) {
    const { issuer, credentialId } = payload
    if (issuer !== node.venue) return
    if (Snapshot.isOf(node)) return yield* standing(payload, node)
    const fact = { on: "accept", credentialCid: node.contractId, at: node.effectiveAt } as const
    const admission = yield* moved(credentialId, node, fact)
    if (admission !== undefined) yield* announced("admission.granted", admission, node)
  }),
  exercised: {
    Revoke: ({ payload }, node) =>
      Effect.flatMap(recoveryOf(node), (recoveredBy) =>
        revoked(payload, node, { by: "venue", recoveredBy })
      ),
    Renounce: ({ payload }, node) => revoked(payload, node, { by: "holder", recoveredBy: null })
  }
})

export const readings = [offer, credential] as const

/** A credential in the snapshot that a projection begins with; its offer is archived. */
const standing = Effect.fnUntraced(function* (payload: Payload<typeof Credential>, node: Node) {
  const records = yield* Records
  const holder = yield* records.find(holderParties, payload.holder)
  if (Option.isNone(holder)) {
    return yield* surprise(node, payload.credentialId, {
      on: "accept",
      detail: "The party admitted is no holder."
    })
  }
  const { instrumentId, registrar, validFrom, validUntil } = payload
  const admission = yield* LedgerRecord.open(
    admissions,
    {
      admissionId: payload.credentialId,
      holderId: holder.value.holderId,
      instrumentId,
      party: payload.holder,
      registrar,
      state: "admitted",
      offeredAt: node.effectiveAt,
      offset: node.offset,
      expiresAt: null,
      admittedAt: node.effectiveAt,
      validFrom,
      validUntil,
      offerCid: null,
      credentialCid: node.contractId,
      endedAt: null,
      endedBy: null,
      recoveredBy: null
    },
    node
  )
  yield* announced("admission.granted", admission, node)
})

const revoked = (
  { issuer, credentialId }: Payload<typeof Credential>,
  node: Node,
  why: Pick<Extract<Fact, { readonly on: "revoke" }>, "by" | "recoveredBy">
) =>
  issuer === node.venue
    ? gone(credentialId, node, { on: "revoke", ...why, at: node.effectiveAt })
    : Effect.void

/** The admission after the fact, where its table allows it. */
const moved = Effect.fnUntraced(function* (
  admissionId: string,
  node: Node,
  fact: Exclude<Fact, { readonly on: "clear" }>
) {
  const records = yield* Records
  const found = yield* records.find(admissions, admissionId)
  if (Option.isSome(found) && Machine.allows(AdmissionMachine, found.value.state, fact.on)) {
    return yield* records.record(admissions, found.value, fact, node.act)
  }
  yield* surprise(node, admissionId, {
    on: fact.on,
    detail: Option.match(found, {
      onNone: () => "There is no such admission.",
      onSome: ({ state }) => `The admission is ${state}.`
    })
  })
  return undefined
})

const announced = (
  type: "admission.offered" | "admission.granted",
  admission: Stored<Admission>,
  node: Node
) =>
  Effect.flatMap(Records, (records) =>
    records.announce([
      {
        ...events.make(type, {
          contractId: node.contractId,
          holderId: admission.holderId,
          validUntil: admission.validUntil
        }),
        resourceKind: "contract",
        resourceId: node.contractId,
        instrumentId: admission.instrumentId,
        party: admission.party,
        holderIds: [admission.holderId],
        journal: {
          at: node.effectiveAt,
          offset: node.offset,
          source: `${node.offset}:${node.nodeId}:${type}`
        }
      }
    ])
  )

const surprise = (
  node: Node,
  resourceId: string,
  of: { readonly on: string; readonly detail: string }
) => Unexpected.keep(node, { resourceKind: "admission", resourceId, ...of })
