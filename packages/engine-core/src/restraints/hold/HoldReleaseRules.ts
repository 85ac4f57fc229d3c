/** Pure rules of a hold's release: its condition, overridden findings and figures. */
import * as Decimal from "../../kernel/Decimal.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import { type Finding, blocks } from "../../findings/Finding.ts"
import type { Figure } from "../../writes/Figures.ts"
import type { Hold } from "./Hold.ts"

/** A requested release, and the current findings of the hold. */
interface ReleaseContext {
  readonly hold: Pick<Hold, "holdId" | "findings">
  readonly findings: ReadonlyArray<Pick<Finding, "findingId" | "state" | "severity" | "check">>
  /** Ids of the accepted findings. */
  readonly accept: ReadonlyArray<string>
}

/** Largest number of faults that are listed one by one; the detail has their total number. */
const listedMax = 50

/** Findings that a release overrides: of the hold, accepted by id, and still open. */
export const overridden = <F extends ReleaseContext["findings"][number]>(
  findings: ReadonlyArray<F>,
  accept: ReadonlyArray<string>
): ReadonlyArray<F> => {
  const named = new Set(accept)
  return findings.filter((finding) => finding.state === "open" && named.has(finding.findingId))
}

/**
 * Figures that approvers of a release sign: the acts it permits again, the number of accepted findings,
 * and unit and unexplained amount of each, which a later run may change
 * (docs/domain/restraints.md#releasing-a-hold). Above the limit the findings are shown by the hash
 * of their list.
 */
export const figuresOf = (
  { blocks: stopped }: Pick<Hold, "blocks">,
  accepted: ReadonlyArray<Pick<Finding, "findingId" | "unit" | "unexplained">>,
  sha256: (text: string) => string
): Readonly<Record<string, Figure>> => {
  const each = accepted
    .map(({ findingId, unexplained, unit }) => [findingId, unexplained, unit] as const)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  return {
    blocks: stopped.toSorted().join(" "),
    accepted: Decimal.fromInteger(each.length),
    ...(each.length <= listedMax
      ? Object.fromEntries(
          each.flatMap(
            ([id, amount, unit]): ReadonlyArray<readonly [string, Figure]> => [
              [`unexplained ${id}`, amount],
              [`unit ${id}`, unit]
            ]
          )
        )
      : {
          unexplained: sha256(
            each.map(([id, amount, unit]) => `${id} ${Decimal.format(amount)} ${unit}`).join("\n")
          )
        })
  }
}

/**
 * Checks of a release: each blocking finding of the hold is cleared by a later run, or accepted by
 * its id (docs/domain/restraints.md#releasing-a-hold). To accept a finding that was cleared
 * meanwhile is no fault.
 */
export const against = ({ hold, findings, accept }: ReleaseContext): ReadonlyArray<Judgement> => {
  const behind = new Set(hold.findings)
  const named = new Set(accept)
  const unrelated = accept.flatMap((id, index) => (behind.has(id) ? [] : [{ id, index }]))
  const open = findings.filter((finding) => blocks(finding) && !named.has(finding.findingId))
  return [
    condition("findings-of-hold", unrelated.length === 0, {
      detail: `Not behind the hold ${hold.holdId}: ${unrelated.length} of the findings named.`,
      errors: unrelated.slice(0, listedMax).map(({ id, index }) => ({
        pointer: `/body/accept/${index}`,
        detail: `The hold stands on no finding ${id}.`
      }))
    }),
    condition("findings-cleared", open.length === 0, {
      detail: `Blocking findings behind the hold ${hold.holdId} that are open: ${open.length}.`,
      errors: open.slice(0, listedMax).map(({ findingId, check }) => ({
        pointer: "/body/accept",
        detail: `The finding ${findingId} of the check ${check} is open.`
      }))
    })
  ]
}
