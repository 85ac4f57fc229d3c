/** A standing approval of fund-a, in force from its grant on. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import {
  judged,
  type StandingApproval,
  StandingApprovalId
} from "#core/distributions/standing-approval/StandingApproval.ts"
import { instrumentId } from "./story.ts"

export const idOf = Schema.decodeSync(StandingApprovalId)

export const granted = (changes: Partial<StandingApproval> = {}): StandingApproval =>
  judged({
    standingApprovalId: idOf("sa1"),
    instrumentId,
    action: "distribution.execute",
    from: Instant.of("2026-07-01T00:00:00Z"),
    until: Instant.of("2027-07-01T00:00:00Z"),
    maxUses: null,
    maxNet: null,
    currency: "USD",
    rateChange: "alert",
    partial: "carry",
    uses: 0,
    usedNet: Decimal.zero,
    grantedBy: "olga",
    approvedBy: "ada",
    grantedAt: Instant.of("2026-07-01T00:00:00Z"),
    revokedBy: null,
    revokedAt: null,
    judgedAt: Instant.of("2026-07-01T00:00:00Z"),
    ...changes
  })
