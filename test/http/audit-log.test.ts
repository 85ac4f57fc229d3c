/** The audit log over HTTP: the records of every call, its readers, and its pages. */
import { PlainJson } from "@bursar/engine-core/kernel"
import { Feed } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { StorageUnavailable } from "@bursar/engine-core/ports"
import { Effect, Layer, Result } from "effect"
import { createHash } from "node:crypto"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { roles } from "../vocabulary/given.ts"
import * as Tables from "./tables.ts"
import { bearer, json, open, send, slugOf, type Venue } from "./venue.ts"

interface Logged {
  readonly seq: number
  readonly action: string
  readonly stage: string
  readonly actor: string | null
  readonly status: number | null
  readonly problem: string | null
  readonly requestId: string | null
  readonly [member: string]: unknown
}

interface Page {
  readonly value: ReadonlyArray<Logged>
  readonly next: string
}

let away = false
/** A store whose commits fail while it is `away`, without loss of committed data. */
const storage = Layer.effect(
  Feed,
  Effect.map(Feed, (feed) => ({
    ...feed,
    take: (now: string) =>
      away ? Effect.fail(new StorageUnavailable({ detail: "away", retryAfter: 1 })) : feed.take(now)
  }))
).pipe(Layer.provideMerge(Memory.layer))

/** A read of an instrument's notes that is logged each time. */
const register = {
  ...Tables.getNote,
  audited: { resourceKind: "holder" as const, named: "holderId" }
}
const tables = {
  operations: Tables.tables.operations,
  queries: Tables.tables.queries.map((read) =>
    read.name === Tables.getNote.name ? register : read
  )
}

let venue: Venue
const auditor = () => bearer(["auditor"])
const page = async (query = ""): Promise<Page> =>
  json<Page>(await send(venue, { path: `/v1/audit-log${query}`, as: await auditor() }))
/** Reads the audit records written since now, whenever the result is called. */
const since = async (): Promise<() => Promise<ReadonlyArray<Logged>>> => {
  const { next } = await page("?order=asc&limit=1000")
  return async () => (await page(`?order=asc&limit=1000&after=${next}`)).value
}
const rowsOfLog = (logged: ReadonlyArray<Logged>) =>
  logged.map(({ action, stage, actor, status, problem }) => [action, stage, actor, status, problem])

beforeAll(async () => {
  venue = await open({ storage, tables })
})
afterAll(() => venue.close())

const noteOf = (holderId: string) =>
  `{"holderId":"${holderId}","text":"x","amount":1.5,"owner":null}`
const write = async (body: string, key?: string) =>
  send(venue, {
    method: "POST",
    path: "/v1/holders",
    as: await bearer(["operator"], { sub: "olga" }),
    body,
    headers: key === undefined ? {} : { "idempotency-key": key }
  })

describe("an accepted write", () => {
  it("never is logged without what proves it, or its replay is logged again", async () => {
    const logged = await since()
    const body = noteOf("n-1")
    expect((await write(body, "k1")).status).toBe(202)
    expect((await write(body, "k1")).status).toBe(200)
    const fingerprint = createHash("sha256")
      .update(
        `POST\n/v1/holders\n\n${PlainJson.canonical(Result.getOrThrow(PlainJson.parse(body)))}`
      )
      .digest("hex")
    const [only, ...more] = await logged()
    expect(more).toEqual([])
    expect(only).toMatchObject({
      action: "holder.register",
      stage: "requested",
      actor: "olga",
      role: "operator",
      method: "POST",
      route: "/v1/holders",
      resourceKind: "holder",
      resourceId: "n-1",
      status: 202,
      problem: null,
      bodyHash: fingerprint,
      detail: null
    })
    expect(Object.keys(only ?? {})).toHaveLength(21)
    await venue.settle()
    expect(rowsOfLog((await logged()).slice(1))).toEqual([
      ["holder.register", "started", "olga", null, null],
      ["holder.register", "succeeded", "olga", null, null]
    ])
  })
})

