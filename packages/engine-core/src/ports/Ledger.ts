/** Port to the shared ledger: submits as the venue alone and reads what the venue may see. */
import { Context, Data } from "effect"
import type { Duration, Effect, Option, Stream } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type * as Offset from "../kernel/Offset.ts"
import type * as Party from "../kernel/Party.ts"

/** A contract's id: lower-case hex. Readers MUST NOT assume its length. */
export type ContractId = string
/** A transaction's id: lower-case hex, the same on every node that sees the transaction. */
export type UpdateId = string
/** The caller's name for one change: 1 to 255 of [A-Za-z0-9 #:_/.-]. */
export type CommandId = string

/** A template's or interface's name; the package is named, never its version's id. */
export interface TypeRef {
  readonly packageName: string
  readonly module: string
  readonly entity: string
}

/** A ledger value as JSON: Int and Numeric are text (Numeric with 10 places), Optional is value or null. */
export type LfValue = string | boolean | null | LfList | LfRecord

/** List of values of the ledger. */
export type LfList = ReadonlyArray<LfValue>

/** Record of values of the ledger, by field. */
export type LfRecord = { readonly [field: string]: LfValue }

/** Command that creates a contract. */
export interface Create {
  readonly _tag: "Create"
  readonly template: TypeRef
  readonly args: LfRecord
}

/** Command that exercises a choice on a contract. */
export interface Exercise {
  readonly _tag: "Exercise"
  /** The contract's template, or an interface it implements. */
  readonly target: TypeRef
  readonly contractId: ContractId
  readonly choice: string
  readonly arg: LfValue
}

/** Command that creates a contract and exercises a choice on it at once. */
export interface CreateAndExercise {
  readonly _tag: "CreateAndExercise"
  readonly template: TypeRef
  readonly args: LfRecord
  readonly choice: string
  readonly arg: LfValue
}

/** Command of a submission. */
export type Command = Create | Exercise | CreateAndExercise

/** Deduplication window: an earlier commit of the same commandId within it makes this one a duplicate. */
export type Dedup =
  | { readonly _tag: "Since"; readonly offset: Offset.Offset }
  | { readonly _tag: "For"; readonly duration: Duration.Duration }

/**
 * A disclosed contract: handed over outside the ledger, so that a command may use a contract the
 * venue does not see.
 */
export interface DisclosedContract {
  readonly createdEventBlob: string
  readonly contractId?: ContractId
  readonly template?: TypeRef
  readonly synchronizerId?: string
}

/** One atomic transaction. It names no acting party: the instance is bound to the venue when it is built. */
export interface Submission {
  readonly commandId: CommandId
  readonly commands: readonly [Command, ...ReadonlyArray<Command>]
  readonly dedup: Dedup
  readonly workflowId?: string
  /** Visibility only; it MUST NOT give authority. */
  readonly readAs?: ReadonlyArray<Party.Party>
  readonly disclosed?: ReadonlyArray<DisclosedContract>
  /** The transaction's effective time MUST NOT be earlier. */
  readonly notBefore?: Instant.Instant
  readonly traceparent?: string
}

/** Proof that the change is on the ledger. */
export interface Receipt {
  readonly updateId: UpdateId
  readonly offset: Offset.Offset
  readonly effectiveAt: Instant.Instant
  readonly recordTime: Instant.Instant
  /** True when an earlier submission of this commandId had committed it. */
  readonly duplicate: boolean
  readonly transaction: Option.Option<Transaction>
}

/** View of a contract by an interface that its template implements. */
export interface InterfaceView {
  readonly iface: TypeRef
  readonly value: LfRecord
}

/** Event of a contract that came to be. */
export interface Created {
  readonly _tag: "Created"
  readonly nodeId: number
  readonly contractId: ContractId
  readonly template: TypeRef
  readonly packageId: string
  readonly payload: LfRecord
  readonly views: ReadonlyArray<InterfaceView>
  readonly signatories: ReadonlyArray<Party.Party>
  readonly observers: ReadonlyArray<Party.Party>
  /** Cut to the reader: it MUST NOT name who else saw the node. */
  readonly witnesses: ReadonlyArray<Party.Party>
  readonly createdAt: Instant.Instant
  readonly blob: Option.Option<string>
  /** False when the reader is only a witness, or the contract ended in its own transaction. */
  readonly inAcs: boolean
}

