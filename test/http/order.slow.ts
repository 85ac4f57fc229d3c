/** The order of checks: of any two faults in one request the one of the earlier step answers. */
import { RateWindow } from "@bursar/engine-core/ports"
import type { SigningKey } from "@bursar/http-host"
import * as Memory from "@bursar/storage-adapters/memory"
import { Effect, Layer, Redacted } from "effect"
import type { JWTPayload } from "jose"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { freshNonce, secret, sign } from "./signing.ts"
import * as Staging from "./staging.ts"
import { bearer, json, open, type Sent, send, slugOf, token, type Venue } from "./venue.ts"

/** A request before it is signed in and signed, so that faults of both can stand side by side. */
interface Draft {
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly claims: JWTPayload & { readonly roles: ReadonlyArray<string> }
  readonly headers: Readonly<Record<string, string>>
  readonly signature: "good" | "none" | "wrong" | "used"
}

interface Fault {
  /**
   * The step of docs/contract/order-of-checks.md#fourteen-steps; faults of one step that exclude
   * each other have the same.
   */
  readonly step: number
  readonly slug: string
  readonly put: (draft: Draft) => Draft
}

const withHeader = (name: string, value: string) => (draft: Draft) => ({
  ...draft,
  headers: { ...draft.headers, [name]: value }
})
const withClaims = (claims: object) => (draft: Draft) => ({
  ...draft,
  claims: { ...draft.claims, ...claims }
})
const withQuery = (pair: string) => (draft: Draft) => ({
  ...draft,
  path: `${draft.path}${draft.path.includes("?") ? "&" : "?"}${pair}`
})
const withSignature = (signature: Draft["signature"]) => (draft: Draft) => ({ ...draft, signature })

/** Steps 1 to 8: they are the same for every route that is not public. */
const before: ReadonlyArray<Fault> = [
  { step: 1, slug: "headers-too-large", put: withHeader("x-long", "a".repeat(8200)) },
  { step: 1.1, slug: "uri-too-long", put: withQuery(`pad=${"a".repeat(8200)}`) },
  {
    step: 2,
    slug: "not-found",
    put: (draft) => ({ ...draft, path: draft.path.replace("/v1/", "/v1/nobody-") })
  },
  { step: 2.1, slug: "method-not-allowed", put: (draft) => ({ ...draft, method: "PUT" }) },
  { step: 3, slug: "invalid-request", put: withHeader("x-request-id", "has space") },
  { step: 4, slug: "unauthenticated", put: withClaims({ exp: 1 }) },
  { step: 5, slug: "rate-limited", put: withClaims({ sub: "spent" }) },
  { step: 6, slug: "permission-denied", put: withClaims({ roles: ["feed"] }) },
  { step: 7, slug: "not-acceptable", put: withHeader("accept", "text/html") },
  { step: 8, slug: "signature-required", put: withSignature("none") },
  { step: 8, slug: "signature-invalid", put: withSignature("wrong") },
  { step: 8, slug: "nonce-reused", put: withSignature("used") }
]

/** Faults of a body, judged within step 7. */
const ofBody: ReadonlyArray<Fault> = [
  { step: 7.1, slug: "unsupported-media-type", put: withHeader("content-type", "text/plain") },
  {
    step: 7.2,
    slug: "body-too-large",
    put: (draft) => ({ ...draft, body: (draft.body ?? "").padEnd(1024 * 1024 + 1, " ") })
  }
]

const note = '{"holderId":"order-9","text":"one","amount":1,"owner":null}'
const reserved = (draft: Draft, from: string | RegExp, to: string) => ({
  ...draft,
  body: (draft.body ?? "").replace(from, to)
})

interface Carrier {
  readonly name: string
  readonly good: Omit<Draft, "claims" | "headers" | "signature"> & {
    readonly roles: ReadonlyArray<string>
  }
  readonly faults: ReadonlyArray<Fault>
}

