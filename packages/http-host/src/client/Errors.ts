/** Errors of the client's calls. */
import { Data } from "effect"
import type { HttpClientError } from "effect/http"
import { type Problem, slugOf } from "../api/Problem.ts"

/**
 * The service refused the call; `slug` is one of the table of refusals, or one that a newer release
 * added.
 */
export class CallRefused extends Data.TaggedError("CallRefused")<{ readonly problem: Problem }> {
  get slug(): string {
    return slugOf(this.problem)
  }
  override get message(): string {
    return `${this.problem.status} ${this.slug}: ${this.problem.detail}`
  }
}

/** An answer that the interface does not describe. */
export class AnswerUnreadable extends Data.TaggedError("AnswerUnreadable")<{
  readonly status: number
  readonly detail: string
}> {}

/** The input does not match the declaration; nothing was sent. */
export class InputInvalid extends Data.TaggedError("InputInvalid")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** The operation ended failed; its problem is the one that the call itself would have answered. */
export class OperationFailed extends Data.TaggedError("OperationFailed")<{
  readonly operationId: string
  readonly problem: Problem
}> {
  get slug(): string {
    return slugOf(this.problem)
  }
  override get message(): string {
    return `${this.operationId} failed with ${this.slug}: ${this.problem.detail}`
  }
}

/** The action ended without an operation: it was rejected, withdrawn or lapsed. */
export class ActionEnded extends Data.TaggedError("ActionEnded")<{
  readonly actionKey: string
  readonly state: string
  readonly reason: string | null
}> {
  override get message(): string {
    return `${this.actionKey} is ${this.state}${this.reason === null ? "" : `: ${this.reason}`}`
  }
}

/** Failure of a call: a problem of the venue, or an answer that is none of its own. */
export type CallError =
  | CallRefused
  | AnswerUnreadable
  | InputInvalid
  | HttpClientError.HttpClientError
