/** Access to a read: the role a caller asks in, and the intersection of two scopes. */
import type { Read } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Access from "#core/reads/Access.ts"
import * as Party from "#core/kernel/Party.ts"
import { auditor } from "../engine/toy-reads.ts"

const audience: Read.Audience = { operator: "all", investor: "own", monitor: "redacted" }
const venue = Party.of("venue::1220")
const now = Instant.fromEpochMillis(1)

describe("the role of a caller", () => {
  it("is the first of the audience that it holds, in the audience's order, with its sight", () => {
    const roles = fc.subarray(["monitor", "auditor", "investor", "operator"] as const)
    fc.assert(
      fc.property(roles, (held) => {
        const caller = { ...auditor, roles: held }
        const role = (["operator", "investor", "monitor"] as const).find((r) => held.includes(r))
        expect(Access.sightOf(audience, caller)).toEqual(
          role === undefined ? undefined : { role, sight: audience[role] }
        )
        const asker = Access.askerOf(audience, { caller, venue, now })
        if (Result.isSuccess(asker)) {
          expect(asker.success).toEqual({
            caller,
            venue,
            now,
            role,
            sight: audience[role ?? "app"]
          })
        } else {
          expect([role, asker.failure.slug]).toEqual([undefined, "permission-denied"])
        }
      })
    )
  })
})

describe("the intersection of two scopes", () => {
  const scope = fc.dictionary(
    fc.constantFrom("holderId", "state", "party"),
    fc.uniqueArray(fc.constantFrom("a", "b", "c"))
  )
  const matches = (scope: Read.Scope, row: Readonly<Record<string, string>>): boolean =>
    Object.entries(scope).every(([column, values]) => values.includes(row[column] ?? ""))
  const row = fc.record({
    holderId: fc.constantFrom("a", "b", "c"),
    state: fc.constantFrom("a", "b", "c"),
    party: fc.constantFrom("a", "b", "c")
  })

  it("matches exactly the records that both match", () => {
    fc.assert(
      fc.property(scope, scope, row, (first, second, record) => {
        expect(matches(Access.intersectionOf(first, second), record)).toBe(
          matches(first, record) && matches(second, record)
        )
      })
    )
  })
})
