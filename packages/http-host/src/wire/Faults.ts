/** Collects the faults of several parts of a request into one refusal. */
import { Refusal } from "@bursar/engine-core"
import { Shape } from "@bursar/engine-core/kernel"
import { Result } from "effect"

type PartOutcome = Result.Result<unknown, Refusal.Refused<"invalid-request">>

/** One refusal with the faults of all failed parts; undefined where none failed. */
export const together = (
  parts: ReadonlyArray<PartOutcome>
): Refusal.Refused<"invalid-request"> | undefined => {
  const errors = parts.flatMap((part) =>
    Result.isFailure(part) ? (part.failure.details.errors ?? []) : []
  )
  const [first] = errors
  if (first === undefined) return undefined
  return Refusal.refused("invalid-request", { detail: Shape.summary(first), errors })
}
