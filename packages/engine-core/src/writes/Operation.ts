/** Declaration of a write: roles, route, number of approvers, and its execution. */
import type { Effect, Schema } from "effect"
import type { Judgement } from "../kernel/Gates.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Refused, Slug, Unavailable } from "../kernel/Refusal.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { Ids } from "../ports/Ids.ts"
import type { Command, DisclosedContract } from "../ports/Ledger.ts"
import type { Bulk } from "../ports/storage/Bulk.ts"
import type { WorkQueue } from "../ports/storage/WorkQueue.ts"
import type { OperationAct } from "../records/Act.ts"
import type { LedgerReach } from "../records/LedgerReach.ts"
import type { Records } from "../records/Records.ts"
import type { EngineOpenedOperationKind, OperationKind } from "../vocabulary/OperationKind.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type { Role } from "../vocabulary/Role.ts"
import type { RecordConcern } from "./Concern.ts"
import type { DerivedFigures } from "./Figures.ts"
import type * as Secrets from "./Secrets.ts"
import type { SummarySubject } from "./Summary.ts"
import type { RequestedChange } from "./TermChange.ts"

/** `POST /v1/holds/{holdId}:release`; a colon in the last segment marks an action. */
export type Route = `${"POST" | "DELETE"} /v1/${string}`

