/**
 * Look-ups of statements in force, by source, instrument and business date, and of their lines.
 */
import { Effect, Option, Stream } from "effect"
import type * as Date from "../../kernel/Date.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Bulk } from "../../ports/storage/Bulk.ts"
import { orUnavailable } from "../../records/PortFailure.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  dateKeyOf,
  type ExternalStatement,
  externalStatements,
  isInForce,
  ownerOf,
  statementsOfDates
} from "./ExternalStatement.ts"
import * as LineRows from "./LineRows.ts"
import type { CashEntry, StatementLine } from "./StatementLine.ts"

/** A source's statements of an instrument. */
export interface StatementFeed {
  readonly externalSourceId: string
  readonly instrumentId: string
}

/** Value of the filter `inForce` of a source's statements of an instrument. */
export const feedKeyOf = ({ externalSourceId, instrumentId }: StatementFeed): string =>
  `${externalSourceId}/${instrumentId}`

/** Finds the statement in force of a business date; none: it has not come. */
export const inForceOf = Effect.fnUntraced(function* (
  feed: StatementFeed & { readonly businessDate: Date.Date },
  pin?: Pin.ResolvedPin
) {
  const records = yield* Records
  const slot = yield* records.find(statementsOfDates, dateKeyOf(feed), pin)
  if (Option.isNone(slot)) return Option.none<Stored<ExternalStatement>>()
  return yield* records.find(externalStatements, slot.value.externalStatementId, pin)
})

/** Finds the statement in force of the newest business date; none: no statement has come. */
export const latestOf = Effect.fnUntraced(function* (feed: StatementFeed, pin?: Pin.ResolvedPin) {
  const records = yield* Records
  const [newest] = yield* records.list(externalStatements, {
    where: { inForce: [feedKeyOf(feed)] },
    direction: "desc",
    limit: 1,
    ...(pin === undefined ? {} : { pin })
  })
  return Option.fromUndefinedOr(newest?.record)
})

/**
 * Streams the statements of cash of an instrument in force whose lines are stored, oldest business date
 * first: of every source, also of one that is inactive or serves the instrument no longer, since what
 * it stated may still pay an order.
 */
export const cashInForce = (
  { instrumentId }: Pick<StatementFeed, "instrumentId">,
  pin: Pin.ResolvedPin
) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records
        .stream(externalStatements, {
          where: { instrumentId: [instrumentId], kind: ["cash"] },
          pin
        })
        .pipe(
          Stream.map(({ record }) => record),
          Stream.filter((self) => isInForce(self) && self.prunedAt === undefined)
        )
    )
  )

type StatementWithLines = Pick<ExternalStatement, "externalStatementId" | "kind">

/** Lines that are read at a time. */
const pageMax = 1_000

/** Streams the rows of an owner in the order of their keys, a keyset page at a time. */
const rowsOf = (owner: string) =>
  Stream.paginate("", (after: string) =>
    Effect.gen(function* () {
      const bulk = yield* Bulk
      const page = { owner, limit: pageMax, ...(after === "" ? {} : { after }) }
      const rows = yield* orUnavailable(bulk.read(page))
      const isLast = rows.length < pageMax
      return [rows, isLast ? Option.none() : Option.fromUndefinedOr(rows.at(-1)?.key)] as const
    })
  )

/**
 * Streams the lines of a statement in file order, in constant memory; none of one whose lines
 * retention has deleted.
 */
export const linesOf = (
  statement: StatementWithLines
): Stream.Stream<StatementLine, Unavailable, Bulk> =>
  statement.kind === "nav"
    ? Stream.empty
    : rowsOf(ownerOf(statement)).pipe(Stream.map((row) => LineRows.lineOf(row)))

/** Lines that one look-up finds. */
const foundAtOnce = 500

/** Finds the lines of a statement with these numbers, in file order; a few look-ups, however many lines. */
export const linesAt = Effect.fnUntraced(function* (
  statement: StatementWithLines,
  lines: Iterable<number>
) {
  const bulk = yield* Bulk
  const owner = ownerOf(statement)
  const wanted = [...new Set(lines)].toSorted((a, b) => a - b)
  const found: Array<StatementLine> = []
  for (let from = 0; from < wanted.length; from += foundAtOnce) {
    const keys = wanted.slice(from, from + foundAtOnce).map(LineRows.keyOf)
    const rows = yield* orUnavailable(bulk.find({ owner, keys }))
    for (const row of rows) found.push(LineRows.lineOf(row))
  }
  return found
})

/** Picks the entries of cash among lines. */
const entriesIn = (lines: ReadonlyArray<StatementLine>): ReadonlyArray<CashEntry> =>
  lines.flatMap((line) => (line.kind === "cash" ? [line] : []))

/** Finds the entries of a statement of cash with these numbers, in file order. */
export const cashAt = (statement: StatementWithLines, lines: Iterable<number>) =>
  Effect.map(linesAt(statement, lines), entriesIn)
