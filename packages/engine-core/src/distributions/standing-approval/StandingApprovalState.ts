/** Judged states of a standing approval of distributions. */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Judged from "../../kernel/Judged.ts"

export interface Subject {
  readonly from: Instant.Instant
  readonly until: Instant.Instant
  readonly maxUses: number | null
  readonly maxNet: Decimal.Decimal | null
  readonly uses: number
  readonly usedNet: Decimal.Decimal
  readonly revokedAt: Instant.Instant | null
  readonly now: Instant.Instant
}

const isExhausted = ({ maxNet, maxUses, usedNet, uses }: Subject): boolean =>
  (maxUses !== null && uses >= maxUses) || (maxNet !== null && Decimal.atLeast(usedNet, maxNet))

export const StandingApprovalState = Judged.declare<Subject>()("StandingApprovalState", {
  doc: "A standing approval: the scheduler executes due distributions under it while it is active.",
  states: {
    scheduled: "Not yet in force.",
    active: "In force.",
    exhausted: "Its uses or its amount are used up.",
    lapsed: "Its time is over.",
    revoked: "One person ended it, at once."
  },
  // An exhausted or lapsed approval cannot be revoked, so judging the revocation first is unambiguous.
  judge: (subject) => {
    if (subject.revokedAt !== null) return "revoked"
    if (isExhausted(subject)) return "exhausted"
    if (Instant.atOrAfter(subject.now, subject.until)) return "lapsed"
    return Instant.isBefore(subject.now, subject.from) ? "scheduled" : "active"
  }
})
