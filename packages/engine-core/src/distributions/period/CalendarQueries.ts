/** Read of the distribution calendar: rows computed from months and instruments, page by page. */
import { Effect, Schema, Stream } from "effect"
import { admissions } from "../../admissions/Admission.ts"
import * as Sight from "../../holders/holder/Sight.ts"
import {
  type Instrument,
  instruments,
  isRecorded
} from "../../instruments/instrument/Instrument.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Month from "../../kernel/Month.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { refused } from "../../kernel/Refusal.ts"
import * as Zone from "../../kernel/Zone.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { isConcealedFrom } from "../../writes/Concealment.ts"
import * as Calendar from "./Calendar.ts"
import { distributions } from "../distribution/Distribution.ts"
import { type DistributingInstrument, distributingOf, subjectOf } from "./CalendarLookups.ts"
import { datesOf } from "./PeriodTermsRules.ts"

/** Number of months after the present one that the calendar shows where the reader names no end. */
const monthsAhead = 12

/** Largest number of months after the present one that a reader may name. */
const monthsMax = 1_200

const Params = Schema.Struct({
  instrumentId: Schema.optionalKey(Schema.Array(InstrumentId)),
  /** First month; absent: the first of each instrument that is not executed. */
  from: Schema.optionalKey(Month.schema),
  /** Last month; absent: twelve months after the present one. */
  to: Schema.optionalKey(Month.schema),
  /** Zone that decides what `on` says and which month is the present one; absent: UTC. */
  zone: Schema.optionalKey(Zone.schema)
})
type Params = typeof Params.Type

/** The present month of the reader's zone, at the instant at which the read is judged. */
const presentOf = ({ zone = Zone.utc }: Params, { judgedAt }: Pin.ResolvedPin): Month.Month =>
  Month.fromDate(Zone.dateAt(zone, judgedAt))

/** Largest number of instruments whose facts are loaded at the same time. */
const loadedTogether = 8

/** Month of an instrument at its place in the order of the calendar. */
interface Place extends DistributingInstrument {
  readonly month: Month.Month
  readonly sortKey: string
}

export const list = Read.list({
  name: "distribution-calendar.list",
  doc: "Lists the distribution dates of instruments that distribute monthly: past months with a point, the present one and months to come.",
  route: "GET /v1/distribution-calendar",
  audience: {
    operator: "all",
    approver: "all",
    risk: "all",
    compliance: "all",
    auditor: "all",
    app: "all",
    investor: "own",
    registrar: "near"
  },
  pinned: true,
  collection: Calendar.calendarRows,
  params: Params,
  item: Calendar.CalendarRow,
  direction: "asc",
  order: "by record date, then by instrument id",
  changes: false,
  acted: "never",
  scope: Sight.scopeElsewhere,
  parent: Effect.fnUntraced(function* (params, { pin }) {
    const last = Month.add(presentOf(params, pin), monthsMax)
    if (params.to === undefined || !Month.isAfter(params.to, last)) return
    return yield* Effect.fail(
      refused("invalid-request", {
        errors: [{ pointer: "/query/to", detail: `The calendar ends at ${last}.` }]
      })
    )
  }),
  zone: ({ zone = Zone.utc }) => zone,
  where: ({ instrumentId, from, to, zone }) => ({
    ...(instrumentId === undefined ? {} : { instrumentId }),
    ...(from === undefined ? {} : { from: [from] }),
    ...(to === undefined ? {} : { to: [to] }),
    ...(zone === undefined ? {} : { zone: [zone] })
  }),
  rows: Effect.fnUntraced(function* ({ after, limit }, asking, params) {
    const { pin, role } = asking
    const { zone = Zone.utc, to = Month.add(presentOf(params, pin), monthsAhead) } = params
    const isConcealed = isConcealedFrom(role)
    const readable = yield* instrumentsOf(params, asking)
    const all = (yield* distributingOf(readable, pin)).flatMap((instrument) => {
      const first = Calendar.firstOpenOf(instrument)
      const earliest = Calendar.earliestOf(instrument)
      if (first === null || earliest === null) return []
      const from = params.from === undefined ? first : laterMonth(params.from, earliest)
      return [{ ...instrument, from }]
    })
    const loaded = new Map<string, ReturnType<typeof Calendar.rowsOf>>()
    const rowAt = Effect.fnUntraced(function* ({ instrumentId, versions, month, sortKey }: Place) {
      const rowsBefore = loaded.get(instrumentId)
      const rowOf =
        rowsBefore ??
        Calendar.rowsOf(yield* subjectOf(instrumentId, pin), { now: pin.judgedAt, zone })
      loaded.set(instrumentId, rowOf)
      const row = rowOf(month)
      if (row === null) return []
      const isByCalendar = datesOf(versions, month)?.scheduledBy !== "month-end"
      return [{ sortKey, row: isConcealed ? Calendar.concealed(row, { isByCalendar }) : row }]
    })
    const found: Array<Read.ComputedRow<Calendar.CalendarRow>> = []
    // Record dates lie in their month, so that the rows of a month precede those of the next.
    let month = all.reduce<Month.Month>(
      (least, { from }) => earlierMonth(least, from),
      Month.next(to)
    )
    if (after !== undefined) month = laterMonth(month, Month.of(after.slice(0, 7)))
    for (; !Month.isAfter(month, to) && found.length < limit; month = Month.next(month)) {
      const begun = all.filter(({ from }) => !Month.isBefore(month, from))
      const places = (yield* placesIn(begun, month, pin))
        .filter(({ sortKey }) => after === undefined || sortKey > after)
        .toSorted((a, b) => (a.sortKey < b.sortKey ? -1 : 1))
      // Some months have no row, such as past ones without a point; later months fill the page.
      while (places.length > 0 && found.length < limit) {
        const next = places.splice(0, Math.min(loadedTogether, limit - found.length))
        const rows = yield* Effect.forEach(next, rowAt, { concurrency: loadedTogether })
        found.push(...rows.flat())
      }
    }
    return found
  }),
  view: (rows) =>
    Effect.succeed(rows.map(({ version: _, createdAt: _1, updatedAt: _2, ...row }) => row))
})

