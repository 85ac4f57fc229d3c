/** Pure rules of holds that reconciliation runs open: their findings, and the acts they block. */
import { type Finding, blocks } from "../../findings/Finding.ts"
import type { HoldBlock, HoldSource } from "../../vocabulary/sets.ts"

/** Sources of holds that runs open. */
export type RunSource = Exclude<HoldSource, "manual">

/**
 * Table of the acts that a hold blocks, by source (docs/domain/restraints.md#what-a-hold-blocks).
 * Every hold blocks distributions, named or not; a cover hold does not block redemptions.
 */
export const blocksOf: Readonly<Record<HoldSource, ReadonlyArray<HoldBlock>>> = {
  manual: ["all"],
  reconciliation: ["distribution"],
  cover: ["mint", "distribution"]
}

/**
 * Source of the hold that a blocking finding of this check opens
 * (docs/domain/restraints.md#holds-of-reconciliation).
 */
export const sourceOf = ({ check }: Pick<Finding, "check">): RunSource =>
  check === "reserve-cover" ? "cover" : "reconciliation"

/**
 * Findings of a run that need a hold of this source on the instrument: open and blocking ones. An
 * accepted finding that did not grow is not open (FindingRules.foundAgain), so it needs none.
 */
export const stopping = <
  F extends Pick<Finding, "check" | "instrumentId" | "state" | "severity" | "findingId">
>(
  findings: ReadonlyArray<F>,
  { instrumentId, source }: { readonly instrumentId: string; readonly source: RunSource }
): ReadonlyArray<F> =>
  findings.filter(
    (finding) =>
      finding.instrumentId === instrumentId && sourceOf(finding) === source && blocks(finding)
  )

/** Reason of a run's hold for roles that checks are concealed from. */
export const neutralReason = "A reconciliation run has blocking findings."

/** Reason of a run's hold: the checks of its findings, each once. */
export const reasonOf = (findings: ReadonlyArray<Pick<Finding, "check">>): string =>
  `Blocking findings: ${[...new Set(findings.map(({ check }) => check))].toSorted().join(", ")}.`
