/**
 * Attacks on sign-in: tokens are verified by the deployment's settings, never by their own headers.
 */
import { createHmac, createPublicKey, KeyObject, sign } from "node:crypto"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { type Caller, Vocabulary } from "@bursar/engine-core"
import type { Ids } from "@bursar/engine-core/ports"
import { Authentication, HostConfig, Jwks } from "@bursar/http-host"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { it as effectIt } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import {
  audience,
  bearer,
  issuer,
  json,
  open,
  privateKey,
  publicJwk,
  raw,
  send,
  slugOf,
  token,
  type Venue
} from "../venue.ts"

let venue: Venue
beforeAll(async () => {
  venue = await open()
})
afterAll(() => venue.close())

const statusOf = async (jwt: string) =>
  (await send(venue, { path: "/v1/holders?limit=1", as: `Bearer ${jwt}` })).status

const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")
const seconds = () => Math.floor(Date.now() / 1000)
const claims = () => ({
  iss: issuer,
  aud: audience,
  sub: "mallory",
  roles: ["operator"],
  exp: seconds() + 600
})
const hmac = (secret: string | Buffer, header: object) => {
  const signed = `${base64(header)}.${base64(claims())}`
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`
}

/** A token that the venue's key has signed, whatever its claims are. */
const signedWith = async (payload: object): Promise<string> => {
  const [header] = (await token({})).split(".")
  const text = `${header}.${base64(payload)}`
  const signature = sign("sha256", Buffer.from(text), {
    key: KeyObject.from(privateKey),
    dsaEncoding: "ieee-p1363"
  })
  return `${text}.${signature.toString("base64url")}`
}

describe("a token that is in order", () => {
  it("is taken, also as JWT, also in its last minute of tolerance", async () => {
    expect(await statusOf(await token({ roles: ["operator"] }))).toBe(200)
    expect(await statusOf(await token({ roles: ["operator"] }, { typ: "JWT" }))).toBe(200)
    expect(await statusOf(await token({ roles: ["operator"], exp: seconds() - 50 }))).toBe(200)
    expect(await statusOf(await token({ roles: ["operator"], aud: ["other", audience] }))).toBe(200)
  })
})

describe("a token that is not", () => {
  const forged: ReadonlyArray<readonly [string, () => Promise<string> | string]> = [
    ["alg none", () => `${base64({ alg: "none", typ: "at+jwt" })}.${base64(claims())}.`],
    [
      "alg none with a signature",
      () => `${base64({ alg: "none", typ: "at+jwt" })}.${base64(claims())}.AA`
    ],
    [
      "HS256 signed with the public PEM",
      () =>
        hmac(
          createPublicKey({ key: publicJwk, format: "jwk" }).export({
            type: "spki",
            format: "pem"
          }),
          {
            alg: "HS256",
            typ: "at+jwt",
            kid: publicJwk.kid
          }
        )
    ],
    [
      "HS256 signed with the JWK's JSON",
      () => hmac(JSON.stringify(publicJwk), { alg: "HS256", typ: "at+jwt", kid: publicJwk.kid })
    ],
    [
      "RS256 under an ES256 kid",
      async () => {
        const { privateKey } = await generateKeyPair("RS256")
        return new SignJWT(claims())
          .setProtectedHeader({ alg: "RS256", typ: "at+jwt", kid: publicJwk.kid })
          .sign(privateKey)
      }
    ],
    [
      "another key under a known kid",
      async () => {
        const { privateKey } = await generateKeyPair("ES256")
        return new SignJWT(claims())
          .setProtectedHeader({ alg: "ES256", typ: "at+jwt", kid: publicJwk.kid })
          .sign(privateKey)
      }
    ],
    [
      "its own key embedded",
      async () => {
        const { privateKey, publicKey } = await generateKeyPair("ES256")
        return new SignJWT(claims())
          .setProtectedHeader({ alg: "ES256", typ: "at+jwt", jwk: await exportJWK(publicKey) })
          .sign(privateKey)
      }
    ],
    ["jku", () => token({ roles: ["operator"] }, { jku: "https://evil.test/jwks" })],
    ["x5u", () => token({ roles: ["operator"] }, { x5u: "https://evil.test/cert" })],
    ["x5c", () => token({ roles: ["operator"] }, { x5c: ["MIIB"] })],
    [
      "crit",
      async () => {
        const [, payload] = (await token({ roles: ["operator"] })).split(".")
        const header = base64({ alg: "ES256", typ: "at+jwt", kid: publicJwk.kid, crit: ["exp"] })
        const signature = sign("sha256", Buffer.from(`${header}.${payload}`), {
          key: KeyObject.from(privateKey),
          dsaEncoding: "ieee-p1363"
        })
        return `${header}.${payload}.${signature.toString("base64url")}`
      }
    ],
    ["a kid that is a path", () => token({ roles: ["operator"] }, { kid: "../../x" })],
    ["wrong issuer", () => token({ roles: ["operator"], iss: "https://evil.test" })],
    ["issuer as a prefix", () => token({ roles: ["operator"], iss: `${issuer}/` })],
    ["wrong audience", () => token({ roles: ["operator"], aud: "urn:other" })],
    ["no typ", () => token({ roles: ["operator"] }, { typ: undefined as never })],
    ["the typ of an id token", () => token({ roles: ["operator"] }, { typ: "id+jwt" })],
    ["expired 61 s ago", () => token({ roles: ["operator"], exp: seconds() - 61 })],
    ["not valid yet", () => token({ roles: ["operator"], nbf: seconds() + 120 })],
    ["no exp", () => token({ roles: ["operator"], exp: undefined as never })],
    ["no sub", () => token({ roles: ["operator"], sub: undefined as never })],
    ["an empty sub", () => token({ roles: ["operator"], sub: "" })],
    ["a sub with a newline", () => token({ roles: ["operator"], sub: "a\nb" })],
    ["a sub of 257 characters", () => token({ roles: ["operator"], sub: "s".repeat(257) })],
    ["no token at all", () => ""],
    ["two parts", () => "a.b"]
  ]
  it.each(forged)("is refused: %s", async (_, make) => {
    expect(await statusOf(await make())).toBe(401)
  })

  it("is refused when its payload is changed, whatever byte it is", async () => {
    const [header, payload = "", signature] = (await token({ roles: ["feed"] })).split(".")
    const changed = Buffer.from(payload, "base64url").toString().replace('"feed"', '"operator"')
    const forged = `${header}.${Buffer.from(changed).toString("base64url")}.${signature}`
    expect(await statusOf(forged)).toBe(401)
  })

  it("is refused twice in one request, in the query, and beyond its length", async () => {
    const good = await token({ roles: ["operator"] })
    const two = await raw(
      venue.port,
      `GET /v1/holders HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${good}\r\nAuthorization: Bearer ${good}\r\nConnection: close\r\n\r\n`
    )
    expect(two).toMatch(/^HTTP\/1.1 401/)
    const query = await send(venue, { path: `/v1/holders?access_token=${good}` })
    expect(query.status).toBe(401)
    const cookie = await send(venue, { path: "/v1/holders", headers: { cookie: `token=${good}` } })
    expect(cookie.status).toBe(401)
    const long = await token({ roles: ["operator"], pad: "x".repeat(9 * 1024) })
    expect(await statusOf(long)).toBe(431)
    const basic = await send(venue, { path: "/v1/holders", as: `Basic ${good}` })
    expect(basic.status).toBe(401)
  })

  it("says the same for every fault, so that a forger learns nothing", async () => {
    const details = new Set<string>()
    for (const [, make] of forged.slice(2, 8)) {
      const response = await send(venue, { path: "/v1/holders", as: `Bearer ${await make()}` })
      details.add((await json<{ detail: string }>(response)).detail)
    }
    expect([...details]).toHaveLength(1)
  })
})

describe("claims", () => {
  it("roles that are unknown, none or null admit nowhere", async () => {
    for (const roles of [["god"], [], null]) {
      const response = await send(venue, {
        path: "/v1/holders",
        as: `Bearer ${await token({ roles })}`
      })
      expect([roles, response.status]).toEqual([roles, 403])
    }
    expect(await statusOf(await token({ roles: ["god", "operator"] }))).toBe(200)
  })

  const noText: ReadonlyArray<unknown> = [5, 0, true, false, {}, { a: 1 }, ["both"], [5], []]
  const malformed: Readonly<Record<string, ReadonlyArray<unknown>>> = {
    sub: [...noText, null, undefined],
    roles: [5, "operator", { operator: true }, [5], ["operator", null], [["operator"]], true],
    holder: [...noText, "", "a/b", " h1", "h1 ", "h\u202e1", "x".repeat(129)],
    party: [...noText, "", "nobody", "p::12 ", "p\u200b::12"],
    name: noText,
    email: noText,
    exp: ["soon", null, {}],
    nbf: ["soon", {}],
    iat: ["soon", {}],
    iss: [5, [issuer], {}],
    aud: [5, {}, [5]]
  }
  it.each(Object.keys(malformed))("%s in another form than its own is refused", async (name) => {
    const admitted = []
    for (const value of malformed[name] ?? []) {
      const jwt = await signedWith({ ...claims(), [name]: value })
      if ((await statusOf(jwt)) !== 401) admitted.push(value)
    }
    expect(admitted).toEqual([])
  })

  it("holder, party, name and e-mail that are null are as if absent", async () => {
    const absent = { holder: null, party: null, name: null, email: null }
    expect(await statusOf(await signedWith({ ...claims(), ...absent }))).toBe(200)
  })

  it("a subject is 1 to 256 printable characters, and none is taken for another or for the engine", async () => {
    const statusFor = async (sub: string) => statusOf(await token({ roles: ["operator"], sub }))
    for (const sub of ["", "a\n", "\u0000", "zoë", "\u007f", "x".repeat(257), "engine"]) {
      expect([sub, await statusFor(sub)]).toEqual([sub, 401])
    }
    for (const sub of ["x".repeat(256), "a b", "~", "Engine"])
      expect([sub, await statusFor(sub)]).toEqual([sub, 200])
  })

  it.each([
    ["a space after it", "both "],
    ["a space before it", " both"],
    ["a doubled space", "bo  th"],
    ["spaces alone", " "],
    ["a space that does not break", "bo\u00a0th"],
    ["a tab", "bo\tth"],
    ["a letter of full width", "\uff42oth"],
    ["a Cyrillic letter that looks the same", "b\u043eth"],
    ["a ligature", "\ufb01rst"],
    ["a character of no width", "bo\u200bth"],
    ["a joiner", "bo\u200dth"],
    ["a mark of direction", "\u202eboth"],
    ["a combining accent", "bo\u0301th"],
    ["a byte order mark", "\ufeffboth"],
    ["a letter beyond the first plane", "\u{1d41b}oth"]
  ])("a subject with %s is never another pair of eyes", async (_, sub) => {
    expect(await statusOf(await token({ roles: ["operator"], sub }))).toBe(401)
  })

  it("a name and an e-mail are cut at 256 characters", async () => {
    const as = await bearer(["operator"], {
      sub: "long",
      name: "n".repeat(300),
      email: "e".repeat(300)
    })
    const made = await send(venue, {
      method: "POST",
      path: "/v1/holders:onboard",
      as,
      body: '{"holderId":"long-1"}'
    })
    expect(await json<object>(made)).toMatchObject({
      actorName: "n".repeat(256),
      actorEmail: "e".repeat(256)
    })
  })

  it("an operation runs under the first of the route's roles, in whatever order they are held", async () => {
    for (const [index, roles] of [
      ["app", "operator"],
      ["operator", "app"]
    ].entries()) {
      const made = await send(venue, {
        method: "POST",
        path: "/v1/holders",
        as: await bearer(roles, { sub: `two-roles-${index}` }),
        body: `{"holderId":"two-roles-${index}","text":"one","amount":1,"owner":null}`
      })
      expect(await json<object>(made)).toMatchObject({ role: "operator" })
    }
  })

  it("a name cannot lead a terminal or a log astray", async () => {
    const as = await bearer(["operator"], { sub: "ansi", name: "\u001b[31mBob\r\nX-Evil: 1\u0000" })
    const made = await send(venue, {
      method: "POST",
      path: "/v1/holders:onboard",
      as,
      body: '{"holderId":"ansi-1"}'
    })
    expect(await json<object>(made)).toMatchObject({ actorName: "[31mBobX-Evil: 1" })
  })
})

// The keys behind it all

const makeIssuer = async () => {
  const state = { up: true, answer: JSON.stringify({ keys: [publicJwk] }), requests: 0 }
  const server: Server = createServer((_, response) => {
    state.requests++
    if (state.up) response.end(state.answer)
    else response.socket?.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as AddressInfo
  return {
    state,
    fetch: Jwks.fetchFrom(new URL(`http://127.0.0.1:${port}/jwks`)),
    close: () => new Promise((resolve) => server.close(resolve))
  }
}

