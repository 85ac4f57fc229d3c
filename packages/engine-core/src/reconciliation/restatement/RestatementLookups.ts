/**
 * Look-ups of a restatement: the points of a corrected NAV, the orders that they priced, and the
 * distributions that they begin or end, a page at a time.
 */
import { Effect, Option, Stream } from "effect"
import { type Distribution, distributions } from "../../distributions/distribution/Distribution.ts"
import {
  type DistributionLine,
  distributionLines,
  lineIdOf
} from "../../distributions/distribution/DistributionLine.ts"
import {
  type DistributionPlan,
  distributionPlans,
  sourceOfPlan
} from "../../distributions/distribution/DistributionPlan.ts"
import type { Sources } from "../../distributions/distribution/DistributionBasis.ts"
import * as DistributionRules from "../../distributions/distribution/DistributionRules.ts"
import { isDeleted, sourcesOf } from "../../distributions/distribution/LineBasisLookups.ts"
import { linesOfPayees } from "../../distributions/distribution/LineLookups.ts"
import {
  type LineSource,
  termsOf as termsOfLines
} from "../../distributions/distribution/LineSource.ts"
import * as PayeeLookups from "../../distributions/distribution/PayeeLookups.ts"
import {
  instruments,
  isRecorded,
  type RecordedInstrument
} from "../../instruments/instrument/Instrument.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import * as PolicyTerms from "../../instruments/policy/PolicyTerms.ts"
import { policyVersions } from "../../instruments/policy/PolicyVersion.ts"
import { pricePoints } from "../../instruments/price/PricePoint.ts"
import { hasPlace } from "../../instruments/price/QuoteOrder.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import type { Collection } from "../../kernel/Collection.ts"
import * as Date from "../../kernel/Date.ts"
import * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { type Unavailable, unavailable } from "../../kernel/Refusal.ts"
import * as Zone from "../../kernel/Zone.ts"
import {
  type DealingDay,
  dealingDays,
  idOf as dayIdOf
} from "../../orders/dealing-cycle/DealingDay.ts"
import { primaryMarkets } from "../../orders/primary-market/PrimaryMarket.ts"
import { isRebasing } from "../../orders/order/RebasingRules.ts"
import { redemptions } from "../../orders/redemption/Redemption.ts"
import { subscriptions } from "../../orders/subscription/Subscription.ts"
import type { Crypto } from "../../ports/Crypto.ts"
import type { LedgerReach } from "../../records/LedgerReach.ts"
import { Records, type Stored } from "../../records/Records.ts"
import {
  type ExternalStatement,
  externalStatements
} from "../../statements/external-statement/ExternalStatement.ts"
import type { NotComputed, RestatedRow, RestatementHeader } from "./Restatement.ts"
import * as Rules from "./RestatementRules.ts"

/** A distribution that a restated point ends or begins, with the plan of its execution. */
interface ExecutedDistribution {
  readonly distribution: Stored<Distribution>
  readonly plan: DistributionPlan
}

/** Facts that the rows of a restatement are computed from. */
interface RestatementFacts {
  readonly header: RestatementHeader
  /** Null where the instrument is not recorded, and so has neither orders nor lines. */
  readonly instrument: RecordedInstrument | null
  readonly executed: ReadonlyArray<ExecutedDistribution>
  readonly sources: Rules.Sources
}

/**
 * Loads the facts of a correction of a NAV, from the records of one point; null where the statement
 * corrects no NAV that could price, or has no such NAV itself
 * (docs/domain/statements.md#restatement).
 */