const write: Carrier = {
  name: "a write",
  good: { method: "POST", path: "/v1/holders", body: note, roles: ["operator"] },
  faults: [
    ...before,
    ...ofBody,
    {
      step: 9,
      slug: "invalid-request",
      put: (draft) => reserved(draft, '"text":"one"', '"text":1')
    },
    {
      step: 10,
      slug: "idempotency-key-reused",
      put: (draft) =>
        withHeader("idempotency-key", "used")(reserved(draft, '"amount":1', '"amount":2'))
    },
    { step: 14, slug: "already-exists", put: (draft) => reserved(draft, "order-9", "order-1") }
  ]
}

const fourEyes: Carrier = {
  name: "a four-eyes write",
  good: {
    method: "POST",
    path: "/v1/holds/h-1:release",
    body: '{"reason":"one"}',
    roles: ["operator"]
  },
  faults: [
    ...before,
    ...ofBody,
    {
      step: 9,
      slug: "invalid-request",
      put: (draft) => reserved(draft, /"(one|two|nobody)"/, "1")
    },
    {
      step: 10,
      slug: "idempotency-key-reused",
      put: (draft) =>
        withHeader("idempotency-key", "used-release")(reserved(draft, /one|nobody/, "two"))
    },
    // An approver makes none, and there is none like this to approve.
    {
      step: 12,
      slug: "permission-denied",
      put: (draft) => withClaims({ roles: ["approver"] })(reserved(draft, "one", "nobody"))
    }
  ]
}

const read: Carrier = {
  name: "a read",
  good: { method: "GET", path: "/v1/holders/order-1", roles: ["operator"] },
  faults: [
    ...before,
    { step: 9, slug: "invalid-request", put: withQuery("unknown=1") },
    { step: 13, slug: "offset-unavailable", put: withQuery("at=999999") }
  ]
}

const approve: Carrier = {
  name: "an approval",
  good: {
    method: "POST",
    path: "/v1/approvals/own:approve",
    body: "{}",
    roles: ["approver", "operator"]
  },
  faults: [
    ...before.filter(({ step }) => step !== 6),
    // An auditor is refused before it is asked whether it is an approver.
    { step: 6, slug: "auditor-never-approves", put: withClaims({ roles: ["auditor"] }) },
    ...ofBody,
    { step: 9, slug: "invalid-request", put: (draft) => reserved(draft, "{", '{"x":1') },
    {
      step: 11,
      slug: "not-found",
      put: (draft) => ({ ...draft, path: draft.path.replace(/ak_[^:]+/, "ak_absent") })
    },
    { step: 12, slug: "same-approver", put: (draft) => draft }
  ]
}

/** Its bytes are judged by the wire alone: the intake is a stand-in that reads nothing. */
const file: Carrier = {
  name: "a file",
  good: {
    method: "POST",
    path: "/v1/external-statements?externalSourceId=bank-1",
    body: "a;b",
    roles: ["feed"]
  },
  faults: [
    ...before.filter(({ step }) => step !== 6),
    { step: 6, slug: "permission-denied", put: withClaims({ roles: ["monitor"] }) },
    ...ofBody,
    { step: 9, slug: "invalid-request", put: withQuery("businessDate=never") }
  ]
}

const key = (keyId: string, sub: string): SigningKey => ({
  keyId,
  sub,
  secret: Redacted.make(new Uint8Array(secret)),
  notBefore: null,
  notAfter: null
})

/** A store in which one subject's budget is spent, for ever. */
const storage = Layer.effect(
  RateWindow,
  Effect.map(RateWindow, (window) => ({
    ...window,
    take: (cost) =>
      cost.subject.endsWith("/spent")
        ? Effect.succeed({ admitted: false, ahead: cost.tolerance })
        : window.take(cost)
  }))
).pipe(Layer.provideMerge(Memory.layer))

let venue: Venue
/** The action that the caller of these tests has made itself. */
let ownAction = ""
const usedNonce = freshNonce()

const sentOf = async (draft: Draft): Promise<Sent> => {
  const { method, body } = draft
  const target = draft.path.replace("/own:", `/${ownAction}:`)
  const nonce = draft.signature === "used" ? usedNonce : freshNonce()
  const signed = sign({
    method,
    target,
    nonce,
    keyId: `key-of-${draft.claims.sub}`,
    ...(body === undefined ? {} : { body })
  })
  return {
    method,
    path: target,
    as: `Bearer ${await token(draft.claims)}`,
    ...(body === undefined ? {} : { body }),
    headers: {
      ...(draft.signature === "none" ? {} : signed),
      ...(draft.signature === "wrong" ? { "x-signature": `${"A".repeat(43)}=` } : {}),
      ...draft.headers
    }
  }
}

