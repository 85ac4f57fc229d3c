/** Every slug of the one table of refusals, reached over the wire, with its status, headers and every member. */
import { Operation, Refusal } from "@bursar/engine-core"
import { Party } from "@bursar/engine-core/kernel"
import { Documents, Feed, Keys, Ledger } from "@bursar/engine-core/ports"
import * as Host from "@bursar/http-host"
import type * as Memory from "@bursar/storage-adapters/memory"
import { layer as memory } from "@bursar/storage-adapters/memory"
import { Duration, Effect, Layer, Redacted, Schema } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { secret, sign } from "./signing.ts"
import { NoteId, tables } from "./tables.ts"
import {
  bearer,
  json,
  open,
  type Problem,
  raw,
  send,
  type Sent,
  type Venue,
  problemMembers
} from "./venue.ts"

type Slug = Refusal.BuiltInSlug

/** Members of a problem besides those that every problem has. */
type Told = Partial<Record<keyof Refusal.RefusalDetails | "instance", unknown>>

/** A call that is refused with the slug, and the members that the problem then has. */
interface Reached {
  readonly by: () => Promise<Response>
  readonly members?: Told
  /** Headers it has besides Retry-After, which is judged by its member. */
  readonly headers?: Readonly<Record<string, string>>
  /** Set if the slug is the problem of an operation, and not the answer of a call. */
  readonly inOperation?: true
}

type Options = Parameters<typeof open>[0]

/** The venue of every slug that needs nothing out of the ordinary. */
let usual: Promise<Venue> | undefined
afterAll(async () => (await usual)?.close())

/** A venue for as long as one slug is looked at. */
const at = async <A>(options: Options | "usual", use: (venue: Venue) => Promise<A>): Promise<A> => {
  if (options === "usual") {
    usual ??= open()
    return use(await usual)
  }
  const venue = await open(options)
  try {
    return await use(venue)
  } finally {
    await venue.close()
  }
}

const answerTo = (
  sent: Sent & { readonly roles?: ReadonlyArray<string> },
  options: Options | "usual" = "usual"
) =>
  at(options, async (venue) => {
    const { roles = ["operator"], ...rest } = sent
    return send(venue, { as: await bearer(roles), ...rest })
  })

/** An answer that no client of fetch's kind could ask for. */
const heard = (bytes: (token: string) => string, options: Options | "usual" = "usual") =>
  at(options, async (venue) => {
    const text = await raw(venue.port, bytes(await bearer(["operator"])))
    const [head = "", body = ""] = text.split("\r\n\r\n")
    const [line = "", ...headers] = head.split("\r\n")
    const pairs = headers.map((header): [string, string] => {
      const colon = header.indexOf(":")
      return [header.slice(0, colon), header.slice(colon + 1).trim()]
    })
    const kept = pairs.filter(
      ([name]) => !/^(transfer-encoding|connection|content-length)$/iu.test(name)
    )
    return new Response(body, { status: Number(line.split(" ")[1]), headers: kept })
  })

const note = '{"holderId":"n-1","text":"one","amount":1,"owner":null}'
const noting = { method: "POST", path: "/v1/holders", body: note }

// Proposals of actions, and decisions on them.

const deciding = (
  use: (call: {
    readonly venue: Venue
    readonly action: string
    readonly decide: (verb: string, roles: ReadonlyArray<string>, sub?: string) => Promise<Response>
    readonly again: (roles: ReadonlyArray<string>, sub?: string) => Promise<Response>
  }) => Promise<Response>
) =>
  at({}, async (venue) => {
    const path = "/v1/instruments/i-1/policy:set"
    const again = async (roles: ReadonlyArray<string>, sub = "somebody") =>
      send(venue, { method: "POST", path, as: await bearer(roles, { sub }) })
    const made = await again(["operator"], "olga")
    const { actionKey: action } = await json<{ actionKey: string }>(made)
    const decide = async (verb: string, roles: ReadonlyArray<string>, sub = "ann") =>
      send(venue, {
        method: "POST",
        path: `/v1/approvals/${action}:${verb}`,
        as: await bearer(roles, { sub })
      })
    return use({ venue, action, decide, again })
  })

