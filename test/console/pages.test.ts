/** What the console's pages show, computed without a browser: tables against the interface, and laws. */
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Vocabulary } from "@bursar/engine-core"
import { callTable } from "@bursar/http-host/plain-client"
import * as Action from "../../packages/http-host/console/src/approvals/Action.ts"
import * as Precheck from "../../packages/http-host/console/src/approvals/Precheck.ts"
import { enteredOf, type Field, fieldsOf } from "../../packages/http-host/console/src/kit/Schema.ts"
import * as Pages from "../../packages/http-host/console/src/pages/Pages.ts"
import * as Work from "../../packages/http-host/console/src/worklist/Work.ts"
import * as Navigation from "../../packages/http-host/console/src/shell/Navigation.ts"
import * as SignInParameters from "../../packages/http-host/console/src/shell/SignInParameters.ts"
import * as Token from "../../packages/http-host/console/src/shell/Token.ts"
import * as Figures from "../../packages/http-host/console/src/words/Figures.ts"
import * as Instants from "../../packages/http-host/console/src/words/Instants.ts"
import * as Problems from "../../packages/http-host/console/src/words/Problems.ts"
import * as Waiting from "../../packages/http-host/console/src/words/Waiting.ts"
import * as EngineFigures from "#core/writes/Figures.ts"
import { document, membersOf, schemas, table } from "./interface.ts"
import { builtIn } from "#core/catalogue.ts"
import * as WaitingKinds from "#core/reads/WaitingKinds.ts"

describe("a request to sign in", () => {
  const signIn: Parameters<typeof SignInParameters.ofRequest>[0] = {
    issuer: "https://issuer.test",
    audience: "urn:venue",
    clientId: "venue-web",
    scopes: ["openid", "api://venue/act"]
  }
  const request = {
    redirect_uri: "https://venue.test/console/sign-in",
    code_challenge: "challenge",
    code_challenge_method: "S256",
    state: "state",
    nonce: "nonce"
  }
  const protocol = {
    ...request,
    client_id: "venue-web",
    response_type: "code",
    scope: "openid api://venue/act"
  }
  type Texts = Readonly<Record<string, string>>
  const records: ReadonlyArray<readonly [string, Texts | undefined, Texts, Texts]> = [
    ["a host of before has none", undefined, {}, {}],
    [
      "resource, also with the token request",
      { resource: "urn:v" },
      { resource: "urn:v" },
      { resource: "urn:v" }
    ],
    ["audience, with the first request alone", { audience: "urn:v" }, { audience: "urn:v" }, {}],
    ["none of the protocol's", { state: "x", client_id: "x", scope: "x", nonce: "x" }, {}, {}]
  ]
  it.each(records)(
    "takes the parameters of the venue's record: %s",
    (_, parameters, added, atToken) => {
      const record: typeof signIn = parameters === undefined ? signIn : { ...signIn, parameters }
      expect(SignInParameters.ofRequest(record, request)).toEqual({ ...protocol, ...added })
      expect(SignInParameters.ofTokenRequest(record)).toEqual(atToken)
    }
  )
})

describe("the table of pages", () => {
  const pages = [
    ...Pages.lists.map(({ columns, id, path, read }) => ({
      path,
      read,
      members: [id, ...columns]
    })),
    ...Pages.records.map(({ head, path, read }) => ({ path: `${path}/:id`, read, members: head })),
    ...Pages.records.flatMap(({ lists, path }) =>
      lists.map(({ columns, idOf, read, title }) => ({
        path: `${path}/:id ${title}`,
        read,
        members: [...(idOf === undefined ? [] : [idOf]), ...columns]
      }))
    )
  ]
  it.each(pages)("shows at $path members that $read answers", ({ members, read }) => {
    expect(Object.keys(table.reads)).toContain(read)
    const answered = membersOf(read)
    expect(members.filter((member) => !answered.has(member))).toEqual([])
  })

  it("offers writes that there are", () => {
    const kinds = [
      ...Pages.lists.flatMap(({ makes = [] }) => makes),
      ...Pages.records.flatMap(({ acts }) => acts)
    ]
    expect(kinds.filter((kind) => table.writes[kind] === undefined)).toEqual([])
  })

  it("filters the lists of a record by what they have", () => {
    const wrong = Pages.records.flatMap(({ id, lists, path }) =>
      lists
        .filter(({ filter, read }) => {
          const row = table.reads[read]
          return filter === undefined
            ? row?.path.includes(`{${id}}`) !== true
            : row?.filters.every(({ name }) => name !== filter) !== false
        })
        .map(({ title }) => `${path} ${title}`)
    )
    expect(wrong).toEqual([])
  })

  it("calls each read by the name of the plain client, where that has one", () => {
    const byPath = new Map(Object.entries(callTable.reads).map(([name, path]) => [path, name]))
    const wrong = Object.entries(table.reads).filter(
      ([name, { path }]) => (byPath.get(path as never) ?? name) !== name
    )
    expect(wrong).toEqual([])
  })
})

