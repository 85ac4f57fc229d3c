/** Telemetry of a request: one span, one figure and one line of the log, without any secret. */
import { Metrics, Telemetry } from "@bursar/http-host"
import { Exit, Layer, Metric, Option, Redacted, Tracer } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { table } from "#host/api/Route.ts"
import { path as docsPath } from "#host/Docs.ts"
import { secret, sign } from "./signing.ts"
import { tables } from "./tables.ts"
import { bearer, open, raw, send, token, type Venue } from "./venue.ts"
import { until } from "../waiting.ts"

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const parentId = "00f067aa0ba902b7"

interface Ended {
  readonly name: string
  readonly kind: string
  readonly traceId: string
  readonly parent: string | null
  readonly attributes: Readonly<Record<string, unknown>>
  readonly failed: boolean
}

/** A tracer that keeps what ends under it, as far as it would be sent anywhere. */
const tracing = () => {
  const ended: Array<Ended> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const end = span.end.bind(span)
      span.end = (at, exit) => {
        end(at, exit)
        if (!span.sampled) return
        ended.push({
          name: span.name,
          kind: span.kind,
          traceId: span.traceId,
          parent: Option.isSome(span.parent) ? span.parent.value.spanId : null,
          attributes: Object.fromEntries(span.attributes),
          failed: Exit.isFailure(exit)
        })
      }
      return span
    }
  })
  return { ended, layer: Layer.succeed(Tracer.Tracer, tracer) }
}

const note = (holderId: string, text = "planted-body") =>
  JSON.stringify({ holderId, text, amount: 1, owner: null })

describe("the span of a request", () => {
  const { ended, layer } = tracing()
  let venue: Venue
  beforeAll(async () => {
    venue = await open({ telemetry: layer })
  })
  afterAll(() => venue.close())

  const spanOf = async (options: Parameters<typeof send>[1]): Promise<Ended> => {
    const before = ended.length
    await (await send(venue, options)).arrayBuffer()
    await until(() => ended.slice(before).some(({ kind }) => kind === "server"))
    const [span] = ended.slice(before).filter(({ kind }) => kind === "server")
    if (span === undefined) throw new Error("no span")
    return span
  }

  it("is called by method and template, is the caller's child, and says how it ended", async () => {
    const as = await bearer(["operator"])
    const headers = { traceparent: `00-${traceId}-${parentId}-01` }
    const span = await spanOf({ path: "/v1/holders?limit=1", as, headers })
    expect(span).toEqual({
      name: "GET /v1/holders",
      kind: "server",
      traceId,
      parent: parentId,
      attributes: {
        "http.request.method": "GET",
        "http.route": "/v1/holders",
        "http.response.status_code": 200
      },
      failed: false
    })
  })

  it.each<[string, string, number, string]>([
    ["/v1/approvals/ak_nobody:approve", "POST /v1/approvals/{actionKey}:approve", 404, "not-found"],
    ["/v1/holders/nobody?x=1", "GET /v1/holders/{holderId}", 400, "invalid-request"],
    ["/v1/nothing/here", "GET", 404, "not-found"]
  ])(
    "of %s names no record, and a refusal does not make it one that failed",
    async (path, name, status, slug) => {
      const as = await bearer(["approver"])
      const method = name.startsWith("POST") ? "POST" : "GET"
      const span = await spanOf({
        path,
        as: path.includes("holders") ? await bearer(["operator"]) : as,
        method
      })
      expect([span.name, span.failed]).toEqual([name, false])
      expect(span.attributes["http.response.status_code"]).toBe(status)
      expect(span.attributes["error.type"]).toBe(slug)
    }
  )

  it("without a trace of the caller's begins one, which the operation keeps", async () => {
    const as = await bearer(["operator"])
    const span = await spanOf({ path: "/v1/holders", method: "POST", as, body: note("traced") })
    expect(span.parent).toBeNull()
    expect(span.traceId).toMatch(/^(?!0{32})[0-9a-f]{32}$/)
    await venue.settle()
    await until(() => ended.some(({ name }) => name === "operation"))
  })

  it("that the caller does not record is recorded by nobody", async () => {
    const as = await bearer(["operator"])
    const before = ended.length
    const headers = { traceparent: `00-${traceId}-${parentId}-00` }
    await (await send(venue, { path: "/v1/holders?limit=1", as, headers })).arrayBuffer()
    // The next one is recorded, and this one came before it.
    await spanOf({ path: "/v1/holders?limit=1", as })
    expect(ended.slice(before).filter(({ kind }) => kind === "server")).toHaveLength(1)
  })

  it("is one that failed when the engine is at fault", async () => {
    const as = await bearer(["operator"])
    const span = await spanOf({ path: "/v1/holders/broken", as })
    expect([span.name, span.failed]).toEqual(["GET /v1/holders/{holderId}", true])
    expect(span.attributes["error.type"]).toBe("internal")
  })

  it("of a caller who leaves before the answer ends with that", async () => {
    const before = ended.length
    await raw(
      venue.port,
      "POST /v1/holders HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n" +
        `content-type: application/json\r\nauthorization: ${await bearer(["operator"])}\r\n\r\n{`,
      50
    )
    await until(() => ended.slice(before).some(({ kind }) => kind === "server"))
    const span = ended.slice(before).find(({ kind }) => kind === "server")
    expect(span?.attributes["error.type"]).toBe("client-closed")
    expect(span?.failed).toBe(false)
  })
})

