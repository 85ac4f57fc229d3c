/**
 * Look-ups of the statements that a check compares in a run: each statement in force once it is in force,
 * by a watermark of those that earlier runs compared
 * (docs/domain/reconciliation.md#statements-that-are-compared).
 */
import { Effect, Option, Stream } from "effect"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
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
import type { CheckName } from "../../vocabulary/ReconciliationChecks.ts"
import { type CheckMark, checkMarks, idOf } from "../run/CheckMark.ts"
import {
  type CheckNotRun,
  ComparedFeed,
  DeferredStatement,
  NotCompared,
  type Note,
  type Point
} from "./Check.ts"
import { sourceDateOf } from "./OfStatement.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** A statement in force, with its source. */
export interface SourceStatement {
  readonly source: Stored<ExternalSource>
  readonly statement: Stored<ExternalStatement>
  /** Whether it is the newest of its source and instrument, by business date and place in the day. */
  readonly isNewest: boolean
}

/** Statements of one source that a check compares in a run. */
interface SourceToCompare {
  readonly source: Stored<ExternalSource>
  /** Null where there is none, and of an inactive source. */
  readonly newest: Stored<ExternalStatement> | null
  /** Oldest business date first; none of an inactive source. */
  readonly statements: ReadonlyArray<SourceStatement>
  /** The feed, which is compared whole; of an inactive source the statements that wait for it. */
  readonly notes: ReadonlyArray<Note>
}

/** Largest number of statements of an inactive source that wait for it, the newest. */
const deferredMax = 100

/** Loads the sources of an instrument, of these kinds, inactive ones included, in the order of their ids. */
export const allSourcesOf = (
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
  if (mark === null || mark.again.length === 0) return new Map<string, ReadonlyArray<never>>()
  const records = yield* Records
  const found = yield* records.many(externalStatements, mark.again, pin)
  return Map.groupBy(found.filter(isInForce), feedKeyOf)
})

const byDate = (a: ExternalStatement, b: ExternalStatement): number =>
  orderOf(a) < orderOf(b) ? -1 : 1

/**
 * Loads the sources of an instrument with the statements in force that a check compares now: of each
 * active source those that came since its watermark, those that it names, and the newest. Statements of
 * inactive sources wait.
 */
export const sourcesToCompare = Effect.fnUntraced(function* (
  instrument: InstrumentIdentity,
  at: Point,
  { check, kinds }: { readonly check: CheckName; readonly kinds: ReadonlyArray<StatementKind> }
) {
  const records = yield* Records
  const { instrumentId } = instrument
  const sources = yield* allSourcesOf(instrument, at, kinds)
  if (sources.length === 0) return []
  const mark = Option.getOrNull(
    yield* records.find(checkMarks, idOf({ check, instrumentId }), at.pin)
  )
  const again = yield* againOf(mark, at)
  return yield* Effect.forEach(
    sources,
    Effect.fnUntraced(function* (source) {
      const feed = { externalSourceId: source.externalSourceId as string, instrumentId }
      const key = feedKeyOf(feed)
      const arrived = yield* arrivedOf(key, mark, at)
      const due = [...arrived, ...(again.get(key) ?? [])]
      if (source.state === "inactive") {
        // Without a watermark all statements have arrived, also those of a source that ended long ago.
        const waiting = due.slice(-deferredMax)
        const ids = new Set(waiting.map(({ externalStatementId }): string => externalStatementId))
        const notes = [...ids].map((statementId): Note => new DeferredStatement({ statementId }))
        return { source, newest: null, statements: [], notes } satisfies SourceToCompare
      }
      const newest = Option.getOrNull(yield* latestOf(feed, at.pin))
      const byId = new Map(
        [...due, ...(newest === null ? [] : [newest])].map((self) => [
          self.externalStatementId,
          self
        ])
      )
      return {
        source,
        newest,
        statements: [...byId.values()].toSorted(byDate).map((statement) => ({
          source,
          statement,
          isNewest: statement.externalStatementId === newest?.externalStatementId
        })),
        notes: [new ComparedFeed({ feed: key, hasNew: arrived.length > 0 || mark === null })]
      } satisfies SourceToCompare
    })
  )
})

/** A source of which a check compares nothing, for a reason: its newest statement is named. */
export const withoutStatements = (self: SourceToCompare, why: string): SourceToCompare =>
  self.source.state === "inactive"
    ? self
    : {
        ...self,
        statements: [],
        notes: self.newest === null ? [] : [leftOut({ statement: self.newest }, why)]
      }

export const notesOf = (sources: ReadonlyArray<SourceToCompare>): ReadonlyArray<Note> =>
  sources.flatMap(({ notes }) => notes)

export const statementsOf = (
  sources: ReadonlyArray<SourceToCompare>
): ReadonlyArray<SourceStatement> => sources.flatMap(({ statements }) => statements)

/** Names the statement where its facts cannot be read. */
export const orUnreadable = <F, R>(
  facts: Effect.Effect<ReadonlyArray<F>, CheckNotRun | Unavailable, R>,
  element: Pick<SourceStatement, "isNewest" | "statement">
): Effect.Effect<ReadonlyArray<F | NotCompared>, Unavailable, R> =>
  Effect.catchTag(facts, "CheckNotRun", ({ why }) => Effect.succeed([unreadable(element, why)]))

/** Reasons (`why`) for which a check cannot compare a statement with itself, by its moment. */
export const ownReasons = {
  "not-reached": "the projection has not read up to the statement's moment",
  "as-of-ahead": "the statement's moment is later than the run"
}

/** Reasons for which a check cannot compare a statement with the records of its moment. */
export const momentReasons = {
  ...ownReasons,
  "before-horizon": "the history that is kept begins after the statement's moment"
}

/** Reason for which a check cannot compare the lines of a statement. */
export const lineReasons = { "lines-deleted": "retention has deleted the statement's lines" }

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