export const restatingOf = Effect.fnUntraced(function* (
  self: ExternalStatement,
  pin: Pick<Pin.ResolvedPin, "offset" | "judgedAt">
) {
  const { businessDate, corrects, externalStatementId, instrumentId, nav } = self
  if (corrects === null || nav === null || !Rules.isUsable(nav)) return null
  const before = yield* navsBefore(self)
  const [from] = before
  if (from === undefined) return null
  const records = yield* Records
  const found = Option.getOrNull(yield* records.find(instruments, instrumentId))
  const instrument = found !== null && isRecorded(found) ? found : null
  const terms = instrument === null ? null : yield* inForce(instrument, self.receivedAt)
  const tolerance = terms?.tolerances["nav-price"] ?? PolicyTerms.navPriceDefault
  const corrected: Rules.CorrectedNav = { to: nav.official, before, tolerance }
  const pointCids =
    terms === null || instrument === null
      ? []
      : yield* pointsOf(corrected, {
          instrument,
          businessDate,
          pin,
          zone: terms.manifest.businessZone ?? Zone.utc
        })
  const { executed, notComputed } = yield* executedBy(instrumentId, pointCids)
  const header: RestatementHeader = {
    externalStatementId: self.externalStatementId,
    corrects,
    instrumentId: self.instrumentId as RestatementHeader["instrumentId"],
    businessDate,
    pointCids,
    from,
    to: nav.official,
    ...Rules.moveOf({ from, to: nav.official }, tolerance),
    tolerance,
    notComputed
  }
  const sources = { statementId: externalStatementId, instrumentId, offset: pin.offset }
  return { header, instrument, executed, sources } satisfies RestatementFacts
})

/**
 * Loads the NAVs that could price, of the earlier statements of the chain of corrections, the latest
 * first.
 */
const navsBefore = Effect.fnUntraced(function* (self: ExternalStatement) {
  const records = yield* Records
  const { businessDate, externalSourceId, instrumentId } = self
  const ofDate = yield* records
    .stream(externalStatements, {
      where: {
        externalSourceId: [externalSourceId],
        instrumentId: [instrumentId],
        businessDate: [businessDate]
      }
    })
    .pipe(
      Stream.map(({ record }) => record),
      Stream.runCollect
    )
  const byId = new Map<string, ExternalStatement>(
    ofDate.map((statement) => [statement.externalStatementId, statement])
  )
  const navs: Array<Decimal.Decimal> = []
  let next = self.corrects === null ? undefined : byId.get(self.corrects)
  while (next !== undefined) {
    if (next.nav !== null && Rules.isUsable(next.nav)) navs.push(next.nav.official)
    next = next.corrects === null ? undefined : byId.get(next.corrects)
  }
  return navs
})

/**
 * Loads the points of a business date that the corrected NAV does not confirm, in the order of the
 * ledger: those of the oracles that policies and markets of the instrument name, or of every
 * publisher where none names one. A point that is dated ahead has no place before its time. A par
 * instrument deals at its par value and has none.
 */
const pointsOf = Effect.fnUntraced(function* (
  corrected: Rules.CorrectedNav,
  {
    businessDate,
    instrument,
    pin,
    zone
  }: {
    readonly instrument: RecordedInstrument
    readonly businessDate: Date.Date
    readonly pin: Pick<Pin.ResolvedPin, "judgedAt">
    readonly zone: Zone.Zone
  }
) {
  const records = yield* Records
  const { instrumentId, manifest } = instrument
  if (manifest.valuation === "par") return []
  const oracles = yield* oraclesOf(instrumentId)
  return yield* records
    .stream(pricePoints, {
      where: {
        instrumentId: [instrumentId],
        ...(oracles.length === 0 ? {} : { source: oracles })
      },
      ranges: {
        valuationTime: {
          from: Instant.sortable(Zone.startOfDay(zone, businessDate)),
          to: Instant.sortable(Zone.startOfDay(zone, Date.next(businessDate)))
        }
      }
    })
    .pipe(
      Stream.map(({ record }) => record),
      Stream.filter((point) => hasPlace(point, pin) && !Rules.isBorneOut(point.price, corrected)),
      Stream.map(({ contractId }) => contractId),
      Stream.runCollect
    )
})

