/**
 * Pure rules of the statements in force of one business date: a new statement is the first of its date,
 * follows the last one of it, or corrects one of them (docs/domain/statements.md#several-statements-of-a-day).
 */
import { Result } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import { failed } from "../../kernel/Gates.ts"
import { type Refused, refused } from "../../kernel/Refusal.ts"
import type * as Port from "../../ports/StatementSource.ts"
import { type ExternalStatement, placeInDayOf } from "./ExternalStatement.ts"

/** Members of a statement by which it is placed among those of its date. */
export type PlacedStatement = Pick<
  ExternalStatement,
  "businessDate" | "closing" | "externalStatementId" | "kind" | "opening" | "prunedAt"
> & {
  readonly sequence?: ExternalStatement["sequence"]
  readonly placeInDay?: ExternalStatement["placeInDay"]
}

/** Place of a new statement, and the id of the statement of that place which it replaces. */
interface Place {
  readonly placeInDay: number
  readonly replaces: string | null
}

/** Compares numbers of statements; 0 where one of them has none. */
const bySequence = (a: string | undefined, b: string | undefined): number => {
  if (a === undefined || b === undefined) return 0
  return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0
}

/** Order of the statements of a file: by business date, then by the bank's number, then as they are. */
export const order = (a: Port.Header, b: Port.Header): number =>
  a.businessDate === b.businessDate
    ? bySequence(a.sequence, b.sequence)
    : a.businessDate < b.businessDate
      ? -1
      : 1

/**
 * Checks whether a statement follows another one of its date: both have a number of the bank, of which its own
 * is the larger one, and it opens with the balance with which the other closed.
 */
const isFollowing = (
  next: Pick<PlacedStatement, "opening" | "sequence">,
  last: Pick<PlacedStatement, "closing" | "sequence">
): boolean =>
  bySequence(last.sequence, next.sequence) < 0 &&
  next.opening !== null &&
  last.closing !== null &&
  Decimal.equals(next.opening, last.closing)

/** Members of the refusal of a statement at its place in the file; null: the file is the statement. */
export const at = (place: Port.StatementPlace | null, sentence: string) => {
  if (place === null) return { detail: sentence }
  const detail = `${sentence} (line ${place.line})`
  return { detail, errors: [{ pointer: `/body${place.pointer}`, detail }] }
}

/**
 * Finds the place of a new statement among those in force of its date, in their order. Refuses, condition
 * `statement-of-date`, one that neither is the first, nor follows the last, nor corrects one in force; and
 * the correction of a statement of cash whose lines retention has deleted: amounts that orders took of
 * them could not be found in the correction, and could pay twice.
 */
export const placeOf = (
  statement: PlacedStatement,
  {
    corrects,
    day,
    place
  }: {
    readonly day: ReadonlyArray<PlacedStatement>
    readonly corrects: string | null
    readonly place: Port.StatementPlace | null
  }
): Result.Result<Place, Refused<"rule-refused">> => {
  const { businessDate, kind } = statement
  const refuse = (detail: string) =>
    Result.fail(refused("rule-refused", failed("statement-of-date", at(place, detail))))
  const last = day.at(-1)
  if (corrects === null) {
    if (last === undefined) return Result.succeed({ placeInDay: 1, replaces: null })
    if (isFollowing(statement, last)) {
      return Result.succeed({ placeInDay: placeInDayOf(last) + 1, replaces: null })
    }
  }
  const replaced = day.find(({ externalStatementId }) => externalStatementId === corrects)
  if (replaced === undefined) {
    const ids = day.map(({ externalStatementId }) => externalStatementId)
    return refuse(
      ids.length === 0
        ? `No statement of ${businessDate} is there to be corrected.`
        : ids.length === 1
          ? `The statement of ${businessDate} in force is ${ids[0]}.`
          : `The statements of ${businessDate} in force are ${ids.join(", ")}.`
    )
  }
  if (kind === "cash" && replaced.prunedAt !== undefined) {
    const { externalStatementId } = replaced
    return refuse(`The lines of ${externalStatementId} are deleted: it is not corrected any more.`)
  }
  return Result.succeed({ placeInDay: placeInDayOf(replaced), replaces: corrects })
}

/**
 * Finds the statement of a file that corrects another one: that of its date, and of several of the date
 * the one with its number; undefined: none.
 */
export const correcting = <S extends { readonly header: Port.Header }>(
  read: ReadonlyArray<S>,
  corrected: Pick<PlacedStatement, "businessDate" | "sequence">
): S | undefined => {
  const ofDate = read.filter(({ header }) => header.businessDate === corrected.businessDate)
  const [only, ...others] = ofDate
  if (others.length === 0) return only
  return ofDate.find(
    ({ header: { sequence } }) => sequence !== undefined && sequence === corrected.sequence
  )
}
