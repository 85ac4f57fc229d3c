/** The vocabulary is the API's, word for word and in its order; nothing is missing, nothing invented. */
import { Catalogue } from "@bursar/engine-core"
import { Result, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { judged, machines, valueSets } from "#core/catalogue.ts"
import * as vocabulary from "#core/vocabulary/index.ts"
import * as given from "./given.ts"

describe("the lists of the API", () => {
  it.each<[what: string, count: number, given: ReadonlyArray<string>, ours: ReadonlyArray<string>]>(
    [
      [
        "operation kinds a caller asks for",
        60,
        given.operationKinds,
        vocabulary.askedOperationKinds
      ],
      ["operation kinds the engine opens", 3, given.addedOperationKinds, vocabulary.engineOpened],
      ["resource kinds", 29, given.resourceKinds, vocabulary.ResourceKind.members],
      ["roles", 10, given.roles, vocabulary.Role.members],
      ["event kinds", 2, given.eventKinds, vocabulary.EventKind.members],
      ["journal events", 5, given.journalEvents, Object.keys(vocabulary.journalEvents)]
    ]
  )("%s", (_what, count, expected, ours) => {
    expect(ours).toEqual(expected)
    expect(new Set(ours).size).toBe(count)
  })

  it("control events, with those given apart and added", () => {
    const all = [...given.controlEvents, ...given.otherControlEvents]
    expect(Object.keys(vocabulary.controlEvents).toSorted()).toEqual(all.toSorted())
    expect(given.controlEvents).toHaveLength(41)
  })

  it("an operation kind is one list: what is asked, then what the engine opens", () => {
    expect(vocabulary.OperationKind.members).toEqual([
      ...given.operationKinds,
      ...given.addedOperationKinds
    ])
  })

  it("an event type is control or journal, never both", () => {
    expect(vocabulary.EventType.members).toHaveLength(48)
    expect(new Set(vocabulary.EventType.members).size).toBe(48)
    expect(vocabulary.EventType.members.filter(vocabulary.isControl)).toEqual(
      Object.keys(vocabulary.controlEvents)
    )
  })

  it("the 27 state sets, each declared once, moved or judged", () => {
    expect(given.stateSets).toHaveLength(27)
    expect([...machines, ...judged].map(({ name }) => name).toSorted()).toEqual(
      [...given.stateSets, ...given.addedStateSets, ...given.ownStateSets].toSorted()
    )
  })

  it("the sets that are added have the members of the set they are modelled on", () => {
    const members = (name: string) =>
      Object.keys(machines.find((machine) => machine.name === name)?.states ?? {})
    for (const added of given.addedStateSets) {
      expect(members(added)).toEqual(members("PrimaryMarketState"))
    }
  })
})

describe("value sets", () => {
  const named = new Map(valueSets.map((set) => [set.name, set]))

  it("the closed ones are exactly the four that are given, with their members", () => {
    const closed = valueSets.filter(({ growth }) => growth === "closed")
    expect(Object.fromEntries(closed.map(({ members, name }) => [name, members]))).toEqual(
      given.closedSets
    )
  })

  it.each(Object.entries(given.extensibleSets))("%s", (name, members) => {
    expect(named.get(name)?.members).toEqual(members)
    expect(named.get(name)?.growth).toBe("extensible")
  })

  it("no two sets share a name, among states and words alike", () => {
    const names = [...valueSets, ...machines, ...judged].map(({ name }) => name)
    expect(names.toSorted()).toEqual([...new Set(names)].toSorted())
  })

  it.each(valueSets.map((set) => [set.name, set] as const))(
    "%s takes its members and refuses another word",
    (_name, set) => {
      const decode = Schema.decodeUnknownResult(set.schema)
      expect(set.members.filter((member) => Result.isFailure(decode(member)))).toEqual([])
      expect(set.members.every(set.has)).toBe(true)
      expect(Result.isFailure(decode("no-such-word"))).toBe(true)
      expect(set.has("no-such-word")).toBe(false)
      // A name that every object answers to is no member either.
      expect(set.has("constructor")).toBe(false)
    }
  )

  // A move on the ledger is named as its template and its choice are there.
  const onLedger = /^(?:[A-Z][a-z]+)+(?:[.](?:[A-Z][a-z]+)+)?$/u
  const wordsOf = ({ members, name }: (typeof valueSets)[number]): ReadonlyArray<string> =>
    name === "WaitingAction" ? members.filter((member) => !onLedger.test(member)) : members

  // Words that others have given: forms of statements, and encodings.
  const namedByOthers = ["StatementAdapter", "RawEncoding"]

  it.each(
    valueSets
      .filter(({ name }) => !namedByOthers.includes(name))
      .map((set) => [set.name, wordsOf(set)] as const)
  )("%s is written in lower-case kebab, with a point between record and verb", (_name, members) => {
    expect(
      members.filter((member) => !/^[a-z]+(-[a-z]+)*(\.[a-z]+(-[a-z]+)*)?$/u.test(member))
    ).toEqual([])
  })
})

describe("reads", () => {
  /** Name of a read by its path: its records, and what is answered of them. */
  const nameOf = (route: string): string => {
    const parts = route.slice(route.indexOf("/v1/") + "/v1/".length).split(/[/:]/u)
    const [records, ...inside] = parts.filter((part) => !part.startsWith("{"))
    const isOne = parts.at(-1)?.startsWith("{") === true
    const answer = inside.join("-")
    if (answer === "") return `${records}.${isOne ? "get" : "list"}`
    return `${records}.${isOne ? answer.replace(/s$/u, "") : answer}`
  }

  it("are named in one style, by their routes", () => {
    const names = Catalogue.queries.map(({ name }) => name)
    expect(names).toEqual(Catalogue.queries.map(({ route }) => nameOf(route)))
    expect(new Set(names).size).toBe(names.length)
    expect(nameOf("GET /v1/reserves/{reserveId}/mints/{mintId}")).toBe("reserves.mint")
  })
})
