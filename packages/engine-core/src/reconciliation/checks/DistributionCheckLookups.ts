/** Look-ups of the checks of distributions: their lines, stored and computed again, and sums. */
import { Effect, Option, Stream } from "effect"
import {
  type Distribution,
  distributions,
  shownDistributions
} from "../../distributions/distribution/Distribution.ts"
import {
  type DistributionLine,
  distributionLines,
  lineIdOf
} from "../../distributions/distribution/DistributionLine.ts"
import { distributionContracts } from "../../distributions/distribution/DistributionContract.ts"
import { lastExecuted } from "../../distributions/distribution/DistributionLookups.ts"
import {
  type DistributionPlan,
  distributionPlans,
  sourceOfPlan
} from "../../distributions/distribution/DistributionPlan.ts"
import { linesAgain, type PayeeLine } from "../../distributions/distribution/LineFigureLookups.ts"
import { countsOf } from "../../distributions/distribution/LineLookups.ts"
import * as LinesHash from "../../distributions/distribution/LinesHashRules.ts"
import { accruedOn } from "../../distributions/distribution/TotalsRules.ts"
import { lowestRead } from "../../distributions/distribution/KeptHistoryLookups.ts"
import { offsetsOf } from "../../distributions/distribution/PayeeLookups.ts"
import type { HistoryKeeper } from "../../feeds/HistoryKeeper.ts"
import { findings } from "../../findings/Finding.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Currency from "../../kernel/Currency.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Rational from "../../kernel/Rational.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Crypto } from "../../ports/Crypto.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { CheckNotRun, NotCompared, type Point, readableFirst } from "./Check.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">

/** Figures of a line that are compared, in the order in which they are computed. */
export const figureNames = [
  "units",
  "entitlement",
  "carryIn",
  "gross",
  "equalisation",
  "rate",
  "withheld",
  "net",
  "carryOut",
  "payoutUnits"
] as const
export type FigureName = (typeof figureNames)[number]

type Figures = Readonly<Record<FigureName, Decimal.Decimal | null>>

/** The distribution of a fact. */
export interface OfDistribution {
  readonly instrumentId: string
  readonly distributionId: string
  readonly currency: string
}

/** One line, computed again and as it is stored. */
export interface RecomputedLine extends OfDistribution {
  readonly of: "line"
  readonly lineId: string
  /** Null where the party is no holder of the venue. */
  readonly holderId: string | null
  readonly expected: Figures
  /** Null where no such line is stored. */
  readonly actual: Figures | null
}

/** All lines of one distribution: their number, and whether they have the hash that was signed. */
export interface RecomputedWhole extends OfDistribution {
  readonly of: "lines"
  readonly expectedCount: number
  readonly actualCount: number
  readonly isHashed: boolean
}

/** A distribution of a snapshot, of which neither pins nor the lines that ended are known. */
export interface UnplannedDistribution extends OfDistribution {
  readonly of: "unplanned"
}

export type RecomputedFact = RecomputedLine | RecomputedWhole | UnplannedDistribution

/** Sums of a distribution's lines, in currency unless said. */
interface LineSums {
  readonly entitlement: Decimal.Decimal
  readonly gross: Decimal.Decimal
  readonly equalisation: Decimal.Decimal
  readonly withheld: Decimal.Decimal
  readonly net: Decimal.Decimal
  readonly carryOut: Decimal.Decimal
  /** In units; 0 where none are paid. */
  readonly payoutUnits: Decimal.Decimal
}

/** Sums of a distribution as the ledger sealed them and as its lines have them. */
export interface IdentityFact {
  readonly instrumentId: string
  readonly distributionId: string
  readonly currency: string
  /** Number and sums of lines as the ledger sealed them. */
  readonly sealed: LineSums & { readonly lines: number }
  readonly stored: LineSums & {
    readonly lines: number
    readonly carryIn: Decimal.Decimal
    /** Due less gross and carryOut of the lines with units: what would be lost. */
    readonly lost: Decimal.Decimal
    /** Number of lines that pay cash in more decimal places than the currency has. */
    readonly unpayable: number
  }
  /**
   * Bounds of the sum of entitlements where it follows from the units: an accumulating instrument's
   * income, less at most what cutting each line takes. Null for other instruments.
   */
  readonly accrued: { readonly least: Decimal.Decimal; readonly most: Decimal.Decimal } | null
}

