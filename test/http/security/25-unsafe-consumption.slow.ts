/**
 * Security test 25 (API10): answers of the ledger and of the identity provider are validated like
 * input of a caller. The bytes of outside statements are a part of it that comes with statements.
 */
import { Operation } from "@bursar/engine-core"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Host from "@bursar/http-host"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Duration, Effect, Layer, Option, Schema, Stream } from "effect"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { afterEach, describe, expect, it } from "vitest"
import { NoteId, tables } from "../tables.ts"
import { bearer, json, open, type Problem, publicJwk, send, slugOf, type Venue } from "../venue.ts"
import { until } from "../../waiting.ts"

const closing: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

const opened = async (options: Parameters<typeof open>[0]): Promise<Venue> => {
  const venue = await open(options)
  closing.push(venue.close)
  return venue
}

/** A text no answer and no log may hold. */
const marker = "planted-by-the-other-side"
const huge = `${marker}${"x".repeat(1024 * 1024)}`

describe("the identity provider", () => {
  /** A provider that answers as `listener` does, and a host that fetches its keys there. */
  const trusting = async (listener: RequestListener) => {
    const server = createServer(listener)
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
    closing.push(
      () =>
        new Promise<void>((resolve) => {
          server.closeAllConnections()
          server.close(() => resolve())
        })
    )
    const { port } = server.address() as AddressInfo
    const keys = Host.Jwks.fetchFrom(new URL(`http://127.0.0.1:${port}/jwks`))
    return opened({
      jwks: Host.Jwks.layerRemote(keys).pipe(Layer.provide(NodeCrypto.layerIds))
    })
  }
  const saying =
    (body: string, status = 200): RequestListener =>
    (_, response) =>
      void response.writeHead(status, { "content-type": "application/json" }).end(body)

  const unusable: ReadonlyArray<readonly [string, RequestListener]> = [
    ["no JSON", saying(`{"keys":[${marker}`)],
    ["JSON of another shape", saying(`{"keys":"${marker}"}`)],
    ["null", saying("null")],
    ["a page", saying(`<html>${marker}</html>`)],
    ["an error", saying(`{"keys":[]}`, 500)],
    ["a megabyte", saying(`{"keys":[],"pad":"${huge}"}`)],
    ["a megabyte without end", (_, response) => void response.write(`{"keys":[],"pad":"${huge}`)],
    [
      "another address",
      (request, response) =>
        void (request.url === "/jwks"
          ? response.writeHead(302, { location: "/elsewhere" }).end()
          : response.end(JSON.stringify({ keys: [publicJwk] })))
    ],
    [
      "half an answer",
      (_, response) => {
        response.writeHead(200, { "content-length": "1000" })
        response.write("{")
        response.destroy()
      }
    ],
    ["nothing, and hangs up", (_, response) => void response.destroy()]
  ]
  it.each(unusable)("that answers %s counts as unavailable", async (_, listener) => {
    const venue = await trusting(listener)
    const response = await send(venue, {
      path: "/v1/holders?limit=1",
      as: await bearer(["operator"])
    })
    const text = await response.clone().text()
    expect([response.status, await slugOf(response)]).toEqual([
      503,
      "identity-provider-unavailable"
    ])
    expect(response.headers.get("retry-after")).toBe("5")
    expect(text).not.toContain(marker)
    expect((await send(venue, { path: "/v1/health" })).status).toBe(200)
  })

  // Switched off to see it red: the time a fetch of keys may take (`answerWithin` in Jwks.ts).
  it("that answers a byte at a time is given up after its limit", async () => {
    const drips: Array<NodeJS.Timeout> = []
    const venue = await trusting((_, response) => {
      response.write("{")
      drips.push(setInterval(() => void response.write(" "), 200))
    })
    const response = await send(venue, {
      path: "/v1/holders?limit=1",
      as: await bearer(["operator"])
    })
    for (const drip of drips) clearInterval(drip)
    expect(await slugOf(response)).toBe("identity-provider-unavailable")
  })

  it.each([
    [
      "keys that are none",
      [null, 1, "x", [], {}, { kty: 1 }, { kty: "EC" }, { kty: "oct", k: "AA" }]
    ],
    ["a key whose curve is nonsense", [{ kty: "EC", crv: "P-0", x: "AA", y: "AA", kid: "test-1" }]],
    ["a thousand keys", Array.from({ length: 1_000 }, (_, kid) => ({ kty: "OKP", kid: `${kid}` }))]
  ])("that lists %s beside a good one ends the process", async (_, keys) => {
    const all = [...keys, { ...publicJwk, kid: "good" }]
    const venue = await trusting(saying(JSON.stringify({ keys: all })))
    const response = await send(venue, {
      path: "/v1/holders?limit=1",
      as: await bearer(["operator"])
    })
    expect([response.status, await slugOf(response)]).toEqual([401, "unauthenticated"])
    expect((await send(venue, { path: "/v1/health" })).status).toBe(200)
  })
})

