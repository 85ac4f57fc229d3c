/**
 * Attack 25 on statements, and their story over HTTP: whatever a file is, it is recorded whole, or
 * refused with its place and nothing of it is kept.
 */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import type { ConfiguredSource } from "@bursar/engine-core"
import * as Statements from "@bursar/storage-adapters/statements"
import { Effect } from "effect"
import { deflateRawSync, gzipSync } from "node:zlib"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type PricePoint, pricePoints } from "#core/instruments/price/PricePoint.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { externalStatements } from "#core/statements/external-statement/ExternalStatement.ts"
import * as SourceSteps from "#core/statements/external-source/SourceSteps.ts"
import * as Subscriptions from "../machines/subscriptions.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import * as Venue from "./venue.ts"
import * as Wallets from "./wallets.ts"

const path = "/v1/external-statements"
const secretAccount = "planted-account-7"

const sourceOf = (
  configuredSource: Pick<
    ConfiguredSource.ConfiguredSource,
    "externalSourceId" | "adapter" | "csv"
  > &
    Partial<ConfiguredSource.ConfiguredSource>
): ConfiguredSource.ConfiguredSource => ({
  kind: "holdings",
  instruments: ["fund-a"],
  calendar: ["monday", "tuesday", "wednesday", "thursday", "friday"],
  dueBy: { time: "18:00", zone: "UTC", daysAfter: 1 },
  grace: Duration.of("PT2H"),
  account: null,
  accountIs: "holder",
  basis: null,
  places: null,
  zone: "UTC",
  validFor: null,
  reversals: "as-marked",
  assets: null,
  ...configuredSource
})

const csv = {
  encoding: "utf-8",
  delimiter: ";",
  decimal: ",",
  group: ".",
  dateFormat: "dd.MM.yyyy",
  columns: { account: "Konto", quantity: "Stand" }
} as const

const named = [
  sourceOf({ externalSourceId: "table", adapter: "csv", csv }),
  sourceOf({ externalSourceId: "xml", adapter: "semt.002", csv: null }),
  sourceOf({ externalSourceId: "json", adapter: "json", csv: null }),
  sourceOf({
    externalSourceId: "two",
    adapter: "csv",
    csv,
    instruments: ["fund-a", "fund-b"]
  }),
  sourceOf({
    externalSourceId: "nav",
    adapter: "json",
    csv: null,
    kind: "nav",
    accountIs: null,
    validFor: Duration.of("P1D")
  }),
  sourceOf({ externalSourceId: "wide", adapter: "csv", csv: { ...csv, encoding: "utf-16le" } })
]
/** Named by the configuration at first, and then no more. */
const removedSource = sourceOf({ externalSourceId: "gone", adapter: "csv", csv })

let venue: Wallets.WholeVenue
beforeAll(async () => {
  venue = await Wallets.open({
    plugged: Statements.layer,
    settings: {
      sealingKeys: [{ keyId: "k1", secret: new Uint8Array(32).fill(7) }],
      statementLinesMax: 50,
      statementSources: [...named, removedSource]
    }
  })
  const registrar = await venue.wallet("registrar")
  for (const [instrumentId, isin] of [
    ["fund-a", "US0378331005"],
    ["fund-b", "US5949181045"]
  ] as const) {
    const fund = { ...bodyOf(), instrumentId, registrar: registrar.party, oracle: null }
    const body = { ...fund, identifiers: { isin } }
    expect(await venue.write("/v1/instruments", body)).toMatchObject({ state: "succeeded" })
  }
})
afterAll(() => venue.close())

interface Handing {
  readonly source?: string
  readonly type?: string
  readonly query?: string
  readonly as?: string
  readonly key?: string
}

const hand = async (body: string | Uint8Array, handing: Handing = {}) =>
  Venue.send(venue, {
    method: "POST",
    path: `${path}?externalSourceId=${handing.source ?? "table"}${handing.query ?? "&businessDate=2026-07-01"}`,
    as: await Venue.bearer([handing.as ?? "feed"]),
    body,
    headers: {
      "content-type": handing.type ?? "text/csv",
      "idempotency-key": handing.key ?? crypto.randomUUID()
    }
  })

const stored = () =>
  venue.run(
    Effect.gen(function* () {
      const records = yield* Records
      return (yield* records.list(externalStatements, { limit: 100 })).length
    })
  )

