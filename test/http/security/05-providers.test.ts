/** Sign-in by the tokens of identity providers: settings and token shapes are those of their pages (docs/sign-in). */
import { type Caller, Vocabulary } from "@bursar/engine-core"
import { Authentication, HostConfig, Jwks } from "@bursar/http-host"
import { ConfigProvider, Effect, Exit, Layer, Logger, Result } from "effect"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it } from "vitest"
import { claimDefaults, type ClaimRules } from "#host/config/ClaimRules.ts"
import * as Claims from "#host/middleware/Claims.ts"
import { open, send, slugOf, token } from "../venue.ts"

const pages = new URL("../../../packages/http-host/docs/sign-in/", import.meta.url)
const folder = mkdtempSync(join(tmpdir(), "bursar-providers-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A block of JSON of a page, by the word after its language. */
const block = (provider: string, name: string): Readonly<Record<string, unknown>> => {
  const text = readFileSync(new URL(`${provider}.md`, pages), "utf8")
  const [, json] = new RegExp(`\`\`\`json ${name}\n([^\`]+)\`\`\``, "u").exec(text) ?? []
  if (json === undefined) throw new Error(`the page of ${provider} has no ${name}`)
  return JSON.parse(json)
}

/** Settings as a start reads them from the file. */
const load = (settings: object) => {
  const file = join(folder, "settings.json")
  writeFileSync(file, JSON.stringify(settings))
  return Effect.runPromiseExit(
    Effect.provideService(
      HostConfig.load,
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({ env: { BURSAR_CONFIG: file } })
    )
  )
}

const loaded = async (settings: object): Promise<HostConfig.HostConfig> => {
  const exit = await load(settings)
  if (Exit.isFailure(exit)) throw new Error(String(exit.cause))
  return exit.value
}

const keys = await generateKeyPair("RS256")
const jwk = { ...(await exportJWK(keys.publicKey)), kid: "a1", alg: "RS256", use: "sig" }

/** The caller that a deployment of these settings reads from a token of these parts. */
const callerOf = async (
  settings: object,
  { claims, header }: { readonly header: object; readonly claims: object }
) => {
  const exp = Math.floor(Date.now() / 1000) + 600
  const jwt = await new SignJWT({ ...claims, exp })
    .setProtectedHeader(header as { alg: string })
    .sign(keys.privateKey)
  const config = await loaded(settings)
  return Effect.runPromise(
    Effect.flatMap(Authentication.Authentication, ({ caller }) =>
      Effect.result(caller([`Bearer ${jwt}`]))
    ).pipe(
      Effect.provide(
        Authentication.layer(Authentication.trustedBy(config)).pipe(
          Layer.provide(Jwks.layerLocal({ keys: [jwk] }))
        )
      ),
      Effect.provide(Logger.layer([]))
    )
  )
}

const expected: Readonly<Record<string, Caller.Caller>> = {
  keycloak: {
    sub: "6f3a2c1e-0c55-4f9a-9a55-1f7b1f6d2a10",
    name: "Anna Control",
    email: "anna@venue.example",
    roles: ["risk", "compliance"],
    holderId: null,
    party: null
  },
  "entra-id": {
    sub: "AAAAAAAAAAAAAAAAAAAAAIkzqFVrSaSaFHy782bbtaQ",
    name: "Ivo Holder",
    email: null,
    roles: ["investor"],
    holderId: "holder-1",
    party: null
  },
  auth0: {
    sub: "auth0|6553da60a54af58e29493993",
    name: null,
    email: null,
    roles: ["operator", "approver"],
    holderId: null,
    party: null
  },
  okta: {
    sub: "olive@venue.example",
    name: null,
    email: null,
    roles: ["operator"],
    holderId: null,
    party: null
  }
}

describe("the page of a provider", () => {
  it("is tested for each provider that has one", () => {
    const named = readdirSync(pages).map((file) => file.replace(/\.md$/u, ""))
    expect(named.toSorted()).toEqual(Object.keys(expected).toSorted())
  })

  it.each(Object.keys(expected))("signs its token in by its settings: %s", async (provider) => {
    const parts = { header: block(provider, "header"), claims: block(provider, "claims") }
    const caller = await callerOf(block(provider, "settings"), parts)
    expect(Result.getOrThrow(caller)).toEqual(expected[provider])
  })

  it("is needed: without its settings the token has no role, or is refused", async () => {
    const outcomes: Record<string, unknown> = {}
    for (const provider of Object.keys(expected)) {
      const { issuer, audience, jwksUrl } = block(provider, "settings")
      const parts = { header: block(provider, "header"), claims: block(provider, "claims") }
      const caller = await callerOf({ issuer, audience, jwksUrl }, parts)
      outcomes[provider] = Result.isSuccess(caller) ? caller.success.roles : caller.failure.slug
    }
    expect(outcomes).toEqual({ keycloak: [], "entra-id": [], auth0: [], okta: "unauthenticated" })
  })
})

const rules: ClaimRules = {
  ...claimDefaults,
  roles: "/realm_access/roles",
  roleNames: new Map([
    ["staff", ["operator", "risk"]],
    ["risk-desk", ["risk"]]
  ])
}
const sub = "somebody"

describe("claims", () => {
  const cases: ReadonlyArray<readonly [claims: object, outcome: unknown]> = [
    [{ realm_access: { roles: ["staff", "risk-desk"] } }, [["operator", "risk"], null]],
    // A name is the word of a role only where no names are mapped.
    [{ realm_access: { roles: ["operator"] } }, [[], "roles-unmapped"]],
    [{ realm_access: { roles: ["constructor", "__proto__"] } }, [[], "roles-unmapped"]],
    [{ realm_access: { roles: [] } }, [[], "roles-empty"]],
    [{ realm_access: { roles: null } }, [[], "roles-absent"]],
    [{ realm_access: {} }, [[], "roles-absent"]],
    [{ realm_access: null }, [[], "roles-absent"]],
    [{ roles: ["staff"] }, [[], "roles-absent"]],
    [{ realm_access: { roles: "staff risk-desk" } }, "/realm_access/roles"],
    [{ realm_access: { roles: ["staff", 5] } }, "/realm_access/roles"],
    [{ realm_access: { roles: { staff: true } } }, "/realm_access/roles"],
    [{ realm_access: "staff" }, "/realm_access/roles"],
    [{ realm_access: 5 }, "/realm_access/roles"],
    [{ holder: ["holder-1"] }, "/holder"],
    [{ party: "nobody" }, "/party"],
    [{ sub: " x" }, "/sub"]
  ]
  it.each(cases)("%j read as %j", (claims, outcome) => {
    const read = Claims.read({ sub, ...claims }, rules)
    expect(
      Result.isSuccess(read)
        ? [read.success.caller.roles, read.success.noRole?.reason ?? null]
        : read.failure
    ).toEqual(outcome)
  })

  it("never give a role twice, whether names are mapped or not", () => {
    const read = (roles: ReadonlyArray<string>, roleNames: ClaimRules["roleNames"]) =>
      Result.getOrThrow(Claims.read({ sub, realm_access: { roles } }, { ...rules, roleNames }))
        .caller.roles
    expect(read(["risk", "operator", "risk"], null)).toEqual(["risk", "operator"])
    expect(read(["staff", "risk-desk", "staff"], rules.roleNames)).toEqual(["operator", "risk"])
  })

  it("never have a step that another step's text may take the place of", () => {
    const roles = ["operator"]
    const read = (pointer: string, claims: object) =>
      Result.getOrThrow(
        Claims.read({ sub, ...claims }, { ...rules, roles: pointer, roleNames: null })
      ).caller.roles
    expect(
      read("/https:~1~1venue.example~1roles", { "https://venue.example/roles": roles })
    ).toEqual(roles)
    expect(read("/a~01b", { "a~1b": roles, "a/b": [] })).toEqual(roles)
    expect(read("/lists/1", { lists: [["risk"], roles] })).toEqual(roles)
    expect(read("/constructor/name", {})).toEqual([])
  })
})

describe("a start", () => {
  const given = { issuer: "https://issuer.test", jwksUrl: "https://issuer.test/jwks" }
  const refused: ReadonlyArray<readonly [setting: string, value: unknown]> = [
    ["auth.roles.claim", "roles"],
    ["auth.roles.claim", "/"],
    ["auth.roles.claim", "/a//b"],
    ["auth.roles.claim", "/a~2b"],
    ["auth.roles.claim", "/a~"],
    ["auth.roles.claim", "#/roles"],
    ["auth.roles.claim", `/${"a".repeat(512)}`],
    ["auth.holder.claim", "holder"],
    ["auth.party.claim", "party"],
    ["auth.roles.map", { staff: "manager" }],
    ["auth.roles.map", { staff: [] }],
    ["auth.roles.map", ["operator"]],
    ["auth.untyped", "yes"]
  ]
  it.each(refused)("is stopped by %s: %j", async (setting, value) => {
    const exit = await load({ ...given, [setting]: value })
    expect(Exit.isFailure(exit)).toBe(true)
    expect(String(Exit.isFailure(exit) ? exit.cause : "")).toContain(setting)
  })
})

describe("a token that brings no role", () => {
  it("is logged with its reason and the names it brought, and its caller is told neither", async () => {
    const venue = await open()
    const names = ["offline_access", "a\u0007b", "x".repeat(300)]
    const as = `Bearer ${await token({ sub: "nobody-1", roles: names })}`
    const response = await send(venue, { path: "/v1/holders?limit=1", as })
    expect(response.status).toBe(403)
    expect(await slugOf(response)).toBe("permission-denied")
    const [line, ...more] = venue.logs
      .map((text): Readonly<Record<string, unknown>> => JSON.parse(text))
      .filter(({ reason }) => reason === "roles-unmapped")
    expect(more).toEqual([])
    expect(line).toMatchObject({
      level: "warn",
      sub: "nobody-1",
      claim: "/roles",
      names: `offline_access, ab, ${"x".repeat(256)}`
    })
    await venue.close()
  })

  it("names at most twenty, and says how many more there are", async () => {
    const venue = await open()
    const roles = Array.from({ length: 30 }, (_, n) => `group-${n}`)
    await send(venue, { path: "/v1/holders?limit=1", as: `Bearer ${await token({ roles })}` })
    const line = venue.logs.find((text) => text.includes("roles-unmapped")) ?? ""
    expect(JSON.parse(line).names).toMatch(/group-19 and 10 more$/u)
    await venue.close()
  })

  it("is every role's word that no map names", () => {
    expect(Vocabulary.Role.members).not.toContain("offline_access")
  })
})
