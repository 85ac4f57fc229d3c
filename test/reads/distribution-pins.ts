/** Reads of distributions at each point of a history against books kept by hand up to it. */
import { verify } from "@bursar/engine-core"
import { Decimal, Instant, type Offset, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Result } from "effect"
import { expect } from "vitest"
import * as DistributionQueries from "#core/distributions/distribution/DistributionQueries.ts"
import * as CalendarQueries from "#core/distributions/period/CalendarQueries.ts"
import * as LotLookups from "#core/instruments/lot/LotLookups.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Books from "../operations/distribution-books.ts"
import * as Years from "../operations/distribution-years.ts"
import { pinAt } from "../projection/stored-lots.ts"
import { changed } from "../rules/changed-basis.ts"
import * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import { holderIdOf } from "../operations/reports.ts"
import * as Venue from "../operations/venue.ts"

const day = 86_400_000

/** The calendar is read up to this month. */
const through = "2027-12"

const states = ["due", "suspended", "delivered", "rolled", "carried", "void"] as const

/** Expected lists of distributions and of their lines, from the books. */
const expected = (books: Books.Books, holders: ReadonlyMap<string, string>) => ({
  calendar: books.calendar(through),
  distributions: books.months.map((month) => {
    const lines = month.lines.filter(({ state }) => state !== "planned")
    const totalOf = (figure: (line: Books.Line) => bigint) => Books.sum(month.lines, figure)
    return {
      distributionId: month.distributionId,
      month: month.month,
      state: month.state,
      linesHash: month.linesHash,
      counts: Object.fromEntries(
        states.map((state) => [state, lines.filter((line) => line.state === state).length])
      ),
      totals: {
        holders: BigInt(month.lines.length),
        entitlement: totalOf(({ entitlement }) => entitlement),
        gross: totalOf(({ gross }) => gross),
        equalisation: 0n,
        withheld: totalOf(({ withheld }) => withheld),
        net: totalOf(({ net }) => net),
        payoutUnits:
          books.terms.payout === "units" ? totalOf(({ payoutUnits }) => payoutUnits ?? 0n) : null,
        residual: month.residual,
        carried: totalOf(({ carryOut }) => carryOut),
        suspended: month.suspended
      },
      lines: lines.map((line) => ({ ...line, holderId: holders.get(line.party) ?? null }))
    }
  })
})
type Expected = ReturnType<typeof expected>

/** The same as the engine shows it at an offset. */
const shown = Effect.fnUntraced(function* (point: { readonly at?: Offset.Offset }) {
  const list = yield* Venue.list(DistributionQueries.list, {}, { point })
  const calendar = yield* Venue.list(
    CalendarQueries.list,
    { from: "2026-06", to: through } as never,
    { point }
  )
  const distributions = yield* Effect.forEach(list.value, (self) =>
    Effect.gen(function* () {
      const { counts, distributionId, linesHash, month, state, totals } = self
      const lines = yield* Venue.list(DistributionQueries.lines, { distributionId }, { point })
      return {
        distributionId: distributionId as string,
        month: month as string,
        state,
        linesHash,
        counts: { ...counts },
        totals: { ...totals, holders: BigInt(totals?.holders ?? -1) },
        lines: lines.value.map((line) => ({
          lineId: line.lineId as string,
          party: line.party as string,
          predecessor: line.predecessor,
          units: line.units,
          entitlement: line.entitlement,
          carryIn: line.carryIn,
          carriedFrom: line.carriedFrom,
          gross: line.gross,
          rate: line.rate,
          rateSource: line.rateSource,
          withheld: line.withheld,
          net: line.net,
          carryOut: line.carryOut,
          payoutUnits: line.payoutUnits,
          state: line.state,
          reason: line.reason,
          paidOn: line.paidOn,
          deliveredUid: line.deliveredUid,
          rolledUid: line.rolledUid,
          holderId: line.holderId
        }))
      }
    })
  )
  return {
    calendar: calendar.value.map(
      ({ distributionId, month, periodState }) => [month, periodState, distributionId] as const
    ),
    distributions
  }
})