const table = (...rows: ReadonlyArray<string>) => ["Konto;Stand", ...rows, ""].join("\n")

interface Refusal {
  readonly type: string
  readonly status: number
  readonly detail: string
  readonly gate: string | null
  readonly check: string | null
}

/** Refusal of a file: status, slug, check, and the place that its detail names. */
const refusalOf = async (response: Response) => {
  const text = await response.text()
  expect(text).not.toContain(secretAccount)
  const { check, detail, gate, status, type } = JSON.parse(text) as Refusal
  expect(gate).toBe(check === null ? null : "policy")
  return {
    why: `${status} ${type.replace("urn:bursar:problem:", "")}${check === null ? "" : ` ${check}`}`,
    detail
  }
}

const xml = { source: "xml", type: "application/xml" }
const json = { source: "json", type: "application/json" }
const malformed = "400 invalid-request"
const zip = Buffer.concat([
  Buffer.from("504b0304140000000800", "hex"),
  Buffer.alloc(20),
  deflateRawSync("a")
])

describe("a file that breaks its form", () => {
  it.each<readonly [string, string | Uint8Array, Handing, string, RegExp]>([
    ["a DOCTYPE", "<!DOCTYPE a>\n<a/>", xml, malformed, /line 1, column \d+/],
    [
      "an entity of its own",
      '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>',
      xml,
      malformed,
      /line 1, column \d+/
    ],
    ["an entity that nobody declared", "<a>\n&b;</a>", xml, malformed, /line \d+, column \d+/],
    ["a processing instruction", "<a>\n<?b c?></a>", xml, malformed, /line 2, column \d+/],
    ["two roots", "<a/>\n<b/>", xml, malformed, /line \d+, column \d+/],
    ["an end that is cut off", "<a>\n<b>", xml, malformed, /line \d+, column \d+/],
    ["a repeated attribute", '<a\n b="1" b="2"/>', xml, malformed, /line 2, column \d+/],
    ["a depth over 32", "<a>".repeat(40), xml, malformed, /line 1, column \d+/],
    ["a text over 64 KiB", `<a>${"x".repeat(70_000)}</a>`, xml, malformed, /line 1, column \d+/],
    ["NUL", "<a>\u0000</a>", xml, malformed, /line 1, column \d+/],
    [
      "bytes against their declared encoding",
      Buffer.from('<?xml version="1.0" encoding="UTF-8"?>\n<a>\xff</a>', "latin1"),
      xml,
      malformed,
      /line 2/
    ],
    ["UTF-7", '<?xml version="1.0" encoding="UTF-7"?><a/>', xml, malformed, /./],
    ["EBCDIC", Buffer.from("4c6fa7949340a58599a2899695", "hex"), xml, malformed, /./],
    ["an unknown namespace", '<Document xmlns="urn:nobody"/>', xml, malformed, /urn:nobody/],
    ["zip bytes called XML", zip, xml, malformed, /zip/i],
    ["gzip bytes called CSV", gzipSync("a"), {}, malformed, /gzip/i],
    ["PDF bytes called JSON", "%PDF-1.7\n", json, malformed, /pdf/i],
    ["JSON with a member twice", '{"a":1,"a":2}', json, malformed, /./],
    ["JSON that is cut off", '{"lines":[', json, malformed, /./],
    [
      "a charset that disagrees",
      Buffer.from("\ufeff<a/>", "utf16le"),
      { ...xml, type: "application/xml; charset=utf-8" },
      "415 unsupported-media-type",
      /./
    ],
    [
      "a missing column",
      `Konto\n${secretAccount}\n`,
      {},
      "422 rule-refused statement-columns",
      /line 1/
    ],
    [
      "a doubled column",
      `Konto;Stand;Stand\n${secretAccount};1;1\n`,
      {},
      "422 rule-refused statement-columns",
      /line 1/
    ],
    [
      "a row too short",
      table(`${secretAccount};1`, secretAccount),
      {},
      "422 rule-refused statement-columns",
      /line 3/
    ],
    [
      "a row too long",
      table(`${secretAccount};1;2`),
      {},
      "422 rule-refused statement-columns",
      /line 2/
    ],
    [
      "too many lines",
      table(...Array.from({ length: 51 }, (_, n) => `h${n};1`)),
      {},
      "413 body-too-large",
      /50/
    ]
  ])(
    "%s is refused with its place, and nothing of it is kept",
    async (_, body, handing, why, place) => {
      const before = await stored()
      const refusal = await refusalOf(await hand(body, handing))
      expect(refusal.why).toBe(why)
      expect(refusal.detail).toMatch(place)
      expect(await stored()).toBe(before)
    }
  )

  // Seen red where every fault of a file pointed at /body.
  it.each([
    ["/body/kind", 400, "nav", `{"kind":"nonsense","businessDate":"2026-07-02"}`],
    ["/body/kind", 422, "nav", `{"kind":"cash","businessDate":"2026-07-02","lines":[]}`],
    [
      "/body/nav/official",
      400,
      "nav",
      `{"kind":"nav","businessDate":"2026-07-02","nav":{"official":1.04,"ripcord":false}}`
    ],
    ["/body/nav", 422, "nav", `{"kind":"nav","businessDate":"2026-07-02"}`],
    [
      "/body/lines/1/quantity",
      400,
      "json",
      `{"kind":"holdings","businessDate":"2026-07-02","lines":[{"account":"h-1","quantity":"1"},{"account":"h-2","quantity":2}]}`
    ]
  ])(
    "in the statement's own form names its field: %s, %i",
    async (pointer, status, source, body) => {
      const answer = await hand(body, { source, type: "application/json", query: "" })
      const { errors } = await Venue.json<Venue.Problem>(answer)
      expect([answer.status, errors?.map((fault) => fault.pointer)]).toEqual([status, [pointer]])
    }
  )

  it("frees its key: the mended file is taken under it", async () => {
    const key = crypto.randomUUID()
    const query = "&businessDate=2026-06-01"
    expect((await hand(table("h1"), { key, query })).status).toBe(422)
    expect((await hand(table("h1;1"), { key, query })).status).toBe(201)
  })
})

