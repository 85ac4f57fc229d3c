/** Read of a holder's statements: rows computed from months, page by page. */
import { Effect, Option, Schema, Stream } from "effect"
import { type Holder, holders } from "../../holders/holder/Holder.ts"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { audience } from "../../holders/holder/HolderQueries.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import { InstrumentId } from "../../instruments/instrument/Instrument.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import type { Lot } from "../../instruments/lot/Lot.ts"
import type { PartyMovement } from "../../instruments/register/Movement.ts"
import type * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Month from "../../kernel/Month.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type * as Offset from "../../kernel/Offset.ts"
import { refused, type Unavailable } from "../../kernel/Refusal.ts"
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
  zone: ({ zone = Zone.utc }) => zone,
  where: ({ holderId, instrumentId, ...texts }) => ({
    holderId: [holderId],
    ...(instrumentId === undefined ? {} : { instrumentId }),
    ...Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, [text]]))
  }),
  rows: Effect.fnUntraced(function* ({ after, limit }, { pin }, params) {
    const records = yield* Records
    const { holderId, zone = Zone.utc } = params
    const holder = Option.getOrUndefined(yield* records.find(holders, holderId, pin))
    if (holder === undefined) return []
    if (pin.ledgerTime === null) return []
    const last = Month.fromDate(Zone.dateAt(zone, pin.ledgerTime))
    const heldInstruments = yield* heldBy(holder, pin)
    const context = { holder, heldInstruments, pin, zone }
    const from = firstAskedOf(params, after)
    const { subjects, run } = yield* Effect.all(
      {
        subjects: heldInstruments.subjects,
        run: Effect.gen(function* () {
          const first = yield* firstMonthOf(context, { from, last })
          const months = monthsOf(params, { first, last, from }).slice(0, limit)
          return months.length === 0 ? null : yield* runOf(context, months)
        })
      },
      Lookups.together
    )
    if (run === null) return []
    const rows = yield* rowsOf({ ...context, ...run, subjects, named: params.instrumentId })
    return rows.map((row) => ({ sortKey: row.month, row }))
  }),
  view: (rows) =>
    Effect.succeed(
      rows.map(({ month, zone, final, instruments }) => ({ month, zone, final, instruments }))
    )
})

export const queries = [list] as const

/** First month that the parameters and the cursor leave to be asked for; undefined: the holder's first. */
const firstAskedOf = (
  { month, from = month }: Params,
  after: string | undefined
): Month.Month | undefined => {
  const next = after === undefined ? undefined : Month.next(Month.of(after))
  if (from === undefined || next === undefined) return from ?? next
  return Month.isAfter(from, next) ? from : next
}

/** Months that are asked for, from the first to the last that there are. */
const monthsOf = (
  { month, to = month }: Params,
  bounds: {
    readonly first: Month.Month
    readonly last: Month.Month
    readonly from: Month.Month | undefined
  }
): ReadonlyArray<Month.Month> => {
  const begin =
    bounds.from !== undefined && Month.isAfter(bounds.from, bounds.first)
      ? bounds.from
      : bounds.first
  const end = to === undefined || Month.isAfter(to, bounds.last) ? bounds.last : to
  const count = Month.monthsBetween({ from: begin, to: end }) + 1
  return Array.from({ length: Math.max(0, count) }, (_, nth) => Month.add(begin, nth))
}

type Subjects = Effect.Success<ReturnType<typeof Lookups.subjectsOf>>

/** Instruments of a holder at the point of the read; each look-up is made once, where it is needed. */
interface HeldInstruments {
  /** Instruments of which it has or had units, with their policies. */
  readonly subjects: Effect.Effect<Subjects, Unavailable, Records>
  /** Lots that a snapshot of the ledger began with, by asset. */
  readonly openingLots: Effect.Effect<ReadonlyMap<string, Lot>, Unavailable, Records>
  /** First movement of its units; null: there is none. */
  readonly first: PartyMovement | null
}

