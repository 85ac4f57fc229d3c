/** Who or what makes a fact true: the one cause that every fact's cover records. */
import type { Cause } from "../kernel/Fact.ts"
import type * as Instant from "../kernel/Instant.ts"

export interface Act {
  readonly cause: Cause
  /** The engine's clock when the act was judged. */
  readonly now: Instant.Instant
}

/** An operation's act, as its `run` and `plan` see it. */
export interface OperationAct extends Act {
  readonly operationId: string
  /** Who asked, by sub; `engine` for what the engine opened itself. */
  readonly actor: string
  /** The distinct approvers, in the order they signed. */
  readonly signedBy: ReadonlyArray<string>
}
