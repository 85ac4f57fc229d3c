/**
 * Look-ups of the statements that a check compares in a run: each statement in force once it is in force,
 * by a watermark of those that earlier runs compared
 * (docs/domain/reconciliation.md#statements-that-are-compared).
 */
import { Effect, Option, Stream } from "effect"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Instant from "../../kernel/Instant.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  type ExternalSource,
  externalSources
} from "../../statements/external-source/ExternalSource.ts"
import {
  type ExternalStatement,
  externalStatements,
  isInForce,
  orderOf,
  placeInDayOf
} from "../../statements/external-statement/ExternalStatement.ts"
import { feedKeyOf, latestOf } from "../../statements/external-statement/StatementLookups.ts"
import type { StatementKind } from "../../vocabulary/sets.ts"
import { DeferredStatement, ComparedFeed, NotCompared, type Note, type Point } from "./Check.ts"
import { type CheckMark, checkMarks, idOf } from "./CheckMark.ts"
import type { CheckName } from "../../vocabulary/ReconciliationChecks.ts"
import { sourceDateOf } from "./checks/OfStatement.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** A statement in force, with its source. */
export interface SourceStatement {
  readonly source: Stored<ExternalSource>
  readonly statement: Stored<ExternalStatement>
  /** Whether it is the newest of its source and instrument, by business date and place in the day. */
  readonly isNewest: boolean
}

/** Statements that a check compares in a run. */
interface StatementsToCompare {
  /** By source, oldest business date first. */
  readonly statements: ReadonlyArray<SourceStatement>
  /** Feeds that are compared whole, and statements of inactive sources, which wait. */
  readonly notes: ReadonlyArray<Note>
}

/** Largest number of statements of an inactive source that wait for it, the newest. */
const deferredMax = 100

/** Reason why a check compares no statement of a source; null: it compares them. */
export type LeavesOut = (source: ExternalSource) => string | null

/** Loads the sources of an instrument, of these kinds, in the order of their ids. */
const allSourcesOf = (
  { instrumentId }: InstrumentIdentity,
  { pin, sources = externalSourcesAt(pin) }: Point,
  kinds: ReadonlyArray<StatementKind>
) =>
  Effect.map(sources, (all) =>
    all.filter(
      ({ instruments, kind }) => kinds.includes(kind) && instruments.includes(instrumentId)
    )
  )

/** Loads all sources, inactive ones included, in the order of their ids. */
export const externalSourcesAt = (pin: Point["pin"]) =>
  Effect.flatMap(Records, (records) =>
    records.stream(externalSources, { pin }).pipe(
      Stream.map(({ record }) => record),
      Stream.runCollect
    )
  )

/**
 * Loads the statements of a source and an instrument that came since the watermark; all in force where
 * there is none. One that came before and was only pruned since is left out.
 */
const arrivedOf = (feed: string, mark: CheckMark | null, { pin }: Point) =>
  Effect.flatMap(Records, (records) =>
    records
      .stream(externalStatements, {
        pin,
        where: { inForce: [feed] },
        ...(mark === null ? {} : { updatedFrom: mark.writtenBy })
      })
      .pipe(
        Stream.map(({ record }) => record),
        Stream.filter(
          ({ prunedAt, receivedAt }) =>
            mark === null || prunedAt === undefined || Instant.atOrAfter(receivedAt, mark.writtenBy)
        ),
        Stream.runCollect
      )
  )

/** Loads the statements in force that the watermark names, by the key of their feed. */
const againOf = Effect.fnUntraced(function* (mark: CheckMark | null, { pin }: Point) {
  const records = yield* Records
  const found = yield* records.many(externalStatements, mark?.again ?? [], pin)
  return Map.groupBy(found.filter(isInForce), feedKeyOf)
})

const byDate = (a: ExternalStatement, b: ExternalStatement): number =>
  orderOf(a) < orderOf(b) ? -1 : 1

/**
 * Loads the statements in force that a check compares now: of each active source those that came since
 * its watermark, those that it names, and the newest. Statements of inactive sources wait. A source that
 * the check leaves out is named, with its newest statement.
 */
export const statementsToCompare = Effect.fnUntraced(function* (
  instrument: InstrumentIdentity,
  at: Point,
  {
    check,
    kinds,
    leavesOut = () => null
  }: {
    readonly check: CheckName
    readonly kinds: ReadonlyArray<StatementKind>
    readonly leavesOut?: LeavesOut
  }
) {
  const records = yield* Records
  const { instrumentId } = instrument
  const sources = yield* allSourcesOf(instrument, at, kinds)
  const none: StatementsToCompare = { statements: [], notes: [] }
  if (sources.length === 0) return none
  const mark = Option.getOrNull(
    yield* records.find(checkMarks, idOf({ check, instrumentId }), at.pin)
  )
  const again = yield* againOf(mark, at)
  const found: ReadonlyArray<StatementsToCompare> = yield* Effect.forEach(sources, (source) =>
    Effect.gen(function* () {
      const feed = { externalSourceId: source.externalSourceId as string, instrumentId }
      const key = feedKeyOf(feed)
      const arrived = yield* arrivedOf(key, mark, at)
      const due = [...arrived, ...(again.get(key) ?? [])]
      if (source.state === "inactive") {
        // Without a watermark all statements have arrived, also those of a source that ended long ago.
        const waiting = due.slice(-deferredMax)
        const ids = new Set(waiting.map(({ externalStatementId }): string => externalStatementId))
        const notes = [...ids].map((statementId): Note => new DeferredStatement({ statementId }))
        return { statements: [], notes } satisfies StatementsToCompare
      }
      const newest = Option.getOrNull(yield* latestOf(feed, at.pin))
      const why = leavesOut(source)
      if (why !== null) {
        const notes = newest === null ? [] : [leftOut({ statement: newest }, why)]
        return { statements: [], notes } satisfies StatementsToCompare
      }
      const byId = new Map(
        [...due, ...(newest === null ? [] : [newest])].map((self) => [
          self.externalStatementId,
          self
        ])
      )
      return {
        statements: [...byId.values()].toSorted(byDate).map((statement) => ({
          source,
          statement,
          isNewest: statement.externalStatementId === newest?.externalStatementId
        })),
        notes: [new ComparedFeed({ feed: key, hasNew: arrived.length > 0 || mark === null })]
      } satisfies StatementsToCompare
    })
  )
  return {
    statements: found.flatMap(({ statements }) => statements),
    notes: found.flatMap(({ notes }) => notes)
  } satisfies StatementsToCompare
})

/**
 * Reasons for which a statement can never be compared. One of the newest date keeps the check from
 * having run; an older one is named by the run that finds it so.
 */
const endless: ReadonlyArray<string> = ["before-horizon", "lines-deleted"]

/** Notes that a statement cannot be compared, for a reason. */
export const unreadable = (
  { isNewest, statement }: Pick<SourceStatement, "isNewest" | "statement">,
  why: string
): NotCompared =>
  new NotCompared({
    subject: {
      resourceKind: "external-source",
      id: sourceDateOf({ ...statement, placeInDay: placeInDayOf(statement) })
    },
    statementId: statement.externalStatementId,
    why,
    isNeeded: isNewest || !endless.includes(why)
  })

/** Notes that a check compares nothing of a statement, for a reason that waiting does not change. */
export const leftOut = (
  { statement }: Pick<SourceStatement, "statement">,
  why: string
): NotCompared =>
  new NotCompared({
    subject: { resourceKind: "external-source", id: statement.externalSourceId },
    statementId: statement.externalStatementId,
    why,
    isNeeded: false
  })