const heldBy = Effect.fnUntraced(function* ({ party }: Holder, pin: Pin.ResolvedPin) {
  const { first, ids, isWhole } = yield* Effect.all(
    {
      first: Lookups.firstMovementOf({ party, pin }),
      ids: Lookups.instrumentsHeldAt({ party, pin }),
      isWhole: Lookups.isHistoryWhole(pin)
    },
    Lookups.together
  )
  const subjects = yield* Effect.cached(Lookups.subjectsOf([...ids], pin))
  const lots = Effect.flatMap(subjects, (found) =>
    Lookups.snapshotLotsOf(
      found.map(({ instrument }) => instrument),
      { party, pin }
    )
  )
  const openingLots = isWhole ? Effect.succeed(new Map<string, Lot>()) : yield* Effect.cached(lots)
  return { subjects, openingLots, first } satisfies HeldInstruments
})

interface StatementContext {
  readonly holder: Holder
  readonly heldInstruments: HeldInstruments
  readonly pin: Pin.ResolvedPin
  readonly zone: Zone.Zone
}

/**
 * Finds the first month of a holder with rows: that of its first units, or of a payment before them;
 * a month after `last` where there is none. Looks for payments where `from` is earlier. Months
 * before the snapshot with which a history begins have no rows.
 */
const firstMonthOf = Effect.fnUntraced(function* (
  context: StatementContext,
  { from, last }: { readonly from: Month.Month | undefined; readonly last: Month.Month }
) {
  const { heldInstruments, holder, zone } = context
  const monthAt = (instant: Instant.Instant) => Month.fromDate(Zone.dateAt(zone, instant))
  const begun = yield* heldInstruments.openingLots
  const times = [...begun.values()].map(({ acquiredAt }) => acquiredAt)
  if (heldInstruments.first !== null) times.push(heldInstruments.first.ledgerTime)
  const first = times.length === 0 ? Month.next(last) : monthAt(times.reduce(Instant.min))
  if (begun.size > 0) return first
  // Of months from then on, no earlier payment is asked for.
  if (from !== undefined && !Month.isBefore(from, first)) return first
  // No line is delivered to a holder before it registers.
  const payments = yield* paymentsOf(context, {
    from: Month.previous(monthAt(holder.registeredAt)),
    to: Month.next(first)
  })
  return payments
    .map(({ paidOn }) => Month.fromDate(paidOn))
    .reduce((a, b) => (Month.isBefore(b, a) ? b : a), first)
})

/** Months with their payments, and the last offset before them; null: before the kept history. */
interface Run {
  readonly spans: ReadonlyArray<Rules.Span>
  readonly incomePayments: ReadonlyArray<Payment>
  readonly before: Offset.Offset | null
}

const runOf = Effect.fnUntraced(function* (
  context: StatementContext,
  months: ReadonlyArray<Month.Month>
) {
  const spans = months.map((month) => Rules.spanOf(month, context.zone))
  const [{ start }, { graceEnd }] = [spans[0]!, spans.at(-1)!]
  const { paid: incomePayments, before } = yield* Effect.all(
    {
      paid: paymentsOf(context, Lookups.deliveriesOf({ start, graceEnd })),
      before: Lookups.offsetBefore(start, context.pin)
    },
    Lookups.together
  )
  return { spans, incomePayments, before } satisfies Run
})

interface Months extends StatementContext, Run {
  readonly subjects: Subjects
  /** Instruments that the reader names; undefined: all. */
  readonly named: ReadonlyArray<string> | undefined
}

