/** Checks of reconciliation that replay what the policy and the records allowed. */
import { compare } from "../../findings/FindingRules.ts"
import type { Finding } from "../../findings/Finding.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import { ResourceKind } from "../../vocabulary/ResourceKind.ts"
import * as Check from "./Check.ts"
import {
  type BreachedRecord,
  type ClaimedOrder,
  replayed,
  type ReplayFact,
  unattributed
} from "./PolicyReplayLookups.ts"

export const policyReplay = Check.define("policy-replay", {
  doc: "Finds orders that were claimed under another policy version than that in force, and facts of the ledger that a record does not allow.",
  rule: "policy-replay",
  needs: "An order of the instrument, or an unexpected fact.",
  cannot: {
    "compared-before":
      "a brief run leaves out the orders, none of which changed since they were judged"
  },
  severity:
    "blocking; a warning where the fact concerns no instrument, and where outside parties alone acted and moved nothing",
  isMarked: true,
  facts: replayed,
  venueFacts: unattributed,
  differences: (fact: ReplayFact, tolerance) =>
    fact.of === "order" ? ofOrder(fact, tolerance) : ofBreaches(fact, tolerance)
})

/** An order under a version that was not in force at its claim. */
const ofOrder = (order: ClaimedOrder, tolerance: Decimal.Decimal) => {
  const inForce = inForceAt(order.versions, order.claimedAt)
  if (inForce === null || isOfItsTime(order)) return []
  return compare({
    instrumentId: order.instrumentId,
    subject: { resourceKind: order.kind, id: order.orderId },
    holderId: order.holderId,
    severity: "blocking",
    unit: "policyVersion",
    expected: Decimal.fromInteger(inForce),
    actual: Decimal.fromInteger(order.policyVersion),
    tolerance
  })
}

/** Number of the version in force at an instant; before the first version its own terms count. */
const inForceAt = (versions: ClaimedOrder["versions"], at: Instant.Instant): number | null =>
  versions.findLast(
    ({ effectiveFrom, policyVersion }) =>
      policyVersion === 1 || Instant.atOrBefore(effectiveFrom, at)
  )?.policyVersion ?? null

/**
 * Checks whether an order may have been claimed under its version: the one in force, and at the very
 * instant of a change any that began or ended at it.
 */
const isOfItsTime = ({ claimedAt, policyVersion, versions }: ClaimedOrder): boolean => {
  const isChange = ({ effectiveFrom }: ClaimedOrder["versions"][number]): boolean =>
    Instant.equals(effectiveFrom, claimedAt)
  const before = versions.filter((version) => version.policyVersion === 1 || !isChange(version))
  return (
    inForceAt(before, claimedAt) === policyVersion ||
    versions.some((version) => version.policyVersion === policyVersion && isChange(version))
  )
}

/** A record with breaches, by their number; of no instrument it can hold none. */
const ofBreaches = (record: BreachedRecord, tolerance: Decimal.Decimal) =>
  compare({
    instrumentId: record.instrumentId,
    subject: subjectOf(record),
    holderId: null,
    severity: record.instrumentId === null || record.isIdle ? "warning" : "blocking",
    unit: "facts",
    expected: Decimal.zero,
    actual: Decimal.fromInteger(record.count),
    tolerance
  })

/** Subject of a breach: its record, and the contract of a record that is of no kind of the API. */
const subjectOf = ({ kind, id }: Pick<BreachedRecord, "kind" | "id">): Finding["subject"] =>
  ResourceKind.has(kind)
    ? { resourceKind: kind, id }
    : { resourceKind: "contract", id: `${kind}/${id}` }