// Signatures

const keyed: Options = {
  signing: {
    keys: [
      {
        keyId: "k-1",
        sub: "operator-1",
        secret: Redacted.make(Buffer.from(secret)),
        notBefore: null,
        notAfter: null
      }
    ]
  }
}
const signing = (headers: Readonly<Record<string, string>>) =>
  answerTo({ path: "/v1/holders?limit=1", headers }, keyed)

// Writes that refuse what they are told to refuse

const refusing = Operation.define("reserve.close", {
  doc: "Refuses as it is asked to.",
  route: "POST /v1/reserves/{reserveId}:close",
  makers: ["operator"],
  approvers: 0,
  resource: {
    kind: "reserve",
    id: ({ reserveId }) => reserveId,
    href: ({ reserveId }) => `/v1/reserves/${reserveId}`
  },
  input: Schema.Struct({ reserveId: NoteId }),
  result: Schema.Struct({ reserveId: NoteId }),
  refuses: ["rule-refused", "state-conflict", "webhook-configured", "webhook-url-refused"],
  run: ({ reserveId }) => Effect.fail(refusals[reserveId] ?? Refusal.refused("rule-refused"))
})

const rule = {
  detail: "The window is closed.",
  gate: "window",
  check: "window-open",
  reason: "before-opening",
  recovery: "Ask again when the window is open.",
  policyVersion: 3
} as const
const conflict = { detail: "It is closed.", check: "open", reason: "closed" } as const
const configured = { detail: "It is of the configuration." } as const
const address = {
  detail: "The address is private.",
  errors: [{ pointer: "/body/url", detail: "the address is private" }]
} as const
type ByRule = "rule-refused" | "state-conflict" | "webhook-configured" | "webhook-url-refused"
const refusals: Readonly<Record<string, Refusal.Refused<ByRule>>> = {
  rule: Refusal.refused("rule-refused", rule),
  state: Refusal.refused("state-conflict", conflict),
  configured: Refusal.refused("webhook-configured", configured),
  address: Refusal.refused("webhook-url-refused", address)
}
const refused = (id: string) =>
  answerTo(
    { method: "POST", path: `/v1/reserves/${id}:close` },
    { tables: { ...tables, operations: [...tables.operations, refusing] } }
  )

// Refusals of the ledger, as problems of operations.

const onLedger = Operation.defineOnLedger("reserve.propose", {
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
  plan: () =>
    Effect.succeed({
      commands: [
        {
          _tag: "Create" as const,
          template: { packageName: "p", module: "M", entity: "E" },
          args: {}
        }
      ] as const,
      last: true
    }),
  finish: ({ reserveId }) => Effect.succeed({ reserveId })
})

const ledgerRefusal = (code: string, category: number): Ledger.Refused =>
  new Ledger.Refused({
    code,
    cause: "It does not hold.",
    category,
    grpc: 9,
    context: {},
    resources: [],
    party: Party.make({ hint: "venue", fingerprint: "1220aa" }),
    contractId: "00ab",
    packageName: "bursar-funds"
  })

const operation = (error: Ledger.SubmitError) =>
  at(
    {
      tables: { ...tables, operations: [...tables.operations, onLedger] },
      ledger: { submit: () => Effect.fail(error) },
      settings: { giveUpAfter: 1 }
    },
    async (venue) => {
      const as = await bearer(["operator"])
      const body = '{"reserveId":"r-1"}'
      const made = await send(venue, { method: "POST", path: "/v1/reserves", as, body })
      const path = made.headers.get("location") ?? ""
      for (;;) {
        await venue.settle()
        const read = await send(venue, { path, as })
        const { value } = await json<{ value: { state: string } }>(read.clone())
        if (value.state === "failed") return read
      }
    }
  )

