/** A state machine as plain data: which states there are, and where each trigger leads. */
import { Record, Result, type Schema } from "effect"
import type { EventType } from "../vocabulary/EventType.ts"
import type { OperationKind } from "../vocabulary/OperationKind.ts"
import { type Refused, refuse } from "./Refusal.ts"
import * as ValueSet from "../vocabulary/ValueSet.ts"

/** Actor that can pull a trigger. `approver` and `maker` move only a four-eyes action. */
export type By =
  | OperationKind
  | "ledger"
  | "run"
  | "clock"
  | "screening"
  | "worker"
  | "approver"
  | "maker"

/** Cause of a move: who pulls it, and which control events announce it. */
export interface Trigger {
  readonly by: ReadonlyArray<By>
  readonly announces?: ReadonlyArray<EventType>
}

/** For every state, the triggers it answers to and the state each leads to. */
export type Moves<S extends string, T extends string> = {
  readonly [From in S]: { readonly [On in T]?: S }
}

/**
 * Exactness check: refuses members beside the table's own states and triggers, which a type that
 * extends Moves could hold.
 */
type Only<M, S extends string, T extends string> = {
  readonly [From in keyof M]: From extends S
    ? { readonly [On in keyof M[From]]: On extends T ? M[From][On] : never }
    : never
}

/** Machine of a record: its states, its triggers, and the moves between them. */
export interface Machine<
  S extends string = string,
  T extends string = string,
  M extends Moves<S, T> = Moves<S, T>
> {
  readonly kind: "moved"
  readonly name: string
  readonly doc: string
  /** Each state with the sentence that says what it means. */
  readonly states: Readonly<Record<S, string>>
  readonly triggers: Readonly<Record<T, Trigger>>
  readonly initial: S
  /** Every state a record may open in; just `initial` unless the table says more. */
  readonly opensIn: ReadonlyArray<S>
  /** Actor that opens a record, and the events that this announces. */
  readonly opens: Trigger
  readonly moves: M
  /**
   * The moves that bring a record nearer to its end; their actors are whom the record waits on
   * (docs/domain/every-record.md#waiting-on).
   */
  readonly forward: ReadonlyArray<T>
  /** Reason why the machine has no end state; null for a machine that has one. */
  readonly endless: string | null
  /** The set's one schema: wire, storage, query filter. */
  readonly schema: Schema.Literals<ReadonlyArray<S>>
}

/** State of a machine, or of records that have it. */
export type State<X> = X extends { readonly states: Readonly<Record<infer S, string>> } ? S : never

/** Trigger of a machine. */
export type TriggerOf<X> = X extends { readonly triggers: Readonly<Record<infer T, Trigger>> }
  ? T
  : never
/** The states that answer to the trigger `On`. */
export type From<X extends { readonly moves: unknown }, On extends string> = {
  [S in keyof X["moves"]]: On extends keyof X["moves"][S] ? S : never
}[keyof X["moves"]]

/** Declares a set of states that is reached by folding facts. */
export const declare = <
  const S extends string,
  const T extends string,
  const M extends Moves<NoInfer<S>, NoInfer<T>>
>(
  name: string,
  table: {
    readonly doc: string
    readonly states: Readonly<Record<S, string>>
    readonly triggers: Readonly<Record<T, Trigger>>
    readonly initial: NoInfer<S>
    readonly opensIn?: ReadonlyArray<NoInfer<S>>
    readonly opens: Trigger
    readonly moves: M & Only<M, NoInfer<S>, NoInfer<T>>
    readonly forward?: ReadonlyArray<NoInfer<T>>
    readonly endless?: string
  }
): Machine<S, T, M> => ({
  kind: "moved",
  name,
  ...table,
  opensIn: table.opensIn ?? [table.initial],
  forward: table.forward ?? [],
  endless: table.endless ?? null,
  schema: ValueSet.schemaOf({
    name,
    doc: table.doc,
    members: Record.keys(table.states) as ReadonlyArray<S>,
    growth: "extensible"
  })
})

const target = (machine: Machine, state: string, on: string): string | undefined => {
  const row = machine.moves[state]
  return row !== undefined && Object.hasOwn(row, on) ? row[on] : undefined
}

/** Guard: refuses `state-conflict`, naming the state set, where the trigger does not move the state. */
export const admit = <S extends string, T extends string>(
  machine: Machine<S, T>,
  self: { readonly state: S },
  on: T
): Result.Result<void, Refused<"state-conflict">> =>
  target(machine as unknown as Machine, self.state, on) === undefined
    ? refuse("state-conflict", {
        check: machine.name,
        detail: `A record in state ${self.state} does not answer to ${on}.`
      })
    : Result.void

/**
 * Checks that the table has the move, for facts that outside parties have caused and that cannot be
 * refused.
 */
export const allows = <S extends string, T extends string>(
  machine: Machine<S, T>,
  state: S,
  on: T
): boolean => target(machine as unknown as Machine, state, on) !== undefined

/** The state after a trigger. Throws on a move that the table lacks: the history is corrupt. */
export const follow = <S extends string, T extends string>(
  machine: Machine<S, T>,
  state: S,
  on: T
): S => {
  const to = target(machine as unknown as Machine, state, on)
  if (to === undefined) {
    throw new Error(`${machine.name}: corrupt history, ${state} does not answer to ${on}`)
  }
  return to as S
}

/** A state that no trigger leaves. */
export const isTerminal = <S extends string, T extends string>(
  machine: Machine<S, T>,
  state: S
): boolean => Object.keys(machine.moves[state]).length === 0

/** The triggers that move a record in this state. */
export const triggersFrom = <S extends string, T extends string>(
  machine: Machine<S, T>,
  state: S
): ReadonlyArray<T> => Object.keys(machine.moves[state]) as unknown as ReadonlyArray<T>