describe("a file of a source", () => {
  it("that nobody configured is 404, and one without its instrument 400", async () => {
    expect((await refusalOf(await hand(table("h1;1"), { source: "nobody" }))).why).toBe(
      "404 not-found"
    )
    expect((await refusalOf(await hand(table("h1;1"), { source: "two" }))).why).toBe(malformed)
  })

  it("that the configuration names no more is refused by source-active", async () => {
    await venue.run(SourceSteps.reconcile(named))
    expect((await refusalOf(await hand(table("h1;1"), { source: "gone" }))).why).toBe(
      "422 rule-refused source-active"
    )
  })

  it("answers a feed a receipt and an operator the record, whoever came first", async () => {
    const body = table("h1;1.000,5")
    const query = "&businessDate=2026-06-02"
    const first = await hand(body, { query })
    const receipt = await Venue.json<Record<string, unknown>>(first)
    expect(first.status).toBe(201)
    expect(Object.keys(receipt).toSorted()).toEqual([
      "businessDate",
      "contentHash",
      "externalStatementId",
      "statements"
    ])
    expect(first.headers.get("location")).toBe(`${path}/${receipt.externalStatementId}`)
    const again = await hand(body, { query, as: "operator" })
    const record = await Venue.json<Record<string, unknown>>(again)
    expect(again.status).toBe(200)
    expect(record).toMatchObject({
      ...receipt,
      lineCount: 1,
      rawFormat: "text/csv",
      kind: "holdings"
    })
  })

  it("is 422 for a date that has one, unless it corrects that one", async () => {
    const query = "&businessDate=2026-06-03"
    const first = await Venue.json<{ externalStatementId: string }>(
      await hand(table("h1;1"), { query })
    )
    const other = table("h1;2")
    expect((await refusalOf(await hand(other, { query }))).why).toBe(
      "422 rule-refused statement-of-date"
    )
    const corrects = `${query}&corrects=${first.externalStatementId}`
    expect((await hand(other, { query: corrects })).status).toBe(201)
  })

  it("under a key that named other bytes is 422, before its source is looked up", async () => {
    const key = crypto.randomUUID()
    const query = "&businessDate=2026-06-04"
    expect((await hand(table("h1;1"), { key, query })).status).toBe(201)
    expect((await refusalOf(await hand(table("h1;2"), { key, query }))).why).toBe(
      "422 idempotency-key-reused"
    )
    const elsewhere = await hand(table("h1;1"), { key, query, source: "nobody" })
    expect((await refusalOf(elsewhere)).why).toBe("422 idempotency-key-reused")
  })

  it("sent by many at once is one statement and one event", async () => {
    const query = "&businessDate=2026-06-05"
    const before = await stored()
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => hand(table("h1;7"), { query }))
    )
    const statuses = answers.map(({ status }) => status).toSorted()
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 200, 201])
    expect(new Set(answers.map(({ headers }) => headers.get("location"))).size).toBe(1)
    expect((await stored()) - before).toBe(1)
  })

  it("leaves no account and no name in events, the audit log or the logs", async () => {
    expect(
      (await hand(table(`${secretAccount};1`), { query: "&businessDate=2026-06-08" })).status
    ).toBe(201)
    await venue.settle()
    for (const read of ["/v1/events?limit=1000", "/v1/audit-log"]) {
      const { status, text } = await venue.read(read, "auditor")
      expect([read, status]).toEqual([read, 200])
      expect(text).toContain("statement.receive")
      expect(text).not.toContain(secretAccount)
    }
    expect(venue.logs.join("\n")).not.toContain(secretAccount)
  })
})

