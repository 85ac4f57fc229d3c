/**
 * Look-ups of the continuity of balances: the statement in force of an account before another one
 * (docs/domain/reconciliation.md#continuity-of-balances).
 */
import { Effect, Option, Stream } from "effect"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Date from "../../kernel/Date.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Duration from "../../kernel/Duration.ts"
import type * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import * as DueRules from "../../statements/external-source/DueRules.ts"
import type { ExternalSource } from "../../statements/external-source/ExternalSource.ts"
import {
  dateKeyOf,
  type ExternalStatement,
  externalStatements,
  placeInDayOf,
  statementsOfDates
} from "../../statements/external-statement/ExternalStatement.ts"
import { feedKeyOf } from "../../statements/external-statement/StatementLookups.ts"
import type { Point } from "./Check.ts"
import { externalSourcesAt, type SourceStatement } from "./StatementsInForceLookups.ts"

/**
 * Largest number of statements of an account on one side of a date that are looked at for the nearest
 * date: one of each feed, and a few of feeds that had another account before.
 */
const nearMax = ({ feeds }: Pick<AccountStatements, "feeds">): number =>
  Math.min(feeds.length + 4, 100)

/** Terms by which the statement of a missing date is overdue. */
interface OverdueTerms {
  /** The policy's grace time; null: each source has its own. */
  readonly grace: Duration.Duration | null
  readonly now: Instant.Instant
}

/** The opening of a statement, beside the closing of the account's statement in force before it. */
export interface BalanceLink {
  readonly instrumentId: string
  readonly externalAccountId: string
  readonly externalSourceId: string
  readonly statementId: string
  readonly businessDate: Date.Date
  readonly currency: string
  readonly closing: Decimal.Decimal
  readonly opening: Decimal.Decimal
  /** Business dates of the source's calendar between the two of which no statement came. */
  readonly missing: ReadonlyArray<Date.Date>
  /** Whether the last of the missing dates is overdue; true where none is missing. */
  readonly isOverdue: boolean
}

/** A business date, and the side of it on which the nearest other one is looked for. */
interface NearDate {
  readonly businessDate: Date.Date
  readonly side: "before" | "after"
}

/** Statements of one account, whatever source and instrument they came for. */
interface AccountStatements {
  readonly externalAccountId: string
  /** Sources that state balances of the account, by id; inactive ones count. */
  readonly sources: ReadonlyMap<string, ExternalSource>
  /** Keys of their feeds. */
  readonly feeds: ReadonlyArray<string>
}

