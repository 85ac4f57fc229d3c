/**
 * Declaration of a noun of the business: its records, their states, and the writes, reads and
 * judgements on them. A room lists its nouns, and the catalogue gathers them.
 */
import type { HistoryKeeper } from "../feeds/HistoryKeeper.ts"
import type { RetentionStep } from "../feeds/RetentionSteps.ts"
import type { Collection } from "../kernel/Collection.ts"
import type { AnyFormula } from "../kernel/Formula.ts"
import type { AnyJudged } from "../kernel/Judged.ts"
import type { Machine } from "../kernel/Machine.ts"
import type { FromLedger } from "../projection/FromLedger.ts"
import type { Read } from "../reads/Read.ts"
import type { Consequence } from "../records/Consequence.ts"
import type { EventDeclaration } from "../records/EventDeclaration.ts"
import type { Timely } from "../records/Timely.ts"
import type { ConcealedEvents } from "../writes/Concealment.ts"
import type { Operation } from "../writes/Operation.ts"

/** All that is declared of one noun; a member that it has none of is left out. */
export interface Noun {
  /** Its records first, then the indexes, slots and locks that the engine keeps beside them. */
  readonly collections?: ReadonlyArray<Collection>
  /** States that facts move. */
  readonly machine?: Machine
  /** States that are judged as of the read. */
  readonly judged?: ReadonlyArray<AnyJudged>
  readonly writes?: ReadonlyArray<Operation>
  readonly queries?: ReadonlyArray<Read>
  /** Facts that the ledger's contracts and choices make. */
  readonly fromLedger?: ReadonlyArray<FromLedger>
  /** Writes that the engine opens by itself at an instant of a record. */
  readonly timely?: ReadonlyArray<Timely>
  /** Judgements made again in the transaction that changes a record. */
  readonly consequences?: ReadonlyArray<Consequence>
  /** Formulas that the basis of its figures may name. */
  readonly formulas?: ReadonlyArray<AnyFormula>
  readonly events?: { readonly [type: string]: EventDeclaration<never> | EventDeclaration<unknown> }
  /** Events that investors and apps do not read. */
  readonly concealed?: Partial<ConcealedEvents>
  /** Workers of its queues, whose services only the catalogue knows. */
  readonly workers?: ReadonlyArray<object>
  /** History that retention leaves because the noun still reads it. */
  readonly historyKeepers?: ReadonlyArray<HistoryKeeper>
  /** Steps of a retention run, in order: a run under way continues at the number of its step. */
  readonly retentionSteps?: ReadonlyArray<RetentionStep>
}

/** A noun with the types by which a program finds its writes, reads and events by their names. */
export interface TypedNoun<W, Q, E, K> extends Noun {
  readonly "~types"?: {
    readonly writes: W
    readonly queries: Q
    readonly events: E
    readonly workers: K
  }
}

/** Declares a noun; the types of its writes, reads, events and workers stay. */
export const declare = <
  const W extends Operation = never,
  const Q extends Read = never,
  const E extends NonNullable<Noun["events"]> = Record<never, never>,
  const K extends object = never
>(
  noun: Noun & {
    readonly writes?: ReadonlyArray<W>
    readonly queries?: ReadonlyArray<Q>
    readonly events?: E
    readonly workers?: ReadonlyArray<K>
  }
): TypedNoun<W, Q, E, K> => noun

type Union<T> = (T extends unknown ? (value: T) => void : never) extends (value: infer I) => void
  ? I
  : never

/** Types of one member of all nouns. */
type TypesOf<N, K extends "writes" | "queries" | "events" | "workers"> = N extends {
  readonly "~types"?: infer T
}
  ? NonNullable<T> extends { readonly [M in K]: infer V }
    ? V
    : never
  : never

/** Writes of nouns, with their own types. */
export type WriteOf<N> = TypesOf<N, "writes">
/** Reads of nouns, with their own types. */
export type QueryOf<N> = TypesOf<N, "queries">
/** Workers of nouns, with the services that each needs. */
export type WorkerOf<N> = TypesOf<N, "workers">
/** The events of all nouns, in one table. */
export type EventsOf<N> = Union<TypesOf<N, "events">>

/** Gathers a member of several nouns, in their order. */
export const gather = <K extends keyof Noun>(
  nouns: ReadonlyArray<Noun>,
  member: K
): ReadonlyArray<NonNullable<Noun[K]> extends ReadonlyArray<infer V> ? V : never> =>
  nouns.flatMap((noun) => (noun[member] ?? []) as never)