/** Members of every write's declaration. */
export interface OperationDeclaration<K extends OperationKind, I, R, S extends Slug> {
  readonly kind: K
  /** One sentence: the verb and the record that it changes. */
  readonly doc: string
  /**
   * One sentence about a write of this kind, in the present tense, made by `sentence` of `Summary.ts`: ids
   * and figures, without the name of a person. It reads the request as it is stored, in JSON, whose
   * secrets are masked. Absent, as in a room that has none: the kind and the record that it acts on.
   */
  summary?(request: unknown, subject: SummarySubject): string
  /**
   * Lists the members of a record that the write would replace, against the record now, for the view of
   * an action that awaits its approvers (docs/contract/four-eyes.md#changes). Empty where the record is
   * not there. It only reads, refuses nothing, and is of a kind without secrets, whose stored request is
   * the input. Absent: the write replaces no member.
   */
  changes?(
    input: NoInfer<I>,
    reading: { readonly now: Instant.Instant }
  ): Effect.Effect<ReadonlyArray<RequestedChange>, Unavailable, Records>
  /** Null: nobody calls it; the engine alone opens it (`Timely`). */
  readonly route: Route | null
  /** Roles that may make it; a caller acts in the first of them that it holds. */
  readonly makers: ReadonlyArray<Role>
  /** Distinct approvers besides the maker; 0: it runs at once. */
  readonly approvers: 0 | 1 | 2
  /** The record it acts on or makes. */
  readonly resource: {
    readonly kind: ResourceKind
    /** Prefix of the ids that the engine makes; absent: the kind, without its dashes. */
    readonly prefix?: string
    /** Id of the record that the write acts on or makes. */
    id(input: NoInfer<I>): string
    /** Path at which the record is read, or the record that shows it. */
    href(input: NoInfer<I>): string
    /**
     * Key of the queue whose operations run one after another: that of a record which several of
     * them change, such as a reserve. Absent: the record that the write acts on.
     */
    turnOf?(input: NoInfer<I>): string
    /** The instrument and the holder that the input names, of the record it acts on or makes. */
    instrumentId?(input: NoInfer<I>): string | null
    holderId?(input: NoInfer<I>): string | null
    /**
     * Looks up the instrument and the holders of the record that the write acts on, where the input
     * names the record by its id alone, or concerns several holders (`Concerns`).
     */
    concerns?(input: NoInfer<I>): Effect.Effect<RecordConcern, Unavailable, Records>
  }
  /**
   * The path's ids and the body's members in one struct: a path parameter is the member of its
   * name.
   */
  readonly input: Schema.Codec<I, unknown>
  /**
   * Name of the member of the input, an optional text, that the If-Match header fills: the version
   * that the caller means to replace. It is stored and judged, and not part of the fingerprint.
   */
  readonly ifMatch?: string
  /**
   * Members of the body that are secrets, which are stored encrypted, each with how it is shown: by a few
   * digits of its digest, or by its mask.
   */
  readonly secrets?: Secrets.DeclaredSecrets
  /**
   * Asks an outside system (such as a name server) before the write is judged: outside of any
   * transaction, when the write is made, when it is approved and when it runs. Its refusal refuses
   * the write.
   */
  judge?(input: I): Effect.Effect<void, Refused<S> | Unavailable>
  /**
   * Computes every condition that judges the act, met or not, for its precheck: `run`, `plan` or
   * `begin` judges by the same rows. Refuses as they do where the record is missing or its state
   * does not allow the act. It only reads.
   */
  gates?(
    input: NoInfer<I>,
    act: OperationAct
  ): Effect.Effect<
    ReadonlyArray<Judgement>,
    Refused<S> | Unavailable,
    Records | Bulk | Crypto | LedgerReach
  >
  /**
   * Derives the figures of a four-eyes write, after `run`, `plan` or `begin` has judged it: when it
   * is made, at each signature, and when it runs, before its first step. Approvers sign the
   * figures; once they have moved by more than the tolerance, the write runs only after all have
   * signed the new ones (docs/contract/four-eyes.md#figures). It only reads. Of a write of several
   * steps, `plan` takes what the later ones do from the figures of the operation, or from what its
   * first step fixed.
   */
  figures?(
    input: NoInfer<I>,
    act: OperationAct
  ): Effect.Effect<DerivedFigures, Refused<S> | Unavailable, Records | Bulk | Crypto | LedgerReach>
  /**
   * Readers of the figures in the act's precheck. Absent: staff alone, and null for roles that restrictions
   * are concealed from. `every-role` is for figures of which none is derived from a restriction, a
   * screening or the lines of all holders (docs/domain/holders.md#concealment).
   */
  readonly figuresFor?: "every-role"
  /**
   * True: judging takes long, such as for figures of very many holders, so that no other write shares
   * the transaction of a step and waits for it.
   */
  readonly isLong?: boolean
  /**
   * Checks that what the write made is still in the state that it was made into; absent: it stays so
   * for good. Once it has left, a repeat without a key is a new write
   * (docs/contract/idempotency.md#without-a-key).
   */
  lasts?(
    input: NoInfer<I>,
    outcome: { readonly operationId: string; readonly result: Plain }
  ): Effect.Effect<boolean, Unavailable, Records>
  /** Fills members that a caller may leave to the engine, such as the id of the new record. */
  complete?(input: I, makeId: () => string): I
  readonly result: Schema.Codec<R, unknown>
  /**
   * Reads the result once more as investors and apps read it, in the transaction that ends the write.
   * Absent: their view of the record is that of everybody.
   */
  shownResult?(input: NoInfer<I>): Effect.Effect<R, Unavailable, Records>
  /** Every refusal that judging or running it can give. */
  readonly refuses: ReadonlyArray<S>
  /**
   * Names of the conditions that a refusal of a room's write may name. Those of the engine's own writes
   * follow from their sources (`KindConditions`).
   */
  readonly conditions?: ReadonlyArray<string>
}

/** Commands of one step: one ledger transaction, submitted as the venue. */
export interface Plan {
  readonly commands: readonly [Command, ...ReadonlyArray<Command>]
  /**
   * Of a write that divides: names of the records that the commands are about, each of which may be
   * sent without the others.
   */
  readonly items?: ReadonlyArray<string>
  readonly disclosed?: ReadonlyArray<DisclosedContract>
  /** True for the operation's last step; steps count from 1. */
  readonly last: boolean
}

/** An item of a step that the ledger refused, sent alone, and its refusal. */
export interface RefusedItem {
  readonly item: string
  readonly refusal: Refused
}

/**
 * Division of refused steps: a step of several items that the ledger refuses for certain is planned
 * anew with half as many, until an item that is sent alone is refused; that one is left out, and the
 * rest goes on (docs/domain/ledger-writes.md#divided-steps).
 */
