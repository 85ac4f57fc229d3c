/** Facts from the ledger about prices of assets: points of metric `price` of any instrument. */
import { Effect, Option, Result } from "effect"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import { Records } from "../../records/Records.ts"
import { OraclePoint } from "../../templates/Price.ts"
import { decodePayload, type Payload } from "../../templates/Template.ts"
import type { LfRecord } from "../../ports/Ledger.ts"
import { assetQuotes, quoteIdOf } from "./AssetQuote.ts"
import { countedPriceOf } from "./PointRules.ts"
import * as PointBreachSteps from "./PointBreachSteps.ts"
import * as QuoteOrder from "./QuoteOrder.ts"

type PublishedPoint = Payload<typeof OraclePoint>

const idOf = ({ oracle, registrar, instrumentId }: PublishedPoint): string =>
  quoteIdOf({ source: oracle, asset: { admin: registrar, id: instrumentId } })

/** A price for this venue, of any size: a reserve never counts an older one in its place; null: another figure. */
const priceOf = (payload: LfRecord, node: Node): PublishedPoint | null => {
  const decoded = decodePayload(OraclePoint, payload)
  if (Result.isFailure(decoded)) return null
  const point = decoded.success
  return point.venue === node.venue && point.metric === "price" ? point : null
}

const assetPoint: FromLedger = {
  template: OraclePoint.typeRef,
  created: Effect.fn("OraclePoint.quoted")(function* (payload, node) {
    const point = priceOf(payload, node)
    if (point === null) return
    const records = yield* Records
    const quoteId = idOf(point)
    const { contractId, effectiveAt: at } = node
    const { corrects, valuationTime } = point
    const quote = Option.getOrUndefined(yield* records.find(assetQuotes, quoteId))
    const next = QuoteOrder.published(quote, {
      point: { contractId, price: countedPriceOf(point.value), valuationTime },
      corrects,
      at
    })
    if (next === undefined) return
    if (next === "too-many-ahead") return yield* PointBreachSteps.keepTooManyAhead(point, node)
    yield* quote === undefined
      ? LedgerRecord.open(assetQuotes, { quoteId, ...next }, node)
      : records.append(assetQuotes, quote, { on: "quote", ...next }, node.act)
  }),
  exercised: Effect.fn("OraclePoint.unquoted")(function* (choice, payload, node) {
    if (choice !== "Archive") return
    const point = priceOf(payload, node)
    if (point === null) return
    const records = yield* Records
    const quote = Option.getOrUndefined(yield* records.find(assetQuotes, idOf(point)))
    if (quote === undefined) return
    const fact = QuoteOrder.withdrawn(quote, node.contractId)
    if (fact !== undefined) yield* records.append(assetQuotes, quote, fact, node.act)
  })
}

export const fromLedger = [assetPoint] as const
