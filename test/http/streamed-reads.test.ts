/**
 * Answers that are streamed: a record, its rows, and a text or the sums of the rows as one JSON value,
 * whatever the text is.
 */
import { Export, Read, Refusal } from "@bursar/engine-core"
import { Integer } from "@bursar/engine-core/kernel"
import { Effect, Schema, Stream } from "effect"
import fc from "fast-check"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { tables } from "./tables.ts"
import { bearer, json, open, send, slugOf, type Venue } from "./venue.ts"

const Row = Schema.Struct({ line: Integer.schema })
const Head = Schema.Struct({ externalStatementId: Schema.String })

/** Answer of the next call. */
let rows: number | null = 0
let pieces: Iterable<string> | null = []

const file = Read.streamed({
  name: "external-statements.get",
  doc: "A statement with its lines and the text of its file.",
  route: "GET /v1/external-statements/{externalStatementId}",
  audience: { operator: "all" },
  pinned: false,
  params: Schema.Struct({ externalStatementId: Schema.String }),
  value: Schema.Struct({
    statement: Head,
    lines: Schema.NullOr(Schema.Array(Row)),
    raw: Schema.NullOr(Schema.String)
  }),
  refuses: ["not-found"],
  recordIn: "statement",
  record: Head,
  rowsIn: "lines",
  row: Row,
  textIn: "raw",
  run: ({ externalStatementId }) =>
    externalStatementId === "absent"
      ? Effect.fail(Refusal.refused("not-found"))
      : Effect.succeed({
          record: { externalStatementId },
          rows: rows === null ? null : Stream.map(Stream.range(1, rows), (line) => ({ line })),
          text: pieces === null ? null : Stream.fromIterable(pieces, { chunkSize: 1 })
        })
})

const Report = { businessDate: Schema.String, from: Schema.Int } as const
const Total = Schema.Struct({ unit: Schema.String, owed: Schema.Int })

/** A report whose members stand beside its rows, and which ends with their sums. */
const report = Read.streamed({
  name: "external-statements.restatement",
  doc: "A report with its rows and their sums.",
  route: "GET /v1/external-statements/{externalStatementId}/restatement",
  audience: { operator: "all" },
  pinned: false,
  params: Schema.Struct({ externalStatementId: Schema.String }),
  value: Schema.Struct({
    ...Report,
    rows: Schema.Array(Row),
    totals: Schema.Array(Total)
  }),
  refuses: ["not-found"],
  record: Schema.Struct(Report),
  rowsIn: "rows",
  row: Row,
  totalsIn: { member: "totals", value: Schema.Array(Total) },
  run: () => {
    let owed = 0
    return Effect.succeed({
      record: { businessDate: "2026-07-31", from: 7 },
      rows: Stream.tap(
        Stream.map(Stream.range(1, rows ?? 0), (line) => ({ line })),
        ({ line }) =>
          Effect.sync(() => {
            owed += line
          })
      ),
      totals: Effect.sync(() => [{ unit: "USD", owed }])
    })
  }
})

const smallUpTo = 3
/** True: the next register depends on the clock. */
let isClocked = false

/** A register: small ones are printed whole, and any is a table too. */
const register = Read.streamed({
  name: "instruments.register",
  doc: "A head with its lines.",
  route: "GET /v1/instruments/{instrumentId}/register",
  audience: { operator: "all" },
  pinned: true,
  params: Schema.Struct({ instrumentId: Schema.String, ...Export.parameters }),
  value: Schema.Struct({ holders: Schema.Int, lines: Schema.Array(Row) }),
  refuses: [],
  record: Schema.Struct({ holders: Schema.Int }),
  rowsIn: "lines",
  row: Row,
  csv: Export.of({ row: Row, rows: (lines: ReadonlyArray<typeof Row.Type>) => lines }),
  isSmall: ({ holders }) => holders <= smallUpTo,
  run: (_, asking) =>
    Effect.sync(() => ({
      record: { holders: (rows ?? 0) - (isClocked && asking.now === 0n ? 1 : 0) },
      rows: Stream.map(Stream.range(1, rows ?? 0), (line) => ({ line }))
    }))
})

let venue: Venue
let as: string
beforeAll(async () => {
  venue = await open({
    tables: { ...tables, queries: [...tables.queries, file, report, register] },
    // No call is given back while a slow machine runs the file.
    rateLimit: { limit: 1_000, window: 86_400_000 }
  })
  as = await bearer(["operator"])
})
afterAll(() => venue.close())

const get = (id = "st-1", method = "GET") =>
  send(venue, { method, path: `/v1/external-statements/${id}`, as })

interface Answer {
  readonly offset: number
  readonly value: {
    readonly statement: { readonly externalStatementId: string }
    readonly lines: ReadonlyArray<{ readonly line: number }>
    readonly raw: string
  }
}

