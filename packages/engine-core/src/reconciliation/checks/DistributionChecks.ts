/** Checks of reconciliation that compute distributions again, and find those that nobody pays. */
import { Effect, Stream } from "effect"
import { distributions } from "../../distributions/distribution/Distribution.ts"
import { waitedCountsOf } from "../../distributions/distribution/LineLookups.ts"
import { compare, withoutAmounts } from "../../findings/FindingRules.ts"
import type { Instrument } from "../../instruments/instrument/Instrument.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import * as Check from "./Check.ts"
import {
  type FigureName,
  figureNames,
  type IdentityFact,
  type OfDistribution,
  recomputed,
  type RecomputedFact,
  type RecomputedLine,
  type RecomputedWhole,
  sums,
  type UnplannedDistribution
} from "./DistributionCheckLookups.ts"
import { momentReasons } from "./StatementsInForceLookups.ts"
import * as SuspendedLines from "./SuspendedLineLookups.ts"

/** The figures of a line differ in the order in which they are computed. */
export const distributionRecompute = Check.define("distribution-recompute", {
  doc: "Compares the stored lines of a distribution with those computed again from its pins.",
  rule: "lines-computed-again",
  needs:
    "An executed distribution of the instrument: one that is not paid, the last one, or one with an open or accepted finding.",
  cannot: {
    "plan-missing": "the plan of the execution is not stored",
    "before-horizon": "the history that is kept begins after the distribution's pins",
    "history-deleted": "the distribution is paid, and retention has passed its pins"
  },
  facts: recomputed,
  differences: (fact: RecomputedFact, tolerance) => {
    switch (fact.of) {
      case "line":
        return ofLine(fact, tolerance)
      case "lines":
        return ofWhole(fact)
      case "unplanned":
        return ofUnplanned(fact)
    }
  }
})

/** Figures that are no amounts of the instrument's currency, with their units. */
const unitOf: Readonly<Partial<Record<FigureName, string>>> = {
  units: "units",
  payoutUnits: "units",
  rate: "rate"
}

const ofLine = (
  { instrumentId, lineId, holderId, currency, expected, actual }: RecomputedLine,
  tolerance: Decimal.Decimal
) =>
  figureNames.flatMap((name) =>
    compare({
      instrumentId,
      subject: { resourceKind: "distribution", id: lineId },
      holderId,
      severity: "blocking",
      unit: unitOf[name] ?? currency,
      figure: name,
      expected: expected[name] ?? Decimal.zero,
      actual: actual?.[name] ?? Decimal.zero,
      tolerance
    })
  )

const aboutWhole = ({ instrumentId, distributionId }: OfDistribution) =>
  ({
    instrumentId,
    subject: { resourceKind: "distribution", id: distributionId },
    holderId: null,
    severity: "blocking"
  }) as const

const ofUnplanned = (fact: UnplannedDistribution) => [
  withoutAmounts({ ...aboutWhole(fact), unit: "plan" })
]

/** More or fewer lines, or lines that do not have the hash that was signed. */
const ofWhole = (whole: RecomputedWhole) => {
  const counted = compare({
    ...aboutWhole(whole),
    unit: "lines",
    expected: Decimal.fromInteger(whole.expectedCount),
    actual: Decimal.fromInteger(whole.actualCount),
    tolerance: Decimal.zero
  })
  return whole.isHashed
    ? counted
    : [...counted, withoutAmounts({ ...aboutWhole(whole), unit: "hash" })]
}

/** Each identity that does not hold is a difference. */
export const distributionIdentity = Check.define("distribution-identity", {
  doc: "Tests that the sums of a distribution add up, and that they are those which the ledger sealed.",
  rule: "identities-of-a-distribution",
  needs:
    "An executed distribution of the instrument: one that is not paid, the last one, or one with an open or accepted finding.",
  cannot: { "of-snapshot": "a snapshot of the ledger showed the distribution, without its plan" },
  facts: sums,
  differences: (fact: IdentityFact, tolerance) =>
    identitiesOf(fact).flatMap((identity) =>
      compare({
        instrumentId: fact.instrumentId,
        subject: { resourceKind: "distribution", id: fact.distributionId },
        holderId: null,
        severity: "blocking",
        tolerance,
        ...identity
      })
    )
})

interface Identity {
  readonly unit: string
  readonly figure: string
  readonly expected: Decimal.Decimal
  readonly actual: Decimal.Decimal
}