/**
 * Streams the sealed distributions of an instrument that a run judges: those that are not paid, or
 * not shown as paid to investors and apps, who must not learn the difference from a run; the last
 * executed, whose carries the next one takes in; and those with a finding that is not cleared.
 */
const judgedOf = (
  { instrumentId }: InstrumentIdentity,
  { pin }: Point
): Stream.Stream<Stored<Distribution>, Unavailable, Records> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const unpaid = yield* records
        .ids(shownDistributions, { pin, where: { open: [instrumentId] } })
        .pipe(Stream.runCollect)
      const executed = yield* lastExecuted(instrumentId, pin)
      const found = yield* foundIn({ instrumentId: [instrumentId] })
      const ids = new Set<string>([
        ...unpaid,
        ...(executed === null ? [] : [executed.distributionId]),
        ...found
      ])
      return Stream.fromIterable([...ids].toSorted()).pipe(
        Stream.mapEffect((id) => records.find(distributions, id, pin)),
        Stream.flatMap((self) => Stream.fromIterable(Option.toArray(self))),
        Stream.filter(({ sealedAt }) => sealedAt !== null)
      )
    })
  )

/** Finds the ids of the distributions with a finding that is open or accepted, and of their lines. */
const foundIn = (where: { readonly instrumentId?: ReadonlyArray<string> }) =>
  Effect.flatMap(Records, (records) =>
    records
      .stream(findings, {
        where: {
          ...where,
          state: ["open", "accepted"],
          check: ["distribution-recompute", "distribution-identity"]
        }
      })
      .pipe(
        Stream.flatMap(({ record }) => Stream.fromIterable(idsIn(record.subject.id))),
        Stream.runCollect
      )
  )

/** `HistoryKeeper` of the distributions whose findings the next run judges again. */
export const historyKeeper: HistoryKeeper = {
  name: "findings-of-distributions",
  doc: "Register and points of distributions with a finding that is open or accepted.",
  lowest: Effect.flatMap(foundIn({}), (ids) => lowestRead([...new Set(ids)]))
}

/** Possible ids of the distribution of a finding, whose subject is a distribution or a line. */
const idsIn = (subjectId: string): ReadonlyArray<string> => [
  subjectId,
  subjectId.replace(/\.\d+$/u, "")
]

/**
 * Loads the plan of the execution; null where the engine has not planned it, and for a paid
 * distribution whose pins retention has passed. Fails where the pins of a distribution that is not
 * paid can no longer be read.
 */
const planOf = Effect.fnUntraced(function* (
  { distributionId, instrumentId, recordOffset, executedBy, state }: Distribution,
  { horizonOffset }: Point
) {
  if (recordOffset === null || executedBy.operationId === null) return null
  const records = yield* Records
  const subject = { resourceKind: "distribution", id: distributionId } as const
  const plan = Option.getOrNull(yield* records.find(distributionPlans, executedBy.operationId))
  if (plan === null) return yield* new CheckNotRun({ why: "plan-missing", subject })
  if (Math.min(...offsetsOf(sourceOfPlan(plan))) < horizonOffset) {
    const found = yield* foundIn({ instrumentId: [instrumentId] })
    if (state === "paid" && !found.includes(distributionId)) return null
    return yield* new CheckNotRun({ why: "before-horizon", subject })
  }
  return plan
})

type RecomputedFacts = Stream.Stream<
  RecomputedFact | NotCompared,
  CheckNotRun | Unavailable,
  Records | Crypto
>

/** Streams the facts of `distribution-recompute`, a page of lines at a time. */
export const recomputed = (instrument: InstrumentIdentity, at: Point): RecomputedFacts =>
  readableFirst(
    Stream.map(
      judgedOf(instrument, at),
      (self): RecomputedFacts =>
        isOfSnapshot(self)
          ? unplannedOf(self, at)
          : Stream.unwrap(
              Effect.map(
                planOf(self, at),
                (plan): RecomputedFacts =>
                  plan === null
                    ? Stream.make(notCompared(self, "history-deleted"))
                    : linesOf(self, plan, at)
              )
            )
    )
  )