describe("an answer that is streamed", () => {
  it.each([0, 1, 2, 2_500])("has %i rows in their order", async (count) => {
    ;[rows, pieces] = [count, []]
    const { offset, value } = await json<Answer>(await get())
    expect(offset).toBe(0)
    expect(value.statement).toEqual({ externalStatementId: "st-1" })
    expect(value.lines.map(({ line }) => line)).toEqual(
      Array.from({ length: count }, (_, at) => at + 1)
    )
    expect(value.raw).toBe("")
  })

  it.each([0, 1, 2_500])(
    "ends with the sums of its %i rows, its members beside them",
    async (n) => {
      rows = n
      const path = "/v1/external-statements/st-1/restatement"
      const { value } = await json<{ readonly value: object }>(await send(venue, { path, as }))
      expect(value).toEqual({
        businessDate: "2026-07-31",
        from: 7,
        rows: Array.from({ length: n }, (_, at) => ({ line: at + 1 })),
        totals: [{ unit: "USD", owed: (n * (n + 1)) / 2 }]
      })
    }
  )

  it("has its text letter by letter, in whatever pieces it comes", async () => {
    const texts = fc.array(fc.string({ unit: "binary", maxLength: 20 }), { maxLength: 5 })
    const hostile = ['"', "\\", '"}}', "\u0000\u001f\u2028", "\r\n", "😀", "</script>"]
    await fc.assert(
      fc.asyncProperty(texts, async (given) => {
        ;[rows, pieces] = [1, given]
        expect((await json<Answer>(await get())).value.raw).toBe(given.join(""))
      }),
      { numRuns: 25, seed: 15, examples: [[hostile]] }
    )
  })

  it.each([
    [null, null],
    [2, null],
    [null, "text"]
  ])("says null of rows and of a text that are deleted: %s, %s", async (count, text) => {
    ;[rows, pieces] = [count, text === null ? null : [text]]
    const { value } = await json<{ readonly value: object }>(await get())
    expect(value).toEqual({
      statement: { externalStatementId: "st-1" },
      lines: count === null ? null : [{ line: 1 }, { line: 2 }],
      raw: text
    })
  })

  it("has no body for HEAD, and is refused as any read is", async () => {
    ;[rows, pieces] = [1, ["a"]]
    const head = await get("st-1", "HEAD")
    expect([head.status, await head.text()]).toEqual([200, ""])
    expect(await slugOf(await get("absent"))).toBe("not-found")
    const other = await send(venue, {
      path: "/v1/external-statements/st-1",
      as: await bearer(["feed"])
    })
    expect(await slugOf(other)).toBe("permission-denied")
  })

  it("costs a call more for every 1,000 rows, and for every mebibyte of its text", async () => {
    const remaining = async () => Number((await get("absent")).headers.get("x-ratelimit-remaining"))
    const before = await remaining()
    ;[rows, pieces] = [3_000, Array.from({ length: 5 }, () => "x".repeat(512 * 1024))]
    await (await get()).arrayBuffer()
    // The two calls themselves, three for the rows, two for the text.
    expect(before - (await remaining())).toBe(2 + 3 + 2)
  })

  it("has a tag where its rows are few, and the same members where they are not", async () => {
    const path = "/v1/instruments/fund-a/register"
    for (const count of [0, smallUpTo, smallUpTo + 1, 2_500]) {
      rows = count
      const answer = await send(venue, { path, as })
      const tag = answer.headers.get("etag")
      const text = await answer.text()
      expect(JSON.parse(text).value).toEqual({
        holders: count,
        lines: Array.from({ length: count }, (_, at) => ({ line: at + 1 }))
      })
      expect([count, tag === null]).toEqual([count, count > smallUpTo])
      if (tag === null) continue
      const copy = await send(venue, { path, as, headers: { "if-none-match": tag } })
      expect([copy.status, await copy.text()]).toEqual([304, ""])
      rows = count + 1
      const changed = await send(venue, { path, as, headers: { "if-none-match": tag } })
      expect(changed.status).toBe(200)
      await changed.text()
    }
  })

  it("has no tag where it depends on the clock", async () => {
    ;[rows, isClocked] = [1, true]
    const answer = await send(venue, { path: "/v1/instruments/fund-a/register", as })
    isClocked = false
    expect([answer.status, answer.headers.get("etag")]).toEqual([200, null])
    await answer.text()
  })

  it("is a table of its rows alone, charged as they are", async () => {
    const path = "/v1/instruments/fund-a/register?format=csv"
    const remaining = async () => Number((await get("absent")).headers.get("x-ratelimit-remaining"))
    for (const count of [0, 2, 3_000]) {
      rows = count
      const before = await remaining()
      const answer = await send(venue, { path, as })
      expect(answer.headers.get("content-type")).toBe("text/csv; charset=utf-8")
      const lines = Array.from({ length: count }, (_, at) => `${at + 1}\r\n`)
      expect(await answer.text()).toBe(`"line"\r\n${lines.join("")}`)
      expect(before - (await remaining())).toBe(2 + Math.floor(count / 1_000))
    }
    const headers = { accept: "application/json" }
    expect(await slugOf(await send(venue, { path, as, headers }))).toBe("not-acceptable")
  })

  it("is read no faster than its caller takes it, and no further than it takes it", async () => {
    const piece = "0123456789abcdef".repeat(64 * 1024)
    let pulled = 0
    rows = 0
    pieces = (function* () {
      for (; pulled < 512; pulled++) yield piece
    })()
    const leaving = new AbortController()
    const { body } = await fetch(`${venue.url}/v1/external-statements/st-1`, {
      headers: { authorization: as },
      signal: leaving.signal
    })
    const reader = body?.getReader()
    expect((await reader?.read())?.done).toBe(false)
    await waiting(500)
    // The buffers of two sockets hold fewer pieces; the answer has 512 MiB.
    expect(pulled).toBeLessThan(64)
    leaving.abort()
    const left = pulled
    await waiting(100)
    expect(pulled).toBeLessThanOrEqual(left + 2)
  })
})

const waiting = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis))
