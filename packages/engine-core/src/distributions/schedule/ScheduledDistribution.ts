/**
 * Record of a month whose record date passed by a calendar: announced as due, executed by the
 * scheduler under a standing approval (docs/domain/distributions.md#scheduler).
 */
import { Schema } from "effect"
import { match } from "ts-pattern"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import type { Announcement } from "../../kernel/Announcement.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Month from "../../kernel/Month.ts"
import * as Field from "../../templates/Field.ts"
import { idOf, Refusal } from "../period/Calendar.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"

/** Events of a scheduled distribution. */
export const scheduledDistributionEvents = {
  "distribution.due": about(
    "scheduled-distribution",
    Schema.Struct({
      month: Month.schema,
      recordDate: Date.schema,
      refused: Schema.NullOr(Schema.Struct({ operationId: Schema.String, problem: Schema.String }))
    })
  )
} as const

const makeEvent = announcing(scheduledDistributionEvents)

const { NullOr, String: Text } = Schema

export const ScheduledDistribution = Schema.Struct({
  instrumentId: InstrumentId,
  month: Month.schema,
  recordDate: Date.schema,
  recordEndsAt: Instant.schema,
  /** The sealed distribution of the month; null before. */
  distributionId: NullOr(Text),
  /** Number of operations that the scheduler opened for the month. */
  opened: Integer.schema,
  /** The latest of them; null: it opened none. */
  operationId: NullOr(Text),
  /**
   * Circumstances under which the latest operation was opened; where they differ, another one is
   * opened at once.
   */
  circumstances: NullOr(Text),
  /**
   * Number of operations in a row that were opened under these circumstances, which the pauses grow by;
   * null in records that were opened before this member.
   */
  openedAlike: Field.optional(Integer.schema),
  /** First instant of another operation under the same circumstances; null: none was refused. */
  againAt: NullOr(Instant.schema),
  refused: NullOr(Refusal),
  /** Slug and condition of each refusal that was announced. */
  announced: Schema.Array(Text)
}).annotate({
  identifier: "ScheduledDistribution",
  description: "A month whose record date passed by a calendar."
})
export type ScheduledDistribution = typeof ScheduledDistribution.Type

const Open = Schema.Struct({
  on: Schema.Literal("open"),
  operationId: Text,
  circumstances: Text
})
const Refuse = Schema.Struct({
  on: Schema.Literal("refuse"),
  refused: Refusal,
  /** Slug and condition of the refusal. */
  cause: Text,
  /** True: this cause was not announced before. */
  isNew: Schema.Boolean,
  againAt: Instant.schema
})
const Execute = Schema.Struct({ on: Schema.Literal("execute"), distributionId: Text })

export const Fact = Schema.Union([Open, Refuse, Execute])
export type Fact = typeof Fact.Type

/** Number of operations in a row that were opened under the circumstances of the latest. */
export const openedAlike = ({
  opened,
  openedAlike
}: Pick<ScheduledDistribution, "opened" | "openedAlike">): number => openedAlike ?? opened

const evolve = (self: ScheduledDistribution, fact: Fact): ScheduledDistribution =>
  match(fact)
    .with({ on: "open" }, ({ operationId, circumstances }) => ({
      ...self,
      operationId,
      circumstances,
      opened: self.opened + 1,
      openedAlike: self.circumstances === circumstances ? openedAlike(self) + 1 : 1
    }))
    .with({ on: "refuse" }, ({ refused, cause, isNew, againAt }) => ({
      ...self,
      refused,
      againAt,
      announced: isNew ? [...self.announced, cause] : self.announced
    }))
    .with({ on: "execute" }, ({ distributionId }) => ({ ...self, distributionId }))
    .exhaustive()

export const scheduledDistributions = Collection.define<ScheduledDistribution, Fact>(
  "scheduled-distribution",
  {
    doc: "A month whose record date passed by a calendar, until it is executed.",
    id: idOf,
    record: ScheduledDistribution,
    fact: Fact,
    evolve,
    keptBy: "engine",
    filters: {
      instrumentId: (self) => self.instrumentId,
      state: (self) => (self.distributionId === null ? "open" : "executed")
    },
    waitingOn: (self) =>
      self.distributionId === null
        ? [{ role: "operator", action: "distribution.execute", by: null }]
        : [],
    announce: (self, fact) => {
      if (fact === undefined) return [due(self, null)]
      if (fact.on !== "refuse" || !fact.isNew) return []
      const { operationId, problem } = fact.refused
      return [due(self, { operationId, problem })]
    },
    invariants: {
      "a cause is announced once": ({ announced }) => new Set(announced).size === announced.length
    }
  }
)

const due = (
  self: ScheduledDistribution,
  refused: { readonly operationId: string; readonly problem: string } | null
): Announcement => {
  const { instrumentId, month, recordDate } = self
  return {
    ...makeEvent("distribution.due", { month, recordDate, refused }),
    resourceKind: "scheduled-distribution",
    resourceId: idOf(self),
    instrumentId,
    party: null,
    holderIds: []
  }
}
