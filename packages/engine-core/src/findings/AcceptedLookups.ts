/** Look-up of the differences that people accepted. */
import { Effect } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type * as Pin from "../kernel/Pin.ts"
import { Records } from "../records/Records.ts"
import { type Finding, findings } from "./Finding.ts"
import type { AcceptedFigures } from "./FindingRules.ts"

/**
 * Loads what people accepted of the findings that are accepted, by the id of the finding: the figure, the unit and the
 * difference that it had as they did. Earlier releases let a later run replace them by those of a
 * difference that nobody accepted. Findings of one release are loaded together.
 */
export const acceptedFigures = Effect.fnUntraced(function* (
  all: Iterable<Finding>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const byInstant = new Map<Instant.Instant, Array<Finding>>()
  const figures = new Map<string, AcceptedFigures>()
  for (const finding of all) {
    if (finding.accepted === null) {
      // Another figure opened the finding again: what people accepted before stays accepted.
      if ((finding.acceptedFigures ?? []).length > 0) figures.set(finding.findingId, finding)
      continue
    }
    const { at } = finding.accepted
    byInstant.set(at, [...(byInstant.get(at) ?? []), finding])
  }
  for (const [instant, group] of byInstant) {
    const then = yield* records.many(
      findings,
      group.map(({ findingId }) => findingId),
      { ...pin, select: { by: "snapshot", instant }, judgedAt: instant }
    )
    const before = new Map(then.map((finding) => [finding.findingId, finding]))
    for (const finding of group) {
      const { difference, figure = null, unit } = before.get(finding.findingId) ?? finding
      const { accepted, acceptedFigures = [] } = finding
      figures.set(finding.findingId, { accepted, acceptedFigures, difference, figure, unit })
    }
  }
  return figures
})
