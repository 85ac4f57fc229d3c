/** Views of a distribution: for staff with its totals and the counts of its lines, for holders without. */
import { Schema, Struct } from "effect"
import type { AwaitedStatements } from "../../findings/AwaitedStatements.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import type { Role } from "../../vocabulary/Role.ts"
import { isConcealedFrom } from "../../writes/Concealment.ts"
import { DistributionRoll } from "../roll/DistributionRoll.ts"
import { Distribution, distributions } from "./Distribution.ts"
import { Totals } from "./DistributionTerms.ts"
import type { LineCounts } from "./LineLookups.ts"

const { NullOr } = Schema

/** Members that every view of a distribution has. */
export const shown = Struct.pick(Distribution.fields, [
  "distributionId",
  "instrumentId",
  "month",
  "recordDate",
  "recordEndsAt",
  "recordOffset",
  "exDate",
  "paymentDate",
  "zone",
  "policyVersion",
  "state",
  "valuation",
  "fromPoint",
  "toPoint",
  "pointCids",
  "withholding",
  "ratesSeen",
  "acknowledgedRate",
  "rateChange",
  "payoutAsset",
  "payout",
  "payoutPrice",
  "payoutDecimals",
  "linesHash",
  "executedBy",
  "executedAt",
  "executedOffset",
  "sealedAt",
  "clearedByRun",
  "holdId"
])

export const DistributionView = Schema.Struct({
  ...shown,
  rollState: DistributionRoll.schema,
  /** Null to investors and apps. */
  totals: NullOr(Totals),
  /** Number of its lines in each state, counted at the read; null to investors and apps. */
  counts: NullOr(
    Schema.Struct({
      due: Integer.schema,
      suspended: Integer.schema,
      delivered: Integer.schema,
      rolled: Integer.schema,
      carried: Integer.schema,
      void: Integer.schema
    })
  ),
  ...RecordView.fields
}).annotate({
  identifier: "DistributionView",
  description: "The income of one instrument and month, and how much of it is paid."
})
export type DistributionView = typeof DistributionView.Type

/** A run clears a distribution once its source has corrected each statement that it waits for. */
const named = (
  wait: RecordView.AwaitedAct,
  awaited: AwaitedStatements["statements"]
): ReadonlyArray<RecordView.AwaitedAct> =>
  wait.action !== "distribution.clear" || awaited.length === 0
    ? [wait]
    : [...new Set(awaited.map(({ externalStatementId }) => externalStatementId))].map((id) => ({
        ...wait,
        role: "feed",
        action: "statement.correct" as const,
        resource: { resourceKind: "external-statement" as const, id }
      }))

/**
 * Makes the view of a distribution for a role from the record that the role reads
 * (docs/domain/distributions.md#who-sees-a-line); `awaited` are the statements for which the checks of
 * its instrument wait.
 */
export const ofRole = (
  record: Stored<Distribution>,
  counts: LineCounts,
  role: Role,
  awaited: AwaitedStatements["statements"] = []
): DistributionView => {
  const isConcealed = isConcealedFrom(role)
  const view = RecordView.of(distributions, shown, record)
  return {
    ...view,
    waitingOn: isConcealed
      ? view.waitingOn
      : view.waitingOn.flatMap((wait) => named(wait, awaited)),
    rollState: DistributionRoll.judge(counts),
    totals: isConcealed ? null : record.totals,
    counts: isConcealed ? null : counts
  }
}
