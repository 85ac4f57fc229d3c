/** Who is told of restrictions, and who never is. */
import type { Role } from "../../vocabulary/Role.ts"

/** Who reads restrictions (domain.md section 6). */
export const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all"
} as const

/**
 * Whether a caller of this role may learn that a restriction exists. An investor never does (domain.md
 * section 6, d), and so neither does an app, which speaks for investors. A registrar reads of its own
 * instruments' lines whether they are restricted, and no more.
 */
export const isTold = (role: Role): boolean => role !== "investor" && role !== "app"