/** Units that came into a party's books at one instant, and are still in them. */
interface Came {
  readonly at: number
  left: bigint
}

/**
 * Lots of every party by the changes of units of the books: minted units are a lot, units that leave
 * a party are its oldest, and the receiver gets them with their instant. Lots of one instant are
 * one.
 */
const lotsOf = ({ changes }: Books.Books): ReadonlyMap<string, ReadonlyArray<Came>> => {
  const papers = new Map<string, Array<Came>>()
  const put = (party: string, { at, left }: Came) => {
    const own = papers.get(party) ?? []
    const same = own.find((one) => one.at === at)
    if (same === undefined) papers.set(party, [...own, { at, left }])
    else same.left += left
  }
  for (const transaction of Map.groupBy(changes, ({ transaction }) => transaction).values()) {
    const moved = [...Map.groupBy(transaction, ({ party }) => party)].map(
      ([party, moves]) => [party, Books.sum(moves, ({ units }) => units)] as const
    )
    const gave: Array<Came> = []
    for (const [party, units] of moved) {
      for (let wanted = units < 0n ? -units : 0n; wanted > 0n; ) {
        const own = papers.get(party) ?? []
        const [oldest] = own.toSorted((a, b) => a.at - b.at)
        if (oldest === undefined) throw new Error(`${party} gave units that it does not have`)
        const taken = oldest.left < wanted ? oldest.left : wanted
        gave.push({ at: oldest.at, left: taken })
        oldest.left -= taken
        wanted -= taken
        papers.set(
          party,
          own.filter(({ left }) => left > 0n)
        )
      }
    }
    const came = moved.filter(([, units]) => units > 0n)
    if (gave.length > 0 && came.length > 1) throw new Error("units of one party came to several")
    for (const [party, units] of came) {
      const at = transaction[0]?.at ?? Number.NaN
      for (const one of gave.length > 0 ? gave : [{ at, left: units }]) put(party, one)
    }
  }
  return papers
}

const lotTexts = (lots: ReadonlyMap<string, ReadonlyArray<Came>>) =>
  [...lots]
    .flatMap(([party, own]) => own.map(({ at, left }) => `${party} ${at} ${left}`))
    .toSorted()

/** The same as the engine has them at an offset. */
const storedLotTexts = Effect.fnUntraced(function* (asset: Asset, books: Books.Books, at: number) {
  const parties = [...new Set(books.changes.map(({ party }) => party as Party.Party))]
  const found = yield* LotLookups.openLotsOf({ ...asset, parties }, pinAt(at))
  const merged = new Map<string, Array<Came>>()
  for (const [party, own] of found) {
    const byInstant = Map.groupBy(own, ({ acquiredAt }) => Instant.toEpochMillis(acquiredAt))
    merged.set(
      party,
      [...byInstant].map(([instant, records]) => ({
        at: instant,
        left: Books.sum(records, ({ remaining }) => Decimal.atoms(remaining))
      }))
    )
  }
  return lotTexts(merged)
})

/** The basis of a line at an offset, recomputed by itself, comes to the line's figures. */
const based = Effect.fnUntraced(function* (line: Books.Line, at: Offset.Offset) {
  const { lineId } = line
  const value = yield* Venue.read(
    DistributionQueries.line,
    { distributionId: lineId.slice(0, lineId.lastIndexOf(".")), lineId } as never,
    { point: { at } }
  )
  expect(value.value.state).toBe(line.state)
  const figures = value.value.basis.map(
    (basis) => [basis.field, Decimal.of(Result.getOrThrow(verify(basis)))] as const
  )
  for (const basis of value.value.basis) {
    for (const [what, other] of changed(basis)) {
      expect(Result.isFailure(verify(other)), `${lineId} ${basis.field}: ${what}`).toBe(true)
    }
  }
  const { entitlement, gross, withheld, net, carryOut, payoutUnits } = line
  const isReported = payoutUnits === null ? {} : { payoutUnits }
  expect(Object.fromEntries(figures), `basis of ${lineId} at ${at}`).toEqual({
    entitlement,
    gross,
    withheld,
    net,
    carryOut,
    ...isReported
  })
})

