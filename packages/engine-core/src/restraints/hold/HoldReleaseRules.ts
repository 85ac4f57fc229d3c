/** Checks of a hold's release: findings behind it that are neither cleared nor accepted. */
import * as Decimal from "../../kernel/Decimal.ts"
import { check, type Objection } from "../../kernel/Gates.ts"
import type { Finding } from "../../findings/Finding.ts"
import { blocks } from "../../findings/FindingRules.ts"
import type { Figure } from "../../writes/Figures.ts"
import type { Hold } from "./Hold.ts"

/** A requested release, and the current findings behind the hold. */
export interface Releasing {
  readonly hold: Pick<Hold, "holdId" | "findings">
  readonly findings: ReadonlyArray<Pick<Finding, "findingId" | "state" | "severity" | "check">>
  /** The findings that are accepted as they are. */
  readonly accept: ReadonlyArray<string>
}

/** Largest number of faults that are listed one by one; the detail says how many there are. */
const listedMax = 50

/** The findings that a release would override: named, behind the hold, and still open. */
export const overridden = <F extends Releasing["findings"][number]>(
  findings: ReadonlyArray<F>,
  accept: ReadonlyArray<string>
): ReadonlyArray<F> => {
  const named = new Set(accept)
  return findings.filter((one) => one.state === "open" && named.has(one.findingId))
}

/**
 * Figures that approvers of a release sign: what it permits again, how many findings are accepted,
 * and how much of each nothing explains, since a later run may find more of it
 * (docs/domain/restraints.md#releasing-a-hold). Above the limit the findings are shown by the hash
 * of their list.
 */
export const figuresOf = (
  { blocks: stopped }: Pick<Hold, "blocks">,
  accepted: ReadonlyArray<Pick<Finding, "findingId" | "unexplained">>,
  sha256: (text: string) => string
): Readonly<Record<string, Figure>> => {
  const each = accepted
    .map(({ findingId, unexplained }) => [findingId, unexplained] as const)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
  return {
    blocks: stopped.toSorted().join(" "),
    accepted: Decimal.fromInteger(each.length),
    ...(each.length <= listedMax
      ? Object.fromEntries(each.map(([id, amount]) => [`unexplained ${id}`, amount]))
      : {
          unexplained: sha256(each.map(([id, one]) => `${id} ${Decimal.format(one)}`).join("\n"))
        })
  }
}

/**
 * Each blocking finding behind the hold is cleared by a later run, or accepted by its id
 * (docs/domain/restraints.md#releasing-a-hold). Naming a finding that was cleared in the meantime
 * is no fault.
 */
export const against = ({ hold, findings, accept }: Releasing): ReadonlyArray<Objection> => {
  const behind = new Set(hold.findings)
  const named = new Set(accept)
  const strange = accept.flatMap((id, index) => (behind.has(id) ? [] : [{ id, index }]))
  const open = findings.filter((one) => blocks(one) && !named.has(one.findingId))
  return [
    check("findings-of-hold", strange.length === 0, {
      detail: `Not behind the hold ${hold.holdId}: ${strange.length} of the findings named.`,
      errors: strange.slice(0, listedMax).map(({ id, index }) => ({
        pointer: `/body/accept/${index}`,
        detail: `The hold stands on no finding ${id}.`
      }))
    }),
    check("findings-cleared", open.length === 0, {
      detail: `Blocking findings behind the hold ${hold.holdId} that are open: ${open.length}.`,
      errors: open.slice(0, listedMax).map(({ findingId, check }) => ({
        pointer: "/body/accept",
        detail: `The finding ${findingId} of the check ${check} is open.`
      }))
    })
  ]
}
