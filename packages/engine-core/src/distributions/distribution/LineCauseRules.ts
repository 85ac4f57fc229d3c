/**
 * Pure rules of why a distribution line waits: causes in the order in which the first is its reason,
 * and what of them an investor and an app are shown (docs/domain/distributions.md#suspense).
 */
import type { LineReason } from "../../vocabulary/sets.ts"
import type { DistributionLine } from "./DistributionLine.ts"

/** Causes for which a line waits, in the order in which the first becomes its reason. */
export const causes = [
  "restriction",
  "court-order",
  "registration",
  "admission",
  "attribute",
  "screening",
  "no-holder"
] as const satisfies ReadonlyArray<LineReason>
export type Cause = (typeof causes)[number]

/** Causes that neither an investor nor an app learns of. */
const concealed: ReadonlyArray<LineReason> = ["restriction", "court-order", "screening"]

/** Returns the reason of a line with these causes; null: it does not wait. */
export const firstOf = (given: ReadonlyArray<LineReason>): LineReason | null =>
  causes.find((cause) => given.includes(cause)) ?? null

/**
 * Returns the state and the reason that an investor and an app are shown: of a line that waits for
 * concealed causes alone `due` without a reason, of any other suspended line its first open cause.
 */
export const shownOf = ({
  state,
  reason,
  causes: given
}: Pick<DistributionLine, "state" | "reason" | "causes">): Pick<
  DistributionLine,
  "state" | "reason"
> => {
  if (state !== "suspended") return { state, reason }
  const shown = firstOf(given.filter((cause) => !concealed.includes(cause)))
  return shown === null ? { state: "due", reason: null } : { state, reason: shown }
}
