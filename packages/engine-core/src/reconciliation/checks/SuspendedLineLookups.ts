/** Look-ups of the segregated cash of an instrument, and of the suspended lines that it is for. */
import { Effect, Result, Stream } from "effect"
import { distributions } from "../../distributions/distribution/Distribution.ts"
import { distributionLines } from "../../distributions/distribution/DistributionLine.ts"
import { externalAccounts } from "../../holders/external-account/ExternalAccount.ts"
import type { Moment } from "../../findings/Finding.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import type { ExternalSource } from "../../statements/external-source/ExternalSource.ts"
import { feedKeyOf } from "../../statements/external-statement/StatementLookups.ts"
import {
  ComparedFeed,
  factsAndNotes,
  NotCompared,
  type Note,
  type NotedFacts,
  type Point
} from "./Check.ts"
import { latestOfEach, momentOf } from "./StatementCheckLookups.ts"
import {
  allSourcesOf,
  leftOut,
  type SourceStatement,
  unreadable
} from "./StatementsInForceLookups.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** The newest statement of a segregated account. */
export interface AccountStatement {
  readonly externalAccountId: string
  readonly statementId: string
  readonly businessDate: string
  readonly currency: string
  /** Null where the statement has no closing balance in the account's currency. */
  readonly closing: Decimal.Decimal | null
  readonly comparedAt: Moment
}

/** The segregated cash of an instrument in one currency. */
export interface SegregatedCash {
  readonly instrumentId: string
  /** The account; of several the first by its id. */
  readonly externalAccountId: string
  readonly currency: string
  /** Closing balances of all accounts. */
  readonly closing: Decimal.Decimal
  /** Net amounts of the suspended lines that pay cash, at the moment of the statement. */
  readonly suspended: Decimal.Decimal
  readonly statementId: string
  readonly comparedAt: Moment
}

/** Reason why the accounts of a currency cannot be compared. */
type Why = "closing-missing" | "dates-differ"

/** The accounts of one currency as one: their balances of one business date, at its latest moment. */
type SegregatedBalance = Omit<SegregatedCash, "instrumentId" | "suspended">

/**
 * Sums the closing balances of accounts of one currency. Balances of two business dates are not added
 * (`dates-differ`), and one that is missing is no zero (`closing-missing`).
 */
export const together = (
  accounts: readonly [AccountStatement, ...ReadonlyArray<AccountStatement>]
): Result.Result<SegregatedBalance, Why> => {
  const [first] = accounts.toSorted((a, b) => (a.externalAccountId < b.externalAccountId ? -1 : 1))
  const [latest] = accounts.toSorted((a, b) =>
    Instant.order(b.comparedAt.instant, a.comparedAt.instant)
  )
  const closings = accounts.flatMap(({ closing }) => closing ?? [])
  if (first === undefined || latest === undefined) throw new Error("there is an account")
  if (accounts.some(({ businessDate }) => businessDate !== first.businessDate)) {
    return Result.fail("dates-differ")
  }
  if (closings.length < accounts.length) return Result.fail("closing-missing")
  const { externalAccountId, currency } = first
  const { comparedAt, statementId } = latest
  return Result.succeed({
    externalAccountId,
    currency,
    closing: Decimal.sum(closings),
    comparedAt,
    statementId
  })
}

/** Checks whether a distribution of the instrument was ever made. */
const hasDistribution = Effect.fnUntraced(function* (
  { instrumentId }: InstrumentIdentity,
  { pin }: Point
) {
  const records = yield* Records
  const where = { instrumentId: [instrumentId] }
  return (yield* records.list(distributions, { pin, where, limit: 1 })).length > 0
})

/** A balance of a segregated account, with the statement that has it and the pin of its moment. */
interface AccountBalance {
  readonly element: SourceStatement
  readonly accountStatement: AccountStatement
  readonly pin: Pin.ResolvedPin
}

/**
 * Notes that the balance of an account was compared, under each of its sources: an earlier finding on the
 * account may name a statement of any of them.
 */
const comparedFeeds = (
  externalAccountId: string,
  sources: ReadonlyArray<ExternalSource>,
  { instrumentId }: InstrumentIdentity
): ReadonlyArray<Note> =>
  sources
    .filter(({ account }) => account === externalAccountId)
    .map(
      ({ externalSourceId }) =>
        new ComparedFeed({ feed: feedKeyOf({ externalSourceId, instrumentId }), hasNew: false })
    )

/**
 * Loads the newest statement of each segregated account of the instrument. An account without a statement,
 * with statements that have no balances, or with one of a moment that cannot be read, is named.
 */