const textOf = (value: Expected) =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === "bigint" ? String(member) : member
  )

type Asset = Parameters<typeof LotLookups.positionsOf>[0]

/** The instrument that distributes, as the ledger names it. */
const fund = Effect.map(Cycles.active(Templates.Holding), (found): Asset => {
  const held = found.find(({ payload }) => payload.instrument.id === "fund-a")?.payload
  if (held === undefined) throw new Error("nobody has units")
  return { registrar: held.registrar, instrumentId: "fund-a" }
})

/** Reads at every offset at which the books show something else, and at every seventh of the others. */
/** Start of the day after which income has been earned and in no period yet, of a fund that began in June. */
const earningSince = (books: Books.Books, now: number): number => {
  let from = Date.UTC(2026, 5, 30)
  for (let month = 6; Date.UTC(2026, month, 1) <= now; month++) {
    const end = Date.UTC(2026, month, 1)
    if (books.points.some(({ date }) => date >= from && date < end)) from = end
  }
  return from
}

/** Income of a payee on the days that have ended, day by day: the last point's, on its day's units. */
const accruedBy = (books: Books.Books, party: string): bigint => {
  const today = Math.floor(books.now / day) * day
  let earned = 0n
  for (let date = earningSince(books, books.now); date < today; date += day) {
    const point = books.points
      .filter((one) => one.date <= date)
      .toSorted((a, b) => a.date - b.date)
      .at(-1)
    if (point !== undefined) earned += point.income * books.unitsAt(party, point.date + day)
  }
  const whole = earned / 10n ** 10n
  return earned % 10n ** 10n < 0n ? whole - 1n : whole
}

/** Accrued income of each holder by its portfolio, at an offset; one without units has no row. */
const earned = Effect.fnUntraced(function* (
  books: Books.Books,
  holders: ReadonlyMap<string, string>,
  at: Offset.Offset
) {
  let rows = 0
  for (const [party, holderId] of holders) {
    // A holder without units has no row, and may be registered later.
    if (Books.sum(books.changes, (one) => (one.party === party ? one.units : 0n)) === 0n) continue
    const { value } = yield* Venue.read(
      PortfolioQueries.portfolio,
      { holderId: holderIdOf(holderId) },
      { point: { at } }
    )
    for (const { accrued } of value) {
      rows += 1
      const shownAtoms = accrued === null ? null : Decimal.atoms(accrued)
      expect(shownAtoms, `accrued by ${holderId} at ${at}`).toBe(accruedBy(books, party))
    }
  }
  return rows
})

export const agree = Effect.fnUntraced(function* (played: Years.Played) {
  const books = new Books.Books(played)
  let before = ""
  let looked = 0
  let portfolios = 0
  const basedIn = new Map<string, string>()
  const asset = yield* fund
  for (const { acts, transaction } of yield* Years.happened(played)) {
    for (const act of acts) books.note(act)
    books.read(transaction)
    const { offset } = transaction
    const now = expected(books, played.holders)
    const text = textOf(now)
    const lots = lotTexts(lotsOf(books))
    expect(yield* storedLotTexts(asset, books, offset), `lots at ${offset}`).toEqual(lots)
    if (text === before && offset % 7 > 0) continue
    before = text
    looked += 1
    portfolios += yield* earned(books, played.holders, offset)
    expect(yield* shown({ at: offset }), `at ${offset}`).toEqual(now)
    for (const line of books.months.flatMap(({ lines }) => lines)) {
      if (line.state === "planned" || basedIn.get(line.lineId) === line.state) continue
      basedIn.set(line.lineId, line.state)
      yield* based(line, offset)
    }
  }
  const last = expected(yield* Years.keep(played), played.holders)
  expect((yield* shown({})).distributions, "at the latest").toEqual(last.distributions)
  expect(portfolios).toBeGreaterThan(0)
  return looked
})