const draftOf = ({ good: { roles, ...draft } }: Carrier): Draft => ({
  ...draft,
  path: draft.path.replace("/own:", `/${ownAction}:`),
  claims: { sub: "signer", roles },
  headers: {},
  signature: "good"
})

const answer = async (draft: Draft) => send(venue, await sentOf(draft))

beforeAll(async () => {
  venue = await open({
    storage,
    intake: Staging.make().layer,
    uploads: { bytesMax: 1024 * 1024 },
    signing: { keys: [key("key-of-signer", "signer"), key("key-of-spent", "spent")] }
  })
  const made = reserved(draftOf(write), "order-9", "order-1")
  await answer(withHeader("idempotency-key", "used")(made))
  const release = draftOf(fourEyes)
  await answer(withHeader("idempotency-key", "used-release")(release))
  const action = await answer(reserved(release, "one", "mine"))
  ownAction = (await json<{ actionKey: string }>(action)).actionKey
  // The nonce that the fault repeats.
  await send(venue, {
    path: "/v1/operations",
    as: `Bearer ${await token({ sub: "signer", roles: ["operator"] })}`,
    headers: sign({
      method: "GET",
      target: "/v1/operations",
      nonce: usedNonce,
      keyId: "key-of-signer"
    })
  })
  await venue.settle()
})
afterAll(() => venue.close())

describe.each([write, fourEyes, read, approve, file])("two faults at once in $name", (carrier) => {
  const { faults } = carrier
  const pairs = faults.flatMap((earlier) =>
    faults
      .filter((later) => later.step > earlier.step)
      .map(
        (later) =>
          [
            `${earlier.step} ${earlier.slug}`,
            `${later.step} ${later.slug}`,
            earlier,
            later
          ] as const
      )
  )

  it.each(pairs)("%s answers before %s", async (_, __, earlier, later) => {
    // The later one first: what the earlier one replaces is what it is judged by.
    expect(await slugOf(await answer(earlier.put(later.put(draftOf(carrier)))))).toBe(earlier.slug)
  })

  it.each(faults.map((fault) => [`${fault.step} ${fault.slug}`, fault] as const))(
    "%s alone gives its own answer",
    async (_, { slug, put }) => {
      expect(await slugOf(await answer(put(draftOf(carrier))))).toBe(slug)
    }
  )
})

describe("without a fault", () => {
  it.each([write, fourEyes, read, file])("$name is answered", async (carrier) => {
    const response = await answer(draftOf(carrier))
    expect(response.ok ? "answered" : await slugOf(response)).toBe("answered")
  })
})

describe("the order inside a step", () => {
  it("on approve the role is judged before anything of the body is", async () => {
    const wrong = withHeader(
      "content-type",
      "text/plain"
    )(withClaims({ roles: ["operator"] })(draftOf(approve)))
    expect(await slugOf(await answer(wrong))).toBe("permission-denied")
  })

  it("a replay answers although the record it acts on is refused by then", async () => {
    const operator = await bearer(["operator"])
    const sent: Sent = {
      method: "POST",
      path: "/v1/instruments/i-9:pause",
      as: operator,
      headers: { "idempotency-key": "replay-1" }
    }
    const first = await send(venue, sent)
    await venue.settle()
    const again = await send(venue, sent)
    expect([first.status, again.status]).toEqual([202, 200])
  })
})

describe("public routes", () => {
  it("skip steps 4 to 8: no bearer, no budget, no Accept, no signature is looked at", async () => {
    const spent = `Bearer ${await token({ sub: "spent", roles: ["operator"] })}`
    for (const path of ["/v1/health", "/v1/tenants/venue-1", "/v1/openapi.json"]) {
      for (const as of [undefined, "Bearer nonsense", spent]) {
        const response = await send(venue, {
          path,
          ...(as === undefined ? {} : { as }),
          headers: { "x-signature": "nonsense" }
        })
        expect([path, response.status]).toEqual([path, 200])
      }
    }
  })
})