const toldByLedger = {
  gate: "ledger",
  code: 9,
  party: "venue::1220aa",
  contractId: "00ab",
  packageName: "bursar-funds"
} as const

// Stores and providers that misbehave

const storage = <I, S>(
  tag: { new (): never } & Effect.Effect<S, never, I>,
  change: (service: S) => S
): Layer.Layer<Memory.Storage> =>
  Layer.effect(tag as never, Effect.map(tag, change) as never).pipe(
    Layer.provideMerge(memory)
  ) as Layer.Layer<Memory.Storage>

const away = Layer.succeed(Host.Jwks.Jwks, {
  keyFor: () =>
    Effect.fail(Refusal.unavailable("identity-provider-unavailable", "It is not there.", 5))
})

const reach: { readonly [S in Slug]: Reached | "not built" } = {
  "invalid-request": {
    by: () => answerTo({ ...noting, body: '{"holderId":1}' }),
    members: {
      errors: expect.arrayContaining([{ pointer: "/body/holderId", detail: expect.any(String) }])
    }
  },
  unauthenticated: {
    by: () => at("usual", (venue) => send(venue, { path: "/v1/holders" })),
    headers: { "www-authenticate": 'Bearer error="invalid_token"' }
  },
  "signature-required": { by: () => signing({}) },
  "signature-invalid": {
    by: () => signing(sign({ method: "GET", target: "/v1/holders?limit=2" }))
  },
  "signature-expired": {
    by: () =>
      signing(sign({ method: "GET", target: "/v1/holders?limit=1", timestamp: 1_000_000_000 }))
  },
  "nonce-reused": {
    by: () =>
      at(keyed, async (venue) => {
        const path = "/v1/holders?limit=1"
        const sent = {
          path,
          as: await bearer(["operator"]),
          headers: sign({ method: "GET", target: path })
        }
        await send(venue, sent)
        return send(venue, sent)
      })
  },
  "permission-denied": { by: () => answerTo({ ...noting, roles: ["feed"] }) },
  "same-approver": {
    by: () => deciding(({ decide }) => decide("approve", ["approver"], "olga"))
  },
  "auditor-never-approves": {
    by: () => deciding(({ decide }) => decide("approve", ["approver", "auditor"]))
  },
  "not-found": { by: () => answerTo({ path: "/v1/holders/nobody" }) },
  "method-not-allowed": {
    by: () => answerTo({ method: "PUT", path: "/v1/holders" }),
    headers: { allow: "GET, HEAD, POST" }
  },
  "not-acceptable": {
    by: () => answerTo({ path: "/v1/holders", headers: { accept: "image/png" } })
  },
  "request-timeout": {
    by: () =>
      heard(
        (token) =>
          `POST /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: ${token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`,
        { times: { headersWithin: 100, requestWithin: 200, lookedAtEvery: 20 } }
      )
  },
  "offset-unavailable": {
    by: () => answerTo({ path: "/v1/holders?limit=1&at=5" }),
    members: { retryAfter: 1, projectionOffset: 0, ledgerEnd: 0 }
  },
  "before-horizon": {
    by: () => answerTo({ path: "/v1/holders?limit=1&asOf=1999-12-31T00:00:00Z" })
  },
  "approval-rejected": {
    by: () =>
      deciding(async ({ decide, again }) => {
        await decide("reject", ["approver"])
        return again(["operator"], "olga")
      })
  },
  "approval-decided": {
    by: () =>
      deciding(async ({ decide }) => {
        await decide("approve", ["approver"])
        return decide("reject", ["approver"])
      })
  },
  "approval-ambiguous": {
    by: () =>
      deciding(async ({ again }) => {
        await again(["operator"], "otto")
        return again(["approver"], "ann")
      })
  },
  // Another call under this key has begun and does not end: it is waited for for five seconds.
  "idempotency-in-progress": {
    by: () =>
      at(
        {
          storage: storage(Keys as never, (keys: Keys["Service"]) => ({
            ...keys,
            bind: (row) => (row.key === "stuck" ? Effect.never : keys.bind(row))
          }))
        },
        async (venue) =>
          send(venue, {
            method: "POST",
            path: "/v1/approvals/ak_any:reject",
            as: await bearer(["approver"]),
            headers: { "idempotency-key": "stuck" }
          })
      ),
    members: { retryAfter: 1 }
  },
  "already-exists": {
    by: () =>
      at({}, async (venue) => {
        const as = await bearer(["operator"])
        await send(venue, { ...noting, as, headers: { "idempotency-key": "1" } })
        await venue.settle()
        return send(venue, { ...noting, as, headers: { "idempotency-key": "2" } })
      })
  },
  "state-conflict": { by: () => refused("state"), members: conflict },
  "contract-stale": {
    by: () => operation(ledgerRefusal("CONTRACT_NOT_FOUND", 11)),
    members: { ...toldByLedger, check: "stale-contract", reason: "contract-not-found" },
    inOperation: true
  },
  "webhook-configured": { by: () => refused("configured"), members: configured },
  "cursor-expired": {
    by: () =>
      at(
        {
          storage: storage(Feed as never, (feed: Feed["Service"]) => ({
            ...feed,
            // Every event is pruned as soon as a reader has a cursor.
            read: (query) =>
              Effect.map(feed.read(query), (page) => ({
                ...page,
                prunedTo: query.after === undefined ? 0 : 1_000
              }))
          }))
        },
        async (venue) => {
          const as = await bearer(["operator"])
          await send(venue, { method: "POST", path: "/v1/instruments/i-1/policy:set", as })
          const first = await send(venue, { path: "/v1/events?order=asc&limit=1", as })
          const { next } = await json<{ next: string }>(first)
          return send(venue, { path: `/v1/events?order=asc&limit=1&after=${next}`, as })
        }
      )
  },
  "body-too-large": { by: () => answerTo({ ...noting, body: " ".repeat(1024 * 1024 + 1) }) },
  "uri-too-long": {
    by: () => heard(() => `GET /v1/${"a".repeat(8_200)} HTTP/1.1\r\nHost: x\r\n\r\n`)
  },
  "unsupported-media-type": {
    by: () => answerTo({ ...noting, headers: { "content-type": "text/plain" } })
  },
  "headers-too-large": {
    by: () => heard(() => `GET /v1/x HTTP/1.1\r\nHost: x\r\nX-A: ${"a".repeat(8_200)}\r\n\r\n`)
  },
  "idempotency-key-reused": {
    by: () =>
      at({}, async (venue) => {
        const as = await bearer(["operator"])
        const headers = { "idempotency-key": "k" }
        await send(venue, { ...noting, as, headers })
        return send(venue, { ...noting, as, headers, body: note.replace("one", "two") })
      })
  },
  "rule-refused": { by: () => refused("rule"), members: rule },
  "webhook-url-refused": { by: () => refused("address"), members: address },
  "ledger-rejected": {
    by: () => operation(ledgerRefusal("TEMPLATE_PRECONDITION_VIOLATED", 9)),
    members: { ...toldByLedger, check: "precondition", reason: "template-precondition-violated" },
    inOperation: true
  },
  "rate-limited": {
    by: () =>
      at({ rateLimit: { limit: 1, window: 60_000 } }, async (venue) => {
        const as = await bearer(["operator"])
        await send(venue, { path: "/v1/holders?limit=1", as })
        return send(venue, { path: "/v1/holders?limit=1", as })
      }),
    members: { retryAfter: expect.any(Number) }
  },
  internal: { by: () => answerTo({ path: "/v1/holders/broken" }) },
  "not-ready": {
    by: () =>
      answerTo(
        { path: "/v1/health" },
        { vitals: Effect.fail(Refusal.unavailable("not-ready", "It is not there.", 5)) }
      ),
    members: { retryAfter: 5 }
  },
  "ledger-unavailable": {
    by: () =>
      operation(
        new Ledger.Unreachable({ detail: "nobody answers", retryAfter: Duration.millis(1) })
      ),
    members: { retryAfter: 60 },
    inOperation: true
  },
  "identity-provider-unavailable": {
    by: () => answerTo({ path: "/v1/holders?limit=1" }, { jwks: away }),
    members: { retryAfter: 5 }
  },
  overloaded: {
    by: () =>
      answerTo(
        { path: "/v1/holders?limit=1" },
        {
          times: { firstByteWithin: 50 },
          storage: storage(Documents as never, (documents: Documents["Service"]) => ({
            ...documents,
            list: (query) => (query.collection === "note" ? Effect.never : documents.list(query))
          }))
        }
      ),
    members: { retryAfter: 5 }
  },
  "ledger-timeout": "not built"
}

