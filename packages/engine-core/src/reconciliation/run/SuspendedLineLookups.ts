/** Look-ups of the segregated cash of an instrument, and of the suspended lines that it is for. */
import { Effect, Result, Stream } from "effect"
import { distributions } from "../../distributions/distribution/Distribution.ts"
import { distributionLines } from "../../distributions/distribution/DistributionLine.ts"
import { externalAccounts } from "../../holders/external-account/ExternalAccount.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { Records } from "../../records/Records.ts"
import { CheckNotRun, type Point } from "./Check.ts"
import * as SuspendedLines from "./checks/SuspendedLines.ts"
import { type Facts, type Latest, latestOfEach, momentOf } from "./StatementCheckLookups.ts"

type Of = Pick<Instrument, "instrumentId">

/** Checks whether a distribution of the instrument was ever made. */
const hasDistribution = Effect.fnUntraced(function* ({ instrumentId }: Of, { pin }: Point) {
  const records = yield* Records
  const where = { instrumentId: [instrumentId] }
  return (yield* records.list(distributions, { pin, where, limit: 1 })).length > 0
})

/** Loads the newest statement of each segregated account of the instrument, by account. */
const statedOf = Effect.fnUntraced(function* (instrument: Of, at: Point) {
  const records = yield* Records
  const { pin } = at
  const where = { instrumentId: [instrument.instrumentId], kind: ["cash"] }
  const segregated = yield* records.stream(externalAccounts, { pin, where }).pipe(
    Stream.map(({ record }) => record),
    Stream.filter((account) => account.segregated),
    Stream.runCollect
  )
  if (segregated.length === 0) return []
  const currencyOf = new Map<string, string | null>(
    segregated.map(({ externalAccountId, currency }) => [externalAccountId, currency])
  )
  const newest = new Map<string, Latest>()
  for (const latest of yield* latestOfEach(instrument, at, ["cash"])) {
    const { businessDate, externalAccountId } = latest.statement
    if (externalAccountId === null || !currencyOf.has(externalAccountId)) continue
    const other = newest.get(externalAccountId)
    if (other === undefined || other.statement.businessDate < businessDate) {
      newest.set(externalAccountId, latest)
    }
  }
  return yield* Effect.forEach([...newest], ([externalAccountId, latest]) =>
    Effect.map(momentOf(latest, at), ({ pin: then, comparedAt }) => {
      const { businessDate, closing, currency, externalStatementId } = latest.statement
      const stated: SuspendedLines.Stated = {
        externalAccountId,
        statementId: externalStatementId,
        businessDate,
        currency: currencyOf.get(externalAccountId) ?? currency,
        closing,
        comparedAt
      }
      return { stated, pin: then }
    })
  )
})

/**
 * Sums the net amounts of the suspended lines of an instrument that pay cash, by currency, as
 * recorded up to a moment. The engine suspends a line at no offset of its own, so the time of
 * recording counts.
 */
const suspendedAt = Effect.fnUntraced(function* ({ instrumentId }: Of, then: Pin.Resolved) {
  const records = yield* Records
  const pin: Pin.Resolved = { ...then, select: { by: "snapshot", instant: then.judgedAt } }
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
 * of the newest statements. Empty where there is no distribution, no segregated account or no
 * statement.
 */
export const segregated = (instrument: Of, at: Point): Facts<SuspendedLines.Segregated> =>
  Stream.fromIterableEffect(
    Effect.gen(function* () {
      if (!(yield* hasDistribution(instrument, at))) return []
      const stated = yield* statedOf(instrument, at)
      const byCurrency = Map.groupBy(stated, (of) => of.stated.currency)
      return yield* Effect.forEach([...byCurrency.values()], (of) =>
        Effect.gen(function* () {
          const [first, ...others] = of
          if (first === undefined) return yield* Effect.die(new Error("a group has an account"))
          const balances = [first.stated, ...others.map((other) => other.stated)] as const
          const summed = SuspendedLines.together(balances)
          if (Result.isFailure(summed)) return yield* new CheckNotRun({ why: summed.failure })
          const { comparedAt, currency } = summed.success
          const pin = of.find((each) => each.stated.comparedAt === comparedAt)?.pin ?? first.pin
          const suspended = (yield* suspendedAt(instrument, pin)).get(currency) ?? Decimal.zero
          return { ...summed.success, instrumentId: instrument.instrumentId, suspended }
        })
      )
    })
  )
