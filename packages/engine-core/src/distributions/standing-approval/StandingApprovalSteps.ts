/** Step of the reading of an execution: counts a use of its standing approval. */
import { Effect, Option } from "effect"
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Act } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { standingApprovals } from "./StandingApproval.ts"

/** An execution under a standing approval, as it is read off the ledger. */
interface ApprovalUse {
  readonly standingApprovalId: string
  readonly distributionId: string
  /** Net of all lines as planned, suspended ones included, in the approval's currency. */
  readonly net: Decimal.Decimal
  /** Ledger time of the execution. */
  readonly at: Instant.Instant
}

/**
 * Counts an execution as a use of its approval, which it may exhaust. One that was revoked or lapsed
 * since the first step was sent is counted too: the execution goes on.
 */
export const countUse: (used: ApprovalUse, act: Act) => Effect.Effect<void, Unavailable, Records> =
  Effect.fnUntraced(function* (used, act) {
    const records = yield* Records
    const { standingApprovalId, distributionId, net, at } = used
    const found = yield* records.find(standingApprovals, standingApprovalId)
    if (Option.isNone(found)) {
      return yield* Effect.die(
        new Error(`an execution used ${standingApprovalId}, which has no record`)
      )
    }
    yield* records.append(
      standingApprovals,
      found.value,
      { on: "use", at, distributionId, net },
      act
    )
  })