/** Makes the look-up of one run, which reads the sources of cash once. */
export const make = Effect.fnUntraced(function* (
  { instrumentId }: Pick<Instrument, "instrumentId">,
  at: Point
) {
  const records = yield* Records
  const { pin, sources = externalSourcesAt(pin) } = at
  const ofCash = yield* Effect.cached(
    Effect.map(sources, (all) =>
      all.filter(({ balances, kind }) => kind === "cash" && balances === "stated")
    )
  )

  const accountOf = (externalAccountId: string) =>
    Effect.map(ofCash, (all): AccountStatements => {
      const own = all.filter(({ account }) => account === externalAccountId)
      return {
        externalAccountId,
        sources: new Map(own.map((source) => [source.externalSourceId, source])),
        feeds: own.flatMap(({ externalSourceId, instruments }) =>
          instruments.map((each) => feedKeyOf({ externalSourceId, instrumentId: each }))
        )
      }
    })

  /** The statements in force of the account of one date, in their order. */
  const ofDay = ({ externalAccountId, feeds }: AccountStatements, businessDate: Date.Date) =>
    records
      .stream(externalStatements, {
        pin,
        where: { inForce: feeds, businessDate: [businessDate] }
      })
      .pipe(
        Stream.map(({ record }) => record),
        Stream.filter((statement) => statement.externalAccountId === externalAccountId),
        Stream.runCollect
      )

  /**
   * The statements in force of the account of the nearest date before or after another date: of each
   * feed the last one of the date before, or the first one of the date after.
   */
  const nearestTo = Effect.fnUntraced(function* (
    account: AccountStatements,
    { businessDate, side }: NearDate
  ) {
    const { externalAccountId, feeds } = account
    const isBefore = side === "before"
    const range = isBefore ? { to: businessDate } : { from: Date.next(businessDate) }
    const rows = yield* records.list(externalStatements, {
      pin,
      where: { inForce: feeds },
      ranges: { businessDate: range },
      direction: isBefore ? "desc" : "asc",
      limit: nearMax({ feeds })
    })
    const nearest = rows.find(({ record }) => record.externalAccountId === externalAccountId)
    if (nearest === undefined) return []
    const day = yield* ofDay(account, nearest.record.businessDate)
    // Of equal keys a map keeps the last one.
    const ordered = isBefore ? day : day.toReversed()
    return [...new Map(ordered.map((self) => [feedKeyOf(self), self])).values()]
  })

  /** The statement of the same source, instrument and date at another place in the day; null: none. */
  const inDay = Effect.fnUntraced(function* (statement: ExternalStatement, placeInDay: number) {
    if (placeInDay < 1) return null
    const slot = yield* records.find(
      statementsOfDates,
      dateKeyOf({ ...statement, placeInDay }),
      pin
    )
    if (Option.isNone(slot)) return null
    const found = yield* records.find(externalStatements, slot.value.externalStatementId, pin)
    return Option.getOrNull(found)
  })

  /** The opening of a statement beside the closing before it; none where one of them is not stated. */
  const linkOf = Effect.fnUntraced(function* (
    account: AccountStatements,
    statement: ExternalStatement,
    { grace, now }: OverdueTerms
  ) {
    const { businessDate, opening } = statement
    const source = account.sources.get(statement.externalSourceId)
    if (source === undefined || opening === null) return []
    const previous =
      (yield* inDay(statement, placeInDayOf(statement) - 1)) ??
      precedingOf(statement, yield* nearestTo(account, { businessDate, side: "before" }))
    if (previous === null || previous.closing === null) return []
    const missing = DueRules.businessDates(source, {
      from: Date.next(previous.businessDate),
      to: Date.addDays(businessDate, -1)
    })
    const last = missing.at(-1)
    const link: BalanceLink = {
      instrumentId,
      externalAccountId: account.externalAccountId,
      statementId: statement.externalStatementId,
      externalSourceId: statement.externalSourceId,
      businessDate,
      currency: statement.currency,
      closing: previous.closing,
      opening,
      missing,
      isOverdue:
        last === undefined ||
        DueRules.isOverdue({ ...source, grace: grace ?? source.grace }, last, now)
    }
    return [link]
  })

  return {
    /**
     * The links on both sides of a statement that a run compares: its own opening, and that of the
     * account's next statement, which may have been compared before this one came.
     */
    around: Effect.fnUntraced(function* ({ statement }: SourceStatement, overdue: OverdueTerms) {
      const { businessDate, externalAccountId } = statement
      if (externalAccountId === null) return []
      const account = yield* accountOf(externalAccountId)
      const next = yield* inDay(statement, placeInDayOf(statement) + 1)
      const after =
        next === null ? yield* nearestTo(account, { businessDate, side: "after" }) : [next]
      const own = after.filter((each) => each.instrumentId === instrumentId)
      const links = yield* Effect.forEach([statement, ...own], (each) =>
        linkOf(account, each, overdue)
      )
      return links.flat()
    })
  }
})

/**
 * The statement that precedes another one, of those of the nearest date before: that of the same source
 * and instrument, else one that closes as the other opens, else the first by source.
 */
const precedingOf = (
  { externalSourceId, instrumentId, opening }: ExternalStatement,
  before: ReadonlyArray<ExternalStatement>
): ExternalStatement | null => {
  const own = before.find(
    (other) => other.externalSourceId === externalSourceId && other.instrumentId === instrumentId
  )
  const [first = null] = before.toSorted((a, b) =>
    a.externalSourceId < b.externalSourceId ? -1 : 1
  )
  return own ?? before.find(({ closing }) => closing !== null && closing === opening) ?? first
}
