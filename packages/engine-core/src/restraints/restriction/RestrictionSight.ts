/** Roles that read restrictions (docs/domain/restraints.md#readers-of-restrictions). */
export const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all"
} as const