describe("a statement that is read", () => {
  interface Line {
    readonly kind: string
    readonly line: number
    readonly account: string
    readonly holderId: string | null
    readonly quantity: number
  }
  interface File {
    readonly offset: number
    readonly value: {
      readonly statement: { readonly externalStatementId: string; readonly rawEncoding: string }
      readonly lines: ReadonlyArray<Line>
      readonly raw: string
    }
  }

  const reads = async (id: string, role = "auditor") =>
    Venue.send(venue, { path: `${path}/${id}`, as: await Venue.bearer([role]) })

  const handed = async (body: string | Uint8Array, handing: Handing = {}) => {
    const answer = await hand(body, { as: "operator", ...handing })
    expect(answer.status).toBe(201)
    const { externalStatementId } = (await answer.json()) as { externalStatementId: string }
    expect(answer.headers.get("location")).toContain(`${path}/${externalStatementId}`)
    return externalStatementId
  }

  it("has its lines in file order, and its bytes as they came", async () => {
    const body = `\uFEFF${table("h-1;1.234,5", "h-2;0", '"h;3";7')}`
    const id = await handed(body, { query: "&businessDate=2026-05-06" })
    const { offset, value } = (await (await reads(id)).json()) as File
    expect(offset).toBe(0)
    expect(value.statement).toMatchObject({ externalStatementId: id, rawEncoding: "utf-8" })
    expect(
      value.lines.map(({ account, holderId, kind, line, quantity }) => [
        kind,
        line,
        account,
        holderId,
        quantity
      ])
    ).toEqual([
      ["holdings", 1, "h-1", "h-1", 1234.5],
      ["holdings", 2, "h-2", "h-2", 0],
      ["holdings", 3, "h;3", "h;3", 7]
    ])
    expect(value.raw).toBe(body)
    const log = await venue.read("/v1/audit-log?action=export.read", "auditor")
    expect(log.text).toContain(id)
  })

  it("has counterparties in proposals of payment, of which each page and whole list is logged", async () => {
    const logged = async () => {
      const path = "/v1/audit-log?action=export.read&actor=risk-1&limit=1000"
      const { value } = await Venue.json<{
        readonly value: ReadonlyArray<Readonly<Record<string, unknown>>>
      }>(await Venue.send(venue, { path, as: await Venue.bearer(["auditor"]) }))
      return value.filter(({ route }) => route === "/v1/cash-matches")
    }
    expect(await logged()).toEqual([])
    for (const query of ["?limit=3", ""]) {
      const { status } = await venue.read(`/v1/cash-matches${query}`, "risk")
      expect([query, status]).toEqual([query, 200])
    }
    const row = { resourceKind: "external-statement", resourceId: null, role: "risk", status: 200 }
    expect(await logged()).toMatchObject([row, row])
  })

  it("has its lines in pages, each page logged, and none once retention deleted them", async () => {
    const rows = Array.from({ length: 7 }, (_, nth) => `h-${nth};${nth + 1}`)
    const id = await handed(table(...rows), { query: "&businessDate=2026-05-07" })
    const { value: whole } = (await (await reads(id)).json()) as File
    const paged: Array<Line> = []
    for (let query = "limit=3"; query !== ""; ) {
      const page = await Venue.json<{
        readonly offset: number
        readonly value: ReadonlyArray<Line>
        readonly next: string | null
      }>(await reads(`${id}/lines?${query}`, "risk"))
      expect(page.offset).toBe(0)
      paged.push(...page.value)
      query = page.next === null ? "" : `limit=3&after=${page.next}`
    }
    expect(paged).toEqual(whole.lines)
    const log = await venue.read("/v1/audit-log?action=export.read&actor=risk-1", "auditor")
    expect(log.text.split(id)).toHaveLength(4)
    // Booked entries alone have what filters name.
    for (const query of ["match=unmatched", "direction=credit", "reference=h-1"]) {
      const none = await Venue.json<{ readonly value: ReadonlyArray<Line> }>(
        await reads(`${id}/lines?${query}`)
      )
      expect([query, none.value]).toEqual([query, []])
    }
    expect((await reads(`${id}/lines?match=taken`)).status).toBe(400)
    expect((await reads(`${id}/lines?reference=`)).status).toBe(400)
    expect((await reads("no-such-statement/lines")).status).toBe(404)
    for (const role of ["feed", "investor", "app", "monitor", "compliance", "registrar"]) {
      expect([role, (await reads(`${id}/lines`, role)).status]).toEqual([role, 403])
    }
  })

  it("has bytes that are no UTF-8 in base64, whole over the ends of their chunks", async () => {
    const text = table(...Array.from({ length: 40 }, (_, nth) => `h-${nth};1`))
    const body = Buffer.from(`\uFEFF${text}`, "utf16le")
    const id = await handed(body, { query: "&businessDate=2026-06-04", source: "wide" })
    const { value } = (await (await reads(id)).json()) as File
    expect(value.statement.rawEncoding).toBe("base64")
    expect(Buffer.from(value.raw, "base64").equals(body)).toBe(true)
    expect(value.lines).toHaveLength(40)
  })

  it("past its retention has its header, and null where lines and bytes were", async () => {
    const id = await handed(table("h-1;1"), { query: "&businessDate=2026-05-11" })
    const empty = await handed(table(), { query: "&businessDate=2026-05-12" })
    await venue.run(
      Effect.gen(function* () {
        const records = yield* Records
        const statement = yield* records.get(externalStatements, id)
        const at = statement.receivedAt
        const act = { cause: { by: "clock" }, now: at } as const
        yield* records.transact(
          records.append(externalStatements, statement, { on: "prune", at }, act)
        )
      })
    )
    const { value } = (await (await reads(id)).json()) as { readonly value: object }
    expect(value).toMatchObject({ statement: { lineCount: 1 }, lines: null, raw: null })
    expect(value).toHaveProperty("statement.prunedAt", expect.stringMatching(/^2026-/u))
    const { value: other } = (await (await reads(empty)).json()) as File
    expect(other).toMatchObject({ statement: { prunedAt: null }, lines: [], raw: table() })
  })

  it("is listed by source, instrument, kind and business date, the end left out", async () => {
    const one = await handed(table("h-1;1"), { query: "&businessDate=2026-05-04" })
    const next = await handed(table("h-1;2"), { query: "&businessDate=2026-05-05" })
    const listed = async (query: string) => {
      const as = await Venue.bearer(["risk"])
      const answer = await Venue.send(venue, { path: `${path}?${query}`, as })
      const { value } = await Venue.json<{
        readonly value: ReadonlyArray<{ readonly externalStatementId: string }>
      }>(answer)
      return value.map(({ externalStatementId }) => externalStatementId)
    }
    // No offset of the ledger dates a statement: one rule for one and for the list.
    const dated = await Venue.send(venue, { path, as: await Venue.bearer(["risk"]) })
    expect((await Venue.json<{ readonly offset: number }>(dated)).offset).toBe(0)
    expect(await listed("from=2026-05-04&to=2026-05-05")).toEqual([one])
    expect(await listed("from=2026-05-04&to=2026-05-06")).toEqual([one, next])
    expect(await listed("from=2026-05-05&to=2026-05-06&externalSourceId=table")).toEqual([next])
    expect(await listed("from=2026-05-05&to=2026-05-06&externalSourceId=two")).toEqual([])
    expect(await listed("from=2026-05-05&to=2026-05-06&instrumentId=fund-b")).toEqual([])
    expect(await listed("from=2026-05-05&to=2026-05-06&kind=cash")).toEqual([])
  })

  it("is 404 where there is none, and 403 to those who hand statements in", async () => {
    expect((await reads("no-such-statement")).status).toBe(404)
    for (const role of ["feed", "investor", "app", "monitor", "compliance"]) {
      expect([role, (await reads("no-such-statement", role)).status]).toEqual([role, 403])
    }
  })
})

