/**
 * Look-ups of the replay of policies: orders with the versions of their policy, and the ledger facts
 * that breach what records expect.
 */
import { Effect, Option, Stream } from "effect"
import { admissions } from "../../admissions/Admission.ts"
import { admissionConsents } from "../../admissions/AdmissionConsent.ts"
import { distributions } from "../../distributions/distribution/Distribution.ts"
import { distributionLines } from "../../distributions/distribution/DistributionLine.ts"
import { type Finding, findings } from "../../findings/Finding.ts"
import { type Instrument, instruments } from "../../instruments/instrument/Instrument.ts"
import { policyVersions } from "../../instruments/policy/PolicyVersion.ts"
import { quoteIdOf } from "../../instruments/price/AssetQuote.ts"
import { breachKind as pointBreachKind } from "../../instruments/price/PointBreachSteps.ts"
import type { Collection } from "../../kernel/Collection.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { dealingCycles } from "../../orders/dealing-cycle/DealingCycle.ts"
import { primaryMarkets } from "../../orders/primary-market/PrimaryMarket.ts"
import { provisionSettlements } from "../../orders/provision-settlement/ProvisionSettlement.ts"
import { type Redemption, redemptions } from "../../orders/redemption/Redemption.ts"
import { standingSettlements } from "../../orders/standing-settlement/StandingSettlement.ts"
import { type Subscription, subscriptions } from "../../orders/subscription/Subscription.ts"
import { issuerPowersAgreements } from "../../powers/IssuerPowersAgreement.ts"
import { idleKindOf, kindOf, unexpectedFacts } from "../../projection/Unexpected.ts"
import { type Query, Records } from "../../records/Records.ts"
import { amendments } from "../../reserves/amendment/Amendment.ts"
import { lockAgreements } from "../../reserves/lock-agreement/LockAgreement.ts"
import { type Reserve, reserves } from "../../reserves/reserve/Reserve.ts"
import { inForceAt } from "../../reserves/reserve/TermsRules.ts"
import { mints } from "../../reserves/reserve-order/Mint.ts"
import { reserveRedemptions } from "../../reserves/reserve-order/ReserveRedemption.ts"
import { operations } from "../../writes/OperationRecord.ts"
import { checkMarks, idOf } from "../run/CheckMark.ts"
import { comparedBefore } from "../run/RunRules.ts"
import { NotCompared, type Point } from "./Check.ts"
import type { BatchPoint } from "./Check.ts"

type InstrumentIdentity = Pick<Instrument, "instrumentId">
type PricedInstrument = Pick<Instrument, "instrumentId" | "registrar">

/** A version of an instrument's policy that is or was in force. */
interface Version {
  readonly policyVersion: number
  readonly effectiveFrom: Instant.Instant
}

/** An order, and the versions of the policy of its instrument, in their order. */
export interface ClaimedOrder {
  readonly of: "order"
  readonly instrumentId: string
  readonly kind: "subscription" | "redemption"
  readonly orderId: string
  readonly holderId: string
  readonly policyVersion: number
  readonly claimedAt: Instant.Instant
  readonly versions: ReadonlyArray<Version>
}

/** Ledger facts about one record that no state machine allows, or that broke an expectation of it. */
export interface BreachedRecord {
  readonly of: "breaches"
  /** Null where the facts concern no instrument of the venue, or none that its own records name. */
  readonly instrumentId: string | null
  /** Kind of the record, as the breaches name it. */
  readonly kind: string
  readonly id: string
  readonly count: number
  /** Whether each of them was made by an outside party alone and moved nothing. */
  readonly isIdle: boolean
}

export type ReplayFact = ClaimedOrder | BreachedRecord

/**
 * Streams the orders of an instrument, then the breaches of its records, and of the points that price it
 * or an asset of its reserve.
 */
export const replayed = (
  instrument: PricedInstrument,
  at: BatchPoint
): Stream.Stream<ReplayFact | NotCompared, Unavailable, Records> =>
  Stream.concat(
    orders(instrument, at),
    Stream.unwrap(
      Effect.map(pointBreaches(instrument, at), (ofPoints) =>
        joined(
          breaches(at).pipe(
            Stream.filter(({ instrumentId }) => instrumentId === instrument.instrumentId)
          ),
          ofPoints
        )
      )
    )
  )

