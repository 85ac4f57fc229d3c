/**
 * Look-ups of the statements in force of business dates, and of the statements of a file that are among
 * them already (docs/domain/statements.md#several-statements-of-a-file).
 */
import { Effect, Stream } from "effect"
import { Settings } from "../../engine/Settings.ts"
import type * as Date from "../../kernel/Date.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import * as Port from "../../ports/StatementSource.ts"
import { Records, type Stored } from "../../records/Records.ts"
import * as Counterparties from "./Counterparties.ts"
import {
  type ExternalStatement,
  externalStatements,
  placeInDayOf,
  type StatementOfDate,
  statementsOfDates
} from "./ExternalStatement.ts"
import type { StagedFile } from "./Intake.ts"
import type { ReadStatement } from "./IntakeSteps.ts"
import * as StageSteps from "./StageSteps.ts"
import { type StatementFeed, feedKeyOf, linesOf } from "./StatementLookups.ts"

/** A statement in force of a business date, with its slot. */
interface InForce {
  readonly slot: Stored<StatementOfDate>
  readonly statement: Stored<ExternalStatement>
}

/** Loads the statements in force of business dates by their date, in the order of their places. */
export const daysOf = Effect.fnUntraced(function* (
  feed: StatementFeed,
  dates: ReadonlyArray<Date.Date>
) {
  const records = yield* Records
  const slots = yield* records
    .stream(statementsOfDates, {
      where: { feed: [feedKeyOf(feed)], businessDate: [...new Set(dates)] }
    })
    .pipe(
      Stream.map(({ record }) => record),
      Stream.runCollect
    )
  const found = yield* records.many(
    externalStatements,
    slots.map(({ externalStatementId }) => externalStatementId)
  )
  const byId = new Map(found.map((self): [string, typeof self] => [self.externalStatementId, self]))
  const days = Map.groupBy(
    slots
      .toSorted((a, b) => placeInDayOf(a) - placeInDayOf(b))
      .flatMap((slot): ReadonlyArray<InForce> => {
        const statement = byId.get(slot.externalStatementId)
        return statement === undefined ? [] : [{ slot, statement }]
      }),
    ({ slot }) => slot.businessDate
  )
  return days as ReadonlyMap<Date.Date, ReadonlyArray<InForce>>
})

/** Text of the members of a statement of cash that its lines do not have. */
const headerTextOf = (
  self: Pick<
    Port.Header,
    "asOf" | "businessDate" | "closing" | "currency" | "opening" | "period" | "reference"
  >,
  lines: number
): string =>
  JSON.stringify([
    self.businessDate,
    String(self.asOf),
    self.period === null ? null : [String(self.period.from), String(self.period.to)],
    self.reference,
    self.currency,
    self.opening === null ? null : Decimal.formatPlain(self.opening),
    self.closing === null ? null : Decimal.formatPlain(self.closing),
    lines
  ])

/** Checks whether a stored statement says of itself what one that was read says, but for its lines. */
const isLike = (stored: ExternalStatement, { header, lines }: ReadStatement): boolean =>
  stored.kind === "cash" &&
  stored.prunedAt === undefined &&
  headerTextOf(stored, stored.lineCount) === headerTextOf(header, lines) &&
  // A statement that was recorded before numbers were read has none.
  (stored.sequence === undefined || stored.sequence === header.sequence)

const encoder = new TextEncoder()

/** Text of an entry as its file states it. */
const entryTextOf = (
  self: Omit<Port.CashEntry, "kind" | "counterparty">,
  counterparty: Counterparties.Counterparty | null
): string =>
  JSON.stringify([
    self.bookingDate,
    self.valueDate,
    Decimal.formatPlain(self.amount),
    self.currency,
    self.direction,
    self.bankReference,
    self.reference,
    self.reversal === true,
    counterparty === null ? null : [counterparty.name, counterparty.account]
  ])

/** Digest of the lines of a stored statement of cash, in their order. */
const storedDigestOf = Effect.fnUntraced(function* (statement: ExternalStatement) {
  const crypto = yield* Crypto
  const { sealingKeys: keys } = yield* Settings
  const counterpartyOf = Counterparties.reader({ keys }, crypto)
  const digest = crypto.sha256Parts()
  yield* linesOf(statement).pipe(
    Stream.runForEach((line) =>
      Effect.sync(() => {
        if (line.kind === "cash") {
          digest.update(encoder.encode(entryTextOf(line, counterpartyOf(line))))
        }
      })
    )
  )
  return digest.digest()
})

/** Digests of the lines of each statement of a file, in the order of the file: reads the file again. */
const digestsOf = Effect.fnUntraced(function* ({
  reading,
  staged
}: {
  readonly reading: Port.Reading
  readonly staged: StagedFile
}) {
  const crypto = yield* Crypto
  const reader = yield* Port.StatementSource
  const digests: Array<string> = []
  let digest = crypto.sha256Parts()
  yield* reader.read(reading, StageSteps.bytesOf(staged)).pipe(
    Stream.runForEach((part) =>
      Effect.sync(() => {
        if (part.part === "header") {
          digests.push(digest.digest())
          digest = crypto.sha256Parts()
          return
        }
        for (const line of part.lines) {
          if (line.kind === "cash") {
            digest.update(encoder.encode(entryTextOf(line, line.counterparty)))
          }
        }
      })
    )
  )
  return digests
})

/**
 * Finds which statements of a file are in force already, with the same balances and the same lines: the
 * id of the statement in force, by that of the one that was read. Of a file with one statement none is:
 * other bytes of its date are another statement. The file is read again only where a date has a statement
 * with the same header.
 */
export const recordedIdsIn = Effect.fnUntraced(function* (
  feed: StatementFeed,
  file: {
    readonly reading: Port.Reading
    readonly staged: StagedFile
    readonly read: ReadonlyArray<ReadStatement>
    /** The statement of the file that corrects another one, and is never a known one. */
    readonly correcting: ReadStatement | undefined
  }
) {
  const recordedIds = new Map<string, string>()
  if (file.read.length < 2) return recordedIds
  const days = yield* daysOf(
    feed,
    file.read.map(({ header }) => header.businessDate)
  )
  const alike = file.read.flatMap((read) => {
    const day = read === file.correcting ? [] : (days.get(read.header.businessDate) ?? [])
    const found = day.find(({ statement }) => isLike(statement, read))
    return found === undefined ? [] : [{ read, statement: found.statement }]
  })
  if (alike.length === 0) return recordedIds
  const digests = yield* digestsOf(file)
  for (const { read, statement } of alike) {
    if (digests[read.index] === (yield* storedDigestOf(statement))) {
      recordedIds.set(read.externalStatementId, statement.externalStatementId)
    }
  }
  return recordedIds
})
