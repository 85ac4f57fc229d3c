/** Calls of the plain client, as they are sent, and what it makes of answers and of inputs that no request can carry. */
import * as PlainClient from "@bursar/http-host/plain-client"
import { createHash } from "node:crypto"
import { describe, expect, it } from "vitest"
import { type Reply, scripted } from "./scripted.ts"

const claim = { instrumentId: "elf", holderId: "h-1", amount: "100.50" }

/** Error of a call that has to fail. */
const errorOf = async (call: () => unknown): Promise<Error> => {
  try {
    await call()
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
  throw new Error("the call did not fail")
}

describe("a call of the plain client", () => {
  it("has a key of its own, the caller's, or none", async () => {
    const { calls, client } = scripted([{ status: 202 }])
    await client.write("subscription.claim", claim)
    await client.write("subscription.claim", claim)
    await client.write("subscription.claim", claim, { key: "mine" })
    await client.write("subscription.claim", claim, { key: null })
    expect(calls.map(({ headers }) => headers.get("idempotency-key"))).toEqual([
      "key-1",
      "key-2",
      "mine",
      null
    ])
  })

  it("sends a decimal as the number it writes, and nothing in the place of what is absent", async () => {
    const { calls, client } = scripted([{ status: 202 }])
    const traceparent = `00-${"1".repeat(32)}-${"2".repeat(16)}-01`
    await client.write("subscription.claim", claim, { wait: 20, traceparent })
    const [sent] = calls
    expect(sent?.body).toBe('{"instrumentId":"elf","holderId":"h-1","amount":100.50}')
    expect(sent?.url.href).toBe("http://venue.test/base/v1/subscriptions")
    expect(Object.fromEntries(sent!.headers)).toEqual({
      accept: "application/json",
      authorization: "Bearer b",
      "content-type": "application/json",
      "idempotency-key": "key-1",
      prefer: "wait=20",
      traceparent
    })
  })

  it("sends a Date as the instant it is, and a bigint as its digits", async () => {
    const { calls, client } = scripted([{ status: 202 }])
    const at = new Date("2026-01-02T03:04:05.678Z")
    await client.write("subscription.claim", { ...claim, at, big: 2n ** 70n } as never)
    expect(calls[0]?.body).toContain(
      '"at":"2026-01-02T03:04:05.678Z","big":1180591620717411303424}'
    )
  })

  it("sends the member of If-Match as the header, and leaves it out of the body", async () => {
    const { calls, client } = scripted([{ status: 202 }])
    await client.write("policy.set", { instrumentId: "elf", replaces: "pv_1" } as never)
    expect(calls[0]?.headers.get("if-match")).toBe('"pv_1"')
    expect(calls[0]?.body).toBe("{}")
  })

  it("repeats a parameter for each value of a list, and leaves out what is undefined", async () => {
    const { calls, client } = scripted([{ text: '{"value":[],"next":null}' }])
    await client.list("findings.list", {
      where: { state: ["open", "recorded"], instrumentId: undefined } as never,
      limit: 5,
      asOf: "2026-01-01T00:00:00Z"
    })
    expect(calls[0]?.url.search).toBe(
      "?state=open&state=recorded&limit=5&asOf=2026-01-01T00%3A00%3A00Z"
    )
  })

  it("reads how a removal ended that was answered without a body", async () => {
    const { calls, client } = scripted([
      { status: 204, headers: { location: "/base/v1/operations/op_7" } },
      { text: '{"offset":3,"value":{"operationId":"op_7","state":"succeeded","required":2}}' }
    ])
    const removed = await client.write("webhook.remove", { webhookId: "wh_1" })
    expect(removed).toEqual({ operationId: "op_7", state: "succeeded", required: 2 })
    expect(calls.map(({ body, method, url }) => [method, url.pathname, body])).toEqual([
      ["DELETE", "/base/v1/webhooks/wh_1", ""],
      ["GET", "/base/v1/operations/op_7", ""]
    ])
  })

  it("asks for a token anew at each call", async () => {
    let tokens = 0
    const { calls, client } = scripted([{}], { authorization: async () => `Bearer ${++tokens}` })
    await client.call({ method: "GET", path: "/v1/health" })
    await client.call({ method: "GET", path: "/v1/health" })
    expect(calls.map(({ headers }) => headers.get("authorization"))).toEqual([
      "Bearer 1",
      "Bearer 2"
    ])
  })

  it("signs the bytes that it sends", async () => {
    const signing = { keyId: "k", secret: new Uint8Array(32) }
    const { calls, client } = scripted([{ status: 202 }], { signing })
    await client.write("subscription.claim", claim)
    const [sent] = calls
    expect(sent?.headers.get("x-signature")).toHaveLength(44)
    const file = { mediaType: "text/csv", bytes: new Blob(["a"]).stream() }
    expect(String(await errorOf(() => client.receive("bank", file)))).toContain("hash")
    const sha256 = createHash("sha256").update("a").digest("hex")
    await client.receive("bank", { ...file, sha256 }, { businessDate: "2026-01-01" })
    expect(calls[1]?.body).toBe("a")
    expect(calls[1]?.url.search).toBe("?externalSourceId=bank&businessDate=2026-01-01")
  })
})

describe("an answer that is not the service's", () => {
  const strangers: ReadonlyArray<readonly [string, Reply]> = [
    ["a proxy's page", { status: 502, text: "<h1>Bad Gateway</h1>" }],
    ["a success without JSON", { text: "hello" }],
    ["an error of JSON that is no problem", { status: 500, text: '{"error":"no"}' }],
    ["a removal that names no operation", { status: 204 }],
    ["a redirect", { status: 302, text: "{}", headers: { location: "https://elsewhere.test" } }]
  ]
  it.each(strangers)("%s is no refusal", async (_, reply) => {
    const { client } = scripted([reply])
    const error = await errorOf(() => client.write("webhook.remove", { webhookId: "w" }))
    expect(error).toBeInstanceOf(PlainClient.AnswerNotJson)
    expect(error).toMatchObject({ status: reply.status ?? 200, _tag: "AnswerNotJson" })
  })

  it("that never came is told from one by the caller's own signal", async () => {
    const { client } = scripted(["nothing"])
    const error = await errorOf(() => client.read("holders.get", { holderId: "h" }))
    expect(error).toBeInstanceOf(PlainClient.NoAnswer)
    expect(error.message).toBe("GET /v1/holders/h has no answer")
    const signal = AbortSignal.abort(new Error("the page was left"))
    expect(await errorOf(() => client.read("holders.get", { holderId: "h" }, { signal }))).toBe(
      signal.reason
    )
  })
})

describe("an input that no request can carry", () => {
  const { calls, client } = scripted([{}])
  const write = (body: unknown) => () => client.write("subscription.claim", body as never)
  const read = (holderId: unknown) => () => client.read("holders.get", { holderId } as never)
  const faults: ReadonlyArray<readonly [string, () => unknown, string]> = [
    [
      "a decimal that is a number",
      write({ ...claim, amount: 0.1 }),
      "/amount: a decimal is given as text"
    ],
    ["no number", write({ ...claim, amount: Number.NaN }), "/amount: a decimal is given as text"],
    ["a number in a list", write({ list: [1, 1e300] }), "/list/1: a decimal is given as text"],
    ["a text with NUL", write({ ...claim, holderId: "a\0" }), "/holderId: a text holds no NUL"],
    ["a function", write({ ...claim, units: () => 1 }), "/units: there is no JSON of a function"],
    ["no object", write("claim"), "an input is an object of members"],
    ["a list", write([claim]), "an input is an object of members"],
    ["an id that is missing", read(undefined), "/holderId: is missing"],
    ["an id that is empty", read(""), '/holderId: no id is ""'],
    ["an id that leads elsewhere", read(".."), '/holderId: no id is ".."'],
    [
      "an unknown kind",
      () => client.write("subscription.clam" as never, {} as never),
      'no write is called "subscription.clam"'
    ],
    [
      "a name that every object has",
      () => client.write("constructor" as never, {} as never),
      'no write is called "constructor"'
    ],
    [
      "an unknown read",
      () => client.read("holder.get" as never, {} as never),
      'no read is called "holder.get"'
    ],
    [
      "a removal with a member",
      () => client.write("webhook.remove", { webhookId: "w", why: "x" } as never),
      "/why: webhook.remove has no such member"
    ],
    [
      "an approval of nothing",
      () => client.approve({ actionKey: null } as never),
      "/actionKey: a write of one person awaits no approval"
    ]
  ]
  it.each(faults)("is refused where it is %s, and nothing is sent", async (_, call, message) => {
    const error = await errorOf(call)
    expect(error).toBeInstanceOf(PlainClient.InputFault)
    expect(error.message).toContain(message)
    expect(calls).toEqual([])
  })

  it("is an address that is none, at once", () => {
    expect(() => scripted([{}], { baseUrl: "venue.test" })).toThrow()
  })
})

describe("a text that looks like a number", () => {
  it("stays the text it is where the declaration has no decimal", async () => {
    const { calls, client } = scripted([{ status: 202 }])
    await client.write("subscription.claim", { ...claim, instrumentId: "1", holderId: "2.50" })
    expect(calls[0]?.body).toBe('{"instrumentId":"1","holderId":"2.50","amount":100.50}')
  })

  it("is left to the service to refuse where it writes none", async () => {
    const { calls, client } = scripted([{ status: 202 }])
    await client.write("subscription.claim", { ...claim, amount: "007" })
    await client.write("subscription.claim", { ...claim, amount: "1,000" })
    expect(calls.map(({ body }) => body.slice(body.indexOf('"amount"')))).toEqual([
      '"amount":"007"}',
      '"amount":"1,000"}'
    ])
  })
})