/**
 * Streams the breaches of records that belong to no instrument. Points of sources that price nothing of
 * the venue are left out: any party may publish.
 */
export const unattributed = (at: Point): Stream.Stream<ReplayFact, Unavailable, Records> =>
  breaches(at).pipe(
    Stream.filter(({ instrumentId, kind }) => instrumentId === null && kind !== pointBreachKind)
  )

const subjectKeyOf = ({ kind, id }: Pick<BreachedRecord, "kind" | "id">): string => `${kind}/${id}`

/** Adds breaches of points to the breaches of the same subject, so that a subject is found once. */
const joined = <E, R>(
  breached: Stream.Stream<BreachedRecord, E, R>,
  ofPoints: ReadonlyArray<BreachedRecord>
): Stream.Stream<BreachedRecord, E, R> =>
  Stream.suspend(() => {
    const left = new Map(ofPoints.map((found) => [subjectKeyOf(found), found]))
    const withPoints = Stream.map(breached, (found) => {
      const more = left.get(subjectKeyOf(found))
      left.delete(subjectKeyOf(found))
      return more === undefined
        ? found
        : { ...found, count: found.count + more.count, isIdle: false }
    })
    return Stream.concat(
      withPoints,
      Stream.suspend(() => Stream.fromIterable(left.values()))
    )
  })

/**
 * Loads the breaches of points that concern an instrument: those of its own oracles under the instrument,
 * and those of the price sources of its reserve under the reserve.
 */
const pointBreaches = Effect.fnUntraced(function* (
  { instrumentId, registrar }: PricedInstrument,
  { pin, reserves: { backed } }: BatchPoint
) {
  const records = yield* Records
  const oracles = yield* oraclesOf(instrumentId, pin)
  const asset = { admin: registrar, id: instrumentId }
  const reserve = (yield* backed).get(instrumentId)?.reserve
  const subjects = [
    {
      kind: "instrument",
      id: instrumentId,
      quoteIds: oracles.map((source) => quoteIdOf({ source, asset }))
    },
    ...(reserve === undefined
      ? []
      : [
          {
            kind: "reserve",
            id: reserve.reserveId as string,
            quoteIds: sourcesOf(reserve, pin.judgedAt)
          }
        ])
  ]
  const resourceId = subjects.flatMap(({ quoteIds }) => quoteIds)
  if (resourceId.length === 0) return []
  const counts = yield* records.countBy(unexpectedFacts, "resourceId", {
    pin,
    where: { resourceKind: [pointBreachKind], resourceId }
  })
  return subjects.flatMap(({ kind, id, quoteIds }): ReadonlyArray<BreachedRecord> => {
    const count = quoteIds.reduce((sum, quoteId) => sum + (counts.get(quoteId) ?? 0), 0)
    return count === 0 ? [] : [{ of: "breaches", kind, id, count, instrumentId, isIdle: false }]
  })
})

const sourcesOf = (reserve: Reserve, at: Instant.Instant): ReadonlyArray<string> =>
  inForceAt(reserve, at).assets.flatMap(({ asset, priceSource }) =>
    priceSource === null ? [] : [quoteIdOf({ source: priceSource, asset })]
  )

/** Oracles that the versions of the instrument's policy and its primary markets name, or named. */
const oraclesOf = Effect.fnUntraced(function* (instrumentId: string, pin: Point["pin"]) {
  const records = yield* Records
  const where = { instrumentId: [instrumentId] }
  const ofVersions = yield* records.countBy(policyVersions, "oracle", { pin, where })
  const ofMarkets = yield* records.stream(primaryMarkets, { pin, where }).pipe(
    Stream.map(({ record }) => record.terms.oracle),
    Stream.runCollect
  )
  return [...new Set([...ofVersions.keys(), ...ofMarkets])]
})

type Orders = Stream.Stream<ClaimedOrder | NotCompared, Unavailable, Records>

type Claims = Stream.Stream<ClaimedOrder, Unavailable, Records>

