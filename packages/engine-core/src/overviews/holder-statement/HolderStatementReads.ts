/** Read of a holder's statements: rows computed from months, page by page. */
import { Effect, Schema, Stream } from "effect"
import { HolderId, holders } from "../../holders/holder/Holder.ts"
import { audience } from "../../holders/holder/HolderReads.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import type * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import * as PaidLineRules from "../PaidLineRules.ts"
import {
  HolderStatement,
  type HolderMonth,
  holderStatements,
  type StatementPayment
} from "./HolderStatement.ts"
import * as Lookups from "./HolderStatementLookups.ts"
import * as Rules from "./HolderStatementRules.ts"

const { optionalKey } = Schema

const Params = Schema.Struct({
  holderId: HolderId,
  /** This month alone; not with from or to. */
  month: optionalKey(Month.schema),
  /** First month; absent or earlier: that of the holder's first movement. */
  from: optionalKey(Month.schema),
  /** Last month; absent or later: that of the ledger's time at the point of the read. */
  to: optionalKey(Month.schema),
  instrumentId: optionalKey(Schema.Array(InstrumentId)),
  /** Zone in which months start and days are counted; absent: UTC. */
  zone: optionalKey(Zone.schema)
})
type Params = typeof Params.Type

/** Refuses a month beside a range, and a range that ends before it begins. */
const checkRange = ({ month, from, to }: Params) => {
  const wrong = [
    ...(month === undefined || from === undefined ? [] : ["/query/from"]),
    ...(month === undefined || to === undefined ? [] : ["/query/to"])
  ].map((pointer) => ({ pointer, detail: "month names one month: from and to go without it." }))
  const errors =
    from !== undefined && to !== undefined && Month.isAfter(from, to)
      ? [...wrong, { pointer: "/query/to", detail: "to is before from." }]
      : wrong
  return errors.length === 0 ? Effect.void : Effect.fail(refused("invalid-request", { errors }))
}

/** Months that are computed together while all are streamed: their movements are held at once. */
const monthsAtOnce = 24

export const list = Read.list({
  name: "holders.statements",
  doc: "Lists a holder's statements, one a month: opening, movements, closing, worth and payments of each instrument.",
  route: "GET /v1/holders/{holderId}/statements",
  audience,
  pinned: true,
  collection: holderStatements,
  params: Params,
  item: HolderStatement,
  direction: "asc",
  order: "by month",
  changes: false,
  acted: "never",
  rowsAtOnce: monthsAtOnce,
  parent: Effect.fnUntraced(function* (params, asking) {
    yield* checkRange(params)
    const { holderId } = params
    const records = yield* Records
    yield* Sight.demand(asking, holders, { holderId })
    yield* records.get(holders, holderId, asking.pin)
  }),
  where: ({ holderId, instrumentId, ...texts }) => ({
    holderId: [holderId],
    ...(instrumentId === undefined ? {} : { instrumentId }),
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, [text]]))
  }),
  rows: Effect.fnUntraced(function* ({ after, limit }, { pin }, params) {
    const records = yield* Records
    const { holderId, zone = Zone.utc } = params
    const [holder] = yield* records.many(holders, [holderId], pin)
    if (holder === undefined) return []
    const asked = { party: holder.party, pin }
    const first = yield* Lookups.firstMovementOf(asked)
    if (first === null || pin.ledgerTime === null) return []
    const months = monthsOf(params, {
      first: Month.fromDate(Zone.dateAt(zone, first.ledgerTime)),
      last: Month.fromDate(Zone.dateAt(zone, pin.ledgerTime)),
      after
    }).slice(0, limit)
    if (months.length === 0) return []
    const rows = yield* rowsOf({ ...asked, holderId, zone, months, named: params.instrumentId })
    return rows.map((row) => ({ sortKey: row.month, row }))
  }),
  view: (rows) =>
    Effect.succeed(
      rows.map(({ month, zone, final, instruments }) => ({ month, zone, final, instruments }))
    )
})

export const reads = [list] as const

/** Months after the cursor that the parameters ask for, from the first to the last that there are. */
const monthsOf = (
  { month, from = month, to = month }: Params,
  of: {
    readonly first: Month.Month
    readonly last: Month.Month
    readonly after: string | undefined
  }
): ReadonlyArray<Month.Month> => {
  const begins = [of.first, ...(from === undefined ? [] : [from])]
  if (of.after !== undefined) begins.push(Month.next(Month.of(of.after)))
  const begin = begins.reduce((a, b) => (Month.isAfter(a, b) ? a : b))
  const end = to === undefined || Month.isAfter(to, of.last) ? of.last : to
  const count = Month.monthsBetween({ from: begin, to: end }) + 1
  return Array.from({ length: Math.max(0, count) }, (_, nth) => Month.add(begin, nth))
}

interface Asked extends Lookups.Asked {
  readonly holderId: HolderId
  readonly zone: Zone.Zone
  readonly months: ReadonlyArray<Month.Month>
  /** Instruments that the reader names; undefined: all. */
  readonly named: ReadonlyArray<string> | undefined
}

