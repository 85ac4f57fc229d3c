/** Checks of a standing approval: of its grant, and of an execution that comes under it. */
import type { Manifest } from "../../instruments/instrument/Manifest.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import { condition, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { StandingApproval } from "./StandingApproval.ts"
import { admitsNet } from "./StandingApprovalRules.ts"

export interface GrantFacts {
  readonly manifest: Pick<Manifest, "distribution">
  readonly policyVersion: number
  readonly from: Instant.Instant
  readonly until: Instant.Instant
  readonly now: Instant.Instant
  /** Longest period for which an approval may be granted. */
  readonly longest: Duration.Duration
}

/**
 * All conditions of a grant (docs/domain/distributions.md#standing-approvals): the instrument
 * distributes monthly by a calendar, and the approval ends after it begins, at an instant to come,
 * within the longest period.
 */
export const againstGrant = (granting: GrantFacts): ReadonlyArray<Judgement> => {
  const { manifest, policyVersion, from, until, now, longest } = granting
  // Terms without a schedule have no calendar.
  const { calendar } = manifest.distribution
  return [
    condition("calendar", calendar !== null, { policyVersion }),
    condition("approval-period", Instant.isAfter(until, Instant.max(from, now))),
    condition("approval-longest", Instant.atOrBefore(until, Instant.add(from, longest)), {
      recovery: `Name an end within ${Duration.format(longest)} of its begin.`
    })
  ]
}

/**
 * Check of an execution by the scheduler: the instrument's approval is active and its limit admits
 * the net. `approval` is null where the instrument has none.
 */
export const againstUse = (
  approval: Pick<StandingApproval, "state" | "maxNet" | "usedNet" | "standingApprovalId"> | null,
  net: Decimal.Decimal
): Judgement =>
  condition(
    "standing-approval",
    approval !== null && approval.state === "active" && admitsNet(approval, net),
    {
      detail:
        approval === null
          ? "The instrument has no standing approval."
          : approval.state === "active"
            ? `The net passes the limit of the standing approval ${approval.standingApprovalId}.`
            : `The standing approval ${approval.standingApprovalId} is ${approval.state}.`
    }
  )