const oraclesOf = Effect.fnUntraced(function* (instrumentId: string) {
  const records = yield* Records
  const where = { instrumentId: [instrumentId] }
  const ofPolicies = yield* records.stream(policyVersions, { where }).pipe(
    Stream.map(({ record }) => record.manifest.oracle),
    Stream.runCollect
  )
  const ofMarkets = yield* records.stream(primaryMarkets, { where }).pipe(
    Stream.map(({ record }) => record.terms.oracle),
    Stream.runCollect
  )
  return [...new Set([...ofPolicies, ...ofMarkets])].filter((oracle) => oracle !== null)
})

/**
 * Loads the distributions of an accumulating instrument that these points end or begin, in their order,
 * and names those of them whose lines cannot be computed again.
 */
const executedBy = Effect.fnUntraced(function* (
  instrumentId: string,
  pointCids: ReadonlyArray<string>
) {
  const executed: Array<ExecutedDistribution> = []
  const notComputed: Array<NotComputed> = []
  if (pointCids.length === 0) return { executed, notComputed }
  const records = yield* Records
  const points = new Set(pointCids)
  const found = yield* records
    .stream(distributions, { where: { instrumentId: [instrumentId] } })
    .pipe(
      Stream.map(({ record }) => record),
      Stream.filter(
        ({ fromPoint, toPoint, valuation }) =>
          valuation === "accumulating" &&
          (points.has(toPoint) || (fromPoint !== null && points.has(fromPoint)))
      ),
      Stream.runCollect
    )
  const plans = new Map<string, DistributionPlan>(
    (yield* records.many(
      distributionPlans,
      found.flatMap(({ executedBy: { operationId } }) => operationId ?? [])
    )).map((plan) => [plan.operationId, plan])
  )
  for (const distribution of found) {
    const { distributionId, executedBy: by } = distribution
    const plan = plans.get(by.operationId ?? "")
    if (plan === undefined || plan.recordOffset === null) {
      notComputed.push({ distributionId, why: "plan-missing" })
    } else if (yield* isDeleted(sourceOfPlan(plan))) {
      notComputed.push({ distributionId, why: "before-horizon" })
    } else {
      executed.push({ distribution, plan })
    }
  }
  return { executed, notComputed }
})

type Rows = Stream.Stream<ReadonlyArray<RestatedRow>, Unavailable, Records | Crypto | LedgerReach>

/** Streams the rows, some at a time: subscriptions, redemptions, and lines by distribution. */
export const rowsOf = (restating: RestatementFacts): Rows => {
  const { executed, instrument } = restating
  if (instrument === null || restating.header.pointCids.length === 0) return Stream.empty
  return executed.reduce<Rows>(
    (rows, distribution) => Stream.concat(rows, linesOf(restating, distribution)),
    ordersOf(restating, instrument)
  )
}

// ---- orders

/** Number of orders that are computed together. */
const pageMax = 500

/** States of orders that a point priced and that were not released since. */
const dealt = {
  subscription: ["priced", "delivered", "closed"],
  redemption: ["priced", "funded", "burned", "settled"]
} as const

const ordersOf = ({ header, sources }: RestatementFacts, instrument: RecordedInstrument): Rows =>
  Stream.unwrap(
    Effect.map(Records, (records) => {
      const pricesOf = dayPrices(header.to, instrument)
      // Filters by the point alone, so that the index by point is read.
      const pricedIn = <R extends DealtOrder, F>(
        orders: Collection<R, F>,
        states: ReadonlyArray<string>,
        rows: (self: R, day: Rules.DayPrice, sources: Rules.Sources) => ReadonlyArray<RestatedRow>
      ) =>
        records.stream(orders, { where: { pointCid: header.pointCids } }).pipe(
          Stream.map(({ record }) => record),
          Stream.filter(({ state }) => states.includes(state)),
          Stream.grouped(pageMax),
          Stream.mapEffect((page) =>
            Effect.map(pricesOf(page), (priceOf) =>
              page.flatMap((self) => rows(self, priceOf(self), sources))
            )
          )
        )
      return Stream.concat(
        pricedIn(subscriptions, dealt.subscription, Rules.ofSubscription),
        pricedIn(redemptions, dealt.redemption, Rules.ofRedemption)
      )
    })
  )

