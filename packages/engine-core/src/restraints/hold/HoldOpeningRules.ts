/** Pure rules of holds that reconciliation runs open: when, and what they block. */
import type { Finding } from "../../findings/Finding.ts"
import { blocks } from "../../findings/FindingRules.ts"
import type { HoldBlock, HoldSource } from "../../vocabulary/sets.ts"

/** What opens a hold besides a person. */
export type RunSource = Exclude<HoldSource, "manual">

/**
 * Table of the acts that a hold blocks, by its source (docs/domain/restraints.md#what-a-hold-blocks). Every hold
 * blocks distribution, whether it names it or not; redemptions go on under a cover hold.
 */
export const blocksOf: Readonly<Record<HoldSource, ReadonlyArray<HoldBlock>>> = {
  manual: ["all"],
  reconciliation: ["distribution"],
  cover: ["mint", "distribution"]
}

/**
 * The source of the hold that a blocking finding of this check opens
 * (docs/domain/restraints.md#holds-of-reconciliation).
 */
export const sourceOf = ({ check }: Pick<Finding, "check">): RunSource =>
  check === "reserve-cover" ? "cover" : "reconciliation"

/**
 * The open, blocking findings of a run on an instrument that hold it by this source. A finding that
 * was accepted and did not grow is not open (FindingRules.foundAgain), so it opens no new hold.
 */
export const stopping = <
  F extends Pick<Finding, "check" | "instrumentId" | "state" | "severity" | "findingId">
>(
  findings: ReadonlyArray<F>,
  of: { readonly instrumentId: string; readonly source: RunSource }
): ReadonlyArray<F> =>
  findings.filter(
    (one) => one.instrumentId === of.instrumentId && sourceOf(one) === of.source && blocks(one)
  )

/** Reason of a run's hold, in a sentence: the checks with findings, each once. */
export const reasonOf = (findings: ReadonlyArray<Pick<Finding, "check">>): string =>
  `Blocking findings: ${[...new Set(findings.map(({ check }) => check))].toSorted().join(", ")}.`
