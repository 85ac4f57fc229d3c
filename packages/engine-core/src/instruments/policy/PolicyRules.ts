/** Pure rules of a policy's change: the resulting terms, and those that may not change. */
import * as Decimal from "../../kernel/Decimal.ts"
import type { Changes, Manifest } from "../instrument/Manifest.ts"

/**
 * The terms after a change; members it leaves out stay. A par instrument of no stated par value is
 * worth one, as when it was recorded.
 */
export const amended = (before: Manifest, { guardrail, ...said }: Changes): Manifest => {
  const after = {
    ...before,
    ...said,
    ...(guardrail === undefined ? {} : { navGuardrail: guardrail })
  }
  return after.valuation === "par" && after.parValue === null
    ? { ...after, parValue: Decimal.one }
    : after
}

/** Terms that units are counted and valued by, which must not change once units exist. */
const fixed = ["valuation", "currency", "unitDecimals"] as const

/**
 * The terms that differ and may not change once units were minted
 * (docs/domain/instruments.md#terms).
 */
export const unfixed = (before: Manifest, after: Manifest): ReadonlyArray<string> =>
  fixed.filter((term) => before[term] !== after[term])
