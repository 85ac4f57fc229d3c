/**
 * Pure rules of an instrument: terms that depend on each other.
 */
import * as Instant from "../../kernel/Instant.ts"
import type { Fault } from "../../kernel/Refusal.ts"
import type { Manifest } from "./Manifest.ts"

/** Faults of terms that contradict each other, with pointers into the request; empty: none. */
export const faults = (manifest: Manifest): ReadonlyArray<Fault> =>
  rows(manifest)
    .filter(([broken]) => broken)
    .map(([, pointer, detail]) => ({ pointer: `/body/${pointer}`, detail }))

const rows = ({
  valuation,
  parValue,
  distribution,
  identifiers,
  window: { opensAt, closesAt }
}: Manifest): ReadonlyArray<readonly [broken: boolean, pointer: string, detail: string]> => [
  [valuation !== "par" && parValue !== null, "parValue", "only a par instrument has a par value"],
  [
    distribution.schedule === "none" && distribution.calendar !== null,
    "distribution/calendar",
    "an instrument that does not distribute has no calendar"
  ],
  [
    identifiers.isin !== null &&
      identifiers.cusip !== null &&
      /^(?:US|CA)/.test(identifiers.isin) &&
      identifiers.isin.slice(2, 11) !== identifiers.cusip,
    "identifiers/cusip",
    "the ISIN holds another CUSIP"
  ],
  [
    opensAt !== null && closesAt !== null && Instant.atOrBefore(closesAt, opensAt),
    "window/closesAt",
    "a window closes after it opens"
  ]
]
