/** Look-up of the members that an action would replace, against the record now, for the action's view. */
import { Effect } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type { Approval } from "./Approval.ts"
import { Operations } from "./Operations.ts"
import * as Request from "./Request.ts"
import type { RequestedChange } from "./TermChange.ts"

/**
 * Lists the changes that an action would make if it ran at `now`
 * (docs/contract/four-eyes.md#changes): empty where its kind replaces no member or is declared no
 * more, and once it awaits nobody.
 */
export const requestedBy = Effect.fnUntraced(function* (
  { kind, request, state }: Pick<Approval, "kind" | "request" | "state">,
  reading: { readonly now: Instant.Instant }
) {
  const operation = (yield* Operations).find(kind)
  if (state !== "awaiting" || operation?.changes === undefined) {
    return Array<RequestedChange>()
  }
  return yield* operation.changes(Request.decode(operation, request), reading)
})