const signIn = (jwks: Layer.Layer<Jwks.Jwks, never, Ids>) =>
  Authentication.layer({ issuer, audience, algorithms: HostConfig.algorithms }).pipe(
    Layer.provide(jwks),
    Layer.provide(NodeCrypto.layerIds)
  )

describe("the identity provider's keys", () => {
  const outcome = (
    effect: Effect.Effect<Caller.Caller, { readonly slug: string }, Authentication.Authentication>
  ) => Effect.match(effect, { onFailure: ({ slug }) => slug, onSuccess: ({ sub }) => sub })
  const call = (authorization: string) =>
    Effect.flatMap(Authentication.Authentication, ({ caller }) => outcome(caller([authorization])))

  effectIt.live("away from the start: 503, and known keys go on while it is away later", () =>
    Effect.gen(function* () {
      const provider = yield* Effect.promise(makeIssuer)
      const knownBearer = yield* Effect.promise(() => bearer(["operator"], { sub: "k" }))
      provider.state.up = false
      const whenDown = yield* Effect.provide(
        call(knownBearer),
        signIn(Jwks.layerRemote(provider.fetch))
      )
      expect(whenDown).toBe("identity-provider-unavailable")

      provider.state.up = true
      const answers = yield* Effect.provide(
        Effect.gen(function* () {
          const first = yield* call(knownBearer)
          provider.state.up = false
          const other = yield* Effect.promise(() => bearer(["operator"], { sub: "k2" }))
          const second = yield* call(other)
          return [first, second]
        }),
        signIn(Jwks.layerRemote(provider.fetch))
      )
      expect(answers).toEqual(["k", "k2"])
      yield* Effect.promise(provider.close)
    })
  )

  effectIt.effect("an unknown kid asks the provider again at most every 30 seconds", () => {
    let requests = 0
    let up = true
    const keys = Effect.suspend(() => {
      requests++
      return up
        ? Effect.succeed({ keys: [publicJwk] })
        : Effect.fail(new Jwks.KeysAway({ detail: "away" }))
    })
    return Effect.gen(function* () {
      const { keyFor } = yield* Jwks.Jwks
      const unknown = Effect.match(keyFor({ alg: "ES256", kid: "nobody" }), {
        onFailure: ({ slug }) => slug,
        onSuccess: () => "found"
      })
      expect(yield* unknown).toBe("unauthenticated")
      for (let i = 0; i < 20; i++) yield* unknown
      expect(requests).toBe(1)
      yield* TestClock.adjust("31 seconds")
      expect(yield* unknown).toBe("unauthenticated")
      expect(requests).toBe(2)
      up = false
      yield* TestClock.adjust("31 seconds")
      expect(yield* unknown).toBe("identity-provider-unavailable")
      yield* TestClock.adjust("11 minutes")
      const knownKey = yield* keyFor({ alg: "ES256", kid: publicJwk.kid })
      expect(knownKey).toBeDefined()
    }).pipe(Effect.provide(Layer.provide(Jwks.layerRemote(keys), NodeCrypto.layerIds)))
  })

  // Red where a failed fetch is waited for again, or where those who waited for one begin another.
  effectIt.effect(
    "never hold up a token whose key is cached while the provider gives no answer",
    () => {
      let requests = 0
      let hangs = false
      const keys = Effect.suspend(() => {
        requests++
        return hangs
          ? Effect.delay(Effect.fail(new Jwks.KeysAway({ detail: "no answer" })), "5 seconds")
          : Effect.succeed({ keys: [publicJwk] })
      })
      return Effect.gen(function* () {
        const { keyFor } = yield* Jwks.Jwks
        const cached = keyFor({ alg: "ES256", kid: publicJwk.kid })
        const unknown = Effect.flip(keyFor({ alg: "ES256", kid: "nobody" }))
        yield* cached
        hangs = true
        yield* TestClock.adjust("11 minutes")
        const waiting = yield* Effect.forkChild(
          Effect.all([...Array.from({ length: 20 }, () => cached), unknown], {
            concurrency: "unbounded"
          })
        )
        yield* TestClock.adjust("5 seconds")
        yield* Fiber.join(waiting)
        expect(requests).toBe(2)
        yield* TestClock.adjust("3 seconds")
        // The clock stands still: a call that waited for the fetch would never end.
        yield* Effect.all(Array.from({ length: 20 }, () => cached))
        yield* Effect.yieldNow
        expect(requests).toBe(3)
      }).pipe(Effect.provide(Layer.provide(Jwks.layerRemote(keys), NodeCrypto.layerIds)))
    }
  )

  effectIt.live("answers that are malformed or huge are taken for no answer", () =>
    Effect.gen(function* () {
      const provider = yield* Effect.promise(makeIssuer)
      for (const answer of [
        "{",
        "[]",
        '{"keys":1}',
        `{"keys":[],"pad":"${"x".repeat(300_000)}"}`
      ]) {
        provider.state.answer = answer
        const failed = yield* Effect.flip(provider.fetch).pipe(Effect.provide(NodeCrypto.layerIds))
        expect(failed._tag).toBe("KeysAway")
      }
      yield* Effect.promise(provider.close)
    })
  )
})

