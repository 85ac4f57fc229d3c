/** Facts from the ledger about price points: published, corrected, withdrawn by the oracle. */
import { Effect, Option, Result, Schema } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as LedgerRecord from "../../projection/LedgerRecord.ts"
import type { Node, FromLedger } from "../../projection/FromLedger.ts"
import * as Snapshot from "../../projection/Snapshot.ts"
import * as TypedFromLedger from "../../projection/TypedFromLedger.ts"
import { Records } from "../../records/Records.ts"
import { OraclePoint } from "../../templates/Price.ts"
import { decodePayload, type Payload } from "../../templates/Template.ts"
import { waitsForTerms } from "../instrument/AwaitingTermsSteps.ts"
import { instruments } from "../instrument/Instrument.ts"
import * as PointBreachSteps from "./PointBreachSteps.ts"
import { figuresOf, metrics } from "./PointRules.ts"
import { type PricePoint, pricePoints, quoteIdOf, quotes } from "./PricePoint.ts"
import * as QuoteOrder from "./QuoteOrder.ts"
import * as Instant from "../../kernel/Instant.ts"
import { about, announcing } from "../../records/EventDeclaration.ts"

/** Events of a price point. */
export const priceEvents = {
  "price.point": about(
    "contract",
    Schema.Struct({
      contractId: Schema.String,
      price: Decimal.schema,
      incomePerUnit: Schema.NullOr(Decimal.schema),
      withholding: Schema.NullOr(Decimal.schema),
      valuationTime: Instant.schema,
      corrects: Schema.NullOr(Schema.String)
    })
  )
} as const

const makeEvent = announcing(priceEvents)

type PublishedPoint = Payload<typeof OraclePoint>

/** Metric of the points that publish an income of one unit. */
export const incomeMetric = metrics.par

const typed = TypedFromLedger.of(OraclePoint, {
  created: (payload, node) =>
    unlessWaiting(payload, node, publish(payload, node, correctedOf(payload, node))),
  exercised: {
    Correct: Effect.fn("OraclePoint.Correct")(function* ({ result }, node) {
      const records = yield* Records
      const point = yield* records.find(pricePoints, node.contractId)
      if (Option.isNone(point)) return
      const fact = { on: "correct", by: result.contractId } as const
      yield* records.append(pricePoints, point.value, fact, node.act)
    })
  }
})

/**
 * Runs `reads` on a point, unless it is an income that waits for the terms of its instrument, which
 * after a snapshot say what the instrument is worth.
 */
const unlessWaiting = (
  { instrumentId, metric }: { readonly instrumentId?: unknown; readonly metric?: unknown },
  node: Node,
  ledgerEffect: LedgerRecord.LedgerEffect
): LedgerRecord.LedgerEffect =>
  metric === incomeMetric && typeof instrumentId === "string"
    ? Effect.flatMap(waitsForTerms(instrumentId, node), (isWaiting) =>
        isWaiting ? Effect.void : ledgerEffect
      )
    : ledgerEffect

/** An oracle signs its point alone, so it can also withdraw it by archiving the contract. */
const oraclePoint: FromLedger = {
  ...typed,
  exercised: (choice, payload, node, event) =>
    unlessWaiting(
      payload,
      node,
      choice === "Archive" && Result.isSuccess(decodePayload(OraclePoint, payload))
        ? withdrawn(node)
        : (typed.exercised?.(choice, payload, node, event) ?? Effect.void)
    )
}

export const fromLedger = [oraclePoint] as const

/**
 * Opens the record of a published point, moves the quote of its oracle and announces it. A point of
 * another registrar's asset writes nothing; one without valid figures is kept as a breach. `corrected`
 * finds the id of the point that this one corrects.
 */
