/** Role check of a route, before the request's body is read. */
import { type Caller, Refusal } from "@bursar/engine-core"
import type { Admits } from "../api/Served.ts"

export const judge = (
  admits: Exclude<Admits, { readonly by: "anyone" }>,
  caller: Caller.Caller
): Refusal.Refused<"permission-denied" | "auditor-never-approves"> | undefined => {
  if (admits.by === "approver") {
    if (caller.roles.includes("auditor")) return Refusal.refused("auditor-never-approves")
    return caller.roles.includes("approver") ? undefined : denied
  }
  return admits.roles.some((role) => caller.roles.includes(role)) ? undefined : denied
}

const denied = Refusal.refused("permission-denied")
