/** Facts from the ledger about reports that the ledger computed of a reserve. */
import { Effect, Option, Schema } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import * as Unexpected from "../../projection/Unexpected.ts"
import { Records } from "../../records/Records.ts"
import { ReserveReport as ReserveReportTemplate } from "../../templates/Reserve.ts"
import { inForceAt } from "../amendment/AmendmentSteps.ts"
import { reserves } from "../reserve/Reserve.ts"
import { pointsOf } from "../reserve/PointLookups.ts"
import { keyOf } from "../reserve/ReserveTerms.ts"
import { ReportId, reserveReports, triggerOf } from "./ReserveReport.ts"

const report = TypedFromLedger.of(ReserveReportTemplate, {
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
    const points = yield* pointsOf(payload.pointCids)
    const isSnapshot = Snapshot.isOf(node)
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
        assets: payload.lines.map(({ amount: units, ...line }) => {
          const point = points.get(keyOf(line.asset))
          return {
            ...line,
            units,
            pricedAt: point?.valuationTime ?? null,
            pointCid: point?.contractId ?? null
          }
        }),
        follows: isSnapshot ? null : { ...reserve, terms: inForceAt(reserve, payload.at).terms },
        pointCids: payload.pointCids,
        cid: node.contractId
      },
      node
    )
    // A snapshot shows reports in any order.
    const isLatest = reserve.reportedAt === null || Instant.isAfter(payload.at, reserve.reportedAt)
    if (isLatest) {
      yield* records.append(reserves, reserve, { on: "report", at: payload.at }, node.act)
    }
  })
})

export const fromLedger = [report] as const
