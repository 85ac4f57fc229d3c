/**
 * Look-ups of the checks of statements: statements in force at their own moment, their sums, their
 * dates.
 */
import { Effect, Option, Result, Stream } from "effect"
import type { Moment } from "../../findings/Finding.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as PolicyTerms from "../../instruments/policy/PolicyTerms.ts"
import { quotes } from "../../instruments/price/PricePoint.ts"
import { priceOf, quoteIdsOf } from "../../instruments/price/QuoteRules.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { shownUnits } from "../../instruments/register/RegisterRules.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import * as Zone from "../../kernel/Zone.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as DueRules from "../../statements/external-source/DueRules.ts"
import type { ExternalSource } from "../../statements/external-source/ExternalSource.ts"
import {
  type ExternalStatement,
  ownerOf,
  placeInDayOf,
  statementsOfDates
} from "../../statements/external-statement/ExternalStatement.ts"
import * as LineRows from "../../statements/external-statement/LineRows.ts"
import { feedKeyOf, latestOf } from "../../statements/external-statement/StatementLookups.ts"
import type { StatementKind } from "../../vocabulary/sets.ts"
import { CheckNotRun, type Note, type Point, type Services, type Terms } from "./Check.ts"
import type { CheckName } from "../../vocabulary/ReconciliationChecks.ts"
import * as Continuity from "./CashContinuityLookups.ts"
import * as CashBalance from "./checks/CashBalance.ts"
import type { OfStatement } from "./checks/OfStatement.ts"
import type * as StatementGap from "./checks/StatementGap.ts"
import * as StatementOverdue from "./checks/StatementOverdue.ts"
import * as StatementTotal from "./checks/StatementTotal.ts"
import * as SupplyOutstanding from "./checks/SupplyOutstanding.ts"
import * as InFlight from "./InFlightLookups.ts"
import * as InFlightRules from "./InFlightRules.ts"
import * as Rules from "./RunRules.ts"
import { pinAt } from "./StatementPinLookups.ts"
import {
  externalSourcesAt,
  type LeavesOut,
  leftOut,
  type SourceStatement,
  statementsToCompare,
  unreadable
} from "./StatementsInForceLookups.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** Loads the active sources of an instrument, of these kinds, in the order of their ids. */
export const sourcesOf = Effect.fnUntraced(function* (
  { instrumentId }: InstrumentIdentity,
  { pin, sources = externalSourcesAt(pin) }: Point,
  kinds?: ReadonlyArray<StatementKind>
) {
  const all = yield* sources
  return all.filter(
    ({ instruments, kind, state }) =>
      state === "active" && (kinds?.includes(kind) ?? true) && instruments.includes(instrumentId)
  )
})

/** Loads the newest statement in force of each source of an instrument that has one. */
export const latestOfEach = Effect.fnUntraced(function* (
  instrument: InstrumentIdentity,
  at: Point,
  kinds: ReadonlyArray<StatementKind>
) {
  const sources = yield* sourcesOf(instrument, at, kinds)
  const found = yield* Effect.forEach(sources, (source) =>
    Effect.map(
      latestOf(
        { externalSourceId: source.externalSourceId, instrumentId: instrument.instrumentId },
        at.pin
      ),
      Option.map((statement): SourceStatement => ({ source, statement, isNewest: true }))
    )
  )
  return found.flatMap((latest) => (Option.isSome(latest) ? [latest.value] : []))
})

/** Members that identify the statement of a fact, and its moment. */
export const ofStatement = (
  { statement }: Pick<SourceStatement, "statement">,
  comparedAt: Moment
): OfStatement => ({
  instrumentId: statement.instrumentId,
  externalSourceId: statement.externalSourceId,
  statementId: statement.externalStatementId,
  businessDate: statement.businessDate,
  placeInDay: placeInDayOf(statement),
  comparedAt
})

/** Resolves the moment of a statement to a pin. */
export const momentOf = Effect.fnUntraced(function* (
  { statement }: Pick<SourceStatement, "statement">,
  at: Point
) {
  const pin = yield* pinAt(statement.asOf, at)
  return { pin, comparedAt: { offset: pin.offset, instant: statement.asOf } }
})

/**
 * Resolves the moment of a statement that is compared only with itself. Where the history of the
 * records begins later, the moment gets the first offset that is kept.
 */
const ownMomentOf = ({ statement }: Pick<SourceStatement, "statement">, at: Point) =>
  pinAt(statement.asOf, at).pipe(
    Effect.map(({ offset }) => offset),
    Effect.catchTag("CheckNotRun", (fault) =>
      fault.why === "before-horizon"
        ? Effect.succeed(Offset.of(at.horizonOffset))
        : Effect.fail(fault)
    ),
    Effect.map((offset): Moment => ({ offset, instant: statement.asOf }))
  )