export const publish = Effect.fn("OraclePoint.created")(function* <E, R>(
  payload: PublishedPoint,
  node: Node,
  corrected: Effect.Effect<string | null, E, R>
) {
  const records = yield* Records
  const instrument = Option.getOrNull(yield* records.find(instruments, payload.instrumentId))
  // Two registrars may use one id: a point of another's asset is no price of the instrument.
  if (instrument !== null && instrument.registrar !== payload.registrar) return
  const { metric, value, withholdingRate } = payload
  // Of an asset that is no instrument of the venue a price of 0 is a price: its asset quote has it.
  if (instrument === null && metric === "price" && !Decimal.isPositive(value)) return
  const figures = figuresOf({ metric, value, withholdingRate }, instrument?.manifest ?? null)
  if (Result.isFailure(figures)) {
    return yield* PointBreachSteps.keep(payload, node, { on: "price", detail: figures.failure })
  }
  const point = yield* LedgerRecord.open(
    pricePoints,
    {
      contractId: node.contractId,
      instrumentId: payload.instrumentId,
      ...figures.success,
      withholding: withholdingRate,
      valuationTime: payload.valuationTime,
      publishedAt: node.effectiveAt,
      source: payload.oracle,
      offset: node.offset,
      statementId: payload.statementRef,
      corrects: yield* corrected,
      correctedBy: null,
      nodeId: node.nodeId,
      isLive: true
    },
    node
  )
  yield* updateQuote(point, payload, node)
  yield* announced(point, node)
})

/**
 * Id of the point that this one corrects; null: none. A correction counts only where the earlier
 * point was corrected by its own choice Correct. A point that names an earlier one without it is
 * stored as a point of its own and a breach is kept, so that chains of corrections never fork
 * (docs/domain/every-record.md#ended-records).
 */
const correctedOf = Effect.fnUntraced(function* (payload: PublishedPoint, node: Node) {
  const { corrects } = payload
  // A snapshot shows no point that was corrected.
  if (corrects === null || Snapshot.isOf(node)) return null
  const records = yield* Records
  const before = Option.getOrUndefined(yield* records.find(pricePoints, corrects))
  if (before?.correctedBy === node.contractId) return corrects
  yield* PointBreachSteps.keep(payload, node, {
    on: "correct",
    detail:
      before?.correctedBy == null
        ? `The point says it corrects ${corrects}, which its oracle did not correct.`
        : `The point says it corrects ${corrects}, which ${before.correctedBy} corrected.`
  })
  return null
})

const updateQuote = Effect.fnUntraced(function* (
  point: PricePoint,
  payload: PublishedPoint,
  node: Node
) {
  const records = yield* Records
  const { contractId, price, valuationTime } = point
  const quoteId = quoteIdOf(point)
  const quote = Option.getOrUndefined(yield* records.find(quotes, quoteId))
  const next = QuoteOrder.published(quote, {
    point: { contractId, price, valuationTime },
    corrects: point.corrects,
    at: node.effectiveAt
  })
  if (next === undefined) return
  if (next === "too-many-ahead") return yield* PointBreachSteps.keepTooManyAhead(payload, node)
  yield* quote === undefined
    ? LedgerRecord.open(quotes, { quoteId, ...next }, node)
    : records.append(quotes, quote, { on: "quote", ...next }, node.act)
})

const withdrawn = Effect.fnUntraced(function* (node: Node) {
  const records = yield* Records
  const point = Option.getOrUndefined(yield* records.find(pricePoints, node.contractId))
  if (point === undefined) return
  yield* records.append(pricePoints, point, { on: "end" }, node.act)
  const quote = Option.getOrUndefined(yield* records.find(quotes, quoteIdOf(point)))
  if (quote === undefined) return
  const fact = QuoteOrder.withdrawn(quote, point.contractId)
  if (fact !== undefined) yield* records.append(quotes, quote, fact, node.act)
})

const announced = (point: PricePoint, node: Node) => {
  const { contractId, price, incomePerUnit, withholding, valuationTime, corrects } = point
  return Effect.flatMap(Records, (records) =>
    records.announce([
      {
        ...makeEvent("price.point", {
          contractId,
          price,
          incomePerUnit,
          withholding,
          valuationTime,
          corrects
        }),
        resourceKind: "contract",
        resourceId: contractId,
        instrumentId: point.instrumentId,
        party: point.source,
        holderIds: [],
        journal: {
          at: node.effectiveAt,
          offset: node.offset,
          source: Snapshot.sourceOf(node, "price.point")
        }
      }
    ])
  )
}
