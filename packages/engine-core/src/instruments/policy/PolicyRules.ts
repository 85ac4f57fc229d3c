/** Pure rules of a change of policy: resulting terms, and terms that must not change. */
import * as Decimal from "../../kernel/Decimal.ts"
import type { Changes, Manifest } from "../instrument/Manifest.ts"

/**
 * The terms after a change; members that the change leaves out stay. A par instrument without a par
 * value gets 1, as when it was recorded.
 */
export const amended = (before: Manifest, { guardrail, ...changed }: Changes): Manifest => {
  const after = {
    ...before,
    ...changed,
    ...(guardrail === undefined ? {} : { navGuardrail: guardrail })
  }
  return after.valuation === "par" && after.parValue === null
    ? { ...after, parValue: Decimal.one }
    : after
}

/** Terms by which units are counted and valued: they must not change after the first mint. */
const fixed = ["valuation", "currency", "unitDecimals"] as const

/**
 * Names of the changed terms that must not change after the first mint
 * (docs/domain/instruments.md#terms).
 */
export const unfixed = (before: Manifest, after: Manifest): ReadonlyArray<string> =>
  fixed.filter((term) => before[term] !== after[term])