describe("the page of work", () => {
  const pageOf = (href: string, actionKey: string | null = null) =>
    Work.pageOf({ actionKey, resource: { kind: "any", id: "x", href } })

  it("leads to the action, to the record or to what it belongs to, and else to its list", () => {
    expect(pageOf("/v1/holds/h-1", "a b")).toBe("approvals/a%20b")
    expect(pageOf("/v1/holds/h-1")).toBe("holds/h-1")
    expect(pageOf("/v1/subscriptions/s-1")).toBe("subscriptions/s-1")
    expect(pageOf("/v1/reserves/r-1/mints/m-1")).toBe("reserves/r-1")
    expect(pageOf("/v1/proposals")).toBe("proposals")
    expect(pageOf("/v1/none/n-1")).toBeNull()
  })

  it("has a page for every path that work may have", () => {
    const kinds = [...WaitingKinds.of(builtIn).values()].filter(
      ({ collection }) => collection.name !== "approval"
    )
    const paths = kinds.map(
      ({ subjectOf, collection }) =>
        [collection.name, subjectOf(new Proxy({}, { get: () => "x" })).resource.href] as const
    )
    const without = paths.filter(([, href]) => pageOf(href) === null).map(([name]) => name)
    expect(without).toEqual([])
  })

  it("counts each kind once, what is overdue first", () => {
    const count = (resourceKind: string, waiting: number, overdue: number, capped = false) => ({
      ...{ resourceKind, waiting, overdue, capped }
    })
    expect(
      Work.tallied([count("order", 1_000, 0, true), count("hold", 2, 1), count("order", 3, 0)])
    ).toEqual([
      { kind: "hold", waiting: 2, overdue: 1, isCapped: false },
      { kind: "order", waiting: 1_003, overdue: 0, isCapped: true }
    ])
  })

  it("names roles for an auditor alone, who has no work of its own", () => {
    expect(Work.namedRoles([], ["operator", "auditor"])).toBeUndefined()
    expect(Work.namedRoles([], ["auditor"])).toEqual(Work.workRoles)
    expect(Work.namedRoles(["risk"], ["auditor"])).toEqual(["risk"])
    expect(Work.workRoles).toEqual(WaitingKinds.workRoles)
  })
})

describe("the navigation", () => {
  const rows = Navigation.groups.flatMap((group) => group.rows)

  it("gives each page a key of its own", () => {
    expect(new Set(rows.map(({ letter }) => letter)).size).toBe(rows.length)
    expect(rows.filter(({ letter }) => !/^[a-z]$/u.test(letter))).toEqual([])
  })

  it.each(Vocabulary.Role.members)(
    "offers %s the pages that its reads admit, and no other",
    (role) => {
      const paths = Navigation.offered(table, [role]).flatMap((group) =>
        group.rows.map(({ path }) => path)
      )
      const admitted = rows.filter(({ reads }) =>
        reads.some((read) => table.reads[read]?.roles.includes(role))
      )
      expect(paths).toEqual(Navigation.staff.has(role) ? admitted.map(({ path }) => path) : [])
      const first = Navigation.firstPage([role])
      if (first !== null) expect(paths).toContain(first)
      expect(first !== null).toBe(Navigation.staff.has(role))
    }
  )

  it("offers the reads of a person with several roles together", () => {
    const both = Navigation.offered(table, ["monitor", "compliance"]).flatMap((group) => group.rows)
    for (const role of ["monitor", "compliance"]) {
      for (const row of Navigation.offered(table, [role]).flatMap((group) => group.rows)) {
        expect(both).toContain(row)
      }
    }
  })
})