/** Fails where the lines of a statement are deleted. */
export const countOfLines = Effect.fnUntraced(function* (statement: ExternalStatement) {
  const bulk = yield* Bulk
  const lines = yield* orUnavailable(bulk.count(ownerOf(statement)))
  if (Option.isNone(lines)) return yield* new CheckNotRun({ why: "lines-deleted" })
  return lines.value
})

export type Facts<F> = Stream.Stream<F, CheckNotRun | Unavailable, Services>

/** Facts with notes on input that is not compared. */
export type NotedFacts<F> = Facts<F | Note>

/**
 * Streams the facts of each statement that a check compares; one that cannot be read is named after
 * them.
 */
const ofEachStatement = <F>(
  instrument: InstrumentIdentity,
  at: Point,
  comparison: {
    readonly check: CheckName
    readonly kinds: ReadonlyArray<StatementKind>
    readonly leavesOut?: LeavesOut
    readonly facts: (
      element: SourceStatement
    ) => Effect.Effect<ReadonlyArray<F | Note>, CheckNotRun | Unavailable, Services>
  }
): NotedFacts<F> =>
  Stream.unwrap(
    Effect.map(statementsToCompare(instrument, at, comparison), ({ notes, statements }) => {
      const compared = Stream.fromIterable(statements).pipe(
        Stream.mapEffect((element) =>
          Effect.catchTag(comparison.facts(element), "CheckNotRun", ({ why }) =>
            Effect.succeed([unreadable(element, why)])
          )
        ),
        Stream.flatMap((facts) => Stream.fromIterable(facts))
      )
      return Stream.concat(Stream.fromIterable(notes), compared)
    })
  )

/** Streams the stated totals of statements with lines, beside the sums of their lines. */
export const totals = (
  instrument: InstrumentIdentity,
  at: Point
): NotedFacts<StatementTotal.Totals> =>
  ofEachStatement(instrument, at, {
    check: StatementTotal.check,
    kinds: ["holdings", "cash", "custody"],
    facts: Effect.fnUntraced(function* (latest: SourceStatement) {
      const { statement } = latest
      const { totalQuantity, statedLines, lineCount } = statement
      const bulk = yield* Bulk
      const lines = yield* countOfLines(statement)
      const comparedAt = yield* ownMomentOf(latest, at)
      const sums =
        totalQuantity === null || statement.kind === "cash"
          ? null
          : yield* orUnavailable(bulk.sum(ownerOf(statement)))
      return [
        {
          ...ofStatement(latest, comparedAt),
          sum: sums === null ? null : Decimal.sum(sums.map(quantityOf)),
          totalQuantity,
          lines,
          lineCount: statedLines ?? lineCount
        }
      ]
    })
  })

const quantityOf = ({ amounts }: { readonly amounts: ReadonlyArray<string> }): Decimal.Decimal =>
  Decimal.of(amounts[0] ?? "0")

/** Converts base units of a rebasing instrument to units at the index of a pin. */
export const showingAt = Effect.fnUntraced(function* (
  instrument: Instrument,
  pin: Pin.ResolvedPin
) {
  const index = yield* indexAt(instrument, pin)
  const { manifest } = instrument
  return (units: Decimal.Decimal): Decimal.Decimal =>
    manifest === null || index === null ? units : shownUnits({ ...manifest, units, index })
})

/** Index of a rebasing instrument at a pin; null: its units are shown as they are kept. */
export const indexAt = Effect.fnUntraced(function* (instrument: Instrument, pin: Pin.ResolvedPin) {
  if (instrument.manifest?.valuation !== "rebasing") return null
  const records = yield* Records
  const [quote] = yield* records.many(quotes, quoteIdsOf(instrument), pin)
  return priceOf(instrument, quote, pin.judgedAt).price
})

/**
 * Streams the totals of the administrators' statements beside the supply at their moments. Leaves out,
 * by name, statements of a suspended NAV and those without a total.
 */
export const outstanding = (
  instrument: Instrument,
  at: Point
): NotedFacts<SupplyOutstanding.OutstandingSupply> =>
  ofEachStatement(instrument, at, {
    check: SupplyOutstanding.check,
    kinds: ["nav"],
    facts: Effect.fnUntraced(function* (latest: SourceStatement) {
      const { totalQuantity, nav } = latest.statement
      if (nav?.ripcord === true) return [leftOut(latest, "ripcord")]
      if (totalQuantity === null) return [leftOut(latest, "total-missing")]
      const records = yield* Records
      const { pin, comparedAt } = yield* momentOf(latest, at)
      const supply = yield* records.find(supplies, assetKeyOf(instrument), pin)
      const show = yield* showingAt(instrument, pin)
      const { units, holders } = Option.getOrElse(supply, () => ({
        units: Decimal.zero,
        holders: 0
      }))
      const explaining = { instrument, ...latest, pin, at, show }
      const orders = yield* InFlight.ordersOf(explaining, null)
      return [
        {
          ...ofStatement(latest, comparedAt),
          totalQuantity,
          supply: show(units),
          holders,
          unitDecimals: instrument.manifest?.unitDecimals ?? Decimal.places,
          items: InFlightRules.split(orders, {
            basis: InFlight.basisOf(latest),
            dayEnd: InFlight.dayEndOf(latest)
          })
        }
      ]
    })
  })

