/** Conformance suite of ledger adapters: every law of the port, each on a fresh ledger. */
import { describe, it } from "@effect/vitest"
import { Effect, type Layer } from "effect"
import * as Atomicity from "./ledger-laws/atomicity.ts"
import * as Authority from "./ledger-laws/authority.ts"
import * as Dedup from "./ledger-laws/dedup.ts"
import * as Distributions from "./ledger-laws/distributions.ts"
import * as Privacy from "./ledger-laws/privacy.ts"
import * as Reserves from "./ledger-laws/reserves.ts"
import * as Spent from "./ledger-laws/spent.ts"
import * as Time from "./ledger-laws/time.ts"
import * as Updates from "./ledger-laws/updates.ts"
import type { Law, LedgerUnderTest, Supports } from "./LedgerUnderTest.ts"

export { LedgerUnderTest } from "./LedgerUnderTest.ts"
export type { Law, Mishap, Session, Supports } from "./LedgerUnderTest.ts"

/** Laws that every ledger adapter keeps. */
export const ledgerLaws: ReadonlyArray<Law> = [
  ...Updates.laws,
  ...Atomicity.laws,
  ...Authority.laws,
  ...Privacy.laws,
  ...Distributions.laws,
  ...Reserves.laws,
  ...Dedup.laws,
  ...Spent.laws,
  ...Time.laws
]

/** Checks whether the adapter has the abilities that a law needs. */
export const isDemanded = (law: Law, supports: Supports): boolean =>
  law.needs === undefined || supports[law.needs]

/**
 * Runs every law against a ledger that the layer builds anew for each law; unsupported laws are
 * skipped by name.
 */
export const ledgerSuite = <E>(
  name: string,
  layer: Layer.Layer<LedgerUnderTest, E>,
  supports: Supports
): void => {
  describe(name, () => {
    for (const law of ledgerLaws) {
      const test = isDemanded(law, supports) ? it.effect : it.effect.skip
      test(`${law.id}: ${law.name}`, () => Effect.provide(law.check, layer))
    }
  })
}
