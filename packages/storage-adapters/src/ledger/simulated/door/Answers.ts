/** Encoding of the node's answers in the ledger API's shapes. */
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Option } from "effect"
import type * as Entry from "../Entry.ts"
import type {
  ArchivedContract,
  SeenActive,
  SeenEvent,
  SeenExercised,
  SeenTransaction,
  SeenUpdate
} from "../Participant.ts"
import type * as Users from "../Users.ts"
import type { JsonObject } from "./Json.ts"
import * as TypeNames from "./TypeNames.ts"

/** Data of the node that every answer needs. */
export interface Setting {
  readonly names: TypeNames.TypeNames
  readonly synchronizerId: string
}

const orEmpty = (text: Option.Option<string>): string => Option.getOrElse(text, () => "")

export const createdEvent = (
  { names }: Setting,
  event: Ledger.Created,
  offset: Offset.Offset
): JsonObject => ({
  offset,
  nodeId: event.nodeId,
  contractId: event.contractId,
  templateId: TypeNames.print(event.packageId, event.template),
  packageName: event.template.packageName,
  representativePackageId: event.packageId,
  createArgument: event.payload,
  createdEventBlob: orEmpty(event.blob),
  interfaceViews: event.views.map(({ iface, value }) => ({
    interfaceId: TypeNames.printCurrent(names, iface),
    viewStatus: { code: 0, message: "", details: [] },
    viewValue: value
  })),
  signatories: event.signatories,
  observers: event.observers,
  witnessParties: event.witnesses,
  createdAt: Instant.format(event.createdAt),
  acsDelta: event.inAcs
})

const exercisedEvent = (
  { names }: Setting,
  event: SeenExercised,
  offset: Offset.Offset
): JsonObject => ({
  offset,
  nodeId: event.nodeId,
  lastDescendantNodeId: event.lastDescendant,
  contractId: event.contractId,
  templateId: TypeNames.print(event.packageId, event.template),
  packageName: event.template.packageName,
  ...(Option.isNone(event.iface)
    ? {}
    : { interfaceId: TypeNames.printCurrent(names, event.iface.value) }),
  choice: event.choice,
  choiceArgument: event.arg,
  exerciseResult: event.result,
  actingParties: event.actors,
  consuming: event.consuming,
  witnessParties: event.witnesses,
  acsDelta: event.inAcs
})

export const archivedEvent = (event: ArchivedContract, offset: Offset.Offset): JsonObject => ({
  offset,
  nodeId: event.nodeId,
  contractId: event.contractId,
  templateId: TypeNames.print(event.packageId, event.template),
  packageName: event.template.packageName,
  witnessParties: event.witnesses
})

const eventOf = (setting: Setting, event: SeenEvent, offset: Offset.Offset): JsonObject => {
  switch (event._tag) {
    case "Created":
      return { CreatedEvent: createdEvent(setting, event, offset) }
    case "Exercised":
      return { ExercisedEvent: exercisedEvent(setting, event, offset) }
    case "Archived":
      return { ArchivedEvent: archivedEvent(event, offset) }
  }
}

export const transaction = (setting: Setting, seenTransaction: SeenTransaction): JsonObject => ({
  updateId: seenTransaction.updateId,
  commandId: orEmpty(seenTransaction.commandId),
  workflowId: orEmpty(seenTransaction.workflowId),
  effectiveAt: Instant.format(seenTransaction.effectiveAt),
  recordTime: Instant.format(seenTransaction.recordTime),
  offset: seenTransaction.offset,
  synchronizerId: seenTransaction.synchronizerId,
  ...(seenTransaction.traceparent === null
    ? {}
    : { traceContext: { traceparent: seenTransaction.traceparent } }),
  events: seenTransaction.events.map((event) => eventOf(setting, event, seenTransaction.offset))
})

/** A committed transaction of which the readers' filter shows no node. */
export const emptied = (setting: Setting, committed: Entry.Transaction): SeenTransaction => ({
  _tag: "Transaction",
  offset: committed.offset,
  updateId: committed.updateId,
  commandId: Option.some(committed.commandId),
  workflowId: Option.fromNullishOr(committed.workflowId),
  effectiveAt: committed.effectiveAt,
  recordTime: committed.recordTime,
  synchronizerId: setting.synchronizerId,
  traceparent: committed.traceparent,
  events: []
})

const checkpoint = (setting: Setting, { offset, recordTime }: Ledger.Checkpoint): JsonObject => ({
  OffsetCheckpoint: {
    value: {
      offset,
      synchronizerTimes: Option.isNone(recordTime)
        ? []
        : [synchronizerTime(setting, recordTime.value)]
    }
  }
})

const synchronizerTime = ({ synchronizerId }: Setting, at: Instant.Instant): JsonObject => ({
  synchronizerId,
  recordTime: Instant.format(at)
})

export const update = (setting: Setting, seenUpdate: SeenUpdate): JsonObject => ({
  update:
    seenUpdate._tag === "Checkpoint"
      ? checkpoint(setting, seenUpdate)
      : { Transaction: { value: transaction(setting, seenUpdate) } }
})

export const activeContract = (setting: Setting, active: SeenActive): JsonObject => ({
  workflowId: "",
  contractEntry: {
    JsActiveContract: {
      createdEvent: createdEvent(setting, active, active.createdOffset),
      synchronizerId: active.synchronizerId,
      reassignmentCounter: 0
    }
  }
})

/** Status of a rejection in the ledger API's format: `CODE(category,trace): cause`. */
const statusOf = ({ outcome }: Entry.Completion): JsonObject =>
  outcome._tag === "Committed"
    ? { code: 0, message: "", details: [] }
    : {
        code: outcome.error.grpc,
        message: `${outcome.error.code}(${outcome.error.category},0): ${outcome.error.cause}`,
        details: []
      }

export const completion = (
  setting: Setting,
  one: Entry.Completion | Ledger.Checkpoint
): JsonObject => {
  if (one._tag === "Checkpoint") return { completionResponse: checkpoint(setting, one) }
  return {
    completionResponse: {
      Completion: {
        value: {
          commandId: one.commandId,
          userId: one.userId,
          actAs: one.actAs,
          submissionId: one.submissionId,
          status: statusOf(one),
          ...(one.outcome._tag === "Committed" ? { updateId: one.outcome.updateId } : {}),
          offset: one.offset,
          synchronizerTime: synchronizerTime(setting, one.recordTime)
        }
      }
    }
  }
}

export const user = ({ userId, active, rights }: Users.User): JsonObject => ({
  id: userId,
  primaryParty: rights[0]?.party ?? "",
  isDeactivated: !active,
  identityProviderId: ""
})

export const right = ({ kind, party }: Ledger.Right): JsonObject => ({
  kind: { [kind]: { value: { party } } }
})

/** Every known party is hosted by the node, external ones too. */
export const party = (record: Users.PartyRecord): JsonObject => ({
  party: record.party,
  isLocal: true,
  identityProviderId: ""
})