describe("the figures of a busy venue", () => {
  /** One of every kind of call: taken, refused for each reason, signed wrongly, too many. */
  const busy = async (venue: Venue): Promise<void> => {
    const as = await bearer(["operator"])
    const calls: ReadonlyArray<Parameters<typeof send>[1]> = [
      { path: "/v1/holders?limit=1", as },
      { path: "/v1/holders?limit=0", as },
      { path: "/v1/holders", as, method: "POST", body: note("busy") },
      { path: "/v1/holders", as, method: "PUT" },
      { path: "/v1/holders" },
      { path: "/v1/holders", as: await bearer(["monitor"]) },
      { path: `/v1/${"planted-path".repeat(3)}` },
      { path: "/v1/holders/broken", as },
      { path: "/v1/health" },
      { path: "/docs" },
      { path: "/v1/holders?limit=1", as: await bearer(["operator"], { sub: "signer" }) },
      ...Array.from({ length: 3 }, () => ({ path: "/v1/instruments/none", as: "" }))
    ]
    for (const call of calls) await (await send(venue, call)).arrayBuffer()
    const many = await bearer(["operator"], { sub: "many" })
    for (let at = 0; at < 4; at++) await send(venue, { path: "/v1/holders?limit=1", as: many })
    await venue.settle()
  }

  let venue: Venue
  beforeAll(async () => {
    venue = await open({
      rateLimit: { limit: 20, perRole: {} },
      signing: {
        keys: [
          {
            keyId: "k-1",
            sub: "signer",
            secret: Redacted.make(secret),
            notBefore: null,
            notAfter: null
          }
        ]
      }
    })
    await busy(venue)
    const as = await bearer(["operator"], { sub: "over" })
    for (let at = 0; at < 22; at++) await send(venue, { path: "/v1/holders?limit=1", as })
    await venue.settle()
  })
  afterAll(() => venue.close())

  const snapshot = () => venue.run(Metric.snapshot)

  it("are all of the table, under labels and values of its closed lists alone", async () => {
    const templates = table(tables).map(({ path }) => path.template)
    const snapshots = await snapshot()
    expect(snapshots.length).toBeGreaterThan(10)
    for (const { id, attributes } of snapshots) {
      const row = Metrics.measured.find(({ metric }) => metric.id === id)
      expect(row, id).toBeDefined()
      for (const [label, value] of Object.entries(attributes ?? {})) {
        if (label === "unit") continue
        const list: ReadonlyArray<string> =
          label === "http.route" ? [...templates, docsPath] : (row?.labels[label] ?? [])
        expect(list, `${id} ${label}`).toContain(value)
      }
    }
    expect(JSON.stringify(snapshots)).not.toContain("planted")
  })

  // Red for a metric that nothing moves any more.
  it.each([
    "http.server.request.duration",
    "bursar.operations",
    "bursar.operation.duration",
    "bursar.ratelimited",
    "bursar.signature.refused"
  ])("%s moves", async (id) => {
    const moved = (await snapshot()).filter((one) => one.id === id)
    expect(moved.length).toBeGreaterThan(0)
  })

  it("have the buckets that the contract lists", async () => {
    const [one] = (await snapshot()).filter(({ id }) => id === "http.server.request.duration")
    const buckets = one?.type === "Histogram" ? one.state.buckets.map(([edge]) => edge) : []
    expect(buckets.filter(Number.isFinite)).toEqual([
      0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10
    ])
  })
})

