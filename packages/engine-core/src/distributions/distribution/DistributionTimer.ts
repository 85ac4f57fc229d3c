/**
 * Record of the instants at which the engine itself opens writes of a distribution: its instructions
 * to the registrar on the ledger, and its roll
 * (docs/domain/distributions.md#instructions-on-the-ledger).
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import { DistributionId } from "./DistributionTerms.ts"

const { NullOr } = Schema

const members = {
  /** True: a run found nothing that stops the distribution, and no hold opened since. */
  mayDeliver: Schema.Boolean,
  /** Since when the ledger differs from the records; null: it is the same. */
  instructAt: NullOr(Instant.schema),
  /** The latest `instructAt` so far, so that each is later than the one before. */
  lastInstructAt: NullOr(Instant.schema),
  /**
   * Instant at which the delivered lines are rolled unless a call rolled them before; null: some
   * line is still due.
   */
  rollAt: NullOr(Instant.schema)
} as const

export const DistributionTimer = Schema.Struct({ distributionId: DistributionId, ...members })
export type DistributionTimer = typeof DistributionTimer.Type

export const Fact = Schema.Struct({ on: Schema.Literal("set"), ...members })
export type Fact = typeof Fact.Type

export const distributionTimers = Collection.define<DistributionTimer, Fact>("distribution-timer", {
  doc: "When the engine itself instructs the registrar about a distribution, and rolls it.",
  id: (self) => self.distributionId,
  record: DistributionTimer,
  fact: Fact,
  evolve: (self, { on: _, ...set }) => ({ ...self, ...set }),
  keptBy: "engine"
})
