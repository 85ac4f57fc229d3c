/** Queries of the reports of a reserve: all of them, or one. */
import { Effect, Schema } from "effect"
import * as Sight from "../../holders/holder/Sight.ts"
import * as Read from "../../reads/Read.ts"
import { ReserveId } from "../reserve/Reserve.ts"
import * as ReserveSight from "../reserve/ReserveSightLookups.ts"
import { ReportId, reserveReports } from "./ReserveReport.ts"
import * as ReportView from "./ReportView.ts"

export const list = Read.list({
  name: "reserves.reports",
  doc: "Lists the reports of a reserve that the ledger computed, newest first.",
  route: "GET /v1/reserves/{reserveId}/reports",
  audience: ReserveSight.audience,
  pinned: true,
  collection: reserveReports,
  params: Schema.Struct({ reserveId: ReserveId }),
  item: ReportView.ReserveReportView,
  direction: "desc",
  order: "newest first",
  changes: false,
  acted: "never",
  parent: ({ reserveId }, asking) => Effect.asVoid(ReserveSight.reserveOf(reserveId, asking)),
  where: ({ reserveId }) => ({ reserveId: [reserveId] }),
  scope: Sight.scope,
  view: (found) => Effect.succeed(found.map(ReportView.of))
})

export const get = Read.one({
  name: "reserves.report",
  doc: "A report of a reserve that the ledger computed.",
  route: "GET /v1/reserves/{reserveId}/reports/{reportId}",
  audience: ReserveSight.audience,
  pinned: true,
  params: Schema.Struct({ reserveId: ReserveId, reportId: ReportId }),
  value: ReportView.ReserveReportView,
  refuses: ["not-found"],
  run: Effect.fn("reserves.report")(function* ({ reserveId, reportId }, asking) {
    const ids = { reserveId, id: reportId }
    return ReportView.of(yield* ReserveSight.ofReserve(reserveReports, ids, asking))
  })
})

export const queries = [list, get] as const