describe("whose move it is", () => {
  it("has a sentence for each action that is no write", () => {
    const kinds = new Set<string>(Vocabulary.OperationKind.members)
    const others = Vocabulary.WaitingAction.members.filter((action) => !kinds.has(action))
    expect([...Waiting.listedActions].toSorted()).toEqual(others.toSorted())
  })

  it("is read as a sentence", () => {
    const move = (action: string, rest: Partial<Waiting.WaitingOn> = {}) =>
      Waiting.moveOf({ action, role: null, party: null, ...rest })
    expect(move("approve", { role: "approver" })).toBe("an approver signs")
    expect(move("BurnRequest.Accept", { party: "registrar::1220aa" })).toBe(
      "the registrar burns the units from its wallet"
    )
    expect(move("BurnRequest.Accept", { party: "agent::1220aa" })).toBe(
      "agent (the registrar) burns the units from its wallet"
    )
    expect(move("subscription.settle", { role: "operator" })).toBe(
      "an operator makes “subscription: settle”"
    )
    expect(move("a.word.to.come", { role: "operator" })).toContain("a: word: to: come")
  })
})

describe("figures", () => {
  const decimal = fc
    .tuple(
      fc.constantFrom("", "-"),
      fc.stringMatching(/^(?:0|[1-9][0-9]{0,40})$/u),
      fc.option(fc.stringMatching(/^[0-9]{1,20}$/u))
    )
    .map(([sign, whole, rest]) => sign + whole + (rest === null ? "" : `.${rest}`))

  it("keep every digit, however many there are", () => {
    fc.assert(
      fc.property(decimal, (text) => {
        expect(Figures.isDecimal(text)).toBe(true)
        const grouped = Figures.grouped(text)
        expect(Figures.plain(grouped)).toBe(text)
        expect(grouped.groups.slice(1).every((group) => group.length === 3)).toBe(true)
      })
    )
  })
})

describe("instants", () => {
  it("name their zone, and the hour that the zone has", () => {
    const at = "2026-03-29T01:30:00.123456Z"
    expect(Instants.zoned(at, "UTC")).toBe("2026-03-29 01:30:00 UTC")
    expect(Instants.zoned(at, "Europe/Zurich")).toBe("2026-03-29 03:30:00 Europe/Zurich")
    expect(Instants.short(at, { zone: "UTC", now: "2026-03-29T12:00:00Z" })).toBe("01:30 UTC")
    expect(Instants.short(at, { zone: "UTC", now: "2026-03-30T12:00:00Z" })).toBe(
      "2026-03-29 01:30 UTC"
    )
  })

  it.each([
    ["2026-01-01T00:00:30Z", "now"],
    ["2026-01-01T02:00:00Z", "in 2 h"],
    ["2025-12-29T00:00:00Z", "3 d ago"],
    ["2025-12-31T23:30:00Z", "30 min ago"]
  ])("says how far %s is", (at, words) => {
    expect(Instants.distance(at, "2026-01-01T00:00:00Z")).toBe(words)
  })

  it("take no zone that the platform lacks", () => {
    expect([Instants.isZone("Europe/Zurich"), Instants.isZone("Mars/Base")]).toEqual([true, false])
  })
})

const encoded = (claims: object): string => {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
  return `${part({ alg: "ES256" })}.${part(claims)}.sig`
}

describe("the token of a person", () => {
  const plain = { roles: "/roles", roleNames: null, tenantId: "v", version: "0" }
  it("names the person and the roles, where the host reads them", () => {
    const claims = { sub: "anna", name: "Änna Ü. 安娜", roles: ["approver", "risk"] }
    expect(Token.personOf(encoded(claims), plain)).toEqual({
      sub: "anna",
      name: "Änna Ü. 安娜",
      roles: ["approver", "risk"],
      holder: null
    })
    const mapped = {
      ...plain,
      roles: "/realm~1access/roles",
      roleNames: { Desk: ["risk", "compliance"], Boss: ["approver"] }
    }
    const realm = { sub: "anna", "realm/access": { roles: ["Desk", "unknown", "toString", 7] } }
    expect(Token.personOf(encoded(realm), mapped)?.roles).toEqual(["risk", "compliance"])
  })

  it.each([
    "",
    "a.b",
    "a.b.c",
    encoded({}),
    encoded({ sub: 7 }),
    `${encoded({ sub: "x" })}`.replace("sub", "")
  ])("names nobody where it is none: %s", (text) => {
    expect(Token.personOf(text, plain)?.sub ?? null).toBeOneOf([null, "x"])
    if (text !== encoded({ sub: "x" })) expect(Token.personOf(text, plain)).toBeNull()
  })

  it("gives no role for a scope that is a text", () => {
    expect(Token.personOf(encoded({ sub: "a", roles: "operator approver" }), plain)?.roles).toEqual(
      []
    )
  })
})

