/** Pure rule of the checks with a grace time: differences that are younger are ignored. */
import * as Duration from "../../kernel/Duration.ts"
import * as Instant from "../../kernel/Instant.ts"
import type { Terms } from "./Check.ts"

/**
 * Checks whether more than the grace time has passed since an instant; at its very end it has not. A
 * check without a grace time does not wait.
 */
export const isOverdue = (
  since: Instant.Instant,
  { grace, now }: Pick<Terms, "grace" | "now">
): boolean => Instant.isAfter(now, Instant.add(since, grace ?? Duration.zero))