describe("the log of a busy venue", () => {
  const planted = "planted-0451"
  const wholly = ["time", "level", "msg"]

  it("is one object a line, knows the request, and holds no secret, body or broken line", async () => {
    const keyed = await open({
      signing: {
        keys: [
          {
            keyId: "k-1",
            sub: "signer",
            secret: Redacted.make(secret),
            notBefore: null,
            notAfter: null
          }
        ]
      }
    })
    const evil = `eve\u001b[31m\r\n{"level":"fatal"}\u2028\u009b`
    const bearers = [
      await bearer(["operator"], { name: evil, email: `${planted}@x` }),
      await bearer(["operator"], { sub: "signer" })
    ]
    const [as = "", signer = ""] = bearers
    const target = `/v1/holders?text=${planted}&limit=1`
    const calls: ReadonlyArray<Parameters<typeof send>[1]> = [
      { path: "/v1/holders", method: "POST", as, body: note("one", planted) },
      { path: "/v1/holders", method: "POST", as, body: note("two", "boom") },
      { path: "/v1/holders", method: "POST", as, body: `{"text": "${planted}"` },
      {
        path: "/v1/holders",
        method: "POST",
        as,
        body: JSON.stringify({ holderId: planted.repeat(20) })
      },
      {
        path: "/v1/holders",
        method: "POST",
        as: `Bearer ${planted}`,
        body: note("three", planted)
      },
      {
        path: "/v1/holders",
        method: "POST",
        as,
        body: note("four", planted),
        headers: { "idempotency-key": planted, cookie: planted }
      },
      { path: target, as },
      { path: target, as: signer, headers: sign({ method: "GET", target }) },
      {
        path: target,
        as: signer,
        headers: { ...sign({ method: "GET", target }), "x-signature": planted }
      },
      { path: `/v1/holders/${planted}`, as },
      { path: `/v1/${planted}`, as },
      { path: "/v1/holders?limit=1", as: `Bearer ${await token({ sub: evil.slice(0, 4) })}` }
    ]
    const requestIds: Array<string> = []
    for (const call of calls) {
      const response = await send(keyed, call)
      requestIds.push(response.headers.get("x-request-id") ?? "")
      await response.arrayBuffer()
    }
    await keyed.settle()
    await keyed.close()
    const text = keyed.logs.join("\n")
    for (const secretText of [
      planted,
      secret.toString("base64"),
      secret.toString("hex"),
      ...bearers.map((one) => one.slice("Bearer ".length))
    ]) {
      expect(text).not.toContain(secretText)
    }
    // No control character, and no character that a terminal or a tool takes for the end of a line.
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029]/u)
    const lines = keyed.logs.map((line): Readonly<Record<string, unknown>> => JSON.parse(line))
    for (const line of lines) for (const name of wholly) expect(typeof line[name]).toBe("string")
    const answered = lines.filter(({ msg }) => msg === "answered")
    expect(answered.map(({ requestId }) => requestId)).toEqual(requestIds)
    expect(answered[0]).toMatchObject({
      level: "info",
      route: "/v1/holders",
      method: "POST",
      status: 202,
      sub: "operator-1"
    })
    for (const { spanId, traceId } of answered) {
      expect([traceId, spanId]).toEqual([
        expect.stringMatching(/^[0-9a-f]{32}$/),
        expect.stringMatching(/^[0-9a-f]{16}$/)
      ])
    }
  })

  it("tells a failure nobody planned under the request it happened in", async () => {
    const venue = await open()
    await send(venue, {
      path: "/v1/holders/broken",
      as: await bearer(["operator"]),
      headers: { "x-request-id": "req-of-mine" }
    })
    await venue.close()
    const lines = venue.logs.map((line): Readonly<Record<string, unknown>> => JSON.parse(line))
    const failure = lines.find(({ level }) => level === "error")
    const answered = lines.find(({ msg }) => msg === "answered")
    expect(failure).toMatchObject({
      requestId: "req-of-mine",
      route: "/v1/holders/{holderId}",
      sub: "operator-1"
    })
    expect(failure?.["cause"]).toContain("Error")
    expect(failure?.["traceId"]).toBe(answered?.["traceId"])
    expect(answered?.["status"]).toBe(500)
  })
})

