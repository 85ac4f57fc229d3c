/**
 * Check `policy-replay`, pure: judges by which policy version an order was claimed, and finds ledger
 * facts that broke what the records expect (docs/domain/reconciliation.md#policy-replay).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import * as Instant from "../../../kernel/Instant.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import { ResourceKind } from "../../../vocabulary/ResourceKind.ts"

export const check = "policy-replay"

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

export type Fact = ClaimedOrder | BreachedRecord

/** Number of the version in force at an instant; before the first version its own terms count. */
const inForceAt = (versions: ReadonlyArray<Version>, at: Instant.Instant): number | null =>
  versions.findLast(
    ({ effectiveFrom, policyVersion }) =>
      policyVersion === 1 || Instant.atOrBefore(effectiveFrom, at)
  )?.policyVersion ?? null

/**
 * Checks whether an order may have been claimed under its version: the one in force, and at the very
 * instant of a change any that began or ended at it.
 */
const isOfItsTime = ({ claimedAt, policyVersion, versions }: ClaimedOrder): boolean => {
  const isChange = ({ effectiveFrom }: Version): boolean => Instant.equals(effectiveFrom, claimedAt)
  const before = versions.filter((version) => version.policyVersion === 1 || !isChange(version))
  return (
    inForceAt(before, claimedAt) === policyVersion ||
    versions.some((version) => version.policyVersion === policyVersion && isChange(version))
  )
}

const ofOrder = (order: ClaimedOrder, tolerance: Decimal.Decimal): ReadonlyArray<Difference> => {
  const { instrumentId, kind, orderId, holderId, claimedAt, policyVersion, versions } = order
  const inForce = inForceAt(versions, claimedAt)
  if (inForce === null || isOfItsTime(order)) return []
  return compare({
    check,
    instrumentId,
    subject: { resourceKind: kind, id: orderId },
    holderId,
    severity: "blocking",
    unit: "policyVersion",
    expected: Decimal.fromInteger(inForce),
    actual: Decimal.fromInteger(policyVersion),
    tolerance
  })
}

/** Subject of a breach: its record, and the contract of a record that is of no kind of the API. */
const subjectOf = ({ kind, id }: Pick<BreachedRecord, "kind" | "id">): Difference["subject"] =>
  ResourceKind.has(kind)
    ? { resourceKind: kind, id }
    : { resourceKind: "contract", id: `${kind}/${id}` }

/**
 * Returns a blocking difference for an order under a version that was not in force at its claim, and
 * one for each record with breaches: their number. A breach of no instrument is a warning, since it can
 * hold none, and so are acts of outside parties that moved nothing.
 */
export const differences = (fact: Fact, tolerance: Decimal.Decimal): ReadonlyArray<Difference> =>
  fact.of === "order"
    ? ofOrder(fact, tolerance)
    : compare({
        check,
        instrumentId: fact.instrumentId,
        subject: subjectOf(fact),
        holderId: null,
        severity: fact.instrumentId === null || fact.isIdle ? "warning" : "blocking",
        unit: "facts",
        expected: Decimal.zero,
        actual: Decimal.fromInteger(fact.count),
        tolerance
      })
