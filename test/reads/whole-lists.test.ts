/** Search and work have no caller's scope: of a list that withholds records from a role, they show it none. */
import { Catalogue } from "@bursar/engine-core"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import * as SearchKinds from "#core/overviews/search/SearchKinds.ts"
import type * as Read from "#core/reads/Read.ts"
import * as WaitingKinds from "#core/reads/WaitingKinds.ts"
import { isWhole } from "#core/reads/WholeLists.ts"

const { queries } = Catalogue
const ownWords: ReadonlyMap<string, ReadonlyArray<string>> = new Map()
const route = "GET /v1/subscriptions"

/** The built-in reads with another declaration of the subscriptions' list. */
const readsWith = (other: Partial<Read.List>): ReadonlyArray<Read.Read> =>
  queries.map((read) =>
    read.shape === "list" && read.route === route ? ({ ...read, ...other } as Read.List) : read
  )

const rolesOf = (reads: ReadonlyArray<Read.Read>) => ({
  search: [...(SearchKinds.of({ queries: reads }).get("subscription")?.roles ?? [])],
  work: [...(WaitingKinds.of({ queries: reads, ownWords }).get("subscription")?.roles ?? [])]
})

/** Roles by the audience's names alone, which the built-in lists show every record to. */
const named = (read: Read.List, roles: ReadonlyArray<keyof Read.Audience>) =>
  roles.filter((role) => role in read.audience)

describe("search and work", () => {
  it("show every record of a list to a role that sees less of it", () => {
    expect(rolesOf(queries).search).toContain("operator")
    expect(rolesOf(queries).work).toContain("operator")
    for (const sight of ["own", "near", "redacted"] as const) {
      const found = rolesOf(readsWith({ audience: { operator: sight, risk: "all" } }))
      expect(found).toEqual({ search: ["risk"], work: ["risk"] })
    }
  })

  it("show every record of a list whose scope restricts the caller, whatever its sight", () => {
    const scopes: ReadonlyArray<NonNullable<Read.List["scope"]>> = [
      ({ caller }) => Effect.succeed({ actor: [caller.sub] }),
      ({ caller }) =>
        Effect.succeed(caller.holderId === null ? {} : { holderId: [caller.holderId] }),
      ({ caller }) => Effect.succeed(caller.party === null ? { party: [] } : {}),
      () => {
        throw new Error("no parameters")
      }
    ]
    for (const scope of scopes) {
      expect(rolesOf(readsWith({ scope }))).toEqual({ search: [], work: [] })
    }
    const open = rolesOf(readsWith({ scope: () => Effect.succeed({}) }))
    expect(open).toEqual(rolesOf(queries))
  })

  it("hide a kind of the engine from a role that lists it", () => {
    const lists = queries.filter((read): read is Read.List => read.shape === "list")
    const searched = [...SearchKinds.of({ queries }).values()]
    expect(searched.length).toBeGreaterThan(20)
    for (const { kind, roles } of searched) {
      const rolesByList = lists
        .filter(({ collection }) => collection.name === kind)
        .map((read) => named(read, SearchKinds.searchRoles))
      expect(rolesByList, kind).toContainEqual([...roles])
    }
    const waiting = [...WaitingKinds.of({ queries, ownWords }).values()]
    const hidden = waiting.filter(({ roles }) => roles.size === 0)
    expect(hidden.map(({ collection }) => collection.name)).toEqual(["party-movement"])
    // The scope of a holder's movements asks for records; movements wait for nobody.
    for (const { collection, roles } of waiting.filter((each) => each.roles.size > 0)) {
      const rolesByList = lists
        .filter(
          (read) =>
            read.collection.name === collection.name ||
            read.beside?.some(({ name }) => name === collection.name) === true
        )
        .map((read) => named(read, WaitingKinds.workRoles))
      expect(rolesByList, collection.name).toContainEqual([...roles])
    }
  })

  it("find a removed webhook, which its list leaves out and whose read is 404", () => {
    const kind = SearchKinds.of({ queries }).get("webhook")
    expect(kind?.isListed({ removedAt: null })).toBe(true)
    expect(kind?.isListed({ removedAt: "2026-01-05T00:00:00Z" })).toBe(false)
  })

  it("take a role that may not list at all for one that sees all", () => {
    const list = queries.find((read): read is Read.List => read.route === route)
    expect(list !== undefined && isWhole(list, "monitor")).toBe(false)
  })
})