/** Event of a choice that was exercised, with its argument and its result. */
export interface Exercised {
  readonly _tag: "Exercised"
  readonly nodeId: number
  /** The highest node id among its consequences; its own when it has none. */
  readonly lastDescendant: number
  readonly contractId: ContractId
  readonly template: TypeRef
  readonly iface: Option.Option<TypeRef>
  readonly choice: string
  readonly arg: LfValue
  readonly result: LfValue
  readonly actors: ReadonlyArray<Party.Party>
  readonly consuming: boolean
  readonly witnesses: ReadonlyArray<Party.Party>
  /** True when this removes a contract from the reader's active set. */
  readonly inAcs: boolean
}

/** Event of a transaction. */
export type Event = Created | Exercised

/** Update that the ledger committed: its events at one offset, all of them or none. */
export interface Transaction {
  readonly _tag: "Transaction"
  readonly offset: Offset.Offset
  readonly updateId: UpdateId
  /** Some only when the reader submitted it. */
  readonly commandId: Option.Option<CommandId>
  readonly workflowId: Option.Option<string>
  readonly effectiveAt: Instant.Instant
  readonly recordTime: Instant.Instant
  readonly synchronizerId: string
  /** In pre-order by nodeId. */
  readonly events: ReadonlyArray<Event>
}

/**
 * A checkpoint of the update stream: nothing matched up to this offset, so the reader has caught up
 * to it.
 */
export interface Checkpoint {
  readonly _tag: "Checkpoint"
  readonly offset: Offset.Offset
  readonly recordTime: Option.Option<Instant.Instant>
}

/** An update of a kind the engine does not fold; stored as received. */
export interface Foreign {
  readonly _tag: "Foreign"
  readonly offset: Offset.Offset
  readonly what: "Reassignment" | "Topology" | "Unknown"
  readonly raw: unknown
}

/** Update that a reader of the ledger is given, in the order of the ledger. */
export type Update = Transaction | Checkpoint | Foreign

/** Filter of a read: the union of the lists; with all lists empty, everything the venue sees. */
export interface Filter {
  readonly templates: ReadonlyArray<TypeRef>
  readonly interfaces: ReadonlyArray<TypeRef>
  readonly includeBlobFor?: ReadonlyArray<TypeRef>
}

/** Right of a user of the ledger. */
export type Right = {
  readonly kind: "CanActAs" | "CanReadAs" | "CanExecuteAs"
  readonly party: Party.Party
}

/** Description of the ledger and of the node that the venue reads it by. */
export interface Description {
  readonly kind: "simulated" | "canton"
  readonly version: string
  /** Offsets mean something only within one participant. */
  readonly participant: string
  readonly features: ReadonlyArray<string>
  readonly rights: ReadonlyArray<Right>
}

/** Status of a package of templates on the ledger. */
export interface PackageStatus {
  readonly name: string
  readonly packageId: Option.Option<string>
}

/** Error of the ledger, in the members of its answer. */
export interface Answer {
  readonly code: string
  readonly cause: string
  readonly category: number
  readonly grpc?: number
  readonly context: { readonly [key: string]: string }
  readonly resources: ReadonlyArray<readonly [kind: string, id: string]>
  readonly party?: string
  readonly contractId?: ContractId
  readonly packageName?: string
  readonly traceId?: string
  readonly correlationId?: string
}

/** Definite refusal: the effect does not exist. */
export class Refused extends Data.TaggedError("Refused")<Answer> {}

/**
 * Definite refusal for now (contention, backpressure, not sequenced): the effect does not exist.
 */
export class Busy extends Data.TaggedError("Busy")<
  Answer & { readonly retryAfter: Duration.Duration }
> {}

/** The effect may exist. It MUST be resolved under the same commandId, never under a new one. */
export class OutcomeUnknown extends Data.TaggedError("OutcomeUnknown")<{
  readonly commandId: CommandId
  readonly why: string
  readonly retryAfter: Duration.Duration
}> {}

/** The asked window is pruned or too long; this call changed nothing. */
export class DedupUnsupported extends Data.TaggedError("DedupUnsupported")<{
  readonly earliestOffset?: Offset.Offset
  readonly longest?: Duration.Duration
}> {}