describe("a refused write", () => {
  it.each<
    [
      what: string,
      call: (as: (role: string) => Promise<string>) => Promise<Parameters<typeof send>[1]>,
      expected: ReadonlyArray<unknown>
    ]
  >([
    [
      "by its bearer",
      async () => ({ method: "POST", path: "/v1/holders", as: "Bearer x", body: "{}" }),
      ["access.refused", "refused", null, 401, "unauthenticated"]
    ],
    [
      "by its role",
      async (as) => ({ method: "POST", path: "/v1/holders", as: await as("monitor"), body: "{}" }),
      ["access.refused", "refused", "monitor-1", 403, "permission-denied"]
    ],
    [
      "by its media type",
      async (as) => ({
        method: "POST",
        path: "/v1/holders",
        as: await as("operator"),
        body: "{}",
        headers: { "content-type": "text/plain" }
      }),
      ["holder.register", "refused", "operator-1", 415, "unsupported-media-type"]
    ],
    [
      "by its shape",
      async (as) => ({ method: "POST", path: "/v1/holders", as: await as("operator"), body: "{" }),
      ["holder.register", "refused", "operator-1", 400, "invalid-request"]
    ],
    [
      "by its key",
      async (as) => ({
        method: "POST",
        path: "/v1/holders",
        as: await as("operator"),
        body: noteOf("n-2"),
        headers: { "idempotency-key": "taken" }
      }),
      ["holder.register", "refused", "operator-1", 422, "idempotency-key-reused"]
    ],
    [
      "by the record",
      async (as) => ({
        method: "POST",
        path: "/v1/instruments/absent:pause",
        as: await as("operator")
      }),
      ["instrument.pause", "refused", "operator-1", 404, "not-found"]
    ],
    [
      "as an approval of nothing",
      async (as) => ({
        method: "POST",
        path: "/v1/approvals/ak_01ARZ3NDEKTSV4RRFFQ69G5FAV:approve",
        as: await as("approver")
      }),
      ["approval.approve", "refused", "approver-1", 404, "not-found"]
    ],
    [
      "as an approval by an auditor",
      async () => ({
        method: "POST",
        path: "/v1/approvals/ak_01ARZ3NDEKTSV4RRFFQ69G5FAV:approve",
        as: await bearer(["approver", "auditor"])
      }),
      ["access.refused", "refused", "approver+auditor-1", 403, "auditor-never-approves"]
    ]
  ])("%s is not logged, or twice, or as another", async (_, call, expected) => {
    const as = (role: string) => bearer([role])
    await send(venue, {
      method: "POST",
      path: "/v1/holders",
      as: await as("operator"),
      body: noteOf("n-taken"),
      headers: { "idempotency-key": "taken" }
    })
    const logged = await since()
    const response = await send(venue, await call(as))
    const found = await logged()
    expect(rowsOfLog(found)).toEqual([expected])
    expect(found[0]?.requestId).toBe(response.headers.get("x-request-id"))
    expect(JSON.stringify(found)).not.toContain("absent")
  })

  it("of a read is logged only if who asks is refused, not what is asked for", async () => {
    const logged = await since()
    const as = await bearer(["operator"])
    expect((await send(venue, { path: "/v1/holders/none", as })).status).toBe(404)
    expect((await send(venue, { path: "/v1/holders?nonsense=1", as })).status).toBe(400)
    expect((await send(venue, { path: "/v1/nowhere", as })).status).toBe(404)
    expect((await send(venue, { path: "/v1/holders" })).status).toBe(401)
    expect(rowsOfLog(await logged())).toEqual([
      ["access.refused", "refused", null, 401, "unauthenticated"]
    ])
  })

  it("never is answered otherwise while the store is away", async () => {
    const before = venue.logs.length
    const refused = async () => slugOf(await send(venue, { path: "/v1/holders", as: "Bearer x" }))
    away = true
    try {
      expect(await refused()).toBe("unauthenticated")
    } finally {
      away = false
    }
    expect(venue.logs.slice(before).join("\n")).toContain("a refused call could not be logged")
    expect(await refused()).toBe("unauthenticated")
  })

  it("never is logged more than 60 times a minute", async () => {
    const as = await bearer(["operator"], { sub: "flood" })
    for (let n = 0; n < 70; n++) {
      await send(venue, { method: "POST", path: "/v1/holders", as, body: "{" })
    }
    const { value } = await page("?actor=flood&limit=1000")
    // A minute may end in between; then what is over is counted by then.
    expect(value.length).toBeGreaterThanOrEqual(60)
    expect(value.length).toBeLessThanOrEqual(71)
    const counted = value.filter(({ detail }) => detail !== null)
    expect(value.length - counted.length).toBeLessThanOrEqual(70)
    const minutes = new Set(value.map(({ at }) => String(at).slice(0, "2026-01-01T00:00".length)))
    if (counted.length === 0 && minutes.size === 1) expect(value).toHaveLength(60)
  })
})

describe("a read that is logged", () => {
  it("never is given unlogged", async () => {
    expect((await write(noteOf("n-read"))).status).toBe(202)
    await venue.settle()
    const path = "/v1/holders/n-read"
    const as = await bearer(["operator"])
    const logged = await since()
    const whole = await send(venue, { path, as })
    expect(whole.status).toBe(200)
    const headers = { "if-none-match": whole.headers.get("etag") ?? "" }
    expect((await send(venue, { path, as, headers })).status).toBe(304)
    expect((await send(venue, { path: "/v1/holders/n-none", as })).status).toBe(404)
    const [only, again, ...more] = await logged()
    expect(more).toEqual([])
    expect(again).toMatchObject({ action: "export.read", resourceId: "n-read", status: 304 })
    expect(only).toMatchObject({
      action: "export.read",
      stage: "read",
      actor: "operator-1",
      role: "operator",
      method: "GET",
      route: "/v1/holders/{holderId}",
      resourceKind: "holder",
      resourceId: "n-read",
      status: 200,
      detail: { format: "json" }
    })
    away = true
    try {
      expect((await send(venue, { path, as })).status).toBe(503)
      expect((await send(venue, { path, as, headers })).status).toBe(503)
    } finally {
      away = false
    }
  })
})

