/** Record of an operation: request, actor, step, end. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import type { Announcement } from "../kernel/Announcement.ts"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Machine from "../kernel/Machine.ts"
import * as Offset from "../kernel/Offset.ts"
import { PlainSchema } from "../kernel/PlainSchema.ts"
import { Problem } from "../kernel/Problem.ts"
import { LedgerEnd } from "../kernel/LedgerEnd.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"
import { Role } from "../vocabulary/Role.ts"
import * as Concern from "./Concern.ts"
import * as Figures from "./Figures.ts"
import { Resource } from "./Resource.ts"
import { Commands, DisclosedContracts } from "./Submission.ts"
import { about } from "../records/EventDeclaration.ts"
import { OperationMachine } from "./OperationMachine.ts"

const operation = about(
  "any",
  Schema.Struct({
    kind: OperationKind.schema,
    role: Schema.NullOr(Role.schema),
    operationId: Schema.String
  })
)

/** Events of an operation. */
export const operationEvents = {
  "operation.succeeded": operation,
  "operation.failed": operation
} as const

/** Problem of an operation that fails, and its substitute for readers it is concealed from. */
const AbandonedAs = Schema.Struct({
  problem: Problem,
  problemInstead: Schema.optionalKey(Problem)
})

/** Stored submission of one step, written before the first send so that a restart repeats it. */
export const Step = Schema.Struct({
  /** Counts from 1. */
  step: Integer.schema,
  /** Number of times that this step was planned anew; a new plan has a new command id. */
  replan: Integer.schema,
  commandId: Schema.String,
  /** The ledger's end at planning: a commit of the command id after this offset is the step's. */
  dedupOffset: Offset.schema,
  /** The commands as the port takes them. */
  commands: Commands,
  disclosed: DisclosedContracts,
  last: Schema.Boolean,
  /** Names of the records that the step may be divided into; absent: it is sent whole. */
  items: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Largest number of items of the step, once it or the step before it was divided. */
  itemsMax: Schema.optionalKey(Integer.schema),
  /**
   * Number of times, of its plans anew, that this step was divided, lost an item, or was changed because
   * the records asked for something else.
   */
  divided: Schema.optionalKey(Integer.schema),
  /** Number of items that this step lost because the ledger refused them alone. */
  leftOut: Schema.optionalKey(Integer.schema),
  plannedAt: Instant.schema,
  /**
   * The ledger's end after it first refused the step as stale, up to which the projection is awaited: who
   * used the contract up came before it.
   */
  staleEnd: Schema.optionalKey(Offset.schema),
  /**
   * Instant of the latest answer, or lease without one, that left the step's outcome unknown; null:
   * none has.
   */
  unknownSince: Schema.NullOr(Instant.schema),
  /** Present once the step is never sent again: its command id is being spent. */
  abandoned: Schema.optionalKey(
    Schema.Struct({
      at: Instant.schema,
      /** Failure of the operation once the command id is spent; absent: it is planned anew. */
      failure: Schema.optionalKey(AbandonedAs)
    })
  ),
  /** True once the projection has read the marker that spends the command id. */
  isSpent: Schema.optionalKey(Schema.Boolean)
})
export type Step = typeof Step.Type

export const OperationRecord = Schema.Struct({
  operationId: Schema.String,
  kind: OperationKind.schema,
  state: OperationMachine.schema,
  resource: Resource,
  instrumentId: Schema.NullOr(Schema.String),
  holderId: Schema.NullOr(Schema.String),
  /** Every holder that the write concerns, where they are several; absent: `holderId` alone. */
  holderIds: Schema.optionalKey(Schema.Array(Schema.String)),
  /** Body of the call and ids of its path, completed by the engine. */
  request: PlainSchema,
  /**
   * The request as it was sent, for views: the ids of the path and the members of the body, no default
   * added, secrets masked. Absent: it is `request`, as in records that were written before this member.
   */
  given: Schema.optionalKey(PlainSchema),
  /** Sealed secrets, by member of the request, which shows a few digits of each. */
  sealed: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  result: Schema.NullOr(PlainSchema),
  /** Result as investors and apps read it; absent: it is `result`. */
  resultInstead: Schema.optionalKey(PlainSchema),
  problem: Schema.NullOr(Problem),
  /** Problem for callers that restrictions and screening are concealed from. */
  problemInstead: Schema.optionalKey(Problem),
  /** Subject of the caller; `engine` for writes that the engine opens by itself. */
  actor: Schema.String,
  actorName: Schema.NullOr(Schema.String),
  actorEmail: Schema.NullOr(Schema.String),
  role: Schema.NullOr(Role.schema),
  startedAt: Schema.NullOr(Instant.schema),
  finishedAt: Schema.NullOr(Instant.schema),
  updateId: Schema.NullOr(Schema.String),
  offset: Schema.NullOr(Offset.schema),
  actionKey: Schema.NullOr(Schema.String),
  maker: Schema.NullOr(Schema.String),
  makerRole: Schema.NullOr(Role.schema),
  madeAt: Schema.NullOr(Instant.schema),
  required: Schema.NullOr(Integer.schema),
  signedBy: Schema.NullOr(Schema.Array(Schema.String)),
  /** The figures that were signed; absent where the write computes none. */
  figures: Schema.optionalKey(Figures.Figures),
  figuresHash: Schema.optionalKey(Schema.String),
  /** End of the ledger by which its action was judged first; absent where none was asked. */
  ledgerEnd: Schema.optionalKey(LedgerEnd),
  requestId: Schema.String,
  traceId: Schema.NullOr(Schema.String),
  traceFlags: Schema.optionalKey(Integer.schema),
  /** Current ledger step; null before the first, and for writes of the engine's own records. */
  step: Schema.NullOr(Step)
})
export type OperationRecord = typeof OperationRecord.Type

