/** Record of a reserve report: the figures of a reserve as the ledger computed them at one instant. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as Field from "../../templates/Field.ts"
import * as sets from "../../vocabulary/sets.ts"
import { StoredTerms } from "../reserve/ReserveTerms.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"

/** Events of a report of a reserve. */
export const reserveReportEvents = {
  "reserve.reported": about(
    "reserve",
    Schema.Struct({
      reportId: Schema.String,
      trigger: sets.ReportTrigger.schema,
      cover: sets.CoverState.schema,
      ratio: Schema.NullOr(Decimal.schema)
    })
  )
} as const

const makeEvent = announcing(reserveReportEvents)

export const ReportId = RecordId.make("ReportId")
export type ReportId = typeof ReportId.Type

const { NullOr, String: Text } = Schema

/**
 * Id of the report that the schedule makes of a reserve for an instant: it begins with the reserve's
 * id and a tilde, which ids that the engine makes for callers never do.
 */
export const scheduledIdOf = (reserveId: string, due: Instant.Instant): string =>
  `${reserveId}~${Instant.toEpochMillis(due)}`

/** Returns, by the id of a report, whether the schedule or a caller asked for it. */
export const triggerOf = ({
  reportId,
  reserveId
}: {
  readonly reportId: string
  readonly reserveId: string
}): sets.ReportTrigger => (reportId.startsWith(`${reserveId}~`) ? "schedule" : "demand")

/** Figures of one asset, in the reserve's unit of account unless said. */
export const Line = Schema.Struct({
  asset: Field.asset,
  /** Units locked of the asset. */
  units: Decimal.schema,
  /** Null: its source has published no point. */
  price: NullOr(Decimal.schema),
  /** Instant that the price is of; null: there is no point, or the asset has no price source. */
  pricedAt: NullOr(Instant.schema),
  pointCid: NullOr(Field.contractId),
  fresh: Schema.Boolean,
  value: Decimal.schema,
  counted: Decimal.schema
}).annotate({
  identifier: "ReportedAsset",
  description: "What was locked of an asset of a reserve, and what the ledger counted of it."
})
export type Line = typeof Line.Type

/** Members of the reserve, as it was at the report, that the figures follow from. */
const Basis = Schema.Struct({
  /** Terms in force at the report. */
  terms: StoredTerms,
  parValue: NullOr(Decimal.schema),
  initialSharePrice: NullOr(Decimal.plain),
  priceDecimals: Integer.schema
})

export const ReserveReport = Schema.Struct({
  reportId: ReportId,
  reserveId: Text,
  instrumentId: Text,
  issuer: Party.schema,
  trigger: sets.ReportTrigger.schema,
  /** Instant of the ledger at which it was computed. */
  at: Instant.schema,
  off: Offset.schema,
  outstanding: Decimal.schema,
  required: Decimal.schema,
  counted: Decimal.schema,
  /** Counted by the value outstanding; null: nothing is outstanding, or it is worth nothing. */
  ratio: NullOr(Decimal.schema),
  cover: sets.CoverState.schema,
  /** Worth of one unit, rounded down; null: an asset has no price, or the units own nothing. */
  sharePrice: NullOr(Decimal.schema),
  assets: Schema.Array(Line),
  /** Null: read off a snapshot of the ledger, which does not have the reserve of that time. */
  follows: NullOr(Basis),
  pointCids: Schema.Array(Field.contractId),
  cid: Field.contractId
}).annotate({
  identifier: "ReserveReport",
  description: "Figures of a reserve as the ledger computed them."
})
export type ReserveReport = typeof ReserveReport.Type

export const reserveReports = Collection.define<ReserveReport, never>("reserve-report", {
  doc: "Figures of a reserve as the ledger computed them at one instant.",
  id: (self) => self.reportId,
  record: ReserveReport,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "ledger",
  sortKey: (self) => `${Offset.sortable(self.off)}:${self.reportId}`,
  filters: {
    reserveId: (self) => self.reserveId,
    instrumentId: (self) => self.instrumentId,
    registrar: (self) => self.issuer
  },
  announce: (self, fact) =>
    fact === undefined
      ? [
          {
            ...makeEvent("reserve.reported", {
              reportId: self.reportId,
              trigger: self.trigger,
              cover: self.cover,
              ratio: self.ratio
            }),
            resourceKind: "reserve",
            resourceId: self.reserveId,
            instrumentId: self.instrumentId,
            party: self.issuer,
            holderIds: []
          }
        ]
      : [],
  invariants: {
    "nothing outstanding has no ratio": ({ outstanding, ratio }) =>
      !Decimal.isZero(outstanding) || ratio === null
  }
})
