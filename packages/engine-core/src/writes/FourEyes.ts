/** Service through which every write is made, approved and rejected. */
import { Context, type Effect } from "effect"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import type { Caller, RequestIdentity } from "./Caller.ts"
import type { Operation } from "./Operation.ts"

/** A call on a write's route, as it came. */
export interface Call {
  readonly caller: Caller
  readonly identity: RequestIdentity
  /** The Idempotency-Key as sent, unquoted; null: the write is keyed on its body. */
  readonly key: string | null
  /** What the If-Match header names, unquoted; null or absent: none was sent. */
  readonly ifMatch?: string | null
  /** Path and raw query as sent; what the fingerprint is made of. */
  readonly path: string
  readonly query: string
  /** The body as sent: parsed JSON, or absent. */
  readonly body: Plain | undefined
  /** The values of the path's parameters. */
  readonly params: Readonly<Record<string, string>>
}

/**
 * A write's answer: an operation or an awaiting action, in one shape
 * (docs/contract/operations.md#the-answer-to-a-write).
 */
export interface Answer {
  /**
   * 202 when this call opened it, or signed it; 200 when it was there already; 204, and nothing to
   * show, when it was a removal that this call, or an earlier one of the same approver, finished.
   */
  readonly status: 200 | 202 | 204
  /** The write answer on the wire's shape; null with 204. */
  readonly value: Plain
  /** `/v1/operations/{id}` or `/v1/approvals/{actionKey}`. */
  readonly location: string
  readonly replayed: boolean
  /** Whole seconds after which polling makes sense; null when final. */
  readonly retryAfter: number | null
}

/** An action's record, as the call that rejected it is answered. */
export interface Decided {
  readonly value: Plain
  /** Whether an earlier call under the same key had rejected it. */
  readonly replayed: boolean
}

export class FourEyes extends Context.Service<
  FourEyes,
  {
    /**
     * Makes a write, or counts as an approval of an action that awaits
     * (docs/contract/four-eyes.md#a-call-on-a-four-eyes-route). The order of refusals is:
     * idempotency, record, four eyes, then the rules of the domain.
     */
    readonly submit: (
      operation: Operation,
      call: Call
    ) => Effect.Effect<Answer, Refused | Unavailable>
    /**
     * Opens a write of the engine's own; nobody is its actor. `key` names the occasion: opened again
     * under it, however often and by whichever instance, it is the operation it already is.
     */
    readonly open: (
      operation: Operation,
      input: Plain,
      key: string
    ) => Effect.Effect<Answer, Refused | Unavailable>
    /**
     * Signs an action. A key that is sent names this call; without one a person signs once anyway.
     * Refuses at gate four-eyes, check figures-moved, when the figures are no more those that were
     * signed, or not those that were `seen`; under the same key it refuses that for good, so that the
     * call sent again never signs figures its sender has not seen.
     */
    readonly approve: (of: {
      readonly actionKey: string
      readonly caller: Caller
      readonly identity: RequestIdentity
      readonly key?: string | null
      /** The figuresHash the caller saw, as its If-Match says; null or absent: it does not say. */
      readonly seen?: string | null
      /** The body as sent; absent when there was none. */
      readonly body?: Plain
    }) => Effect.Effect<Answer, Refused | Unavailable>
    /**
     * Rejects, or withdraws when the caller is the maker; answers the approval's record. The same
     * call again, by its key or without one by its body, answers the record as it is.
     */
    readonly reject: (of: {
      readonly actionKey: string
      readonly caller: Caller
      readonly identity: RequestIdentity
      readonly key: string | null
      readonly reason: string | null
      /** The body as sent; absent when there was none. */
      readonly body?: Plain
    }) => Effect.Effect<Decided, Refused | Unavailable>
  }
>()("@bursar/engine-core/writes/FourEyes") {}
