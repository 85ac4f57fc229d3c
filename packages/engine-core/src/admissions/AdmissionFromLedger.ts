/** Facts from the ledger about admissions: offered, answered, ended. */
import { Effect, Option } from "effect"
import { holderParties } from "../holders/holder/Holder.ts"
import * as LedgerRecord from "../projection/LedgerRecord.ts"
import type { Node } from "../projection/FromLedger.ts"
import * as Snapshot from "../projection/Snapshot.ts"
import * as TypedFromLedger from "../projection/TypedFromLedger.ts"
import { Records, type Stored } from "../records/Records.ts"
import { AdmissionOffer } from "../templates/Admission.ts"
import { Credential } from "../templates/Registry.ts"
import type { Payload } from "../templates/Template.ts"
import { operations } from "../writes/OperationRecord.ts"
import {
  type Admission,
  admissions,
  AdmissionMachine,
  type Fact,
  makeEvent,
  type MovingFact
} from "./Admission.ts"

const { allows, keepBreach, keepIdle } = LedgerRecord.transitionsOf({
  collection: admissions,
  machine: AdmissionMachine,
  resourceKind: "admission"
})

const offer = TypedFromLedger.of(AdmissionOffer, {
  created: Effect.fn("AdmissionOffer.created")(function* (payload, node) {
    const records = yield* Records
    const holder = yield* records.find(holderParties, payload.holder)
    if (Option.isNone(holder)) {
      return yield* keepBreach(node, payload.credentialId, {
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
      endOrClear(payload.credentialId, node, { on: "decline", at: node.effectiveAt }),
    Withdraw: ({ payload }, node) =>
      Effect.flatMap(recoveryOf(node), (recoveredBy) =>
        endOrClear(payload.credentialId, node, {
          on: "withdraw",
          recoveredBy,
          at: node.effectiveAt
        })
      )
  }
})

/** Ends an admission in force; of an expired one only the contract is cleared from its record. */
const endOrClear = Effect.fnUntraced(function* (
  admissionId: string,
  node: Node,
  fact: Extract<Fact, { readonly on: "decline" | "withdraw" | "revoke" }>
) {
  const records = yield* Records
  const found = yield* records.find(admissions, admissionId)
  const at = node.effectiveAt
  if (Option.isSome(found) && found.value.state === "expired") {
    yield* records.append(admissions, found.value, { on: "clear", at }, node.act)
    return
  }
  yield* moved(admissionId, node, fact)
})

const recovering: ReadonlyArray<string> = ["holder.recover", "instrument.recover"]

/** Id of the recovery whose transaction ended the admission; null where no recovery did. */
const recoveryOf = Effect.fnUntraced(function* ({ operationId }: Node) {
  if (operationId === null) return null
  const records = yield* Records
  const operation = Option.getOrNull(yield* records.find(operations, operationId))
  return operation !== null && recovering.includes(operation.kind) ? operationId : null
})

/** Credentials of other issuers than the venue are ignored. */
const credential = TypedFromLedger.of(Credential, {
  created: Effect.fn("Credential.created")(function* (payload, node) {
    const { issuer, credentialId } = payload
    if (issuer !== node.venue) return
    if (Snapshot.isOf(node)) return yield* openAdmitted(payload, node)
    if (yield* wasAcceptedLate(credentialId, node)) return
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

export const fromLedger = [offer, credential] as const

/**
 * Records that an expired offer was accepted, which a ledger does whose clock is behind. The admission has
 * ended, so that the holder's act moves nothing and only warns; the record names the credential in place
 * of the archived offer, so that a recovery revokes it, and the offer holds no place any more.
 */
const wasAcceptedLate = Effect.fnUntraced(function* (admissionId: string, node: Node) {
  const records = yield* Records
  const found = Option.getOrNull(yield* records.find(admissions, admissionId))
  if (found === null || found.state !== "expired") return false
  yield* records.append(
    admissions,
    found,
    { on: "accept-late", credentialCid: node.contractId, at: node.effectiveAt },
    node.act
  )
  yield* keepIdle(node, admissionId, { on: "accept", detail: "The admission is expired." })
  return true
})

/** Opens the admission of a credential in the snapshot that the projection begins with. */
const openAdmitted = Effect.fnUntraced(function* (payload: Payload<typeof Credential>, node: Node) {
  const records = yield* Records
  const holder = yield* records.find(holderParties, payload.holder)
  if (Option.isNone(holder)) {
    return yield* keepBreach(node, payload.credentialId, {
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
    ? endOrClear(credentialId, node, { on: "revoke", ...why, at: node.effectiveAt })
    : Effect.void

/** Moves the admission where its state allows the fact, else keeps a breach. */
const moved = Effect.fnUntraced(function* (admissionId: string, node: Node, fact: MovingFact) {
  const records = yield* Records
  const found = yield* records.find(admissions, admissionId)
  if (Option.isSome(found) && allows(found.value, fact.on)) {
    return yield* records.append(admissions, found.value, fact, node.act)
  }
  yield* keepBreach(node, admissionId, {
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
        ...makeEvent(type, {
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
          source: Snapshot.sourceOf(node, type)
        }
      }
    ])
  )