describe("the restatement of a NAV", () => {
  interface Answer {
    readonly now: string
    readonly value: {
      readonly rows: ReadonlyArray<Readonly<Record<string, unknown>>>
    }
  }
  const businessDate = "2026-06-09"
  const nav = (official: string) =>
    JSON.stringify({ kind: "nav", businessDate, nav: { official, ripcord: false } })
  const states = async (official: string, corrects = "") => {
    const query = `&businessDate=${businessDate}${corrects === "" ? "" : `&corrects=${corrects}`}`
    const handing = { source: "nav", type: "application/json", as: "operator", query }
    const answer = await hand(nav(official), handing)
    expect(answer.status).toBe(201)
    return ((await answer.json()) as { externalStatementId: string }).externalStatementId
  }
  const reads = async (id: string, role = "auditor", query = "") =>
    Venue.send(venue, {
      path: `${path}/${id}/restatement${query}`,
      as: await Venue.bearer([role])
    })

  /** A point of the date, and an order by wire that it priced. */
  const dealt = Effect.gen(function* () {
    const records = yield* Records
    const now = yield* Instant.now
    const act = { cause: { by: "request", requestId: "planted" } as const, now, offset: 0 as never }
    const pointCid = "00aa"
    const price = Decimal.of("1.0437")
    const point: PricePoint = {
      ...{ contractId: pointCid, instrumentId: "fund-a", price, offset: 0 as never, nodeId: 0 },
      ...{ incomePerUnit: null, withholding: null, statementId: null, isLive: true },
      ...{ valuationTime: Instant.of(`${businessDate}T20:00:00Z`), publishedAt: now },
      ...{ source: Subscriptions.party("oracle"), corrects: null, correctedBy: null }
    }
    const units = Decimal.of("95812.973076")
    const order = Subscriptions.claimed({
      ...{ instrumentId: "fund-a" as never, state: "delivered", units, price, pointCid },
      ...{ refund: Decimal.zero, residual: Decimal.zero, pricedAt: now, deliveredAt: now },
      valueDate: Date.of(businessDate),
      lot: { lotId: "sub-1", cid: "00bb", basePrice: price, units, remaining: units }
    })
    yield* records.transact(
      Effect.andThen(records.open(pricePoints, point, act), records.open(subscriptions, order, act))
    )
  })

  it("lists what each order is owed, as of its own instant again, and is logged", async () => {
    await venue.run(dealt)
    const first = await states("1.0437")
    const id = await states("1.0499622", first)
    const answer = await reads(id)
    const text = await answer.text()
    expect(JSON.parse(text)).toMatchObject({
      value: {
        ...{ externalStatementId: id, corrects: first, instrumentId: "fund-a", businessDate },
        ...{ from: 1.0437, to: 1.0499622, move: 0.006, tolerance: 0.002, over: true },
        ...{ pointCids: ["00aa"], notComputed: [] },
        rows: [
          {
            ...{ resourceKind: "subscription", id: "sub-1", field: "units", unit: "units" },
            ...{ was: 95812.973076, should: 95241.523932, owed: -571.449144 }
          }
        ],
        totals: [{ unit: "units", owed: -571.449144 }]
      }
    })
    const { now } = JSON.parse(text) as Answer
    const again = (await (await reads(id, "risk", `?asOf=${now}`)).json()) as Answer
    expect(again.value).toEqual((JSON.parse(text) as Answer).value)
    const log = await venue.read("/v1/audit-log?action=export.read", "auditor")
    expect(log.text).toContain(id)
    for (const other of [first, "nobody"]) expect((await reads(other)).status).toBe(404)
    for (const role of ["feed", "investor", "app", "monitor", "compliance"]) {
      expect([role, (await reads(id, role)).status]).toEqual([role, 403])
    }
    for (const role of ["operator", "approver", "risk"]) {
      expect([role, (await reads(id, role)).status]).toEqual([role, 200])
    }
  })
})
