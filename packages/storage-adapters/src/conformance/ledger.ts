/** Conformance suite of ledger adapters: every law of the port, each on a fresh ledger. */
import { describe, it } from "@effect/vitest"
import { Cause, Data, Effect, type Layer } from "effect"
import * as Atomicity from "./ledger-laws/atomicity.ts"
import * as Authority from "./ledger-laws/authority.ts"
import * as Dedup from "./ledger-laws/dedup.ts"
import * as Distributions from "./ledger-laws/distributions.ts"
import * as Privacy from "./ledger-laws/privacy.ts"
import * as Reserves from "./ledger-laws/reserves.ts"
import * as Spent from "./ledger-laws/spent.ts"
import * as Time from "./ledger-laws/time.ts"
import * as Updates from "./ledger-laws/updates.ts"
import {
  absences,
  type Law,
  lawGroups,
  type LedgerUnderTest,
  type Supports
} from "./LedgerUnderTest.ts"

export { absences, lawGroups, LedgerUnderTest } from "./LedgerUnderTest.ts"
export type { Law, LawGroup, Mishap, Session, Supports } from "./LedgerUnderTest.ts"

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

/** A broken law: what it says, what the engine relies on it for, and what is usually wrong. */
export class BrokenLaw extends Data.TaggedError("BrokenLaw")<{
  readonly law: Pick<Law, "id" | "mistake" | "name" | "proves">
  /** Failure of the law's check. */
  readonly cause: unknown
}> {
  override get message(): string {
    const { id, mistake, name, proves } = this.law
    const what = this.cause instanceof Error ? this.cause.message : String(this.cause)
    return `${id}: ${name}\n  it was found: ${what}\n  the engine relies on it: ${proves}\n  often the mistake: ${mistake}`
  }
}

/** The check of a law, whose failure says what the law is for. */
export const judged = (law: Law): Law["check"] =>
  Effect.catchCause(law.check, (cause) =>
    Cause.hasInterruptsOnly(cause)
      ? Effect.failCause(cause)
      : Effect.fail(new BrokenLaw({ law, cause: Cause.squash(cause) }))
  )

/**
 * Runs every law against a ledger that the layer builds anew for each law, by the parts of the suite. A
 * law that needs an ability which the adapter lacks is skipped, and its name says why.
 */
export const ledgerSuite = <E>(
  name: string,
  layer: Layer.Layer<LedgerUnderTest, E>,
  supports: Supports
): void => {
  describe(name, () => {
    for (const group of lawGroups) {
      describe(group, () => {
        for (const law of ledgerLaws.filter((one) => one.group === group)) {
          const title = `${law.id}: ${law.name}`
          if (law.needs === undefined || supports[law.needs]) {
            it.effect(title, () => Effect.provide(judged(law), layer))
          } else {
            it.skip(`${title} (skipped: ${absences[law.needs]})`, () => {})
          }
        }
      })
    }
  })
}
