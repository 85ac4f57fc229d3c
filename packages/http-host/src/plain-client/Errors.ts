/** Errors of the plain client's calls; each has a `_tag`, by which programs of Effect tell them apart. */
import type { Refusal } from "@bursar/engine-core"
import type { Problem } from "@bursar/engine-core/kernel"
import type { EveryRouteSlug } from "../api/document/RouteSlugs.ts"
import type { ValueJson } from "./JsonTypes.ts"

/** Problem of a refusal as JSON has it (RFC 9457). */
export type ProblemJson = ValueJson<Problem.Problem>

/**
 * A call that was refused, or a write that ended failed. `slug` is one of `S`, or one that a newer release
 * of the service has added.
 */
export class CallRefusal<S extends string = Refusal.Slug> extends Error {
  readonly _tag = "CallRefusal"
  override readonly name = "CallRefusal"
  readonly slug: S | EveryRouteSlug | (string & Record<never, never>)
  /** Status of the answer, or that which the service would have answered a write that failed later. */
  readonly status: number
  /** True: the same call may succeed later without change. */
  readonly retryable: boolean
  /** Whole seconds after which to call again. */
  readonly retryAfter: number | null
  readonly gate: string | null
  /** Condition that does not hold. */
  readonly check: string | null
  /** Advice by which the caller makes the call pass. */
  readonly recovery: string | null
  /** First fault of the input, as an RFC 6901 pointer in {body, query, path}. */
  readonly pointer: string | null
  /** Operation that ended failed; null: the call itself was refused. */
  readonly operationId: string | null
  readonly problem: ProblemJson

  constructor(problem: ProblemJson, operationId: string | null = null) {
    const slug = problem.type.slice(problem.type.lastIndexOf(":") + 1)
    super(`${problem.status} ${slug}: ${problem.detail}`)
    this.slug = slug
    this.status = problem.status
    this.retryable = problem.retryable
    this.retryAfter = problem.retryAfter
    this.gate = problem.gate
    this.check = problem.check
    this.recovery = problem.recovery
    this.pointer = problem.errors?.[0]?.pointer ?? null
    this.operationId = operationId
    this.problem = problem
  }
}

/** An answer that is none of the service's, such as a proxy's own page. */
export class AnswerNotJson extends Error {
  readonly _tag = "AnswerNotJson"
  override readonly name = "AnswerNotJson"
  readonly status: number
  constructor(status: number, detail: string) {
    super(`the answer with status ${status} is not the service's: ${detail}`)
    this.status = status
  }
}

/** A call without an answer: the service was not reached, or the connection ended. */
export class NoAnswer extends Error {
  readonly _tag = "NoAnswer"
  override readonly name = "NoAnswer"
}

/** An action that ended without an operation: it was rejected, withdrawn or has lapsed. */
export class ActionNotRun extends Error {
  readonly _tag = "ActionNotRun"
  override readonly name = "ActionNotRun"
  readonly actionKey: string
  readonly state: string
  readonly reason: string | null
  constructor(action: {
    readonly actionKey: string
    readonly state: string
    readonly reason: string | null
  }) {
    const { actionKey, reason, state } = action
    super(`${actionKey} is ${state}${reason === null ? "" : `: ${reason}`}`)
    this.actionKey = actionKey
    this.state = state
    this.reason = reason
  }
}

/** An input that no request can carry; nothing was sent. */
export class InputFault extends Error {
  readonly _tag = "InputFault"
  override readonly name = "InputFault"
  /** RFC 6901 pointer to the value within the input. */
  readonly pointer: string
  constructor(pointer: string, detail: string) {
    super(pointer === "" ? detail : `${pointer}: ${detail}`)
    this.pointer = pointer
  }
}
