/** Readings of prices of assets: points of metric `price` of any instrument. */
import { Effect, Option, Result } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, Reading } from "../../projection/Reading.ts"
import { Records } from "../../records/Records.ts"
import { OraclePoint } from "../../templates/Price.ts"
import { decodePayload, type Payload } from "../../templates/Template.ts"
import type { LfRecord } from "../../ports/Ledger.ts"
import { assetQuotes, quoteIdOf } from "./AssetQuote.ts"

type Published = Payload<typeof OraclePoint>

const idOf = ({ oracle, registrar, instrumentId }: Published): string =>
  quoteIdOf({ source: oracle, asset: { admin: registrar, id: instrumentId } })

/** A price above zero for this venue; null: another figure, which the reading of points judges. */
const priceOf = (payload: LfRecord, node: Node): Published | null => {
  const decoded = decodePayload(OraclePoint, payload)
  if (Result.isFailure(decoded)) return null
  const point = decoded.success
  return point.venue === node.venue && point.metric === "price" && Decimal.isPositive(point.value)
    ? point
    : null
}

const assetPoint: Reading = {
  template: OraclePoint.typeRef,
  created: Effect.fn("OraclePoint.quoted")(function* (payload, node) {
    const point = priceOf(payload, node)
    if (point === null) return
    const records = yield* Records
    const quoteId = idOf(point)
    const quoted = {
      contractId: node.contractId,
      price: point.value,
      valuationTime: point.valuationTime
    }
    const quote = Option.getOrUndefined(yield* records.find(assetQuotes, quoteId))
    if (quote === undefined) {
      yield* LedgerRecord.open(assetQuotes, { quoteId, ...quoted, isLive: true }, node)
      return
    }
    const isNext =
      !quote.isLive ||
      quote.contractId === point.corrects ||
      Instant.atOrAfter(point.valuationTime, quote.valuationTime)
    if (isNext) yield* records.record(assetQuotes, quote, { on: "quote", ...quoted }, node.act)
  }),
  exercised: Effect.fn("OraclePoint.unquoted")(function* (choice, payload, node) {
    if (choice !== "Archive") return
    const point = priceOf(payload, node)
    if (point === null) return
    const records = yield* Records
    const quote = Option.getOrUndefined(yield* records.find(assetQuotes, idOf(point)))
    if (quote?.contractId === node.contractId) {
      yield* records.record(assetQuotes, quote, { on: "end" }, node.act)
    }
  })
}

export const readings = [assetPoint] as const
