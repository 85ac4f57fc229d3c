/**
 * Look-ups of the booked lines of bank statements that may have something left, by the index of what
 * orders took: parts of statements that orders took whole are not read.
 */
import { Effect, Stream } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records } from "../../records/Records.ts"
import {
  type ExternalStatement,
  ownerOf
} from "../../statements/external-statement/ExternalStatement.ts"
import * as LineRows from "../../statements/external-statement/LineRows.ts"
import type { CashEntry } from "../../statements/external-statement/StatementLine.ts"
import * as Part from "./CashLinePart.ts"
import { cashLines } from "./CashTaking.ts"

/** Number of records that are looked up together. */
const recordsMax = 500

/** Number of rows that are read together. */
const rowsMax = 1_000

type StatementLines = Pick<ExternalStatement, "externalStatementId" | "lineCount">

/** Loads records by id, a bounded number at a time. */
export const chunked = <A, E, R>(
  ids: ReadonlyArray<string>,
  load: (ids: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<A>, E, R>
) =>
  Stream.fromIterable(ids).pipe(
    Stream.grouped(recordsMax),
    Stream.mapEffect((some) => load(some)),
    Stream.flatMap((found) => Stream.fromIterable(found)),
    Stream.runCollect
  )

/**
 * Loads the parts of statements, by the id of the statement. A part that no taking has opened gets the
 * amounts that were taken before the index existed.
 */
export const partsOf = Effect.fnUntraced(function* (
  statements: ReadonlyArray<StatementLines>,
  pin: Pin.ResolvedPin
) {
  const records = yield* Records
  const every = statements.flatMap(({ externalStatementId, lineCount }) =>
    Array.from({ length: Part.partsOf(lineCount) }, (_, part) => ({
      statementId: externalStatementId as string,
      part
    }))
  )
  const stored = yield* chunked(every.map(Part.idOf), (ids) =>
    records.many(Part.cashLineParts, ids, pin)
  )
  const byId = new Map<string, Part.CashLinePart>(stored.map((part) => [Part.idOf(part), part]))
  const absent = every.filter((part) => !byId.has(Part.idOf(part)))
  const takenOf = [...new Set(absent.map(({ statementId }) => statementId))]
  const taken =
    takenOf.length === 0
      ? []
      : yield* records.stream(cashLines, { pin, where: { takenOf } }).pipe(
          Stream.map(({ record }) => record),
          Stream.runCollect
        )
  const marks = Map.groupBy(taken, (line) => Part.idOf({ ...line, part: Part.partOf(line) }))
  for (const part of absent) {
    const lines = marks.get(Part.idOf(part)) ?? []
    const matches = lines.map((line) => ({ line: line.line, match: Part.matchOf(line) }))
    byId.set(Part.idOf(part), Part.marked(Part.untaken(part), matches))
  }
  return Map.groupBy(
    every.flatMap((part) => byId.get(Part.idOf(part)) ?? []),
    ({ statementId }) => statementId
  )
})

/** Spans of lines that have every line with something left: adjacent parts are one span. */
export const spansOf = (
  parts: ReadonlyArray<Part.CashLinePart>,
  statement: Pick<ExternalStatement, "lineCount">
): ReadonlyArray<Part.Span> =>
  parts
    .flatMap((part) => Part.openSpanOf(part, statement) ?? [])
    .reduce<ReadonlyArray<Part.Span>>((spans, span) => {
      const last = spans.at(-1)
      return last !== undefined && last.through + 1 === span.from
        ? spans.with(-1, { from: last.from, through: span.through })
        : [...spans, span]
    }, [])

/** Streams the entries of a span, page by page; none where retention has deleted them. */
const entriesOf = (
  statement: Pick<ExternalStatement, "externalStatementId">,
  { from, through }: Part.Span
) =>
  Stream.range(0, Math.floor((through - from) / rowsMax)).pipe(
    Stream.mapEffect((page) =>
      Effect.gen(function* () {
        const bulk = yield* Bulk
        const first = from + page * rowsMax
        const limit = Math.min(rowsMax, through - first + 1)
        const owner = ownerOf(statement)
        const rows = yield* orUnavailable(
          bulk.read({ owner, after: LineRows.keyOf(first - 1), limit })
        )
        return rows
          .map((row) => LineRows.lineOf(row))
          .flatMap((line): ReadonlyArray<CashEntry> => (line.kind === "cash" ? [line] : []))
      })
    )
  )

/**
 * Streams the entries of a statement that its own lines have something left of, page by page in file
 * order. A copy in another statement may have been taken: that is for the caller to find.
 */
export const openEntriesOf = (
  statement: StatementLines,
  parts: ReadonlyArray<Part.CashLinePart>
) => {
  const partsByNumber = new Map(parts.map((part) => [part.part, part]))
  const isOpen = ({ line }: CashEntry): boolean => {
    const part = partsByNumber.get(Part.partOf({ line }))
    return part === undefined || Part.matchIn(part, line) !== "matched"
  }
  return Stream.fromIterable(spansOf(parts, statement)).pipe(
    Stream.flatMap((span) => entriesOf(statement, span)),
    Stream.map((entries) => entries.filter(isOpen))
  )
}