describe("the feed of it", () => {
  it.each(roles.map((role) => [role] as const))(
    "%s reads it, or is refused, wrongly",
    async (role) => {
      const { status } = await send(venue, {
        path: "/v1/audit-log?limit=1",
        as: await bearer([role])
      })
      const admitted = ["auditor", "compliance", "operator", "risk"]
      expect(status).toBe(admitted.includes(role) ? 200 : 403)
    }
  )

  it("pages hold every record once, and the last page has a next", async () => {
    const all = (await page("?limit=1000")).value
    const pagedRecords: Array<Logged> = []
    let after = ""
    for (;;) {
      const { value, next } = await page(`?limit=7${after}`)
      expect(typeof next).toBe("string")
      if (value.length === 0) break
      pagedRecords.push(...value)
      after = `&after=${next}`
    }
    expect(pagedRecords.slice(0, all.length)).toEqual(all)
    expect(pagedRecords.map(({ seq }) => seq)).toEqual(pagedRecords.map((_, index) => index + 1))
    const latest = (await page("?order=desc&limit=3")).value.map(({ seq }) => seq)
    expect(latest[0]).toBeGreaterThanOrEqual(pagedRecords.length)
    expect(latest).toEqual([...latest].toSorted((a, b) => b - a))
  })

  // Seen red with a page of 100 where no limit is sent: the log has more records by then.
  it("without a limit is every record, streamed, charged by its records, and has a next", async () => {
    const as = await bearer(["auditor"], { sub: "reader of all" })
    await Promise.all(Array.from({ length: 15 }, (_, nth) => write(noteOf(`all-${nth}`))))
    const before = await json<Page>(
      await send(venue, { path: "/v1/audit-log?order=desc&limit=1", as })
    )
    const newest = before.value[0]?.seq ?? 0
    expect(newest).toBeGreaterThan(100)
    const response = await send(venue, { path: "/v1/audit-log", as })
    expect(response.headers.get("content-length")).toBeNull()
    const all = await json<Page>(response)
    expect(all.value.map(({ seq }) => seq)).toEqual(
      Array.from({ length: all.value.length }, (_, index) => index + 1)
    )
    expect(all.value.length).toBeGreaterThanOrEqual(newest)
    // The rest begins where this answer ended.
    await write(noteOf("after-all"))
    const rest = await json<Page>(
      await send(venue, { path: `/v1/audit-log?after=${all.next}`, as })
    )
    expect(rest.value[0]?.seq).toBe(all.value.length + 1)
    const oldest = await json<Page>(
      await send(venue, { path: "/v1/audit-log?order=desc&action=holder.register", as })
    )
    expect(oldest.value.every(({ action }) => action === "holder.register")).toBe(true)
    expect(oldest.value.map(({ seq }) => seq)).toEqual(
      oldest.value.map(({ seq }) => seq).toSorted((a, b) => b - a)
    )
    expect(typeof oldest.next).toBe("string")
  })

  it("a filter passes its own records alone, and a filtered reader's place moves on", async () => {
    const all = (await page("?limit=1000")).value
    const cases: ReadonlyArray<readonly [string, (one: Logged) => boolean]> = [
      ["action=holder.register", ({ action }) => action === "holder.register"],
      [
        "action=holder.register&action=export.read",
        ({ action }) => ["holder.register", "export.read"].includes(action)
      ],
      ["actor=olga", ({ actor }) => actor === "olga"],
      ["resourceKind=instrument", ({ resourceKind }) => resourceKind === "instrument"],
      ["resourceId=n-1", ({ resourceId }) => resourceId === "n-1"],
      [`to=${all[3]?.["at"]}`, ({ at }) => String(at) < String(all[3]?.["at"])]
    ]
    for (const [query, wanted] of cases) {
      const { value, next } = await page(`?${query}&limit=1000`)
      expect(value).toEqual(all.filter(wanted))
      expect(value.length).toBeGreaterThan(0)
      // The cursor is of these filters, and stands at the last record looked at.
      expect((await page(`?${query}&limit=1000&after=${next}`)).value).toEqual([])
      expect(
        (await send(venue, { path: `/v1/audit-log?after=${next}`, as: await auditor() })).status
      ).toBe(400)
    }
    for (const query of ["action=nonsense", "order=up", "actor=a&actor=b", "from=x", "at=1"]) {
      const { status } = await send(venue, { path: `/v1/audit-log?${query}`, as: await auditor() })
      expect(status).toBe(400)
    }
    const { status } = await send(venue, {
      path: "/v1/audit-log?from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z",
      as: await auditor()
    })
    expect(status).toBe(400)
  })
})