export interface Division<I> {
  /**
   * Records that the ledger refused an item, which the plans that follow leave out; a repetition for
   * one operation changes nothing. False: the write cannot do without the item, and fails by the refusal.
   */
  leaveOut(
    input: I,
    refused: RefusedItem,
    act: OperationAct
  ): Effect.Effect<boolean, Unavailable, Records>
  /**
   * Ends a write of which nothing is left to send, where it left items out: returns the refusal by
   * which it fails, with their names. Null: it left none out, and succeeds.
   */
  end(input: I, act: OperationAct): Effect.Effect<Refused | null, Unavailable, Records>
}

/** A write of the engine's own records: `run` judges and records, in one transaction. */
export interface OnRecords<
  K extends OperationKind = OperationKind,
  I = unknown,
  R = unknown,
  S extends Slug = Slug
> extends OperationDeclaration<K, I, R, S> {
  readonly on: "records"
  run(input: I, act: OperationAct): Effect.Effect<R, Refused<S> | Unavailable, Records | Crypto>
}

/** A write on the ledger: `plan` judges and returns the commands; `finish` reads the result. */
export interface OnLedger<
  K extends OperationKind = OperationKind,
  I = unknown,
  R = unknown,
  S extends Slug = Slug
> extends OperationDeclaration<K, I, R, S> {
  readonly on: "ledger"
  /**
   * Judges every gate against the projection at its head, and returns the commands of this step.
   * Null: the ledger is as the write would leave it, so that the write succeeds without a further step.
   * A write that divides plans at most `itemsMax` items, and no last step while it left any out.
   */
  plan(
    input: I,
    act: OperationAct,
    step: number,
    itemsMax?: number
  ): Effect.Effect<Plan | null, Refused<S> | Unavailable, Records | Bulk | Crypto | LedgerReach>
  /**
   * Reads the result, in the transaction that projects the last step's update, or in the one that
   * plans no further step.
   */
  finish(input: NoInfer<I>, act: OperationAct): Effect.Effect<R, Unavailable, Records>
  /** Absent: a step is all or nothing, and its refusal fails the write. */
  readonly divide?: Division<I>
}

/**
 * A write that calls an outside system between two transactions: `begin` records the attempt,
 * `reach` makes it, `finish` records its outcome with the operation's end. After a crash all three
 * run again, so `begin` and `finish` must be idempotent.
 */
export interface OnOutside<
  K extends OperationKind = OperationKind,
  I = unknown,
  R = unknown,
  S extends Slug = Slug,
  O = unknown
> extends OperationDeclaration<K, I, R, S> {
  readonly on: "outside"
  begin(input: I, act: OperationAct): Effect.Effect<void, Refused<S> | Unavailable, Records>
  reach(
    input: I,
    act: OperationAct
  ): Effect.Effect<O, Refused<S> | Unavailable, Records | Crypto | Ids | WorkQueue>
  finish(
    input: I,
    act: OperationAct,
    reached: O
  ): Effect.Effect<R, Unavailable, Records | Ids | WorkQueue>
}

/** Any write, also one that only the engine opens. */
export type AnyOperation<
  K extends OperationKind = OperationKind,
  I = unknown,
  R = unknown,
  S extends Slug = Slug
> = OnRecords<K, I, R, S> | OnLedger<K, I, R, S> | OnOutside<K, I, R, S>

/** A write that a caller makes by its route. */
export type Operation<
  K extends OperationKind = OperationKind,
  I = unknown,
  R = unknown,
  S extends Slug = Slug
> = AnyOperation<K, I, R, S> & { readonly route: Route }

/**
 * Parts of a declaration whose exact types the typed calls of a write are derived from: how many
 * approve it, and the form in which a caller gives its input.
 */
export interface OperationTypes<I, E, A extends 0 | 1 | 2> {
  readonly route: Route
  readonly approvers: A
  readonly input: Schema.Codec<I, E>
  summary?(request: NoInfer<E>, subject: SummarySubject): string
}

