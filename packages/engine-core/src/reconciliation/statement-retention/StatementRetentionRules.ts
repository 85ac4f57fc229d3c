/**
 * Judgement of retention over statements, pure: whether the lines and the bytes of a statement may be
 * deleted (docs/domain/statements.md#retention).
 */
import * as Retention from "../../engine/Retention.ts"
import type { Finding } from "../../findings/Finding.ts"
import * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { LegalHold } from "../../ports/storage/Feed.ts"
import type { ExternalStatement } from "../../statements/external-statement/ExternalStatement.ts"

/** A statement, and the one in force of its source, instrument and date: itself, or its correction. */
export interface DatedStatement {
  readonly statement: ExternalStatement
  readonly inForce: ExternalStatement
}

/** Statements that findings keep. */
interface NeededByFindings {
  /** Receipt of the oldest statement that open findings may need, by source and instrument. */
  readonly floors: ReadonlyMap<string, Instant.Instant>
  /** Statements that open or accepted findings name. */
  readonly named: ReadonlySet<string>
}

const isPast = (
  { inForce, statement }: DatedStatement,
  { before }: { readonly before: Instant.Instant }
): boolean =>
  Instant.isBefore(statement.receivedAt, before) && Instant.isBefore(inForce.receivedAt, before)

/**
 * Checks whether a legal hold keeps a statement. Lines name holders only by hashes and by texts of a
 * bank, so that a holder under legal hold keeps each statement of holdings and of cash.
 */
const isHeld = (
  { instrumentId, kind }: ExternalStatement,
  { legalHold }: { readonly legalHold: LegalHold }
): boolean =>
  Retention.isHeld(legalHold, { holderId: null, instrumentId }) ||
  (legalHold.holderIds.length > 0 && (kind === "holdings" || kind === "cash"))

/** Checks whether a statement and its correction are past their period, and under no legal hold. */
export const isDue = (
  dated: DatedStatement,
  terms: { readonly before: Instant.Instant; readonly legalHold: LegalHold }
): boolean => isPast(dated, terms) && !isHeld(dated.statement, terms)

/**
 * Last business date of statements that were received before an instant: none is of a day to come in
 * its own zone, and no zone is a day ahead of UTC.
 */
export const lastDateBefore = (before: Instant.Instant): Date.Date =>
  Date.next(Instant.date(before))

/** Key of a source's statements of an instrument. */
const feedOf = ({ externalSourceId, instrumentId }: ExternalStatement): string =>
  `${externalSourceId}/${instrumentId}`

/** Statements that findings keep, by the statement that each compared; `named` is by id. */
export const neededBy = (
  findings: Iterable<Pick<Finding, "state" | "firstSeenAt" | "statementId">>,
  named: ReadonlyMap<string, ExternalStatement>
): NeededByFindings => {
  const floors = new Map<string, Instant.Instant>()
  for (const { firstSeenAt, state, statementId } of findings) {
    const compared = named.get(statementId ?? "")
    if (compared === undefined || state !== "open") continue
    const feed = feedOf(compared)
    const oldest = Instant.min(firstSeenAt, compared.receivedAt)
    floors.set(feed, Instant.min(floors.get(feed) ?? oldest, oldest))
  }
  return { floors, named: new Set(named.keys()) }
}

/**
 * Checks whether findings need a statement: one names it, or it is not older than the oldest that open
 * findings of its source may need.
 */
export const isNeeded = (
  { inForce, statement }: DatedStatement,
  { floors, named }: NeededByFindings
): boolean => {
  const floor = floors.get(feedOf(inForce))
  return (
    named.has(statement.externalStatementId) ||
    named.has(inForce.externalStatementId) ||
    (floor !== undefined && Instant.atOrAfter(inForce.receivedAt, floor))
  )
}
