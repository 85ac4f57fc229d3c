/** Readings of reports that the ledger computed of a reserve. */
import { Effect, Option, Schema } from "effect"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import * as TypedReading from "../../projection/TypedReading.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records } from "../../records/Records.ts"
import { ReserveReport as ReserveReportTemplate } from "../../templates/Reserve.ts"
import { reserves } from "../reserve/Reserve.ts"
import { ReportId, reserveReports, triggerOf } from "./ReserveReport.ts"

const report = TypedReading.of(ReserveReportTemplate, {
  created: Effect.fn("ReserveReport.created")(function* (payload, node) {
    const records = yield* Records
    const reserve = Option.getOrNull(yield* records.find(reserves, payload.reserveId))
    if (reserve === null) {
      return yield* Unexpected.keep(node, {
        resourceKind: "reserve",
        resourceId: payload.reserveId,
        on: "report",
        detail: "There is no such reserve."
      })
    }
    const { cover } = payload
    yield* LedgerRecord.open(
      reserveReports,
      {
        reportId: Schema.decodeSync(ReportId)(payload.reportId),
        reserveId: payload.reserveId,
        instrumentId: reserve.instrumentId,
        issuer: payload.issuer,
        trigger: triggerOf(payload),
        at: payload.at,
        off: node.offset,
        outstanding: payload.outstanding,
        required: cover.required,
        counted: cover.counted,
        ratio: cover.ratio,
        cover: cover.state,
        sharePrice: payload.sharePrice,
        assets: payload.lines.map(({ amount: units, ...line }) => ({ ...line, units })),
        pointCids: payload.pointCids,
        cid: node.contractId
      },
      node
    )
    yield* records.record(reserves, reserve, { on: "report", at: payload.at }, node.act)
  })
})

export const readings = [report] as const