/** A snapshot of the ledger does not show which operation executed a distribution. */
const isOfSnapshot = ({ executedBy }: Distribution): boolean => executedBy.operationId === null

/** Fact of the last executed distribution where it is of a snapshot; an earlier one gives none. */
const unplannedOf = (
  { instrumentId, distributionId, currency }: Stored<Distribution>,
  { pin }: Point
): Stream.Stream<RecomputedFact, Unavailable, Records> =>
  Stream.unwrap(
    Effect.map(lastExecuted(instrumentId, pin), (executed) =>
      executed?.distributionId === distributionId
        ? Stream.make<[RecomputedFact]>({ of: "unplanned", instrumentId, distributionId, currency })
        : Stream.empty
    )
  )

const linesOf = (
  self: Stored<Distribution>,
  plan: DistributionPlan,
  at: Point
): Stream.Stream<RecomputedFact, Unavailable, Records | Crypto> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const crypto = yield* Crypto
      const { instrumentId, distributionId, currency } = self
      const about = { instrumentId, distributionId, currency }
      // Hashes of whole chunks, and the lines of the chunk that is not full yet.
      const hashes: Array<string> = []
      let open: ReadonlyArray<LinesHash.HashedLine> = []
      let count = 0
      const hash = (lines: ReadonlyArray<PayeeLine>): void => {
        open = [...open, ...lines.map(hashed)]
        for (; open.length >= LinesHash.chunkSize; open = open.slice(LinesHash.chunkSize)) {
          hashes.push(LinesHash.chunkHashOf(open.slice(0, LinesHash.chunkSize), crypto))
        }
      }
      const pages = linesAgain(sourceOfPlan(plan)).pipe(
        Stream.mapEffect((lines) =>
          Effect.gen(function* () {
            const first = count + 1
            count += lines.length
            hash(lines)
            const ids = lines.map((_, index) => lineIdOf(distributionId, first + index))
            const records = yield* Records
            const stored = new Map<string, DistributionLine>(
              (yield* records.many(distributionLines, ids, at.pin)).map((line) => [
                line.lineId,
                line
              ])
            )
            return lines.map(({ payee, figures }, index): RecomputedFact => {
              const lineId = lineIdOf(distributionId, first + index)
              const actual = stored.get(lineId) ?? null
              const { holderId } = payee
              return { of: "line", ...about, lineId, holderId, expected: figures, actual }
            })
          })
        ),
        Stream.flatMap((facts) => Stream.fromIterable(facts))
      )
      const whole = Stream.fromEffect(
        Effect.map(countsOf([distributionId], at.pin), (counts): RecomputedFact => {
          if (open.length > 0) hashes.push(LinesHash.chunkHashOf(open, crypto))
          return {
            of: "lines",
            ...about,
            expectedCount: count,
            actualCount: totalOf(counts.get(distributionId)),
            isHashed: LinesHash.linesHashOf(hashes, crypto) === self.linesHash
          }
        })
      )
      return Stream.concat(pages, whole)
    })
  )

const hashed = ({ payee: { holderId, party }, figures }: PayeeLine): LinesHash.HashedLine => ({
  ...figures,
  holderId,
  party
})

const totalOf = (counts: Readonly<Record<string, number>> | undefined): number =>
  Object.values(counts ?? {}).reduce((sum, count) => sum + count, 0)

/** Notes that nothing of a distribution is compared, for a reason that waiting does not change. */
const notCompared = ({ distributionId }: Distribution, why: string): NotCompared =>
  new NotCompared({
    subject: { resourceKind: "distribution", id: distributionId },
    statementId: null,
    why,
    isNeeded: false
  })

/** Streams the facts of `distribution-identity`, one for each distribution; one of a snapshot is named. */
export const sums = (
  instrument: InstrumentIdentity,
  at: Point
): Stream.Stream<IdentityFact | NotCompared, Unavailable, Records> =>
  judgedOf(instrument, at).pipe(
    Stream.mapEffect(
      (self): Effect.Effect<IdentityFact | NotCompared, Unavailable, Records> =>
        isOfSnapshot(self) ? Effect.succeed(notCompared(self, "of-snapshot")) : identityOf(self, at)
    )
  )