const propose = Operation.defineOnLedger("reserve.propose", {
  doc: "Writes on the ledger.",
  route: "POST /v1/reserves",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "reserve",
    id: ({ reserveId }) => reserveId,
    href: ({ reserveId }) => `/v1/reserves/${reserveId}`
  },
  input: Schema.Struct({ reserveId: NoteId }),
  result: Schema.Struct({ reserveId: NoteId }),
  refuses: ["ledger-rejected", "contract-stale"],
  plan: () => {
    const template = { packageName: "p", module: "M", entity: "E" }
    return Effect.succeed({
      commands: [{ _tag: "Create" as const, template, args: {} }] as const,
      last: true
    })
  },
  finish: ({ reserveId }) => Effect.succeed({ reserveId })
})

describe("the ledger", () => {
  interface Seen {
    readonly state: string
    readonly problem: Problem | null
    readonly updateId: string | null
  }
  const trusting = async (ledger: Partial<Ledger.Ledger["Service"]>) => {
    const venue = await opened({
      ledger,
      tables: { ...tables, operations: [...tables.operations, propose] }
    })
    const as = await bearer(["operator"])
    const made = await send(venue, {
      method: "POST",
      path: "/v1/reserves",
      as,
      body: '{"reserveId":"r-1"}'
    })
    expect(made.status).toBe(202)
    const path = made.headers.get("location") ?? ""
    const read = async () => {
      const response = await send(venue, { path, as })
      const text = await response.clone().text()
      expect(response.status).toBe(200)
      const { value } = await json<{ value: Seen }>(response)
      return { value, text, retryAfter: response.headers.get("retry-after") }
    }
    /** The venue goes on: another write is taken, runs and is read. */
    const goesOn = async () => {
      const body = '{"holderId":"after"}'
      const other = await send(venue, { method: "POST", path: "/v1/holders:onboard", as, body })
      expect(other.status).toBe(202)
      expect((await send(venue, { path: "/v1/health" })).status).toBe(200)
    }
    return { venue, read, goesOn }
  }

  const refusal = (changes: Partial<Ledger.Answer>) =>
    new Ledger.Refused({
      code: "TEMPLATE_PRECONDITION_VIOLATED",
      cause: "It does not hold.",
      category: 9,
      context: {},
      resources: [],
      ...changes
    })

  // Each of these left the effect in doubt: it is asked for, and never failed on a guess.
  it.each([
    [
      "breaks its contract",
      Effect.fail(new Ledger.ProtocolError({ detail: "status 200, no receipt", body: huge }))
    ],
    ["says nothing of the outcome", Effect.fail(unknown())],
    ["answers with what breaks the port", Effect.die(new TypeError(marker))]
  ])("that %s fails a write that may have committed", async (_, answer) => {
    const { venue, read, goesOn } = await trusting({ submit: () => answer })
    await venue.settle()
    const { value, text, retryAfter } = await read()
    expect([value.state, value.problem, retryAfter]).toEqual(["running", null, "1"])
    expect(text).not.toContain(marker)
    await goesOn()
  })

  function unknown() {
    return new Ledger.OutcomeUnknown({
      commandId: "c",
      why: huge,
      retryAfter: Duration.millis(1)
    })
  }

  it("that is late holds up its own write alone", async () => {
    let release: () => void = () => {}
    const late = new Promise<void>((resolve) => {
      release = resolve
    })
    const submit = () =>
      Effect.andThen(
        Effect.promise(() => late),
        Effect.fail(refusal({}))
      )
    const { venue, read, goesOn } = await trusting({ submit })
    const settled = venue.settle()
    await until(async () => (await read()).value.state !== "queued")
    await goesOn()
    expect((await read()).value.state).toBe("running")
    release()
    await settled
    expect((await read()).value.state).toBe("failed")
  })

  // Switched off to see it red: the length of what a ledger may say (`cut` in writes/LedgerRefusal.ts).
  it("that refuses in a megabyte, or in control characters, is quoted so", async () => {
    const { venue, read, goesOn } = await trusting({
      submit: () =>
        Effect.fail(
          refusal({ cause: `line\r\n\u001b[31m\u0000${huge}`, code: `X_${"Y".repeat(100_000)}` })
        )
    })
    await venue.settle()
    const { value, text } = await read()
    expect(value.state).toBe("failed")
    expect(value.problem?.type).toBe("urn:bursar:problem:ledger-rejected")
    expect(value.problem?.detail.length).toBeLessThanOrEqual(1_000)
    expect(value.problem?.detail).not.toMatch(/[\u0000-\u001f]/)
    expect(text.length).toBeLessThan(10_000)
    await goesOn()
  })

  it("that answers with guarded text has none of it passed on", async () => {
    for (const category of [4, 5, 6, 7]) {
      const { venue, read } = await trusting({
        submit: () => Effect.fail(refusal({ code: "INTERNAL", cause: marker, category }))
      })
      await venue.settle()
      const { value, text } = await read()
      expect([value.state, text.includes(marker)]).toEqual(["failed", false])
    }
  })

  it.each([
    ["cannot be read", Effect.fail(new Ledger.ProtocolError({ detail: "no number", body: huge }))],
    [
      "is not reached",
      Effect.fail(new Ledger.Unreachable({ detail: marker, retryAfter: Duration.seconds(1) }))
    ],
    ["breaks the port", Effect.die(new SyntaxError(marker))]
  ])("whose end %s ends the process", async (_, ledgerEnd) => {
    const { venue, read, goesOn } = await trusting({ ledgerEnd })
    await venue.settle().catch(() => undefined)
    expect((await read()).text).not.toContain(marker)
    await goesOn()
  })

  it.each([
    ["fails", Stream.fail(new Ledger.ProtocolError({ detail: "no update", body: huge }))],
    ["breaks the port", Stream.die(new SyntaxError(marker))],
    [
      "holds what nobody knows",
      Stream.make<[Ledger.Update]>({
        _tag: "Foreign",
        offset: Offset.of(1),
        what: "Unknown",
        raw: { [marker]: huge }
      })
    ],
    [
      "goes backwards",
      Stream.make<ReadonlyArray<Ledger.Update>>(
        { _tag: "Checkpoint", offset: Offset.of(1), recordTime: Option.none() },
        { _tag: "Checkpoint", offset: Offset.zero, recordTime: Option.some(Instant.fromNanos(0n)) }
      )
    ]
  ])("whose stream %s ends the process", async (_, updates) => {
    const { venue, read, goesOn } = await trusting({
      updates: () => updates,
      ledgerEnd: Effect.succeed(Offset.of(1)),
      submit: () => Effect.fail(refusal({}))
    })
    await venue.settle().catch(() => undefined)
    expect((await read()).text).not.toContain(marker)
    await goesOn()
  })
})
