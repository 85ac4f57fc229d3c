/** Checks of reconciliation that compare statements with themselves, and with the dates they are due. */
import { Effect, Option, Stream } from "effect"
import { compare } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import type * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Zone from "../../kernel/Zone.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as DueRules from "../../statements/external-source/DueRules.ts"
import type { ExternalSource } from "../../statements/external-source/ExternalSource.ts"
import {
  ownerOf,
  statementsOfDates
} from "../../statements/external-statement/ExternalStatement.ts"
import { feedKeyOf, latestOf } from "../../statements/external-statement/StatementLookups.ts"
import * as Check from "./Check.ts"
import { aboutSource, type OfStatement } from "./OfStatement.ts"
import * as Statements from "./StatementCheckLookups.ts"
import * as InForce from "./StatementsInForceLookups.ts"

/** Total and number of lines of a statement, as it states them and as they are stored. */
interface StatementTotals extends OfStatement {
  /** Sum of the quantities of the lines; null where the statement states no total of them. */
  readonly sum: Decimal.Decimal | null
  readonly totalQuantity: Decimal.Decimal | null
  /** Number of lines that are stored. */
  readonly lines: number
  /** Number of lines that the file states, or that were read where it states none. */
  readonly lineCount: number
}

/** The number of lines is compared where the totals agree, without a tolerance. */
export const statementTotal = Check.define("statement-total", {
  doc: "Compares the total and the number of lines that a statement states with its lines.",
  rule: "statement-against-its-lines",
  needs: "A statement in force of an active source of holdings, cash or custody.",
  cannot: { ...InForce.ownReasons, ...InForce.lineReasons },
  isDated: true,
  facts: (instrument, at) => Stream.unwrap(totals(instrument, at)),
  comparedAt: ({ comparedAt }: StatementTotals) => comparedAt,
  differences: (totals: StatementTotals, tolerance) => {
    const about = { severity: "blocking", ...aboutSource(totals) } as const
    const { sum, totalQuantity } = totals
    const total =
      sum === null || totalQuantity === null
        ? []
        : compare({ ...about, unit: "units", expected: sum, actual: totalQuantity, tolerance })
    const counted = compare({
      ...about,
      unit: "lines",
      expected: Decimal.fromInteger(totals.lines),
      actual: Decimal.fromInteger(totals.lineCount),
      tolerance: Decimal.zero
    })
    return [...total, ...counted]
  }
})

/** Loads the sources, and streams the totals of their statements. */
const totals = Effect.fnUntraced(function* (
  instrument: Statements.InstrumentIdentity,
  at: Check.Point
) {
  const sources = yield* InForce.sourcesToCompare(instrument, at, {
    check: "statement-total",
    kinds: ["holdings", "cash", "custody"]
  })
  const compared = Stream.fromIterable(InForce.statementsOf(sources)).pipe(
    Stream.mapEffect((element) => InForce.orUnreadable(totalsOf(element, at), element)),
    Stream.flattenIterable
  )
  return Stream.concat(Stream.fromIterable(InForce.notesOf(sources)), compared)
})

/** Loads what a statement states beside the number and the sum of its stored lines. */
const totalsOf = Effect.fnUntraced(function* (element: InForce.SourceStatement, at: Check.Point) {
  const { statement } = element
  const { totalQuantity, statedLines, lineCount } = statement
  const bulk = yield* Bulk
  const lines = yield* Statements.countOfLines(statement)
  const comparedAt = yield* Statements.ownMomentOf(element, at)
  const sums =
    totalQuantity === null || statement.kind === "cash"
      ? null
      : yield* orUnavailable(bulk.sum(ownerOf(statement)))
  const totals: StatementTotals = {
    ...Statements.ofStatement(element, comparedAt),
    sum: sums === null ? null : Decimal.sum(sums.map(Statements.quantityOf)),
    totalQuantity,
    lines,
    lineCount: statedLines ?? lineCount
  }
  return [totals]
})

/** Business dates that a source owes statements of and that are overdue, oldest first. */
interface OwedStatements {
  readonly instrumentId: string
  readonly externalSourceId: string
  readonly overdue: ReadonlyArray<Date.Date>
}

/** Overdue dates from which on a source that owes them blocks. */
const blockingFrom = 2

export const statementOverdue = Check.define("statement-overdue", {
  doc: "Finds business dates whose statements are overdue.",
  rule: "overdue-statements",
  needs: "An active source of the instrument.",
  cannot: {},
  severity: "a warning, blocking from two dates on",
  facts: (instrument, at, terms) =>
    Stream.fromIterableEffect(overdueOf(instrument, at, terms)).pipe(
      Stream.map(({ source: { externalSourceId }, overdue }) => ({
        instrumentId: instrument.instrumentId,
        externalSourceId,
        overdue
      }))
    ),
  differences: ({ instrumentId, externalSourceId, overdue }: OwedStatements) =>
    compare({
      instrumentId,
      subject: { resourceKind: "external-source", id: externalSourceId },
      holderId: null,
      severity: overdue.length >= blockingFrom ? "blocking" : "warning",
      unit: "dates",
      expected: Decimal.fromInteger(overdue.length),
      actual: Decimal.zero,
      tolerance: Decimal.zero
    })
})

/** Loads the business dates whose statements are overdue, for each active source of an instrument. */
export const overdueOf = Effect.fnUntraced(function* (
  instrument: Stored<Instrument>,
  at: Check.Point,
  { grace, now }: Check.GraceTerms
) {
  const { instrumentId } = instrument
  const sources = yield* Statements.sourcesOf(instrument, at)
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

/** Business dates of a source's calendar without a statement, oldest first. */
interface StatementGap {
  readonly instrumentId: string
  readonly externalSourceId: string
  readonly missing: ReadonlyArray<Date.Date>
}

export const statementGap = Check.define("statement-gap", {
  doc: "Warns of business dates between a source's first and last statement without one in force.",
  rule: "gaps-between-statements",
  needs: "An active source with a statement of the instrument in force.",
  cannot: {},
  facts: (instrument, at) =>
    Stream.fromIterableEffect(Statements.sourcesOf(instrument, at)).pipe(
      Stream.mapEffect((source) => gapOf(source, instrument, at)),
      Stream.flattenIterable
    ),
  differences: ({ instrumentId, externalSourceId, missing }: StatementGap) =>
    compare({
      instrumentId,
      subject: { resourceKind: "external-source", id: externalSourceId },
      holderId: null,
      severity: "warning",
      unit: "dates",
      expected: Decimal.fromInteger(missing.length),
      actual: Decimal.zero,
      tolerance: Decimal.zero
    })
})

/** Loads the missing dates of a source; none of a source without a statement. */
const gapOf = Effect.fnUntraced(function* (
  source: ExternalSource,
  { instrumentId }: Statements.InstrumentIdentity,
  { pin }: Check.Point
) {
  const { externalSourceId } = source
  const records = yield* Records
  const feed = feedKeyOf({ externalSourceId, instrumentId })
  const received = yield* records.stream(statementsOfDates, { pin, where: { feed: [feed] } }).pipe(
    Stream.map(({ record }) => record.businessDate),
    Stream.runCollect
  )
  if (received.length === 0) return []
  const missing = DueRules.missingBetween(source, received)
  const gap: StatementGap = { instrumentId, externalSourceId, missing }
  return [gap]
})
