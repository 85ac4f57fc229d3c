/** Pure rule of a standing approval's limit: whether a distribution's net still fits. */
import * as Decimal from "../../kernel/Decimal.ts"
import type { Subject } from "./StandingApproval.ts"

/**
 * Checks whether a distribution of this net, in the payout's currency, may use the approval: the sum
 * of all nets is at most `maxNet`. A use that brings the sum exactly to it is admitted and exhausts
 * the approval.
 */
export const admitsNet = (
  { maxNet, usedNet }: Pick<Subject, "maxNet" | "usedNet">,
  net: Decimal.Decimal
): boolean => maxNet === null || Decimal.atMost(Decimal.add(usedNet, net), maxNet)