const orders = (instrument: InstrumentIdentity, at: Point): Orders =>
  Stream.unwrap(
    Effect.gen(function* (): Effect.fn.Return<Orders, Unavailable, Records> {
      const records = yield* Records
      const { instrumentId } = instrument
      const where = { instrumentId: [instrumentId] }
      // A version that was withdrawn before its time was never in force.
      const accepted = yield* Stream.runCollect(
        records.stream(policyVersions, {
          pin: at.pin,
          where: { ...where, state: ["current", "superseded"] }
        })
      )
      const claim = {
        of: "order" as const,
        instrumentId,
        versions: accepted.map(({ record: { policyVersion, effectiveFrom } }) => ({
          policyVersion,
          effectiveFrom
        }))
      }
      const since = yield* judgedBefore(instrument, at)
      if (since === null) return claimed(claim, { pin: at.pin, where })
      const fresh = yield* Stream.runCollect(
        claimed(claim, { pin: at.pin, where, updatedFrom: since.writtenBy })
      )
      if (fresh.length === 0 && since.findings.length === 0 && (yield* hasOrder(where, at))) {
        return Stream.make(judgedEarlier(instrumentId))
      }
      const freshKeys = new Set(fresh.map(keyOf))
      const claimedFindings = claimedAmong(claim, since.findings, at)
      return Stream.concat(
        Stream.fromIterable(fresh),
        claimedFindings.pipe(Stream.filter((order) => !freshKeys.has(keyOf(order))))
      )
    })
  )

/** Checks whether an instrument has an order, which an earlier run judged. */
const hasOrder = Effect.fnUntraced(function* (where: Query["where"] & object, { pin }: Point) {
  const records = yield* Records
  const query = { pin, where, limit: 1 }
  if ((yield* records.list(subscriptions, query)).length > 0) return true
  return (yield* records.list(redemptions, query)).length > 0
})

/** Notes that a brief run leaves out the orders, none of which changed since they were judged. */
const judgedEarlier = (instrumentId: string): NotCompared =>
  new NotCompared({
    subject: { resourceKind: "instrument", id: instrumentId },
    statementId: null,
    why: comparedBefore,
    isNeeded: false
  })

const keyOf = ({ kind, orderId }: Pick<ClaimedOrder, "kind" | "orderId">): string =>
  `${kind}/${orderId}`

type InstrumentVersions = Pick<ClaimedOrder, "of" | "instrumentId" | "versions">

const ofSubscription = (judging: InstrumentVersions, order: Subscription): ClaimedOrder => {
  const { claimedAt, holderId, policyVersion, subscriptionId: orderId } = order
  return { ...judging, kind: "subscription", orderId, holderId, policyVersion, claimedAt }
}

const ofRedemption = (judging: InstrumentVersions, order: Redemption): ClaimedOrder => {
  const { claimedAt, holderId, policyVersion, redemptionId: orderId } = order
  return { ...judging, kind: "redemption", orderId, holderId, policyVersion, claimedAt }
}

const claimed = (judging: InstrumentVersions, query: Query): Claims =>
  Stream.unwrap(
    Effect.map(Records, (records) => {
      const bought = records
        .stream(subscriptions, query)
        .pipe(Stream.map(({ record }) => ofSubscription(judging, record)))
      const givenBack = records
        .stream(redemptions, query)
        .pipe(Stream.map(({ record }) => ofRedemption(judging, record)))
      return Stream.concat(bought, givenBack)
    })
  )

type Subject = Finding["subject"]

/** Streams the orders that findings are about. */
const claimedAmong = (
  judging: InstrumentVersions,
  subjects: ReadonlyArray<Subject>,
  { pin }: Point
): Claims =>
  Stream.fromIterable(subjects).pipe(
    Stream.grouped(recordsMax),
    Stream.mapEffect((some) =>
      Effect.gen(function* () {
        const records = yield* Records
        const idsOf = (kind: string) =>
          some.flatMap(({ id, resourceKind }) => (resourceKind === kind ? [id] : []))
        const bought = yield* records.many(subscriptions, idsOf("subscription"), pin)
        const givenBack = yield* records.many(redemptions, idsOf("redemption"), pin)
        return [
          ...bought.map((order) => ofSubscription(judging, order)),
          ...givenBack.map((order) => ofRedemption(judging, order))
        ]
      })
    ),
    Stream.flatMap((found) => Stream.fromIterable(found))
  )

/**
 * Loads the watermark of the orders, and the orders that are findings: a brief run judges the orders
 * that changed since the watermark, and the findings. Null: every order is judged, because no run
 * has judged them, or a version of the policy was accepted since.
 */
