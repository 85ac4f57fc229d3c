/** Audience of restrictions: roles that read them, and roles that must not learn of them. */
import type { Role } from "../../vocabulary/Role.ts"

/** Roles that read restrictions (docs/domain/restraints.md#readers-of-restrictions). */
export const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all"
} as const

/**
 * Whether a caller of this role may learn that a restriction exists. An investor never does
 * (docs/domain/holders.md#concealment), and neither does an app, which speaks for investors. A
 * registrar reads of its own instruments' lines whether they are restricted, and no more.
 */
export const isTold = (role: Role): boolean => role !== "investor" && role !== "app"
