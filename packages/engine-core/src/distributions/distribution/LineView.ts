/**
 * Views of a distribution line: for staff, for the registrar, and for investors and apps, from whom
 * some causes are concealed.
 */
import { Schema, Struct } from "effect"
import * as Basis from "../../kernel/Basis.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as LazyStruct from "../../kernel/LazyStruct.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import type { Role } from "../../vocabulary/Role.ts"
import * as sets from "../../vocabulary/sets.ts"
import { isConcealedFrom } from "../../writes/Concealment.ts"
import { DistributionLine, distributionLines, shownOf, shownReason } from "./DistributionLine.ts"

const shown = Struct.pick(DistributionLine.fields, [
  "lineId",
  "distributionId",
  "instrumentId",
  "month",
  "holderId",
  "party",
  "units",
  "entitlement",
  "carryIn",
  "gross",
  "equalisation",
  "rate",
  "rateSource",
  "withheld",
  "net",
  "carryOut",
  "payoutUnits",
  "state",
  "reason",
  "carriedFrom",
  "predecessor",
  "evidence",
  "deliveredAt",
  "paidOn",
  "deliveredUid",
  "rolledUid",
  "lost"
])

export const LineView = RecordView.schemaOf(shown, {
  identifier: "DistributionLineView",
  description: "What one holder earned in a distribution, and whether it is paid."
})
export type LineView = typeof LineView.Type

export const LineDetail = Schema.Struct({
  ...shown,
  /** Formula and inputs of each figure; empty where `basisMissing` has a reason. */
  basis: Schema.Array(Basis.Basis),
  basisMissing: Schema.NullOr(sets.BasisMissing.schema),
  ...RecordView.fields
}).annotate({
  identifier: "DistributionLineDetail",
  description: "A line of a distribution with the basis of its figures."
})

/**
 * Makes the view of a line for a role (docs/domain/distributions.md#who-sees-a-line). A registrar reads
 * that a line waits, and no reason that concerns a restriction, an order or a screening.
 */
export const ofRole = (record: Stored<DistributionLine>, role: Role): LineView => {
  if (isConcealedFrom(role)) {
    const { version, at } = record.visible
    return LazyStruct.extend(RecordView.of(distributionLines, shown, record), {
      ...shownOf(record),
      waitingOn: RecordView.waitingOn(distributionLines, asShown(record)),
      version,
      updatedAt: Instant.max(at, record.createdAt)
    })
  }
  const view = RecordView.of(distributionLines, shown, record)
  if (role !== "registrar" || record.state !== "suspended") return view
  const reason = shownReason(record)
  return LazyStruct.extend(view, {
    reason,
    ...(reason === null ? { waitingOn: [] } : waitingAs(record))
  })
}

/** The line with the causes that an investor, an app and a registrar may know of. */
const asShown = (record: Stored<DistributionLine>): Stored<DistributionLine> => {
  const reason = shownReason(record)
  return LazyStruct.extend(record, { ...shownOf(record), causes: reason === null ? [] : [reason] })
}

const waitingAs = (record: Stored<DistributionLine>) => ({
  waitingOn: RecordView.waitingOn(distributionLines, asShown(record))
})
