/** Service through which every write is made, approved and rejected. */
import { Context, type Effect } from "effect"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Refused, Unavailable } from "../kernel/Refusal.ts"
import type { Caller, RequestIdentity } from "./Caller.ts"
import type { AnyOperation, Operation } from "./Operation.ts"

/** A call on a write's route, before its input is decoded. */
export interface Call {
  readonly caller: Caller
  readonly identity: RequestIdentity
  /** The Idempotency-Key as sent, unquoted; null: the write is keyed on its body. */
  readonly key: string | null
  /** The If-Match header, unquoted; null or absent: none was sent. */
  readonly ifMatch?: string | null
  /** Path and raw query as sent, which the fingerprint is computed from. */
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
   * 202 when this call opened or signed the write; 200 when the write existed; 204, without a body,
   * when this call, or an earlier one of the same approver, finished a removal.
   */
  readonly status: 200 | 202 | 204
  /** The encoded write answer; null with 204. */
  readonly value: Plain
  /** `/v1/operations/{id}` or `/v1/approvals/{actionKey}`. */
  readonly location: string
  readonly replayed: boolean
  /** Whole seconds after which polling makes sense; null when final. */
  readonly retryAfter: number | null
  /** Id of the operation that has not ended; null: it has ended, or the write awaits approvers. */
  readonly awaitedOperation: string | null
}

/** Answer to a rejection: the record of the action. */
export interface RejectionAnswer {
  readonly value: Plain
  /** True where an earlier call under the same key rejected the action. */
  readonly replayed: boolean
}

/** Service through which every write comes in, is approved and is opened. */
export class FourEyes extends Context.Service<
  FourEyes,
  {
    /**
     * Submits a call: makes a write, or approves an action that awaits
     * (docs/contract/four-eyes.md#a-call-on-a-four-eyes-route). The order of refusals is:
     * idempotency, record, four eyes, then the rules of the domain.
     */
    readonly submit: (
      operation: Operation,
      call: Call
    ) => Effect.Effect<Answer, Refused | Unavailable>
    /**
     * Opens a write of the engine's own, without an actor. `key` identifies the occasion: repeated
     * under one key, by any instance, the call returns the operation that exists.
     */
    readonly open: (
      operation: AnyOperation,
      input: Plain,
      key: string
    ) => Effect.Effect<Answer, Refused | Unavailable>
    /**
     * Signs an action, once for each person. Refuses at gate four-eyes, condition figures-moved, when
     * the figures have changed since they were signed, or differ from those of `figuresHashSeen`. A
     * repeat, under the same key or without one, signs changed figures only where `figuresHashSeen` names
     * them, so that it never signs figures its sender has not seen.
     */
    readonly approve: (signature: {
      readonly actionKey: string
      readonly caller: Caller
      readonly identity: RequestIdentity
      readonly key?: string | null
      /**
       * Hash of the figures that the caller saw, from its If-Match; null or absent: none was sent.
       */
      readonly figuresHashSeen?: string | null
      /** The body as sent; absent when there was none. */
      readonly body?: Plain
    }) => Effect.Effect<Answer, Refused | Unavailable>
    /**
     * Makes the answer of a write anew, with its operation as it is now and as the caller may read it;
     * an answer without an operation that is awaited stays as it is.
     */
    readonly current: (answer: Answer, caller: Caller) => Effect.Effect<Answer, Unavailable>
    /**
     * Rejects an action, or withdraws it when the caller is its maker; returns the action's record.
     * A repeat, by its key or else by its body, returns the record as it is.
     */
    readonly reject: (rejection: {
      readonly actionKey: string
      readonly caller: Caller
      readonly identity: RequestIdentity
      readonly key: string | null
      readonly reason: string | null
      /** The body as sent; absent when there was none. */
      readonly body?: Plain
    }) => Effect.Effect<RejectionAnswer, Refused | Unavailable>
  }
>()("@bursar/engine-core/writes/FourEyes") {}