describe("telemetry", () => {
  it("reaches a collector whole: spans, figures and lines, with its headers, and no secret", async () => {
    const received: Array<{ readonly path: string; readonly key: string; readonly text: string }> =
      []
    const collector = createServer((request, response) => {
      let text = ""
      request.on("data", (part) => (text += String(part)))
      request.on("end", () => {
        const key = String(request.headers["x-collector-key"])
        received.push({ path: request.url ?? "", key, text })
        response.end("{}")
      })
    })
    await new Promise<void>((listening) => collector.listen(0, "127.0.0.1", listening))
    const { port } = collector.address() as AddressInfo
    const venue = await open({
      telemetry: Telemetry.layer({
        url: new URL(`http://127.0.0.1:${port}/base/`),
        headers: Redacted.make({ "x-collector-key": "key-1" }),
        version: "1.2.3",
        tenantId: "venue-1",
        interval: 60_000
      })
    })
    const as = await bearer(["operator"])
    const headers = { traceparent: `00-${traceId}-${parentId}-01` }
    await send(venue, { path: "/v1/holders", method: "POST", as, headers, body: note("told") })
    await send(venue, { path: "/v1/holders/nobody", as, headers })
    await send(venue, { path: "/v1/holders/broken", as, headers })
    await venue.settle()
    // The host sends the telemetry that it gathered when it stops.
    await venue.close()
    collector.close()
    const postsOf = (signal: string) => received.filter(({ path }) => path === `/base/v1/${signal}`)
    expect(new Set(received.map(({ key }) => key))).toEqual(new Set(["key-1"]))
    const all = received.map(({ text }) => text).join("")
    for (const secretText of ["planted-body", as.slice("Bearer ".length)]) {
      expect(all).not.toContain(secretText)
    }
    const traces = postsOf("traces").map(({ text }): Traces => JSON.parse(text))
    const spans = traces.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans))
    )
    const server = spans.filter(({ kind }) => kind === 2)
    expect(server.map(({ name, status }) => [name, status.code])).toEqual([
      ["POST /v1/holders", 0],
      ["GET /v1/holders/{holderId}", 0],
      ["GET /v1/holders/{holderId}", 2]
    ])
    expect(new Set(server.map((span) => span.traceId))).toEqual(new Set([traceId]))
    const worker = spans.find(({ name }) => name === "operation")
    expect(worker?.links.map((link) => link.traceId)).toEqual([traceId])
    expect(worker?.traceId).not.toBe(traceId)
    const metrics = postsOf("metrics")
      .map(({ text }) => text)
      .join("")
    expect(metrics).toContain('"http.server.request.duration"')
    expect(metrics).toContain('"bursar.operations"')
    const logs = postsOf("logs")
      .map(({ text }) => text)
      .join("")
    expect(logs).toContain("answered")
    expect(logs).toContain(traceId)
  })

  it("that nobody receives does not hold the host up", async () => {
    const venue = await open({
      telemetry: Telemetry.layer({
        url: new URL("http://127.0.0.1:1"),
        headers: Redacted.make({}),
        version: "1",
        tenantId: "venue-1",
        interval: 60_000
      })
    })
    const answer = await send(venue, { path: "/v1/health" })
    expect(answer.status).toBe(200)
    await venue.close()
  })
})

interface Traces {
  readonly resourceSpans: ReadonlyArray<{
    readonly scopeSpans: ReadonlyArray<{
      readonly spans: ReadonlyArray<{
        readonly name: string
        readonly kind: number
        readonly traceId: string
        readonly status: { readonly code: number }
        readonly links: ReadonlyArray<{ readonly traceId: string }>
      }>
    }>
  }>
}