const rowsOf = Effect.fnUntraced(function* (asked: Asked) {
  const { holderId, zone, months, named, party, pin } = asked
  const spans = months.map((month) => Rules.spanOf(month, zone))
  const [{ start }, { end, graceEnd }] = [spans[0]!, spans.at(-1)!]
  const moved = yield* Lookups.instrumentsMovedBefore(asked, end)
  const ids = [...moved].filter((id) => named === undefined || named.includes(id))
  const found = yield* Lookups.subjectsOf(ids, pin)
  const before = yield* Lookups.offsetBefore(start, pin)
  const earlier = yield* Lookups.instrumentsMovedBefore(asked, start)
  const openings = yield* Lookups.openingsOf(
    found.flatMap(({ instrument }) => (earlier.has(instrument.instrumentId) ? [instrument] : [])),
    { party, pin, start, before }
  )
  const pointsOf = yield* Lookups.pointsOf({ subjects: found, pin, start, until: graceEnd })
  const previous = Rules.spanOf(Month.previous(months[0]!), zone)
  const ledgers = new Map(
    found.map((subject) => {
      const { instrument } = subject
      const asset = assetKeyOf(instrument)
      const opening = openings.get(asset) ?? null
      return [asset, new Rules.Ledger({ ...pointsOf(subject), instrument, opening }, previous)]
    })
  )
  const versionsOf = new Map(
    found.map(({ instrument, versions }) => [instrument.instrumentId as string, versions])
  )
  const payments = yield* paymentsOf(asked, ids)
  const rows: Array<HolderMonth> = []
  let nth = 0
  const begin = () => {
    for (const ledger of ledgers.values()) ledger.begin(spans[nth]!)
  }
  const close = () => {
    const { month, end } = spans[nth]!
    const until = lastMomentOf(end, pin)
    const had: Array<string> = []
    let isSettled = true
    const closed = [...ledgers.values()].flatMap((ledger) => {
      const of = ledger.close(until)
      if (of === null) return []
      const { isSettled: isPriced, ...figures } = of
      had.push(of.instrumentId)
      const paid = Rules.paidInOrder(payments.get(`${month} ${of.instrumentId}`) ?? [])
      if (!Rules.isShown(figures) && paid.length === 0) return []
      isSettled &&= isPriced
      return [{ ...figures, paid }]
    })
    const mayPayCash = had.some((id) => PaidLineRules.paysCash(versionsOf.get(id) ?? [], end))
    const nextDay = Month.firstDay(Month.next(month))
    const closesAt = PaidLineRules.closesAt({ zone, nextDay }, { mayPayCash })
    const { graceEnd } = spans[nth]!
    rows.push({
      ...{ holderId, month, zone },
      final:
        PaidLineRules.hasPassed(closesAt, pin.ledgerTime) &&
        (isSettled || PaidLineRules.hasPassed(graceEnd, pin.ledgerTime)),
      instruments: closed
    })
    nth += 1
  }
  begin()
  yield* Stream.runForEach(Lookups.movementsIn({ party, pin, start, before, end }), (movement) =>
    Effect.sync(() => {
      while (Instant.atOrAfter(movement.ledgerTime, spans[nth]!.end)) {
        close()
        begin()
      }
      ledgers.get(assetKeyOf(movement))?.add(movement)
    })
  )
  while (nth < spans.length) {
    close()
    if (nth < spans.length) begin()
  }
  return rows
})

/** The last moment of a month, or that of the ledger at the point of the read while it is not over. */
const lastMomentOf = (end: Instant.Instant, { ledgerTime }: Pin.Resolved): Instant.Instant => {
  const last = Instant.fromNanos(end - 1_000n)
  return ledgerTime === null ? last : Instant.min(last, ledgerTime)
}

/** Loads what was paid to the holder, by the month in which it counts and the instrument. */
const paymentsOf = Effect.fnUntraced(function* (asked: Asked, ids: ReadonlyArray<string>) {
  const { holderId, pin, zone } = asked
  const lines = (yield* Lookups.paidLinesOf([holderId], pin)).filter(({ instrumentId }) =>
    ids.includes(instrumentId)
  )
  const inCash = [...new Set(lines.flatMap((line) => (line.evidence === null ? [] : [line])))]
  const firsts = new Map<string, Date.Date>()
  for (const instrumentId of new Set(inCash.map((line) => line.instrumentId as string))) {
    const first = yield* Lookups.firstMovementOf(asked, instrumentId)
    if (first !== null) firsts.set(instrumentId, Zone.dateAt(zone, first.ledgerTime))
  }
  const payments = new Map<string, Array<StatementPayment>>()
  for (const line of lines) {
    const paidOn = PaidLineRules.countedOn(line, {
      zone,
      since: firsts.get(line.instrumentId) ?? null
    })
    const key = `${Month.fromDate(paidOn)} ${line.instrumentId}`
    const { distributionId, lineId, month, gross, equalisation, withheld, net, payoutUnits } = line
    const payment = { distributionId, lineId, month, paidOn, gross, equalisation, withheld, net }
    payments.set(key, [...(payments.get(key) ?? []), { ...payment, payoutUnits }])
  }
  return payments
})