type Stock = IdentityFact["stored"] & { readonly units: Decimal.Decimal }

const nothing: Stock = {
  lines: 0,
  units: Decimal.zero,
  entitlement: Decimal.zero,
  carryIn: Decimal.zero,
  gross: Decimal.zero,
  equalisation: Decimal.zero,
  withheld: Decimal.zero,
  net: Decimal.zero,
  carryOut: Decimal.zero,
  payoutUnits: Decimal.zero,
  lost: Decimal.zero,
  unpayable: 0
}

/** Places of the cash that a distribution pays; null: it pays units, or only reports income. */
const cashPlacesOf = ({
  currency,
  payout,
  valuation
}: Pick<Distribution, "currency" | "payout" | "valuation">): number | null =>
  payout === "cash" && valuation !== "rebasing" ? Currency.decimals(currency) : null

const addLine = (sum: Stock, line: DistributionLine, places: number | null): Stock => {
  const { entitlement, carryIn, gross, carryOut } = line
  const due = Decimal.add(entitlement, carryIn)
  const left = Decimal.subtract(due, Decimal.add(gross, carryOut))
  return {
    lines: sum.lines + 1,
    units: Decimal.add(sum.units, line.units),
    entitlement: Decimal.add(sum.entitlement, entitlement),
    carryIn: Decimal.add(sum.carryIn, carryIn),
    gross: Decimal.add(sum.gross, gross),
    equalisation: Decimal.add(sum.equalisation, line.equalisation),
    withheld: Decimal.add(sum.withheld, line.withheld),
    net: Decimal.add(sum.net, line.net),
    carryOut: Decimal.add(sum.carryOut, carryOut),
    payoutUnits: Decimal.add(sum.payoutUnits, line.payoutUnits ?? Decimal.zero),
    // The rest of a holder who left the register is the fund's.
    unpayable:
      places === null ||
      [gross, line.withheld, line.net].every((amount) => Decimal.fits(amount, places))
        ? sum.unpayable
        : sum.unpayable + 1,
    lost: Decimal.isZero(line.units) ? sum.lost : Decimal.add(sum.lost, Decimal.abs(left))
  }
}

const identityOf = Effect.fnUntraced(function* (self: Stored<Distribution>, { pin }: Point) {
  const records = yield* Records
  const { instrumentId, distributionId, currency, totals } = self
  const places = cashPlacesOf(self)
  const stored = yield* records
    .stream(distributionLines, { pin, where: { distributionId: [distributionId] } })
    .pipe(
      Stream.runFold(
        () => nothing,
        (sum, { record }) => addLine(sum, record, places)
      )
    )
  const contract = Option.getOrNull(yield* records.find(distributionContracts, distributionId, pin))
  return {
    instrumentId,
    distributionId,
    currency,
    sealed: {
      lines: contract?.lineCount ?? totals.holders,
      entitlement: totals.entitlement,
      gross: totals.gross,
      equalisation: totals.equalisation,
      withheld: totals.withheld,
      net: totals.net,
      carryOut: totals.carried,
      payoutUnits: totals.payoutUnits ?? Decimal.zero
    },
    stored,
    accrued: yield* accruedBy(self, stored)
  } satisfies IdentityFact
})

/** One atom of an entitlement: rounding a line down takes less. */
const atom = Decimal.fromAtoms(1n)

/** Bounds of the entitlements of an accumulating instrument, by the units of its lines. */
const accruedBy = Effect.fnUntraced(function* (
  { valuation, executedBy: { operationId } }: Distribution,
  { units, lines }: Stock
) {
  if (valuation !== "accumulating" || operationId === null) return null
  const records = yield* Records
  const plan = Option.getOrNull(yield* records.find(distributionPlans, operationId))
  if (plan === null || plan.fromPrice === null) return null
  const exact = accruedOn(units, { exPrice: plan.fromPrice, cumPrice: plan.toPrice })
  const most = Rational.round(exact, { places: Decimal.places, rounding: "floor" })
  const cut = Decimal.fromAtoms(Decimal.atoms(atom) * BigInt(lines))
  return { least: Decimal.subtract(most, cut), most }
})