/** The credential does not allow the call: 401 it is not accepted, 403 it lacks the right. */
export class NotAuthorized extends Data.TaggedError("NotAuthorized")<{
  readonly http: 401 | 403
  readonly detail: string
}> {}

/** The ledger was not reached: nothing was sent. */
export class Unreachable extends Data.TaggedError("Unreachable")<{
  readonly detail: string
  readonly retryAfter: Duration.Duration
}> {}

/** The other side broke the contract. Never retried blindly; on a write the effect may exist. */
export class ProtocolError extends Data.TaggedError("ProtocolError")<{
  readonly detail: string
  readonly body?: string
}> {}

/** The asked offset lies at or below what is pruned. */
export class BeforeHorizon extends Data.TaggedError("BeforeHorizon")<{
  readonly earliest: Offset.Offset
}> {}

/** The asked offset lies beyond the ledger's end. */
export class AfterEnd extends Data.TaggedError("AfterEnd")<{
  readonly ledgerEnd?: Offset.Offset
}> {}

/** Failure of a submission; each says whether the ledger may have taken it. */
export type SubmitError =
  | Refused
  | Busy
  | OutcomeUnknown
  | DedupUnsupported
  | NotAuthorized
  | Unreachable
  | ProtocolError

/** Failure of a read of the ledger. */
export type ReadError = NotAuthorized | BeforeHorizon | AfterEnd | Unreachable | ProtocolError

/** An active contract with the synchronizer it lives on. */
export type Active = Created & { readonly synchronizerId: string }

/** Search of the outcome of a commandId, after `from`, up to and including `through`. */
export interface OutcomeQuery {
  readonly commandId: CommandId
  readonly from: Offset.Offset
  readonly through: Offset.Offset
}

/** Range and filter of the updates that are asked for. */
export interface UpdatesQuery {
  /** Exclusive. */
  readonly after: Offset.Offset
  /** Inclusive; without it the stream is a tail and MUST NOT end by itself. */
  readonly through?: Offset.Offset
  readonly filter: Filter
}

/** Offset and filter of the contracts that are asked for. */
export interface ActiveQuery {
  readonly at: Offset.Offset
  readonly filter: Filter
}

/** Port of the ledger: what the venue submits to it and reads from it. */
export class Ledger extends Context.Service<
  Ledger,
  {
    /** The party this instance acts as. It MUST be fixed when the instance is built. */
    readonly venue: Party.Party
    /**
     * One attempt. Under one command id at most one submission MUST commit, whatever its commands are:
     * the engine spends an id by a marker, and a late submission of the step is then a duplicate
     * (docs/domain/ledger-writes.md#spent-command-ids). It MUST NOT succeed without a committed transaction, and MUST
     * act as the venue only.
     */
    readonly submit: (submission: Submission) => Effect.Effect<Receipt, SubmitError>
    /** Some MUST mean committed in (from, through]; None MUST mean provably absent there. */
    readonly outcome: (query: OutcomeQuery) => Effect.Effect<Option.Option<Receipt>, ReadError>
    /** Every matching update after `after`, once and in offset order; a tail MUST also give checkpoints. */
    readonly updates: (query: UpdatesQuery) => Stream.Stream<Update, ReadError>
    /** The contracts active at `at`. With updates after `at` it MUST neither overlap nor miss. */
    readonly acs: (query: ActiveQuery) => Stream.Stream<Active, ReadError>
    /** The greatest offset that is settled; reading up to it MUST NOT fail with AfterEnd. */
    readonly ledgerEnd: Effect.Effect<Offset.Offset, ReadError>
    /** Everything at or before it is pruned; 0 MUST mean that nothing is. */
    readonly horizon: Effect.Effect<Offset.Offset, ReadError>
    /**
     * The ledger's node and version. The participant MUST be compared with the stored one before
     * any write.
     */
    readonly describe: Effect.Effect<Description, ReadError>
    /** For each name the package in force, None where the ledger does not know it. */
    readonly packages: (
      names: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyArray<PackageStatus>, ReadError>
  }
>()("@bursar/engine-core/ports/Ledger") {}