const judgedBefore = Effect.fnUntraced(function* (
  { instrumentId }: InstrumentIdentity,
  { isBrief, pin }: Point
) {
  if (isBrief !== true) return null
  const records = yield* Records
  const mark = yield* records.find(checkMarks, idOf({ check: "policy-replay", instrumentId }), pin)
  if (Option.isNone(mark)) return null
  const { writtenBy } = mark.value
  const versions = {
    pin,
    where: { instrumentId: [instrumentId] },
    updatedFrom: writtenBy,
    limit: 1
  }
  if ((yield* records.list(policyVersions, versions)).length > 0) return null
  const where = {
    check: ["policy-replay"],
    instrumentId: [instrumentId],
    state: ["open", "accepted"]
  }
  const orderFindings = yield* records.stream(findings, { pin, where }).pipe(
    Stream.map(({ record }) => record.subject),
    Stream.runCollect
  )
  return { writtenBy, findings: orderFindings }
})

/** A collection whose records name their instrument; null: the record is of none. */
type OfInstrument = Collection<{ readonly instrumentId: string | null }, never>

/**
 * Collections of the kinds of record that breaches name and that belong to an instrument. Only the
 * engine's own record decides the instrument of a breach, so that a stranger's contract cannot stop
 * a payout.
 */
const ofInstrument: Readonly<Record<string, ReadonlyArray<Pick<OfInstrument, "name">>>> = {
  instrument: [instruments],
  subscription: [subscriptions],
  redemption: [redemptions],
  distribution: [distributions, distributionLines],
  admission: [admissions],
  "admission-consent": [admissionConsents],
  "dealing-cycle": [dealingCycles],
  "primary-market": [primaryMarkets],
  "provision-settlement": [provisionSettlements],
  "standing-settlement": [standingSettlements],
  "issuer-powers-agreement": [issuerPowersAgreements],
  reserve: [reserves],
  amendment: [amendments],
  "lock-agreement": [lockAgreements],
  mint: [mints],
  "reserve-redemption": [reserveRedemptions],
  operation: [operations]
}

/** Number of records that are looked up together. */
const recordsMax = 500

/** Streams the records with breaches, by kind and id, with the number of facts of each. */
const breaches = ({ pin }: Point): Stream.Stream<BreachedRecord, Unavailable, Records> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const records = yield* Records
      const countByKind = yield* records.countBy(unexpectedFacts, "resourceKind", { pin })
      const kinds = new Set([...countByKind.keys()].map((kind) => kindOf(kind).kind))
      const countsOf = (resourceKind: string) =>
        countByKind.has(resourceKind)
          ? records.countBy(unexpectedFacts, "resourceId", {
              pin,
              where: { resourceKind: [resourceKind] }
            })
          : Effect.succeed(new Map<string, number>())
      return Stream.fromIterable([...kinds].toSorted()).pipe(
        Stream.mapEffect((kind) =>
          Effect.gen(function* () {
            const moving = yield* countsOf(kind)
            const idle = yield* countsOf(idleKindOf(kind))
            // Facts that moved nothing never add to those that did, which people may have accepted.
            return [...new Map([...idle, ...moving])].map(([id, count]) => ({
              ...{ of: "breaches" as const, kind, id, count },
              isIdle: !moving.has(id)
            }))
          })
        ),
        Stream.flatMap((found) => Stream.fromIterable(found)),
        Stream.grouped(recordsMax),
        Stream.mapEffect((found) => attributed(found, pin)),
        Stream.flatMap((found) => Stream.fromIterable(found))
      )
    })
  )

const attributed = Effect.fnUntraced(function* (
  found: ReadonlyArray<Omit<BreachedRecord, "instrumentId">>,
  pin: Point["pin"]
) {
  const records = yield* Records
  const instrumentOf = new Map<string, string>()
  for (const [kind, breachesOfKind] of Map.groupBy(found, (breached) => breached.kind)) {
    const ids = breachesOfKind.map(({ id }) => id)
    for (const collection of ofInstrument[kind] ?? []) {
      for (const record of yield* records.many(collection as OfInstrument, ids, pin)) {
        const { instrumentId } = record
        if (instrumentId === null) continue
        instrumentOf.set(`${kind}/${(collection as OfInstrument).id(record)}`, instrumentId)
      }
    }
  }
  return found.map(
    (breached): BreachedRecord => ({
      ...breached,
      instrumentId: instrumentOf.get(`${breached.kind}/${breached.id}`) ?? null
    })
  )
})
