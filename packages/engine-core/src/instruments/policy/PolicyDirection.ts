/** Direction of a change of policy, loosening or tightening: the partial order of each term. */
import { Schema, Struct } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Direction from "../../kernel/Direction.ts"
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as PlainJson from "../../kernel/PlainJson.ts"
import type { PartialDistribution, RateChange } from "../../vocabulary/sets.ts"
import * as TermChange from "../../writes/TermChange.ts"
import { Manifest } from "../instrument/Manifest.ts"
import { graceDefaults, toleranceDefaults } from "./PolicyTerms.ts"

const { larger, neither, optional, ranked, smaller, struct, whenTrue } = Direction

/** The terms under the names of a policy's body. */
const bodyOf = (manifest: Manifest) => ({
  ...Struct.omit(manifest, ["navGuardrail"]),
  guardrail: manifest.navGuardrail
})
type Body = ReturnType<typeof bodyOf>

const longer = Direction.by(Duration.nanos, larger)

const toleranceScale = (check: string): Direction.Scale<Decimal.Decimal | null> => {
  const otherwise = toleranceDefaults[check] ?? Decimal.zero
  if (otherwise === "derived") return optional("apart", larger)
  return Direction.by((tolerance) => tolerance ?? otherwise, larger)
}

const graceScale = (check: string): Direction.Scale<Duration.Duration | null> => {
  const otherwise = graceDefaults[check]
  if (otherwise === undefined) return optional("apart", longer)
  if (otherwise === "endless") return optional("widest", longer)
  return Direction.by((grace) => grace ?? otherwise, longer)
}

/**
 * Scale of every term of a policy. An absent limit, guardrail or window limits nothing. Terms that
 * change the figures of orders (fee, cut-off, oracle) have no order: any change counts as
 * loosening. Names have none either, because people act by them.
 */
const scale = struct<Body>({
  valuation: neither,
  oracle: neither,
  currency: neither,
  unitDecimals: neither,
  parValue: neither,
  holderCap: larger,
  distribution: struct({
    schedule: ranked<Body["distribution"]["schedule"]>("none", "monthly"),
    withholding: neither,
    payoutDecimals: neither,
    payout: neither,
    calendar: neither,
    incomeCode: neither
  }),
  identifiers: neither,
  legalName: neither,
  businessZone: neither,
  display: neither,
  cutOff: neither,
  pricing: neither,
  fees: neither,
  minimumSubscription: optional("widest", smaller),
  minimumHolding: optional("widest", smaller),
  swing: neither,
  guardrail: optional("widest", struct({ up: larger, down: larger })),
  residual: neither,
  // Without a feed the oracle's point alone prices; with one the feed must be usable too.
  navFeed: optional(
    "widest",
    struct({ externalSourceId: neither, grace: optional("narrowest", longer) })
  ),
  window: struct({
    opensAt: optional("widest", smaller),
    closesAt: optional("widest", larger)
  }),
  limits: struct({
    maxSubscription: optional("widest", larger),
    maxRedemption: optional("widest", larger),
    cycleCapacity: optional("widest", larger)
  }),
  tolerances: Direction.named(toleranceScale),
  deliverBeforeCash: whenTrue,
  partialDistribution: ranked<PartialDistribution>("refuse", "carry"),
  rateChange: ranked<RateChange>("refuse", "alert"),
  rescreenAfter: optional("widest", longer),
  grace: Direction.named(graceScale)
})

/** Schedule of the terms: those in force, and the accepted ones that replace them. */
export interface Course {
  readonly manifest: Manifest
  readonly next: { readonly effectiveFrom: Instant.Instant; readonly manifest: Manifest } | null
}

const inForceAt = ({ manifest, next }: Course, at: Instant.Instant): Manifest =>
  next !== null && Instant.atOrAfter(at, next.effectiveFrom) ? next.manifest : manifest

/** Instants from `now` on at which the terms of either schedule change. */
const turnsOf = (now: Instant.Instant, courses: ReadonlyArray<Course>) => [
  now,
  ...courses.flatMap(({ next }) =>
    next === null || Instant.atOrBefore(next.effectiveFrom, now) ? [] : [next.effectiveFrom]
  )
]

/**
 * Compares two schedules of policy terms and lists each term that differs at an instant from `now`
 * on, with the direction of its change: an earlier start of looser terms loosens, and so does a
 * later start of tighter ones. A term that changes both against the terms in force and against the
 * scheduled ones is listed twice.
 */
export const changesOf = (
  courses: Direction.Pair<Course>,
  now: Instant.Instant
): ReadonlyArray<TermChange.TermChange> => {
  const changeByKey = new Map<string, TermChange.TermChange>()
  for (const at of turnsOf(now, [courses.from, courses.to]).toSorted(Instant.compare)) {
    const terms = { from: inForceAt(courses.from, at), to: inForceAt(courses.to, at) }
    for (const change of between(terms)) {
      const key = PlainJson.canonical({ ...change })
      if (!changeByKey.has(key)) changeByKey.set(key, change)
    }
  }
  return [...changeByKey.values()]
}

/** Changes between two manifests, with values as a policy's body shows them. */
const between = ({ from, to }: Direction.Pair<Manifest>): ReadonlyArray<TermChange.TermChange> =>
  TermChange.withValues(scale.changes({ from: bodyOf(from), to: bodyOf(to) }), {
    from: shownOf(from),
    to: shownOf(to)
  })

const encode = Schema.encodeSync(Manifest)

const shownOf = (manifest: Manifest): PlainJson.Plain => {
  const { navGuardrail: guardrail, ...shown } = encode(manifest)
  return { ...shown, guardrail: guardrail ?? null }
}