type DealtOrder = Pick<DealingDay, "instrumentId" | "cutOffAt"> & { readonly state: string }

/**
 * Makes the look-up of the prices of orders' dealing days at the corrected NAV: one query a page for
 * days that the page before did not have.
 */
const dayPrices = (to: Decimal.Decimal, instrument: RecordedInstrument) => {
  let priceOfDay = new Map<string, Rules.DayPrice>()
  return Effect.fnUntraced(function* (page: ReadonlyArray<DealtOrder>) {
    const records = yield* Records
    const ids = [...new Set(page.map(dayIdOf))]
    const days = new Map<string, DealingDay>(
      (yield* records.many(
        dealingDays,
        ids.filter((id) => !priceOfDay.has(id))
      )).map((day) => [dayIdOf(day), day])
    )
    const next = new Map<string, Rules.DayPrice>()
    for (const id of ids) {
      next.set(id, priceOfDay.get(id) ?? (yield* priceOn(days.get(id), { to, instrument })))
    }
    priceOfDay = next
    return (order: DealtOrder): Rules.DayPrice => next.get(dayIdOf(order))!
  })
}

const priceOn = Effect.fnUntraced(function* (
  day: DealingDay | undefined,
  { instrument, to }: { readonly instrument: RecordedInstrument; readonly to: Decimal.Decimal }
) {
  const fixed = day?.dealt ?? null
  if (fixed === null || isRebasing(instrument.manifest))
    return { price: to, swinging: null } satisfies Rules.DayPrice
  const { swing } = yield* inForce(instrument, fixed.at)
  const { ordered, outstanding } = fixed
  return Rules.dayPriceOf({ price: to, ordered, outstanding, swing })
})

// ---- lines

/** Facts that the lines of a plan are computed from, with the corrected NAV in place of the restated points. */
const restatedSource = (
  plan: DistributionPlan,
  { pointCids, to }: Pick<RestatementHeader, "pointCids" | "to">
): LineSource => {
  const points = new Set<string>(pointCids)
  const isFrom = plan.fromPoint !== null && points.has(plan.fromPoint)
  return {
    ...sourceOfPlan(plan),
    terms: termsOfLines({
      ...plan,
      fromPrice: isFrom ? to : plan.fromPrice,
      toPrice: points.has(plan.toPoint) ? to : plan.toPrice,
      // An accumulating instrument pays units at the ex price.
      payoutPrice: isFrom && plan.payoutPrice !== null ? to : plan.payoutPrice
    })
  }
}

/** Number of lines that are computed between two turns of the event loop. */
const sliceLines = 50