describe("an action", () => {
  const action: Action.ActionRecord = {
    actionKey: "ak_1",
    kind: "policy.set",
    state: "awaiting",
    maker: "olga",
    makerRole: "operator",
    resource: { kind: "instrument", id: "elf", href: "/v1/instruments/elf" },
    request: {},
    madeAt: null,
    required: 2,
    signatures: [{ sub: "ada", role: "approver", at: "", figuresHash: null }],
    figures: null,
    figuresHash: null,
    operationId: null,
    rejectedBy: null,
    rejectedAt: null,
    reason: null,
    expiresAt: null,
    method: "POST",
    path: "/"
  }
  const approver = (sub: string, ...more: ReadonlyArray<string>) => ({
    sub,
    roles: ["approver", ...more]
  })
  const cases = [
    ["another approver", action, approver("abel"), true],
    ["its maker", action, approver("olga"), false],
    ["who has signed", action, approver("ada"), false],
    ["an auditor", action, approver("abel", "auditor"), false],
    ["no approver", action, { sub: "risk", roles: ["risk", "operator"] }, false],
    ["an approver of what is over", { ...action, state: "approved" }, approver("abel"), false],
    [
      "an approver of what a later release calls otherwise",
      { ...action, state: "x" },
      approver("abel"),
      false
    ]
  ] as const
  it.each(cases)("may be signed, or not, by %s", (_, record, signer, may) => {
    const leave = Action.maySign(record, signer)
    expect(leave.may).toBe(may)
    if (!leave.may) expect(leave.because.length).toBeGreaterThan(5)
  })

  it("is withdrawn by its maker alone, and rejected by whoever might sign", () => {
    expect(Action.mayWithdraw(action, approver("olga")).may).toBe(true)
    expect(Action.mayWithdraw(action, approver("abel")).may).toBe(false)
    expect(Action.mayReject(action, approver("abel")).may).toBe(true)
    expect(Action.mayReject(action, approver("olga")).may).toBe(false)
  })

  it("says who still signs", () => {
    expect(Action.stillToSign(action)).toBe(
      "One more approver, other than the maker and whoever has signed."
    )
    expect(Action.stillToSign({ ...action, signatures: [] })).toBe(
      "2 more approvers, other than the maker."
    )
    expect(Action.stillToSign({ ...action, state: "approved" })).toBeNull()
  })

  it("is prechecked with its act, its instrument and what its request says, where an act is judged", () => {
    const filters = table.reads["instruments.precheck"]?.filters ?? []
    const judged = (
      kind: string,
      request: object,
      {
        instrument = null,
        resource = { kind: "subscription", id: "sub-1" }
      }: {
        readonly instrument?: string | null
        readonly resource?: { readonly kind: string; readonly id: string }
      } = {}
    ) => Precheck.judgingOf({ kind, request, resource }, filters, instrument)
    const byQuery = (parameters: object) => ({ is: "asked", parameters })
    expect(
      judged("subscription.claim", {
        instrumentId: "elf",
        holderId: "h",
        amount: "10.5",
        other: "x"
      })
    ).toEqual(
      byQuery({ act: "subscription.claim", instrumentId: "elf", holderId: "h", amount: "10.5" })
    )
    expect(judged("policy.set", { instrumentId: "elf" })).toEqual({ is: "unjudged" })
    // An act that is judged is never said to be judged by nothing.
    expect(judged("subscription.settle", { subscriptionId: "sub-1" })).toEqual({ is: "unnamed" })
    const cash = [{ statementId: "camt-7", line: 1, amount: "1000.00" }]
    expect(
      judged("subscription.settle", { subscriptionId: "sub-1", cash }, { instrument: "elf" })
    ).toEqual(
      byQuery({
        act: "subscription.settle",
        instrumentId: "elf",
        subscriptionId: "sub-1",
        cash: ["camt-7:1:1000.00"]
      })
    )
    expect(
      judged("instrument.force-transfer", {
        instrumentId: "elf",
        moves: [
          { holderId: "a", toHolderId: "b" },
          { holderId: "a", toHolderId: "c", units: "1.5" }
        ]
      })
    ).toEqual(
      byQuery({ act: "instrument.force-transfer", instrumentId: "elf", moves: ["a:b", "a:c:1.5"] })
    )
    expect(
      judged("instrument.force-transfer", { instrumentId: "elf", moves: [{ from: "a" }] })
    ).toEqual({ is: "untold", member: "moves" })
    expect(
      judged("instrument.recover", {}, { resource: { kind: "instrument", id: "elf" } })
    ).toEqual(byQuery({ act: "instrument.recover", instrumentId: "elf" }))
    for (const [read, id] of Object.values(Precheck.instrumentReads)) {
      expect(table.reads[read]?.path).toContain(`{${id}}`)
    }
    const gate = (check: string, ok: boolean) => ({
      gate: "g",
      check,
      ok,
      detail: null,
      recovery: null
    })
    expect(
      Precheck.firstRefusal([gate("a", true), gate("b", false), gate("c", false)])?.check
    ).toBe("b")
    expect(Precheck.firstRefusal([gate("a", true)])).toBeNull()
  })

  it("takes a null in it for another request than an empty field, which would make a second action", () => {
    const { unlikeMembers } = Action
    expect(unlikeMembers({ a: "1" }, { a: 1, b: null })).toEqual([
      { pointer: "/b", remark: expect.stringContaining("null in the action") }
    ])
    expect(unlikeMembers({ a: "1" }, { a: 1, rows: [{ b: null }] })).toHaveLength(1)
    expect(unlikeMembers({ a: 7n, rows: [{ b: "x" }] }, { a: 7, rows: [{ b: "x" }] })).toEqual([])
    expect(unlikeMembers({ a: "2" }, { a: 1 })).toEqual([{ pointer: "/a", remark: null }])
  })

  it("is said to be signed by a repeat only where the answer is of this action", () => {
    const outcome = (actionKey: string | null, operationId: string | null) =>
      Action.repeatedOutcome(action, { actionKey, operationId })
    expect(outcome("ak_1", null).sentence).toContain("signature is recorded")
    expect(outcome("ak_1", "op_1").sentence).toContain("Signed by all")
    for (const operationId of [null, "op_2"]) {
      const other = outcome("ak_2", operationId)
      expect(other.sentence).toContain("was not signed")
      expect(other.otherKey).toBe("ak_2")
    }
    expect(outcome(null, "op_3").sentence).toContain("was not signed")
  })

  const moved = { at: "2026-01-01T00:00:00Z", figures: {}, figuresHash: "0" }
  const firstMove = { ...action, figuresHash: "a", moved }
  const secondMove = {
    ...action,
    figuresHash: "b",
    moved: { ...moved, at: "2026-01-02T00:00:00Z" }
  }
  const movedBack = { ...secondMove, figuresHash: "a" }
  const opened = Action.moveOf(firstMove)
  it.each([
    ["figures whose hash is recomputed still", { ...action, figuresHash: "a" }, null, null, false],
    ["figures of another hash", { ...action, figuresHash: "a" }, "b", null, false],
    ["figures of the same hash", { ...action, figuresHash: "a" }, "a", null, true],
    ["no figures", action, null, null, true],
    ["a move that was not opened", firstMove, "a", null, false],
    ["a move that was opened", firstMove, "a", opened, true],
    ["a second move, the first having been opened", secondMove, "b", opened, false],
    ["a move back to figures that were opened before", movedBack, "a", opened, false]
  ] as const)(
    "is signed, or not, by button and by repeating alike, with %s",
    (_, record, computedHash, openedMove, may) => {
      const block = Action.blockOf(record, { computedHash, openedMove })
      expect(block === null).toBe(may)
      expect(Action.maySignShown(record, approver("abel"), block).may).toBe(may)
      expect(Action.maySignShown(record, approver("olga"), block).may).toBe(false)
    }
  )

  it("has the hash of its figures that the engine signs", async () => {
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.string(), fc.string()), async (figures) => {
        expect(Action.hashedText(figures)).toBe(EngineFigures.hashText(figures))
      })
    )
    expect(await Action.hashOf({ units: "1.5" })).toMatch(/^[0-9a-f]{64}$/u)
  })

  it("names each member in which a repeated form differs, and none where it equals", () => {
    const json = fc.jsonValue()
    fc.assert(
      fc.property(json, json, (left, right) => {
        expect(Action.differing(left, structuredClone(left))).toEqual([])
        const differs = JSON.stringify(left) !== JSON.stringify(right)
        if (!differs) return
        // Members in another order are the same members.
        const sorted = (value: unknown): unknown =>
          Array.isArray(value)
            ? value.map(sorted)
            : typeof value === "object" && value !== null
              ? Object.fromEntries(
                  Object.entries(value)
                    .map(([name, one]) => [name, sorted(one)] as const)
                    .toSorted(([a], [b]) => (a < b ? -1 : 1))
                )
              : Object.is(value, -0)
                ? 0
                : value
        if (JSON.stringify(sorted(left)) !== JSON.stringify(sorted(right))) {
          expect(Action.differing(sorted(left), sorted(right)).length).toBeGreaterThan(0)
        }
      })
    )
    expect(Action.differing({ a: { b: "1" }, c: [] }, { a: { b: "2" }, c: [] })).toEqual(["/a/b"])
  })
})

