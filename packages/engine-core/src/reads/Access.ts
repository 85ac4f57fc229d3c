/** Access of a caller to a read: the role it asks in, its sight, and the records in its scope. */
import { Result } from "effect"
import type * as Instant from "../kernel/Instant.ts"
import type * as Party from "../kernel/Party.ts"
import { type Refused, refuse } from "../kernel/Refusal.ts"
import type { Role } from "../vocabulary/Role.ts"
import type { Caller } from "../writes/Caller.ts"
import type { Audience, Scope, Sight, ReadCaller } from "./Read.ts"

/** The first role of the audience that the caller holds, and its sight. */
export const sightOf = (
  audience: Audience,
  caller: Caller
): { readonly role: Role; readonly sight: Sight } | undefined => {
  for (const [role, sight] of Object.entries(audience) as ReadonlyArray<[Role, Sight]>) {
    if (caller.roles.includes(role)) return { role, sight }
  }
  return undefined
}

/**
 * Resolves the role and sight of a caller. Refuses `permission-denied` where no role of the caller is
 * in the audience; the role is judged before any record is looked up.
 */
export const askerOf = (
  audience: Audience,
  call: {
    readonly caller: Caller
    readonly venue: Party.Party
    readonly now: Instant.Instant
  }
): Result.Result<ReadCaller, Refused<"permission-denied">> => {
  const access = sightOf(audience, call.caller)
  return access === undefined
    ? refuse("permission-denied", { detail: "None of the caller's roles reads this." })
    : Result.succeed({ ...call, ...access })
}

/** Intersection of two scopes: of a filter column in both, only the values that both allow. */
export const intersectionOf = (first: Scope, second: Scope): Scope => {
  const intersection: Record<string, ReadonlyArray<string>> = { ...first }
  for (const [column, values] of Object.entries(second)) {
    const allowed = intersection[column]
    intersection[column] =
      allowed === undefined ? values : allowed.filter((value) => values.includes(value))
  }
  return intersection
}
