/** Which roles a list shows every record to: the answers that have no caller's scope show those alone. */
import { Effect, Exit } from "effect"
import * as Instant from "../kernel/Instant.ts"
import type * as Party from "../kernel/Party.ts"
import type { Role } from "../vocabulary/Role.ts"
import type { List, ReadCaller } from "./Read.ts"

/**
 * Checks whether a list shows every record to a role: its sight is `all`, and its scope restricts no
 * caller of the role, with claims or without. A scope that cannot tell without records restricts it.
 */
export const isWhole = (list: List, role: Role): boolean =>
  list.audience[role] === "all" && [null, "somebody"].every((claim) => isOpenTo(list, role, claim))

const isOpenTo = (list: List, role: Role, claim: string | null): boolean => {
  if (list.scope === undefined) return true
  const names = { sub: "somebody", name: claim, email: claim, holderId: claim, party: claim }
  const who: ReadCaller = {
    caller: { ...names, roles: [role] },
    role,
    sight: "all",
    venue: "somebody" as Party.Party,
    now: Instant.of("1970-01-01T00:00:00Z")
  }
  const { scope } = list
  // Cast: a scope that asks for records ends with a defect here, and so it restricts.
  const columns = Effect.suspend(() => scope(who, {})) as Effect.Effect<object, unknown>
  const judged = Effect.runSyncExit(columns)
  return Exit.isSuccess(judged) && Object.keys(judged.value).length === 0
}