describe("the list of algorithms", () => {
  effectIt.live(
    "can be narrowed: a token of another algorithm is refused, whatever keys there are",
    () =>
      Effect.gen(function* () {
        const { caller } = yield* Authentication.Authentication
        const as = yield* Effect.promise(() => bearer(["operator"]))
        expect((yield* Effect.flip(caller([as]))).slug).toBe("unauthenticated")
      }).pipe(
        Effect.provide(
          Authentication.layer({ issuer, audience, algorithms: ["EdDSA"] }).pipe(
            Layer.provide(Jwks.layerLocal({ keys: [publicJwk] }))
          )
        )
      )
  )
})

describe("verified tokens", () => {
  // Switched off to see it red: `Jwks.keptFor` in `remember` (middleware/Authentication.ts).
  effectIt.effect("outlive the key they were signed with by ten minutes and no more", () => {
    let keys = [publicJwk]
    const provider = Jwks.layerRemote(Effect.sync(() => ({ keys })))
    return Effect.gen(function* () {
      const { caller } = yield* Authentication.Authentication
      const as = yield* Effect.promise(() => bearer(["operator"], { exp: 86_400 }))
      yield* caller([as])
      keys = []
      yield* TestClock.adjust("9 minutes")
      expect((yield* caller([as])).sub).toBe("operator-1")
      yield* TestClock.adjust("61 seconds")
      expect((yield* Effect.flip(caller([as]))).slug).toBe("unauthenticated")
    }).pipe(Effect.provide(signIn(provider)))
  })

  effectIt.effect("are remembered until they expire, and then verified anew", () => {
    let looked = 0
    const counting = Layer.effect(
      Jwks.Jwks,
      Effect.map(Jwks.Jwks, ({ keyFor }) => ({
        keyFor: (header) => Effect.suspend(() => (looked++, keyFor(header)))
      }))
    ).pipe(Layer.provide(Jwks.layerLocal({ keys: [publicJwk] })))
    return Effect.gen(function* () {
      const { caller } = yield* Authentication.Authentication
      const as = yield* Effect.promise(() => bearer(["operator"], { exp: 600 }))
      for (let i = 0; i < 5; i++) yield* caller([as])
      expect(looked).toBe(1)
      yield* TestClock.adjust("630 seconds")
      yield* caller([as])
      expect(looked).toBe(2)
      yield* TestClock.adjust("31 seconds")
      expect((yield* Effect.flip(caller([as]))).slug).toBe("unauthenticated")
    }).pipe(Effect.provide(signIn(counting)))
  })
})

it("every role of the vocabulary is one that a token can carry", async () => {
  for (const role of Vocabulary.Role.members) {
    const response = await send(venue, { path: "/v1/nowhere", as: await bearer([role]) })
    expect(await slugOf(response)).toBe("not-found")
  }
})