/** Loads the business dates of a source's statements in force for an instrument, oldest first. */
const datesOf = Effect.fnUntraced(function* (
  { externalSourceId }: ExternalSource,
  { instrumentId }: InstrumentIdentity,
  { pin }: Point
) {
  const records = yield* Records
  const feed = feedKeyOf({ externalSourceId, instrumentId })
  return yield* records.stream(statementsOfDates, { pin, where: { feed: [feed] } }).pipe(
    Stream.map(({ record }) => record.businessDate),
    Stream.runCollect
  )
})

/** Loads the business dates whose statements are overdue, for each active source of an instrument. */
export const overdueOf = Effect.fnUntraced(function* (
  instrument: Stored<Instrument>,
  at: Point,
  { grace, now }: Pick<Terms, "grace" | "now">
) {
  const { instrumentId } = instrument
  const sources = yield* sourcesOf(instrument, at)
  return yield* Effect.forEach(
    sources,
    Effect.fnUntraced(function* (source) {
      const { externalSourceId } = source
      const statement = yield* latestOf({ externalSourceId, instrumentId }, at.pin)
      const overdue = DueRules.overdueDates(
        { ...source, grace: grace ?? source.grace },
        {
          newest: Option.isSome(statement) ? statement.value.businessDate : null,
          firstDay: Zone.dateAt(
            Zone.of(source.zone),
            Instant.max(source.createdAt, instrument.createdAt)
          ),
          now
        }
      )
      return { source, overdue }
    })
  )
})

/** Streams the overdue dates of each source of the instrument. */
export const owed = (
  instrument: Stored<Instrument>,
  at: Point,
  terms: Terms
): Facts<StatementOverdue.OwedStatements> =>
  Stream.fromIterableEffect(overdueOf(instrument, at, terms)).pipe(
    Stream.map(({ source: { externalSourceId }, overdue }) => ({
      instrumentId: instrument.instrumentId,
      externalSourceId,
      overdue
    }))
  )

/**
 * Streams the missing dates of each source of the instrument between its first and last statement.
 */
export const gaps = (instrument: InstrumentIdentity, at: Point): Facts<StatementGap.Gap> =>
  Stream.fromIterableEffect(sourcesOf(instrument, at)).pipe(
    Stream.mapEffect((source) =>
      Effect.map(datesOf(source, instrument, at), (received): ReadonlyArray<StatementGap.Gap> => {
        if (received.length === 0) return []
        const { instrumentId } = instrument
        const { externalSourceId } = source
        const missing = DueRules.missingBetween(source, received)
        return [{ instrumentId, externalSourceId, missing }]
      })
    ),
    Stream.flatMap((found) => Stream.fromIterable(found))
  )

/**
 * Streams the balances of statements of cash, and the closing balances before them beside their
 * openings. A source without balances is named; a statement that should have them and does not is too,
 * and keeps the check from having run.
 */
export const balances = (
  instrument: Instrument,
  at: Point,
  { now }: Pick<Terms, "now">
): NotedFacts<CashBalance.Fact> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const continuity = yield* Continuity.make(instrument, at)
      const links: Array<CashBalance.Link> = []
      const own = ofEachStatement<CashBalance.Fact>(instrument, at, {
        check: CashBalance.check,
        kinds: ["cash"],
        leavesOut: ({ balances }) => (balances === "none" ? "balances-none" : null),
        facts: Effect.fnUntraced(function* (element) {
          links.push(...(yield* continuity.around(element, { ...graceOf(instrument), now })))
          return [yield* balanceOf(element, at)]
        })
      })
      const byDate = Stream.suspend(() => Stream.fromIterable(CashBalance.linked(links)))
      return Stream.concat(own, byDate)
    })
  )

/** Loads the balances of a statement of cash and the sums of its entries. */
const balanceOf = Effect.fnUntraced(function* (element: SourceStatement, at: Point) {
  const { statement } = element
  yield* countOfLines(statement)
  const bulk = yield* Bulk
  const comparedAt = yield* ownMomentOf(element, at)
  const sums = yield* orUnavailable(bulk.sum(ownerOf(statement)))
  const booked = sums.map((sum) => ({
    ...LineRows.ofCashGroup(sum.group),
    amount: quantityOf(sum)
  }))
  const balance = CashBalance.balanceOf({ ...statement, booked }, ofStatement(element, comparedAt))
  if (Result.isFailure(balance)) return yield* new CheckNotRun({ why: balance.failure })
  return balance.success
})

/** Grace time of overdue statements that the policy names; null: each source has its own. */
const graceOf = ({ manifest }: Instrument) => ({
  grace: Rules.termsOf(StatementOverdue.check, manifest ?? PolicyTerms.defaults).grace
})
