/** Query of proposals: which bank line may pay which order. It applies nothing. */
import { Effect, Option, Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import type * as Pin from "../../kernel/Pin.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import * as OpenOrder from "../../orders/order/OpenOrder.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import {
  ExternalStatementId,
  externalStatements
} from "../../statements/external-statement/ExternalStatement.ts"
import * as sets from "../../vocabulary/sets.ts"
import { CashMatchView, cashMatches } from "./CashMatch.ts"
import * as Lookups from "./CashMatchLookups.ts"

const { optionalKey } = Schema

/** Proposals of a pass while the whole list is streamed: each pass counts the lines of all orders. */
const rowsAtOnce = 5_000

const Params = Schema.Struct({
  instrumentId: optionalKey(InstrumentId),
  /** A subscription or a redemption. */
  orderId: optionalKey(RecordId.make("OrderId")),
  /** The statement that has the line. */
  externalStatementId: optionalKey(ExternalStatementId),
  rule: optionalKey(Schema.Array(sets.CashMatchRule.schema))
})
type Params = typeof Params.Type

/** Ids of the instruments that may have a proposal which the filters leave, in order. */
const instrumentsOf = Effect.fnUntraced(function* (
  { externalStatementId, instrumentId, orderId }: Params,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  let left: ReadonlyArray<string> = yield* Lookups.instrumentsWaiting(pin)
  if (instrumentId !== undefined) left = left.filter((id) => id === instrumentId)
  if (externalStatementId !== undefined) {
    const statement = yield* records.find(externalStatements, externalStatementId, pin)
    left = left.filter((id) => Option.isSome(statement) && statement.value.instrumentId === id)
  }
  if (orderId === undefined) return left
  const bought = yield* records.find(subscriptions, orderId, pin)
  const sold = yield* records.find(redemptions, orderId, pin)
  const named = [...Option.toArray(bought), ...Option.toArray(sold)].map(
    (order) => order.instrumentId
  )
  return left.filter((id) => named.some((own) => own === id))
})

export const list = Read.list({
  name: "cash-matches.list",
  doc: "Lists which booked lines of bank statements may pay which orders, or their refunds, and by which rule. Computed; nothing is applied: a person takes a proposal into the delivery or the settlement of the order. A line with rivals, or whose bank reference other lines have, is for a person to judge.",
  route: "GET /v1/cash-matches",
  audience: { operator: "all", approver: "all", risk: "all", auditor: "all" },
  audited: { resourceKind: "external-statement", named: null },
  pinned: true,
  collection: cashMatches,
  rowsAtOnce,
  params: Params,
  item: CashMatchView,
  direction: "asc",
  order:
    "by instrument id, then by statement and line, then by rule, the strongest first, then by order",
  changes: false,
  acted: "never",
  // They bind the cursor alone.
  where: ({ externalStatementId, instrumentId, orderId, rule }) => ({
    ...(instrumentId === undefined ? {} : { instrumentId: [instrumentId] }),
    ...(orderId === undefined ? {} : { orderId: [orderId] }),
    ...(externalStatementId === undefined ? {} : { externalStatementId: [externalStatementId] }),
    ...(rule === undefined ? {} : { rule })
  }),
  // An order that expires is no longer among those that wait, without a write.
  judged: (judgedAt) => ({ openUntil: OpenOrder.stillOpenAt(judgedAt) }),
  rows: Effect.fnUntraced(function* ({ after, limit }, { pin }, params) {
    const found: Array<Read.ComputedRow<CashMatchView>> = []
    const { instrumentId: _, ...filter } = params
    for (const instrumentId of yield* instrumentsOf(params, pin)) {
      if (after !== undefined && instrumentId < Lookups.instrumentOf(after)) continue
      const page = { after, limit: limit - found.length }
      found.push(...(yield* Lookups.pageOf(instrumentId, { ...page, ...filter }, pin)))
      if (found.length === limit) break
    }
    return found
  }),
  view: (found) =>
    Effect.succeed(found.map(({ version: _, createdAt: _1, updatedAt: _2, ...match }) => match))
})

export const queries = [list] as const