export const queries = [list] as const

const laterMonth = (a: Month.Month, b: Month.Month): Month.Month => (Month.isAfter(a, b) ? a : b)
const earlierMonth = (a: Month.Month, b: Month.Month): Month.Month => (Month.isBefore(a, b) ? a : b)

/**
 * Loads the recorded instruments of the calendar that the caller may read: an investor those with
 * which its holder has or had an admission, a registrar its own.
 */
const instrumentsOf = Effect.fnUntraced(function* (
  { instrumentId: named }: Params,
  { caller, pin, sight }: Read.ReadContext
) {
  const records = yield* Records
  const rows = yield* Stream.runCollect(
    records.stream(instruments, {
      pin,
      where: {
        ...(named === undefined ? {} : { instrumentId: named }),
        ...(sight === "near" ? { registrar: caller.party === null ? [] : [caller.party] } : {})
      }
    })
  )
  const recorded = rows.map(({ record }): Instrument => record).filter(isRecorded)
  if (sight !== "own") return recorded
  const admitted = yield* records.countBy(admissions, "instrumentId", {
    pin,
    where: { holderId: caller.holderId === null ? [] : [caller.holderId] }
  })
  return recorded.filter(({ instrumentId }) => admitted.has(instrumentId))
})

/**
 * Returns the places of a month in the calendar: by the record date of its distribution, or by the
 * policy where it is not executed. The facts of no instrument are loaded for it.
 */
const placesIn = Effect.fnUntraced(function* (
  all: ReadonlyArray<DistributingInstrument>,
  month: Month.Month,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const isPast = ({ executed }: DistributingInstrument) =>
    executed !== null && !Month.isAfter(month, executed.month)
  const paid = all.some(isPast)
    ? yield* Stream.runCollect(records.stream(distributions, { pin, where: { month: [month] } }))
    : []
  const paidOn = new Map(paid.map(({ record }) => [record.instrumentId, record.recordDate]))
  return all.flatMap((instrument): ReadonlyArray<Place> => {
    const { instrumentId, versions } = instrument
    const recordDate = isPast(instrument)
      ? paidOn.get(instrumentId)
      : datesOf(versions, month)?.recordDate
    return recordDate === undefined
      ? []
      : [{ ...instrument, month, sortKey: `${recordDate} ${instrumentId}` }]
  })
})