const rowsOf = Effect.fnUntraced(function* (statementMonths: Months) {
  const { before, heldInstruments, holder, named, incomePayments, pin, spans, subjects, zone } =
    statementMonths
  const { holderId, party } = holder
  const [{ month, start }, { end, graceEnd }] = [spans[0]!, spans.at(-1)!]
  const isNamed = (instrumentId: string) => named === undefined || named.includes(instrumentId)
  const payments = Map.groupBy(
    incomePayments.filter(({ instrumentId }) => isNamed(instrumentId)),
    ({ instrumentId, paidOn }) => keyOf(Month.fromDate(paidOn), instrumentId)
  )
  const found = yield* withPaid(subjects, incomePayments, pin).pipe(
    Effect.map((all) => all.filter(({ instrument }) => isNamed(instrument.instrumentId)))
  )
  const run = { parties: [party], pin, start, before, end }
  const { openings, pointsOf, firstMoved } = yield* Effect.all(
    {
      openings: Lookups.openingsOf(
        found.map(({ instrument }) => instrument),
        { party, pin, start, before, openingLots: yield* heldInstruments.openingLots }
      ),
      pointsOf: Lookups.pointsOf({ subjects: found, pin, start, until: graceEnd }),
      firstMoved: Lookups.firstPageOf(run)
    },
    Lookups.together
  )
  const previous = Rules.spanOf(Month.previous(month), zone)
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
      const paid = Rules.paidInOrder(payments.get(keyOf(month, ledger.instrumentId)) ?? [])
      const closedMonth = ledger.close({ until, isPaid: paid.length > 0 })
      if (closedMonth === null) return []
      const { isHad, isSettled: isPriced, ...figures } = closedMonth
      if (isHad) had.push(closedMonth.instrumentId)
      if (!Rules.isShown(figures) && paid.length === 0) return []
      isSettled &&= isPriced
      return [{ ...figures, paid: paid.map(({ instrumentId: _, ...payment }) => payment) }]
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
  yield* Stream.runForEach(Lookups.movementsFrom(run, firstMoved), (movement) =>
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

const keyOf = (month: Month.Month, instrumentId: string): string => `${month} ${instrumentId}`

/** The instruments of a holder, and those that it was paid for without ever having units of them. */
const withPaid = Effect.fnUntraced(function* (
  subjects: Subjects,
  payments: ReadonlyArray<Payment>,
  pin: Pin.ResolvedPin
) {
  const had = new Set<string>(subjects.map(({ instrument }) => instrument.instrumentId))
  const others = new Set(payments.map(({ instrumentId }) => instrumentId))
  const found = yield* Lookups.subjectsOf(
    [...others].filter((id) => !had.has(id)),
    pin
  )
  return [...subjects, ...found].toSorted((a, b) =>
    a.instrument.instrumentId < b.instrument.instrumentId ? -1 : 1
  )
})

/** The last moment of a month, or that of the ledger at the point of the read while it is not over. */
const lastMomentOf = (end: Instant.Instant, { ledgerTime }: Pin.ResolvedPin): Instant.Instant => {
  const last = Instant.fromNanos(end - 1_000n)
  return ledgerTime === null ? last : Instant.min(last, ledgerTime)
}

interface Payment extends StatementPayment {
  readonly instrumentId: string
}

/**
 * Loads the payments to the holder by deliveries of some months, each with the day on which it
 * counts.
 */
const paymentsOf = Effect.fnUntraced(function* (
  { heldInstruments, holder, pin, zone }: StatementContext,
  deliveries: { readonly from: Month.Month; readonly to: Month.Month }
) {
  const { holderId, party } = holder
  const lines = yield* Lookups.paidLinesOf([holderId], { ...deliveries, pin })
  const inCash = lines.filter(({ evidence }) => evidence !== null)
  const firsts = yield* Lookups.firstMovementsOf({ party, pin }, [
    ...new Set(inCash.map(({ instrumentId }) => instrumentId as string))
  ])
  const begun = yield* heldInstruments.openingLots
  const sinceOf = (instrumentId: string): Date.Date | "never" => {
    const lot = [...begun.values()].find((lot) => lot.instrumentId === instrumentId)
    const first = lot?.acquiredAt ?? firsts.get(instrumentId)?.ledgerTime
    return first === undefined ? "never" : Zone.dateAt(zone, first)
  }
  return lines.map((line): Payment => {
    const { distributionId, instrumentId, lineId, month } = line
    const paidOn = PaidLineRules.countedOn(line, { zone, since: sinceOf(instrumentId) })
    const { gross, equalisation, withheld, net, payoutUnits } = line
    const figures = { gross, equalisation, withheld, net, payoutUnits }
    return { instrumentId, distributionId, lineId, month, paidOn, ...figures }
  })
})