const statedOf = Effect.fnUntraced(function* (instrument: InstrumentIdentity, at: Point) {
  const records = yield* Records
  const { pin } = at
  const where = { instrumentId: [instrument.instrumentId], kind: ["cash"] }
  const segregated = yield* records.stream(externalAccounts, { pin, where }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter((account) => account.segregated),
    Stream.runCollect
  )
  if (segregated.length === 0) return []
  const all = yield* latestOfEach(instrument, at, ["cash"])
  return yield* Effect.forEach(
    segregated,
    Effect.fnUntraced(function* ({ currency, externalAccountId }) {
      const own = all.filter(({ statement }) => statement.externalAccountId === externalAccountId)
      const balanced = own.filter(({ source }) => source.balances === "stated")
      const [first, ...others] = balanced
      if (first === undefined) {
        const [unbalanced] = own
        const subject = { resourceKind: "external-account", id: externalAccountId } as const
        const why = "statement-missing"
        return unbalanced === undefined
          ? new NotCompared({ subject, statementId: null, why, isNeeded: false })
          : leftOut(unbalanced, "balances-none")
      }
      const element = others.reduce(
        (newest, other) =>
          newest.statement.businessDate < other.statement.businessDate ? other : newest,
        first
      )
      const { statement } = element
      return yield* momentOf(element, at).pipe(
        Effect.map(({ pin: then, comparedAt }): AccountBalance | Note => {
          const accountStatement: AccountStatement = {
            externalAccountId,
            statementId: statement.externalStatementId,
            businessDate: statement.businessDate,
            currency: currency ?? statement.currency,
            closing: statement.closing,
            comparedAt
          }
          return { element, accountStatement, pin: then }
        }),
        Effect.catchTag("CheckNotRun", ({ why }) => Effect.succeed(unreadable(element, why)))
      )
    })
  )
})

/**
 * Sums the net amounts of the suspended lines of an instrument that pay cash, by currency, as
 * recorded up to a moment. The engine suspends a line at no offset of its own, so the time of
 * recording counts.
 */
const suspendedAt = Effect.fnUntraced(function* (
  { instrumentId }: InstrumentIdentity,
  then: Pin.ResolvedPin
) {
  const records = yield* Records
  const pin: Pin.ResolvedPin = { ...then, select: { by: "snapshot", instant: then.judgedAt } }
  const where = { open: [instrumentId], state: ["suspended"] }
  const byDistribution = new Map<string, Decimal.Decimal>()
  yield* records.stream(distributionLines, { pin, where }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter(({ payout }) => payout === "cash"),
    Stream.runForEach(({ distributionId, net }) =>
      Effect.sync(() => {
        const sum = byDistribution.get(distributionId) ?? Decimal.zero
        byDistribution.set(distributionId, Decimal.add(sum, net))
      })
    )
  )
  const found = yield* records.many(distributions, [...byDistribution.keys()], pin)
  const byCurrency = new Map<string, Decimal.Decimal>()
  for (const { currency, distributionId } of found) {
    const net = byDistribution.get(distributionId) ?? Decimal.zero
    byCurrency.set(currency, Decimal.add(byCurrency.get(currency) ?? Decimal.zero, net))
  }
  return byCurrency
})

/**
 * Streams the segregated cash of an instrument by currency, beside its suspended lines at the moment
 * of the newest statements; what cannot be compared is named. Empty where there is no distribution or no
 * segregated account.
 */
export const segregated = (instrument: InstrumentIdentity, at: Point): NotedFacts<SegregatedCash> =>
  Stream.fromIterableEffect(
    Effect.gen(function* () {
      if (!(yield* hasDistribution(instrument, at))) return []
      const found = yield* statedOf(instrument, at)
      const sources = yield* allSourcesOf(instrument, at, ["cash"])
      const { facts: statements, notes } = factsAndNotes(found)
      const byCurrency = Map.groupBy(statements, (each) => each.accountStatement.currency)
      const facts = yield* Effect.forEach([...byCurrency.values()], (accounts) =>
        Effect.gen(function* () {
          const [first, ...others] = accounts
          if (first === undefined) return yield* Effect.die(new Error("a group has an account"))
          const balances = [
            first.accountStatement,
            ...others.map((other) => other.accountStatement)
          ] as const
          const summed = together(balances)
          if (Result.isFailure(summed)) {
            const why = summed.failure
            const unclosed = accounts.filter((each) => each.accountStatement.closing === null)
            return (why === "closing-missing" ? unclosed : accounts).map(({ element }) =>
              unreadable(element, why)
            )
          }
          const { comparedAt, currency } = summed.success
          const pin =
            accounts.find((each) => each.accountStatement.comparedAt === comparedAt)?.pin ??
            first.pin
          const suspended = (yield* suspendedAt(instrument, pin)).get(currency) ?? Decimal.zero
          return [
            ...balances.flatMap(({ externalAccountId }) =>
              comparedFeeds(externalAccountId, sources, instrument)
            ),
            { ...summed.success, instrumentId: instrument.instrumentId, suspended }
          ]
        })
      )
      return [...facts.flat(), ...notes]
    })
  )