/** Streams the rows of the lines of a distribution, a page of payees at a time. */
const linesOf = (restating: RestatementFacts, executed: ExecutedDistribution): Rows => {
  const { header } = restating
  const { distribution, plan } = executed
  const source = restatedSource(plan, header)
  const asPlanned = sourceOfPlan(plan).terms
  const { currency, distributionId } = distribution
  let count = 0
  return Stream.unfold(PayeeLookups.start as PayeeLookups.PayeePlace | null, (place) =>
    Effect.gen(function* () {
      if (place === null) return undefined
      const page: PayeeLookups.Page = yield* PayeeLookups.pageAfter(source, place)
      // A line's number counts the payees that had a line at the execution.
      const payees = page.payees.map((payee) => {
        const { entitlement } = DistributionRules.entitlementOf(
          { pricing: asPlanned.pricing },
          payee.position
        )
        const hasLine = DistributionRules.hasLine({
          entitlement,
          carryIn: payee.position.carryIn
        })
        return { payee, lineId: hasLine ? lineIdOf(distributionId, ++count) : null }
      })
      const stored = yield* storedOf(payees.flatMap(({ lineId }) => lineId ?? []))
      const carries = yield* carriesOf(source, page.payees)
      const rows: Array<RestatedRow> = []
      for (const [index, { lineId, payee }] of payees.entries()) {
        if (index % sliceLines === 0) yield* Effect.yieldNow
        const line = lineId === null ? null : (stored.get(lineId) ?? null)
        // The execution has not added the line yet.
        if (lineId !== null && line === null) continue
        const { holderId, party, position } = payee
        if (
          line !== null &&
          (line.computedFor.holderId ?? line.computedFor.party) !== (holderId ?? party)
        ) {
          return yield* Effect.die(
            new Error("the lines of a distribution are not those of its plan")
          )
        }
        const figures = DistributionRules.lineOf(source.terms, position)
        rows.push(
          ...Rules.ofLine({
            stored: line,
            distributionId,
            currency,
            holderId,
            inputs: {
              terms: source.terms,
              position,
              figures,
              sources: lineSourcesOf({
                restating,
                executed,
                payee,
                lineId: line?.lineId ?? null,
                carryId: carries.get(holderId ?? party) ?? null
              })
            }
          })
        )
      }
      // Retention moves the horizon before it deletes: where the horizon has not passed the page,
      // all its rows were read.
      if (yield* isDeleted(source)) {
        return yield* Effect.fail(
          unavailable("overloaded", "The history of a distribution was deleted meanwhile.", 1)
        )
      }
      return [rows, page.next] as const
    })
  )
}

const storedOf = Effect.fnUntraced(function* (ids: ReadonlyArray<string>) {
  const records = yield* Records
  return new Map<string, DistributionLine>(
    (yield* records.many(distributionLines, ids)).map((line) => [line.lineId, line])
  )
})

/** Finds the line of the preceding distribution that has each payee's carryIn, by payee. */
const carriesOf = Effect.fnUntraced(function* (
  source: LineSource,
  payees: ReadonlyArray<PayeeLookups.LoadedPayee>
) {
  const { previous } = source
  if (previous === null) return new Map<string, string>()
  const found = yield* linesOfPayees(
    [previous.distributionId],
    payees.filter(({ carriedFrom }) => carriedFrom !== null),
    PayeeLookups.executedPin(source)
  )
  return new Map<string, string>(
    found.toReversed().map(({ holderId, lineId, party }) => [holderId ?? party, lineId])
  )
})

/**
 * Sources of a line's inputs: the correcting statement in place of a restated point. A figure of a
 * payee without a line has the distribution as its source.
 */
const lineSourcesOf = ({
  carryId,
  executed: { distribution, plan },
  lineId,
  payee: { holderId, party, rateSource },
  restating: { header, sources }
}: {
  readonly restating: RestatementFacts
  readonly executed: ExecutedDistribution
  readonly payee: PayeeLookups.LoadedPayee
  readonly lineId: DistributionLine["lineId"] | null
  readonly carryId: string | null
}): Sources => {
  const { distributionId, instrumentId } = distribution
  const named = sourcesOf(
    plan,
    {
      instrumentId,
      rateSource,
      lineId: lineId ?? lineIdOf(distributionId, 0),
      computedFor: { holderId, party }
    },
    carryId ?? ""
  )
  const line =
    lineId === null
      ? { ...named.line, resourceKind: "distribution", id: distributionId }
      : named.line
  const restated = Rules.ofStatement(sources)
  const isRestated = (cid: string | null) => cid !== null && header.pointCids.includes(cid)
  return {
    ...named,
    line,
    carry: carryId === null ? line : named.carry,
    fromPoint: isRestated(plan.fromPoint) ? restated : named.fromPoint,
    toPoint: isRestated(plan.toPoint) ? restated : named.toPoint
  }
}