/** Slugs that nothing gives yet, each with why; whoever gives one takes it off this list. */
const notBuilt: Partial<Record<Slug, string>> = {
  "ledger-timeout": "no call reads the ledger: every read is answered by the projection"
}

/** Every member of a problem; absent ones are null. */
const expected = (slug: Slug, members: Told) => ({
  ...Object.fromEntries(problemMembers.map((name) => [name, null])),
  type: `urn:bursar:problem:${slug}`,
  title: Refusal.refusals[slug].title,
  status: Refusal.refusals[slug].status,
  retryable: Refusal.refusals[slug].retryable,
  detail: expect.stringMatching(/./u),
  requestId: expect.stringMatching(/^req_[0-9A-HJKMNP-TV-Z]{26}$/u),
  ...members
})

const slugs = Object.keys(Refusal.refusals) as ReadonlyArray<Slug>
const reached = slugs.flatMap((slug) => {
  const how = reach[slug]
  return how === "not built" ? [] : [[slug, how] as const]
})

describe("a refusal of the table", () => {
  it.each(reached)("%s is reached, and answered as its table says", async (slug, how) => {
    const response = await how.by()
    const { headers } = response
    if (how.inOperation === true) {
      const { value } = await json<{ value: { problem: Problem } }>(response)
      expect(value.problem).toEqual(expected(slug, how.members ?? {}))
      return
    }
    const problem = await json<Problem>(response)
    expect([slug, response.status]).toEqual([slug, Refusal.refusals[slug].status])
    expect(problem).toEqual(expected(slug, how.members ?? {}))
    expect(headers.get("content-type")).toBe("application/problem+json")
    expect(headers.get("x-request-id")).toBe(problem.requestId)
    expect(headers.get("x-content-type-options")).toBe("nosniff")
    expect(headers.get("cache-control")).toBe("no-store")
    const { retryAfter } = problem
    expect(headers.get("retry-after")).toBe(retryAfter === null ? null : String(retryAfter))
    for (const [name, value] of Object.entries(how.headers ?? {})) {
      expect(headers.get(name)).toBe(value)
    }
  })

  it("never is reached by nobody, and is not on the list of those that nothing gives yet", () => {
    expect(slugs.filter((slug) => reach[slug] === "not built")).toEqual(Object.keys(notBuilt))
  })

  it("never has a title of another's, or a status that is no refusal", () => {
    const titles = slugs.map((slug) => Refusal.refusals[slug].title)
    expect(new Set(titles).size).toBe(titles.length)
    for (const slug of slugs) {
      expect(Refusal.refusals[slug].status).toBeGreaterThanOrEqual(400)
      expect(slug).toMatch(/^[a-z]+(-[a-z]+)*$/u)
    }
  })
})
