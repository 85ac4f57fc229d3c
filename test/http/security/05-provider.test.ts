/**
 * Attack 5, with a real identity provider: its tokens for this deployment are accepted, and no
 * others.
 */
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { Authentication, HostConfig, Jwks } from "@bursar/http-host"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Layer } from "effect"
import { type CryptoKey, decodeProtectedHeader, exportJWK, generateKeyPair, SignJWT } from "jose"
import { errors, Provider } from "oidc-provider"
import { afterAll, beforeAll, expect, it } from "vitest"
import { json, open, send, type Venue } from "../venue.ts"

const audience = "urn:bursar:test"
const other = "urn:other"
const keepsNothing = () => ({
  upsert: () => Promise.resolve(),
  find: () => Promise.resolve(undefined),
  findByUserCode: () => Promise.resolve(undefined),
  findByUid: () => Promise.resolve(undefined),
  consume: () => Promise.resolve(),
  destroy: () => Promise.resolve(),
  revokeByGrantId: () => Promise.resolve()
})

let server: Server
let issuer: string
let venue: Venue
let signing: CryptoKey

const provide = async () => {
  const { privateKey } = await generateKeyPair("ES256", { extractable: true })
  signing = privateKey
  const key = { ...(await exportJWK(privateKey)), alg: "ES256", use: "sig", kid: "provider-1" }
  server = createServer()
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider = new Provider(issuer, {
    adapter: keepsNothing,
    clients: [
      {
        client_id: "svc-operator",
        client_secret: "a secret of the test alone",
        grant_types: ["client_credentials"],
        response_types: [],
        redirect_uris: [],
        token_endpoint_auth_method: "client_secret_basic"
      }
    ],
    jwks: { keys: [key] },
    cookies: { keys: ["a key of the test alone"] },
    clientAuthMethods: ["client_secret_basic"],
    clientDefaults: { id_token_signed_response_alg: "ES256" },
    responseTypes: ["code"],
    ttl: { ClientCredentials: 600 },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => audience,
        getResourceServerInfo: (_, resource) => {
          if (resource !== audience && resource !== other) throw new errors.InvalidTarget()
          return {
            scope: "",
            audience: resource,
            accessTokenTTL: 600,
            accessTokenFormat: "jwt",
            jwt: { sign: { alg: "ES256" } }
          }
        },
        useGrantedResource: () => true
      }
    },
    extraTokenClaims: () =>
      Promise.resolve({
        name: "The Operator",
        email: "operator@venue.example",
        roles: ["operator"]
      })
  })
  server.on("request", provider.callback())
}

beforeAll(async () => {
  await provide()
  const jwks = Jwks.layerRemote(Jwks.fetchFrom(new URL(`${issuer}/jwks`))).pipe(
    Layer.provide(NodeCrypto.layerIds)
  )
  venue = await open({ jwks, issuer })
})
afterAll(async () => {
  await venue.close()
  server.closeAllConnections()
  server.close()
})

const tokenFor = async (resource: string): Promise<string> => {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      authorization: `Basic ${Buffer.from("svc-operator:a+secret+of+the+test+alone").toString("base64")}`
    },
    body: new URLSearchParams({ grant_type: "client_credentials", resource })
  })
  const { access_token: token } = await json<{ access_token: string }>(response)
  return token
}

const statusOf = async (token: string) =>
  (await send(venue, { path: "/v1/holders?limit=1", as: `Bearer ${token}` })).status

// Switched off in a copy of Authentication.ts, one at a time, and seen red: the audience (the token for
// somebody else is taken), the issuer, `typ` and the clock's tolerance (the provider's key for other
// words), the signature's part in the digest of tokens that are remembered (every byte).
it("a token of the provider for this venue is taken, with roles, name and e-mail", async () => {
  const token = await tokenFor(audience)
  expect(decodeProtectedHeader(token)).toEqual({ alg: "ES256", typ: "at+jwt", kid: "provider-1" })
  const made = await send(venue, {
    method: "POST",
    path: "/v1/holders:onboard",
    as: `Bearer ${token}`,
    body: '{"holderId":"op-1"}'
  })
  expect(made.status).toBe(202)
  expect(await json<object>(made)).toMatchObject({
    actor: "svc-operator",
    actorName: "The Operator",
    actorEmail: "operator@venue.example",
    role: "operator"
  })
})

it("a token of the provider for somebody else is not", async () => {
  expect(await statusOf(await tokenFor(other))).toBe(401)
})

it("a token that the provider's key signed, but for other words, is not", async () => {
  const now = Math.floor(Date.now() / 1000)
  const signed = (claims: object, typ: string) =>
    new SignJWT({
      iss: issuer,
      aud: audience,
      sub: "svc-operator",
      exp: now + 60,
      roles: ["operator"],
      ...claims
    })
      .setProtectedHeader({ alg: "ES256", typ, kid: "provider-1" })
      .sign(signing)
  expect(await statusOf(await signed({}, "at+jwt"))).toBe(200)
  expect(await statusOf(await signed({}, "logout+jwt"))).toBe(401)
  expect(await statusOf(await signed({ iss: `${issuer}/` }, "at+jwt"))).toBe(401)
  expect(await statusOf(await signed({ exp: now - 61 }, "at+jwt"))).toBe(401)
  expect(await statusOf(await signed({ nbf: now + 120 }, "at+jwt"))).toBe(401)
})

it("every byte of it counts", async () => {
  const token = await tokenFor(audience)
  const caller = (jwt: string) =>
    Effect.flatMap(Authentication.Authentication, ({ caller }) =>
      Effect.match(caller([`Bearer ${jwt}`]), {
        onFailure: ({ slug }) => slug,
        onSuccess: ({ sub }) => sub
      })
    )
  const layer = Authentication.layer({ issuer, audience, algorithms: HostConfig.algorithms }).pipe(
    Layer.provide(Jwks.layerRemote(Jwks.fetchFrom(new URL(`${issuer}/jwks`)))),
    Layer.provide(NodeCrypto.layerIds)
  )
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
  const taken = await Effect.runPromise(
    Effect.gen(function* () {
      expect(yield* caller(token)).toBe("svc-operator")
      const subs: Array<string> = []
      for (let at = 0; at < token.length; at++) {
        const letter = token[at] ?? ""
        // The other half of the alphabet: a bit that no padding hides.
        const flipped = letter === "." ? "A" : digits[(digits.indexOf(letter) + 32) % 64]
        const outcome = yield* caller(`${token.slice(0, at)}${flipped}${token.slice(at + 1)}`)
        if (outcome !== "unauthenticated") subs.push(`${at} ${outcome}`)
      }
      return subs
    }).pipe(Effect.provide(layer))
  )
  expect(taken).toEqual([])
})