/** The identities of a distribution, in the order in which they are reported. */
const identitiesOf = ({
  accrued,
  currency,
  sealed,
  stored
}: IdentityFact): ReadonlyArray<Identity> => [
  {
    unit: "lines",
    figure: "lines",
    expected: Decimal.fromInteger(sealed.lines),
    actual: Decimal.fromInteger(stored.lines)
  },
  ...(["entitlement", "gross", "equalisation", "withheld", "net", "carryOut"] as const).map(
    (name) => ({ unit: currency, figure: name, expected: sealed[name], actual: stored[name] })
  ),
  {
    unit: "units",
    figure: "payoutUnits",
    expected: sealed.payoutUnits,
    actual: stored.payoutUnits
  },
  // Gross is paid or withheld.
  {
    unit: currency,
    figure: "paid and withheld",
    expected: stored.gross,
    actual: Decimal.add(stored.net, stored.withheld)
  },
  {
    unit: "lines",
    figure: "unpayable lines",
    expected: Decimal.zero,
    actual: Decimal.fromInteger(stored.unpayable)
  },
  // The due amount of a holder with units is paid or carried.
  { unit: currency, figure: "lost", expected: Decimal.zero, actual: stored.lost },
  ...(accrued === null
    ? []
    : [
        {
          unit: currency,
          figure: "accrued",
          expected: Decimal.min(Decimal.max(stored.entitlement, accrued.least), accrued.most),
          actual: stored.entitlement
        }
      ])
]

/** A payable distribution. */
interface PayableDistribution {
  readonly instrumentId: string
  readonly distributionId: string
  /** Beginning of its payment date. */
  readonly payableFrom: Instant.Instant
  /** Number of lines that are due. */
  readonly due: number
  /** Number of lines that are delivered and not rolled. */
  readonly delivered: number
}

/** Never blocking: a hold would stop the payment itself. */
export const distributionUnpaid = Check.define("distribution-unpaid", {
  doc: "Warns of payable distributions with lines that nobody paid or rolled long after their payment date.",
  rule: "unpaid-distributions",
  needs: "A payable distribution of the instrument.",
  cannot: {},
  facts: (instrument, at) => payable(instrument, at),
  differences: (distribution: PayableDistribution, tolerance, timing) =>
    Check.isOverdue(distribution.payableFrom, timing)
      ? compare({
          instrumentId: distribution.instrumentId,
          subject: { resourceKind: "distribution", id: distribution.distributionId },
          holderId: null,
          severity: "warning",
          unit: "lines",
          expected: Decimal.zero,
          actual: Decimal.fromInteger(distribution.due + distribution.delivered),
          tolerance
        })
      : []
})

/** Streams the payable distributions of an instrument with the number of their lines that are open. */
const payable = ({ instrumentId }: Pick<Instrument, "instrumentId">, { pin }: Check.Point) =>
  Stream.unwrap(
    Effect.map(Records, (records) =>
      records
        .stream(distributions, { pin, where: { open: [instrumentId], state: ["payable"] } })
        .pipe(
          Stream.mapEffect(({ record: { distributionId, payableFrom } }) =>
            Effect.map(waitedCountsOf([distributionId], pin), (counts): PayableDistribution => {
              const { due, delivered } = counts.get(distributionId) ?? { due: 0, delivered: 0 }
              return { instrumentId, distributionId, payableFrom, due, delivered }
            })
          )
        )
    )
  )

/** Cash short is below zero, cash over above. */
export const suspendedLines = Check.define("suspended-lines", {
  doc: "Compares the balance of the account for suspended payments with the sum of the suspended lines.",
  rule: "cash-of-suspended-lines",
  needs: "A distribution of the instrument, and a segregated account.",
  cannot: {
    ...momentReasons,
    "statement-missing": "the segregated account has no statement in force",
    "balances-none": "the statements of the account's source have no balances",
    "closing-missing": "a statement has no closing balance in the account's currency",
    "dates-differ": "the statements of accounts of one currency are of several business dates"
  },
  facts: SuspendedLines.segregated,
  comparedAt: ({ comparedAt }: SuspendedLines.SegregatedCash) => comparedAt,
  differences: (cash: SuspendedLines.SegregatedCash, tolerance) =>
    compare({
      instrumentId: cash.instrumentId,
      subject: { resourceKind: "external-account", id: cash.externalAccountId },
      holderId: null,
      severity: "warning",
      unit: cash.currency,
      expected: cash.suspended,
      actual: cash.closing,
      tolerance,
      statementId: cash.statementId,
      comparedAt: cash.comparedAt
    })
})