/** A write of records with the exact types of its call. */
export interface TypedOnRecords<
  K extends OperationKind,
  I,
  E,
  R,
  S extends Slug,
  A extends 0 | 1 | 2
> extends OnRecords<K, I, R, S> {
  readonly route: Route
  readonly approvers: A
  readonly input: Schema.Codec<I, E>
}

/** A write on the ledger with the exact types of its call. */
export interface TypedOnLedger<
  K extends OperationKind,
  I,
  E,
  R,
  S extends Slug,
  A extends 0 | 1 | 2
> extends OnLedger<K, I, R, S> {
  readonly route: Route
  readonly approvers: A
  readonly input: Schema.Codec<I, E>
}

/** A write that calls an outside system, with the exact types of its call. */
export interface TypedOnOutside<
  K extends OperationKind,
  I,
  E,
  R,
  S extends Slug,
  A extends 0 | 1 | 2
> extends OnOutside<K, I, R, S> {
  readonly route: Route
  readonly approvers: A
  readonly input: Schema.Codec<I, E>
}

type DerivedMembers = "kind" | "on" | "route" | "summary"

/** Declares a write of the engine's own records. */
export const define = <
  const K extends OperationKind,
  I,
  E,
  R,
  const S extends Slug,
  const A extends 0 | 1 | 2
>(
  kind: K,
  declaration: Omit<OnRecords<K, I, R, S>, DerivedMembers> & OperationTypes<I, E, A>
): TypedOnRecords<K, I, E, R, S, A> => ({ kind, on: "records", ...declaration })

/** Declares a write that the venue makes on the ledger. */
export const defineOnLedger = <
  const K extends OperationKind,
  I,
  E,
  R,
  const S extends Slug,
  const A extends 0 | 1 | 2
>(
  kind: K,
  declaration: Omit<OnLedger<K, I, R, S>, DerivedMembers | "secrets"> & OperationTypes<I, E, A>
): TypedOnLedger<K, I, E, R, S, A> => ({ kind, on: "ledger", ...declaration })

/** Declares a write on the ledger that nobody calls: the engine alone opens it. */
export const defineForEngine = <
  const K extends EngineOpenedOperationKind,
  I,
  E,
  R,
  const S extends Slug
>(
  kind: K,
  declaration: Omit<
    OnLedger<K, I, R, S>,
    DerivedMembers | "secrets" | "makers" | "approvers" | "ifMatch"
  > &
    Pick<OperationTypes<I, E, 0>, "input" | "summary">
): OnLedger<K, I, R, S> => ({
  kind,
  on: "ledger",
  route: null,
  makers: [],
  approvers: 0,
  ...declaration
})

/** Declares a write that calls an outside system. */
export const defineOutside = <
  const K extends OperationKind,
  I,
  E,
  R,
  const S extends Slug,
  const A extends 0 | 1 | 2,
  O
>(
  kind: K,
  declaration: Omit<OnOutside<K, I, R, S, O>, DerivedMembers> & OperationTypes<I, E, A>
): TypedOnOutside<K, I, E, R, S, A> => ({ kind, on: "outside", ...declaration })

/**
 * A removal finishes in its last approver's own call, which answers no body
 * (docs/contract/operations.md#the-answer-to-a-write).
 */
export const finishesInCall = ({ route }: Pick<AnyOperation, "route">): boolean =>
  route?.startsWith("DELETE ") === true

/** The names of the path's parameters, in order. */
export const pathNames = (route: string): ReadonlyArray<string> =>
  [...route.matchAll(/\{([a-zA-Z]+)\}/g)].map((match) => match[1] ?? "")

/** Merges the members of a call: body, path, and the one that If-Match fills. */
export const membersOf = (
  operation: Pick<AnyOperation, "ifMatch">,
  call: {
    readonly body: object
    readonly params: Readonly<Record<string, string>>
    readonly ifMatch?: string | null
  }
): object => ({
  ...call.body,
  ...call.params,
  ...(operation.ifMatch === undefined || (call.ifMatch ?? null) === null
    ? {}
    : { [operation.ifMatch]: call.ifMatch })
})
