/** Endpoints of the door: the requests and answers of each, and refusals of malformed requests. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { dig, open, type Opened } from "./opened.ts"
import * as Wire from "./wire.ts"

interface By {
  readonly party: string
  readonly token: string
}

let door: Opened
let venue: By
let first: Wire.Submitted

beforeAll(async () => {
  door = await open()
  venue = await door.add("venue")
  first = await Wire.submit(door, venue, "first", Wire.createPoint(venue.party))
})
afterAll(() => door.close())

const ask = (path: string, body?: unknown, headers?: Record<string, string>) =>
  door.ask(venue.token, path, body, headers)
const commands = (commandId: string, ...list: ReadonlyArray<object>) => ({
  commandId,
  actAs: [venue.party],
  commands: list
})
const transactions = (list: unknown) =>
  (Array.isArray(list) ? list : []).flatMap(
    (one) => dig(one, "update", "Transaction", "value") ?? []
  )
const length = (list: unknown): number => (Array.isArray(list) ? list.length : -1)

describe("commands", () => {
  const path = "/v2/commands/submit-and-wait-for-transaction"

  it("without a format, a submitter is shown what its parties' contracts became", async () => {
    const { json, status } = await ask(path, {
      commands: commands("a1", Wire.createPoint(venue.party))
    })
    expect(status).toBe(200)
    const event = dig(json, "transaction", "events", 0, "CreatedEvent")
    expect(dig(event, "templateId")).toMatch(/^[0-9a-f]{64}:Bursar\.Admin\.Price:OraclePoint$/)
    expect(dig(event, "packageName")).toBe("bursar-admin-v1")
    expect(dig(event, "createArgument", "value")).toBe("1.2500000000")
    expect(dig(json, "transaction", "commandId")).toBe("a1")
  })

  it("a filter that nothing matches leaves no event, and the commit is told all the same", async () => {
    const { json, status } = await ask(path, {
      commands: commands("a2", Wire.createPoint(venue.party)),
      transactionFormat: Wire.effects(venue.party, {
        TemplateFilter: { value: { templateId: Wire.holding } }
      }).includeTransactions
    })
    expect(status).toBe(200)
    expect(dig(json, "transaction", "events")).toEqual([])
    expect(dig(json, "transaction", "updateId")).toMatch(/^1220/)
  })

  it("a format that could not be shown refuses before anything is done", async () => {
    const before = (await ask("/v2/state/ledger-end")).json
    const { status } = await ask(path, {
      commands: commands("a3", Wire.createPoint(venue.party)),
      transactionFormat: Wire.effects(venue.party, {
        TemplateFilter: { value: { templateId: "#bursar-admin-v1:No:Such" } }
      }).includeTransactions
    })
    expect(status).toBe(404)
    expect((await ask("/v2/state/ledger-end")).json).toEqual(before)
  })

  it("a number keeps every digit it was written with", async () => {
    const value = "12345678901234567.0123456789"
    const body = JSON.stringify({
      commands: commands("a4", Wire.createPoint(venue.party, { value: "VALUE" }))
    }).replace('"VALUE"', value)
    const { json } = await ask(path, body)
    expect(dig(json, "transaction", "events", 0, "CreatedEvent", "createArgument", "value")).toBe(
      value
    )
  })

  it("waiting for no transaction gives its id and offset; again, a duplicate by its completion", async () => {
    const body = commands("b1", Wire.createPoint(venue.party))
    const done = await ask("/v2/commands/submit-and-wait", body)
    expect(dig(done.json, "updateId")).toMatch(/^1220[0-9a-f]{64}$/)
    const again = await ask("/v2/commands/submit-and-wait", body)
    expect(again.status).toBe(409)
    expect(dig(again.json, "code")).toBe("DUPLICATE_COMMAND")
    expect(dig(again.json, "context", "completion_offset")).toBe(
      String(dig(done.json, "completionOffset"))
    )
    expect(dig(again.json, "definiteAnswer")).toBe(true)
    expect(dig(again.json, "grpcCodeValue")).toBe(6)
  })

  it("the window of the deduplication is taken as an offset, a duration or the longest", async () => {
    const create = Wire.createPoint(venue.party)
    const done = await Wire.submit(door, venue, "b2", create)
    const within = (deduplicationPeriod: unknown) =>
      ask("/v2/commands/submit-and-wait", { ...commands("b2", create), deduplicationPeriod })
    const since = { DeduplicationOffset: { value: done.offset - 1 } }
    expect((await within(since)).status).toBe(409)
    expect((await within({ Empty: {} })).status).toBe(409)
    const hour = { DeduplicationDuration: { value: { seconds: 3600, nanos: 0 } } }
    expect((await within(hour)).status).toBe(409)
    const year = { DeduplicationDuration: { value: { seconds: 31_536_000, nanos: 0 } } }
    expect(dig((await within(year)).json, "code")).toBe("INVALID_DEDUPLICATION_PERIOD")
    expect((await within({ DeduplicationOffset: { value: done.offset } })).status).toBe(200)
  })

  it("a submission that is not waited for ends in a completion", async () => {
    const handed = await ask("/v2/commands/async/submit", {
      ...commands("c1", Wire.createPoint(venue.party)),
      submissionId: "sub-1"
    })
    expect(handed.json).toEqual({})
    const { json } = await ask("/v2/commands/completions", {
      parties: [venue.party],
      beginExclusive: 0
    })
    const all = Array.isArray(json) ? json : []
    const mine = all
      .map((one) => dig(one, "completionResponse", "Completion", "value"))
      .find((one) => dig(one, "commandId") === "c1")
    expect(dig(mine, "submissionId")).toBe("sub-1")
    expect(dig(mine, "updateId")).toMatch(/^1220/)
    expect(dig(mine, "status", "code")).toBe(0)
  })

  it("a rejected submission completes with why", async () => {
    const body = commands("c2", Wire.createPoint(venue.party))
    await ask("/v2/commands/submit-and-wait", body)
    await ask("/v2/commands/submit-and-wait", body)
    const { json } = await ask("/v2/commands/completions", { parties: [venue.party] })
    const rejected = (Array.isArray(json) ? json : [])
      .map((one) => dig(one, "completionResponse", "Completion", "value"))
      .filter((one) => dig(one, "commandId") === "c2" && dig(one, "updateId") === undefined)
    expect(dig(rejected[0], "status", "code")).toBe(6)
    expect(dig(rejected[0], "status", "message")).toMatch(/^DUPLICATE_COMMAND\(10,/)
  })
})

describe("updates", () => {
  it("a bounded list holds every transaction of the range, once and in order", async () => {
    const end = Number(dig((await ask("/v2/state/ledger-end")).json, "offset"))
    const { json } = await ask("/v2/updates", {
      beginExclusive: 0,
      endInclusive: end,
      updateFormat: Wire.effects(venue.party)
    })
    const offsets = transactions(json).map((one) => Number(dig(one, "offset")))
    expect(offsets[0]).toBe(first.offset)
    expect(offsets).toEqual([...new Set(offsets)].toSorted((a, b) => a - b))
  })

  it("effects show exercises, deltas what is left of them", async () => {
    const made = await Wire.submit(door, venue, "u1", Wire.createPoint(venue.party))
    const ended = await Wire.submit(door, venue, "u2", Wire.correct(made.contractId))
    const range = { beginExclusive: ended.offset - 1, endInclusive: ended.offset }
    const firstUpdate = async (updateFormat: object) =>
      transactions((await ask("/v2/updates", { ...range, updateFormat })).json)[0]
    const full = await firstUpdate(Wire.effects(venue.party))
    expect(dig(full, "events", 0, "ExercisedEvent", "choice")).toBe("Correct")
    expect(dig(full, "events", 0, "ExercisedEvent", "lastDescendantNodeId")).toBe(1)
    expect(dig(full, "events", 1, "CreatedEvent", "nodeId")).toBe(1)
    const delta = await firstUpdate(Wire.deltas(venue.party))
    expect(dig(delta, "events", 0, "ArchivedEvent", "contractId")).toBe(made.contractId)
    expect(dig(delta, "events", 1, "CreatedEvent", "acsDelta")).toBe(true)
  })

  it("one update is found by its offset and by its id, and another is not", async () => {
    const updateFormat = Wire.effects(venue.party)
    const { offset, updateId } = first
    for (const [path, body] of [
      ["/v2/updates/update-by-offset", { offset, updateFormat }],
      ["/v2/updates/update-by-id", { updateId, updateFormat }]
    ] as const) {
      const { json } = await ask(path, body)
      expect(dig(json, "update", "Transaction", "value", "updateId")).toBe(updateId)
    }
    const missing = await ask("/v2/updates/update-by-id", { updateId: "1220ff", updateFormat })
    expect([missing.status, dig(missing.json, "code")]).toEqual([404, "UPDATE_NOT_FOUND"])
  })

  it("templates, interfaces and wildcards widen each other; an unknown package is an error", async () => {
    const made = await Wire.submit(door, venue, "u3", Wire.createHolding(venue.party))
    const range = { beginExclusive: made.offset - 1, endInclusive: made.offset }
    const updatesBy = async (...filters: ReadonlyArray<object>) =>
      ask("/v2/updates", { ...range, updateFormat: Wire.effects(venue.party, ...filters) })
    const iface = {
      InterfaceFilter: { value: { interfaceId: Wire.holdingInterface, includeInterfaceView: true } }
    }
    const template = { TemplateFilter: { value: { templateId: Wire.point } } }
    const both = transactions((await updatesBy(iface, template)).json)[0]
    const view = dig(both, "events", 0, "CreatedEvent", "interfaceViews", 0)
    expect(dig(view, "viewValue", "amount")).toBe("10.0000000000")
    expect(dig(view, "interfaceId")).toMatch(/^[0-9a-f]{64}:Splice/)
    expect(transactions((await updatesBy(template)).json)).toEqual([])
    const blob = { WildcardFilter: { value: { includeCreatedEventBlob: true } } }
    const blobbed = transactions((await updatesBy(template, blob)).json)[0]
    expect(dig(blobbed, "events", 0, "CreatedEvent", "createdEventBlob")).toMatch(
      /^[A-Za-z0-9+/=]+$/
    )
    const unknown = await updatesBy({ TemplateFilter: { value: { templateId: "#nowhere:A:B" } } })
    expect([unknown.status, dig(unknown.json, "code")]).toEqual([404, "PACKAGE_NAMES_NOT_FOUND"])
  })

  it("an offset after the end, and one that is pruned away, are named", async () => {
    const late = await ask("/v2/updates", {
      beginExclusive: 9_000_000,
      updateFormat: Wire.effects(venue.party)
    })
    expect([late.status, dig(late.json, "code")]).toEqual([400, "OFFSET_AFTER_LEDGER_END"])
  })
})

describe("lists", () => {
  let other: Opened
  let many: By
  beforeAll(async () => {
    other = await open()
    many = await other.add("many")
    for (let batch = 0; batch < 4; batch++) {
      await Wire.submit(
        other,
        many,
        `batch-${batch}`,
        ...Array.from({ length: 60 }, () => Wire.createPoint(many.party))
      )
    }
  })
  afterAll(() => other.close())

  it("more than 200 elements are refused unless the caller says how many it wants", async () => {
    const activeAtOffset = Number(
      dig((await other.ask(many.token, "/v2/state/ledger-end")).json, "offset")
    )
    const body = { activeAtOffset, eventFormat: Wire.eventFormat(many.party) }
    const path = "/v2/state/active-contracts"
    const whole = await other.ask(many.token, path, body)
    expect([whole.status, dig(whole.json, "code")]).toEqual([
      413,
      "JSON_API_MAXIMUM_LIST_ELEMENTS_NUMBER_REACHED"
    ])
    expect(length((await other.ask(many.token, `${path}?limit=7`, body)).json)).toBe(7)
    expect(length((await other.ask(many.token, `${path}?limit=200`, body)).json)).toBe(200)
    expect((await other.ask(many.token, `${path}?limit=201`, body)).status).toBe(413)
    const bad = await other.ask(many.token, `${path}?limit=many`, body)
    expect([bad.status, bad.text]).toEqual([400, "Invalid value for: query parameter limit"])
  })

  it("pages of active contracts, put together, are all of them once", async () => {
    const listedItems: Array<unknown> = []
    let pageToken: unknown
    do {
      const { json } = await other.ask(many.token, "/v2/state/active-contracts-page", {
        eventFormat: Wire.eventFormat(many.party),
        maxPageSize: 100,
        ...(pageToken === undefined ? {} : { pageToken })
      })
      const page = dig(json, "activeContracts")
      if (Array.isArray(page)) listedItems.push(...page)
      pageToken = dig(json, "nextPageToken")
    } while (pageToken !== undefined)
    const ids = listedItems.map((one) =>
      dig(one, "contractEntry", "JsActiveContract", "createdEvent", "contractId")
    )
    expect(ids).toHaveLength(240)
    expect(new Set(ids).size).toBe(240)
  })

  it("a page that holds the last active contract names no next page, also when it is full", async () => {
    const { json } = await other.ask(many.token, "/v2/state/active-contracts-page", {
      eventFormat: Wire.eventFormat(many.party),
      maxPageSize: 240
    })
    expect(length(dig(json, "activeContracts"))).toBe(240)
    expect(dig(json, "nextPageToken")).toBeUndefined()
  })

  it("pages of updates meet without a gap, upwards and downwards; an open end is never reached", async () => {
    const pages = async (more: object) => {
      const found: Array<unknown> = []
      let pageToken: unknown
      for (let page = 0; page < 10; page++) {
        const { json } = await other.ask(many.token, "/v2/updates/get-updates-page", {
          maxPageSize: 3,
          updateFormat: Wire.effects(many.party),
          ...more,
          ...(pageToken === undefined ? {} : { pageToken })
        })
        const list = dig(json, "updates")
        found.push(...transactions(list).map((one) => dig(one, "offset")))
        pageToken = dig(json, "nextPageToken")
        if (pageToken === undefined || length(list) === 0) break
      }
      return { found, open: pageToken !== undefined }
    }
    const end = Number(dig((await other.ask(many.token, "/v2/state/ledger-end")).json, "offset"))
    const up = await pages({ endOffsetInclusive: end })
    expect(up.found).toHaveLength(4)
    expect(up.open).toBe(false)
    expect((await pages({})).open).toBe(true)
    const down = await pages({ descendingOrder: true })
    expect(down.found).toEqual(up.found.toReversed())
    expect(down.open).toBe(false)
    const forged = await other.ask(many.token, "/v2/updates/get-updates-page", {
      updateFormat: Wire.effects(many.party),
      pageToken: "eyJ4Ijp9"
    })
    expect(dig(forged.json, "code")).toBe("INVALID_ARGUMENT")
  })
})

describe("contracts", () => {
  it("the life of a contract is told while it lasts and after it ended", async () => {
    const made = await Wire.submit(door, venue, "l1", Wire.createPoint(venue.party))
    const body = { contractId: made.contractId, eventFormat: Wire.eventFormat(venue.party) }
    const alive = await ask("/v2/events/events-by-contract-id", body)
    expect(dig(alive.json, "created", "createdEvent", "offset")).toBe(made.offset)
    expect(dig(alive.json, "archived")).toBeUndefined()
    const ended = await Wire.submit(door, venue, "l2", Wire.archive(made.contractId))
    const over = await ask("/v2/events/events-by-contract-id", body)
    expect(dig(over.json, "archived", "archivedEvent", "offset")).toBe(ended.offset)
    const { json } = await ask("/v2/contracts/contract-by-id", { contractId: made.contractId })
    expect(dig(json, "createdEvent", "contractId")).toBe(made.contractId)
  })

  it("one that nobody may see is not there", async () => {
    const stranger = await door.add("stranger")
    const { contractId } = first
    const events = await door.ask(stranger.token, "/v2/events/events-by-contract-id", {
      contractId,
      eventFormat: Wire.eventFormat(stranger.party)
    })
    expect([events.status, dig(events.json, "code")]).toEqual([404, "CONTRACT_EVENTS_NOT_FOUND"])
    const payload = await door.ask(stranger.token, "/v2/contracts/contract-by-id", { contractId })
    expect([payload.status, dig(payload.json, "code")]).toEqual([404, "CONTRACT_PAYLOAD_NOT_FOUND"])
  })

  it("an active set at the beginning is empty, at an offset what was active then", async () => {
    const at = async (activeAtOffset: number) =>
      length(
        (
          await ask("/v2/state/active-contracts", {
            activeAtOffset,
            eventFormat: Wire.eventFormat(venue.party)
          })
        ).json
      )
    expect(await at(0)).toBe(0)
    expect(await at(first.offset)).toBe(1)
  })
})

describe("the node and the caller", () => {
  it("tells who they are", async () => {
    const { json } = await ask("/v2/authenticated-user")
    expect(dig(json, "user", "id")).toBe("venue")
    expect((await ask("/v2/users/venue/rights")).json).toEqual({
      rights: [{ kind: { CanActAs: { value: { party: venue.party } } } }]
    })
    const parties = (await ask("/v2/parties")).json
    expect(dig(parties, "partyDetails", 0, "party")).toBe(venue.party)
    expect(length(dig(parties, "partyDetails"))).toBe(1)
    expect((await ask("/v2/parties/participant-id")).json).toEqual({
      participantId: "participant::1220aa"
    })
  })

  it("tells its packages by id, by name, and whether they are in force", async () => {
    const ids = dig((await ask("/v2/packages")).json, "packageIds")
    const id = String(dig(ids, 0))
    expect((await ask(`/v2/packages/${id}/status`)).json).toEqual({
      packageStatus: "PACKAGE_STATUS_REGISTERED"
    })
    expect((await ask("/v2/packages/abc/status")).json).toEqual({
      packageStatus: "PACKAGE_STATUS_UNSPECIFIED"
    })
    const vetted = await ask("/v2/package-vetting/list", {
      packageMetadataFilter: { packageNamePrefixes: ["bursar-registry"] }
    })
    expect(dig(vetted.json, "vettedPackages", 0, "packages", 0, "packageName")).toBe(
      "bursar-registry-v1"
    )
    const preferredPackage = (packageName: string) =>
      ask("/v2/interactive-submission/preferred-packages", {
        packageVettingRequirements: [{ parties: [venue.party], packageName }]
      })
    expect(
      dig(
        (await preferredPackage("bursar-admin-v1")).json,
        "packageReferences",
        0,
        "packageVersion"
      )
    ).toBe("1.0.0")
    expect((await preferredPackage("nowhere")).status).toBe(404)
  })

  it("tells its version and its life to anybody, how far it is to its users", async () => {
    expect(dig((await door.ask(null, "/v2/version")).json, "version")).toBe("3.5.0+bursar-sim")
    expect((await door.ask(null, "/livez")).status).toBe(200)
    expect((await door.ask(null, "/readyz")).status).toBe(200)
    expect(Number(dig((await ask("/v2/state/ledger-end")).json, "offset"))).toBeGreaterThan(0)
    expect((await ask("/v2/state/latest-pruned-offsets")).json).toEqual({})
  })

  it("an empty ledger has no end, a pruned one says up to where", async () => {
    const empty = await open()
    const one = await empty.add("one")
    expect((await empty.ask(one.token, "/v2/state/ledger-end")).json).toEqual({})
    await empty.close()
  })

  it("as the older line it lacks what came later", async () => {
    const older = await open({ profile: "3.4" })
    const one = await older.add("one")
    expect(dig((await older.ask(null, "/v2/version")).json, "version")).toBe("3.4.0+bursar-sim")
    for (const path of ["/v2/updates/get-updates-page", "/v2/state/active-contracts-page"]) {
      expect((await older.ask(one.token, path, {})).status).toBe(501)
    }
    expect((await older.ask(null, "/livez")).status).toBe(404)
    await older.close()
  })
})

describe("what is not as it should be", () => {
  const notOffered = [
    "/v2/updates/flats",
    "/v2/updates/trees",
    "/v2/updates/transaction-by-id",
    "/v2/updates/transaction-by-offset",
    "/v2/commands/submit-and-wait-for-transaction-tree",
    "/v2/commands/submit-and-wait-for-reassignment",
    "/v2/users",
    "/v2/dars",
    "/v2/idps",
    "/v2/parties/external/allocate"
  ]
  it.each(notOffered)("%s is not offered", async (path) => {
    const { status, json } = await ask(path, {})
    expect([status, dig(json, "code"), dig(json, "grpcCodeValue")]).toEqual([
      501,
      "UNIMPLEMENTED",
      12
    ])
  })

  const undecodable: ReadonlyArray<readonly [what: string, path: string, body: unknown]> = [
    ["no JSON", "/v2/updates", "{"],
    ["a member twice", "/v2/updates", '{"beginExclusive":0,"beginExclusive":1}'],
    ["a missing field", "/v2/updates", { updateFormat: Wire.effects("v::12") }],
    ["an offset below zero", "/v2/updates", { beginExclusive: -1 }],
    ["an offset no double holds", "/v2/updates", '{"beginExclusive":9007199254740993}'],
    [
      "the old filter",
      "/v2/updates",
      { beginExclusive: 0, filter: { filtersByParty: {} }, updateFormat: Wire.effects("v::12") }
    ],
    [
      "the old verbose",
      "/v2/state/active-contracts",
      { activeAtOffset: 0, verbose: false, eventFormat: Wire.eventFormat("v::12") }
    ],
    [
      "an exercise by key",
      "/v2/commands/submit-and-wait",
      { commandId: "x", actAs: ["v::12"], commands: [{ ExerciseByKeyCommand: {} }] }
    ],
    [
      "two kinds of command in one",
      "/v2/commands/submit-and-wait",
      {
        commandId: "x",
        actAs: ["v::12"],
        commands: [{ ...Wire.createPoint("v::12"), ...Wire.archive("00") }]
      }
    ],
    [
      "an unknown kind of filter",
      "/v2/updates",
      { beginExclusive: 0, updateFormat: Wire.effects("v::12", { KeyFilter: { value: {} } }) }
    ]
  ]
  it.each(undecodable)("%s is told in plain text", async (_what, path, body) => {
    const { status, type, text } = await ask(path, body)
    expect(status).toBe(400)
    expect(type).toMatch(/^text\/plain/)
    expect(text).toMatch(/^Invalid value for: body \(/)
  })

  const refused: ReadonlyArray<
    readonly [what: string, code: string, more: Record<string, unknown>]
  > = [
    ["nobody to act as", "MISSING_FIELD", { actAs: [] }],
    ["no command", "MISSING_FIELD", { commands: [] }],
    ["a party that is none", "INVALID_FIELD", { actAs: ["nobody"] }],
    ["a time that is none", "INVALID_FIELD", { minLedgerTimeAbs: "tomorrow" }],
    [
      "a type that is none",
      "INVALID_FIELD",
      { commands: [{ CreateCommand: { templateId: "OraclePoint", createArguments: {} } }] }
    ],
    [
      "an unknown package",
      "PACKAGE_NAMES_NOT_FOUND",
      { commands: [{ CreateCommand: { templateId: "#x:Y:Z", createArguments: {} } }] }
    ],
    [
      "an unknown template",
      "NO_TEMPLATES_FOR_PACKAGE_NAME_AND_QUALIFIED_NAME",
      {
        commands: [{ CreateCommand: { templateId: "#bursar-admin-v1:Y:Z", createArguments: {} } }]
      }
    ],
    [
      "an ill-typed payload",
      "COMMAND_PREPROCESSING_FAILED",
      { commands: [{ CreateCommand: { templateId: Wire.point, createArguments: {} } }] }
    ]
  ]
  it.each(refused)("%s is told as %s", async (_what, code, more) => {
    const { status, json } = await ask("/v2/commands/submit-and-wait", {
      ...commands("bad", Wire.createPoint(venue.party)),
      ...more
    })
    expect(dig(json, "code")).toBe(code)
    expect(status).toBe(dig(json, "errorCategory") === 11 ? 404 : 400)
  })

  it("fields nobody knows and fields that are null are passed over", async () => {
    const { status } = await ask("/v2/commands/submit-and-wait", {
      ...commands("unknown-fields", Wire.createPoint(venue.party)),
      readAs: null,
      workflowId: null,
      deduplicationPeriod: null,
      disclosedContracts: null,
      synchronizerId: "x",
      tapsMaxPasses: 3
    })
    expect(status).toBe(200)
  })

  it("the trace of a call is on its update and on its refusal", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    const headers = { traceparent }
    const done = await ask(
      "/v2/commands/submit-and-wait-for-transaction",
      { commands: commands("traced", Wire.createPoint(venue.party)) },
      headers
    )
    expect(dig(done.json, "transaction", "traceContext", "traceparent")).toBe(traceparent)
    const notFound = await ask("/v2/updates/flats", {}, headers)
    expect(dig(notFound.json, "traceId")).toBe("0af7651916cd43dd8448eb211c80319c")
  })

  it("a body above the limit is not read", async () => {
    const { status } = await ask("/v2/commands/submit-and-wait", {
      ...commands("big", Wire.createPoint(venue.party)),
      padding: "x".repeat(1_048_576)
    })
    expect(status).toBe(413)
  })

  it("a path outside the ledger API is nothing", async () => {
    expect((await ask("/v1/anything")).status).toBe(404)
    expect((await ask("/v2/users/venue/rights/more")).status).toBe(501)
  })

  it("a taken port is said to be taken", async () => {
    const port = Number(new URL(door.url).port)
    await expect(open({ port })).rejects.toThrow(`127.0.0.1:${port} is taken`)
  })
})
