/** Pure rule of the checks that ignore what is younger than their grace time. */
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Terms } from "./Check.ts"

/**
 * Checks whether more than the grace time has passed since an instant; at its very end it has not. A
 * check without a grace time has none to wait for.
 */
export const isOverdue = (
  since: Instant.Instant,
  { grace, now }: Pick<Terms, "grace" | "now">
): boolean => Instant.isAfter(now, Instant.add(since, grace ?? Duration.zero))