/** Names of the members of a body, through references and parts. */
const bodyMembers = (schema: unknown): ReadonlySet<string> => {
  const { $ref, allOf, properties } = (schema ?? {}) as Readonly<Record<string, unknown>>
  const parts = [
    ...((allOf ?? []) as ReadonlyArray<unknown>),
    ...(typeof $ref === "string" ? [document.components.schemas[$ref.split("/").at(-1) ?? ""]] : [])
  ]
  return new Set([
    ...Object.keys((properties ?? {}) as object),
    ...parts.flatMap((part) => [...bodyMembers(part)])
  ])
}

describe("a form", () => {
  const kinds = Object.keys(table.writes)
  const fieldNames = (fields: ReadonlyArray<Field>): ReadonlyArray<string> =>
    fields.map(({ name }) => name)

  it.each(kinds)("of %s has a field for each member of its request", (kind) => {
    const request = schemas.requests[kind]
    expect(request).toBeDefined()
    const fields =
      request?.body === null || request === undefined
        ? []
        : fieldsOf(request.body, schemas.components)
    expect([...fieldNames(fields)].toSorted()).toEqual([...bodyMembers(request?.body)].toSorted())
    // A field that is drawn as raw JSON is an object of names that nobody lists.
    const raw = fields.filter(({ kind: drawn }) => drawn.is === "json").map(({ name }) => name)
    expect(raw.filter((name) => !["tolerances", "grace"].includes(name))).toEqual([])
  })

  it("leaves out what is empty, keeps every digit, and names what is missing or wrong", () => {
    const fields: ReadonlyArray<Field> = [
      {
        name: "id",
        isRequired: true,
        mayBeNull: false,
        description: null,
        kind: { is: "text", pattern: "^[a-z]+$", longest: 5 }
      },
      {
        name: "amount",
        isRequired: false,
        mayBeNull: true,
        description: null,
        kind: { is: "decimal" }
      },
      {
        name: "count",
        isRequired: false,
        mayBeNull: false,
        description: null,
        kind: { is: "integer" }
      },
      {
        name: "lines",
        isRequired: false,
        mayBeNull: false,
        description: null,
        kind: {
          is: "list",
          item: {
            is: "group",
            fields: [
              {
                name: "x",
                isRequired: true,
                mayBeNull: false,
                description: null,
                kind: { is: "decimal" }
              }
            ]
          }
        }
      }
    ]
    const amount = "123456789012345678901234567890.0123456789"
    expect(enteredOf(fields, { id: "abc", amount, count: "7" }).input).toEqual({
      id: "abc",
      amount,
      count: 7n
    })
    expect([...enteredOf(fields, {}).faults.keys()]).toEqual(["/id"])
    expect([
      ...enteredOf(fields, { id: "ABC", amount: "1,5", count: "1.5" }).faults.keys()
    ]).toEqual(["/id", "/amount", "/count"])
    expect(enteredOf(fields, { id: "abcdef" }).faults.get("/id")).toContain("5 characters")
    expect([...enteredOf(fields, { id: "a", lines: [{ x: "z" }] }).faults.keys()]).toEqual([
      "/lines/0/x"
    ])
  })

  it("says of a lost answer only what is done", () => {
    expect(Problems.saidOf({ _tag: "NoAnswer" }).detail).not.toContain("is made again")
  })

  it("finds the field of a fault that the service names", () => {
    const faults = [
      { pointer: "/body/lines/0/x", detail: "is wrong" },
      { pointer: "/path/holderId", detail: "is none" }
    ]
    expect([...Problems.faultsByField(faults)]).toEqual([
      ["/lines/0/x", "is wrong"],
      ["/holderId", "is none"]
    ])
  })
})