const Take = Schema.Struct({ on: Schema.Literal("take"), at: Instant.schema })
const Planned = Schema.Struct({ on: Schema.Literal("plan"), step: Step })
/** An answer left the step's outcome unknown. */
const Unknown = Schema.Struct({ on: Schema.Literal("unknown"), at: Instant.schema })
/** The step is never sent again. */
const Abandoned = Schema.Struct({
  on: Schema.Literal("abandon"),
  at: Instant.schema,
  failure: Schema.optionalKey(AbandonedAs)
})
/** The marker that spends the step's command id was read. */
const Spent = Schema.Struct({ on: Schema.Literal("spent") })
const Committed = Schema.Struct({
  on: Schema.Literal("commit"),
  updateId: Schema.String,
  offset: Offset.schema
})
const Succeed = Schema.Struct({
  on: Schema.Literal("succeed"),
  at: Instant.schema,
  result: PlainSchema,
  resultInstead: Schema.optionalKey(PlainSchema)
})
const Fail = Schema.Struct({
  on: Schema.Literal("fail"),
  at: Instant.schema,
  problem: Problem,
  problemInstead: Schema.optionalKey(Problem)
})
export const Fact = Schema.Union([
  Take,
  Planned,
  Unknown,
  Abandoned,
  Spent,
  Committed,
  Succeed,
  Fail
])
export type Fact = typeof Fact.Type

/** Fold: the operation after `fact`. */
const evolve = (self: OperationRecord, fact: Fact): OperationRecord =>
  match(fact)
    .with({ on: "take" }, ({ on, at }) => ({
      ...self,
      state: Machine.follow(OperationMachine, self.state, on),
      startedAt: at
    }))
    .with({ on: "plan" }, ({ step }) => ({ ...self, step }))
    .with({ on: "unknown" }, ({ at }) => ({
      ...self,
      step: self.step === null ? null : { ...self.step, unknownSince: at }
    }))
    .with({ on: "abandon" }, ({ on: _, ...abandoned }) => ({
      ...self,
      step: self.step === null ? null : { ...self.step, abandoned }
    }))
    .with({ on: "spent" }, () => ({
      ...self,
      step: self.step === null ? null : { ...self.step, isSpent: true }
    }))
    .with({ on: "commit" }, ({ updateId, offset }) => ({ ...self, updateId, offset }))
    .with({ on: "succeed" }, ({ on, at, ...results }) => ({
      ...self,
      state: Machine.follow(OperationMachine, self.state, on),
      ...results,
      finishedAt: at
    }))
    .with({ on: "fail" }, ({ on, at, ...failure }) => ({
      ...self,
      state: Machine.follow(OperationMachine, self.state, on),
      ...failure,
      finishedAt: at
    }))
    .exhaustive()

const announce = (self: OperationRecord, fact: Fact | undefined): ReadonlyArray<Announcement> =>
  fact === undefined || (fact.on !== "succeed" && fact.on !== "fail")
    ? []
    : [
        {
          type: fact.on === "succeed" ? "operation.succeeded" : "operation.failed",
          resourceKind: self.resource.kind,
          resourceId: self.resource.id,
          instrumentId: self.instrumentId,
          party: null,
          holderIds: Concern.holderIdsOf(self),
          payload: { kind: self.kind, role: self.role, operationId: self.operationId }
        }
      ]

export const operations = Collection.define<OperationRecord, Fact>("operation", {
  doc: "A write, from the call that asked for it to its end.",
  id: (self) => self.operationId,
  record: OperationRecord,
  fact: Fact,
  evolve,
  keptBy: "own",
  ids: "made",
  sortKey: (self, createdAt) => `${Instant.sortable(createdAt)} ${self.operationId}`,
  filters: {
    state: (self) => self.state,
    kind: (self) => self.kind,
    resourceKind: (self) => self.resource.kind,
    actor: (self) => self.actor
  },
  waitingOn: (self) =>
    Machine.isTerminal(OperationMachine, self.state)
      ? []
      : [{ role: "engine", action: self.kind, by: null }],
  announce,
  invariants: {
    "a final operation says when it finished": (self) =>
      Machine.isTerminal(OperationMachine, self.state) === (self.finishedAt !== null),
    "a result stands exactly where it succeeded": (self) =>
      (self.state === "succeeded") === (self.result !== null),
    "a problem stands exactly where it failed": (self) =>
      (self.state === "failed") === (self.problem !== null)
  }
})
