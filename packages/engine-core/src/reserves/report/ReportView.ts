/** View of a reserve report: the figures as the ledger computed them, and the basis of each. */
import { Schema, Struct } from "effect"
import * as Basis from "../../kernel/Basis.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as sets from "../../vocabulary/sets.ts"
import { StoredTerms } from "../reserve/ReserveTerms.ts"
import { basisOf } from "./ReportBasis.ts"
import { Line, ReserveReport, reserveReports } from "./ReserveReport.ts"

const { NullOr } = Schema

const shown = Struct.pick(ReserveReport.fields, [
  "reportId",
  "reserveId",
  "instrumentId",
  "trigger",
  "at",
  "off",
  "cid"
])

/** Figures of the reserve at the report, worths at 10 places. */
const Figures = Schema.Struct({
  /** Terms in force at the report; null: it was read off a snapshot of the ledger. */
  termsInForce: NullOr(StoredTerms),
  outstanding: Decimal.schema,
  /** Worth of one unit, rounded down; null: an asset has no price, or the units own nothing. */
  sharePrice: NullOr(Decimal.schema),
  assets: Schema.Array(Line),
  required: Decimal.schema,
  counted: Decimal.schema,
  cover: Schema.Struct({
    ratio: NullOr(Decimal.schema),
    state: sets.CoverState.schema,
    at: Offset.schema
  })
}).annotate({
  identifier: "ReportedReserve",
  description: "Figures of a reserve as the ledger computed them."
})

export const ReserveReportView = RecordView.schemaOf(
  { ...shown, view: Figures, basis: Schema.Array(Basis.Basis) },
  {
    identifier: "ReserveReportView",
    description: "A report of a reserve that the ledger computed, and how its figures follow."
  }
)
export type ReserveReportView = typeof ReserveReportView.Type

export const of = RecordView.remembered((self: Stored<ReserveReport>): ReserveReportView => {
  const { outstanding, sharePrice, assets, required, counted, ratio, cover, follows, off } = self
  return {
    ...RecordView.of(reserveReports, shown, self),
    view: {
      termsInForce: follows?.terms ?? null,
      outstanding,
      sharePrice,
      assets,
      required,
      counted,
      cover: { ratio, state: cover, at: off }
    },
    basis: basisOf(self)
  }
})
