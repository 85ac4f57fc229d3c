/** Settings: read from the environment and one file, named when wrong, never printed. */
import { settingsDefaults } from "@bursar/engine-core"
import { HostConfig } from "@bursar/http-host"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Effect, Redacted, Result, Schema, Struct } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import * as Kind from "#host/config/Kind.ts"

const needed = { BURSAR_ISSUER: "https://issuer.test", BURSAR_JWKS_URL: "https://issuer.test/jwks" }
const folder = mkdtempSync(join(tmpdir(), "bursar-settings-"))
afterAll(() => rmSync(folder, { recursive: true }))

const inEnvironment = (env: Readonly<Record<string, string>>) =>
  Effect.provide(
    ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...env }, preserveEmptyStrings: true }))
  )

const load = (env: Readonly<Record<string, string>>) => HostConfig.load.pipe(inEnvironment(env))

let files = 0
/** The environment, and a file with the content `text`. */
const withFile = (text: string | Uint8Array, env: Readonly<Record<string, string>> = needed) => {
  const path = join(folder, `${++files}.json`)
  writeFileSync(path, text)
  return { ...env, BURSAR_CONFIG: path }
}

describe("settings", () => {
  it.effect("have their defaults where nothing is set", () =>
    Effect.gen(function* () {
      const config = yield* load(needed)
      expect(config.port).toBe(8080)
      expect(config["idempotency.bodyKeyWindow"]).toBe(24 * 3_600_000)
      expect(config.approvalExpiry).toBeNull()
      expect(config["database.url"]).toBeNull()
      expect(config["cursor.keys"]).toEqual([])
      expect(config.algorithms).toContain("EdDSA")
    })
  )

  it.effect("of the engine have the engine's defaults where nothing is set", () =>
    Effect.gen(function* () {
      const config = yield* load(needed)
      expect({
        tenantId: config.tenantId,
        inputsMax: config["ledger.maxInputs"],
        rebootstrap: config["ledger.rebootstrap"],
        batchLines: config["ledger.batchLines"],
        rateChange: config["distribution.rateChange"],
        partialDistribution: config["distribution.partial"],
        linesMax: config["distribution.linesMax"],
        reserveOrderDeadline: config["reserves.orderDeadline"],
        reconciliationAt: config["reconciliation.at"],
        statementSources: config["statements.sources"],
        statementLinesMax: config["statements.maxLines"],
        standingApprovalLongest: config["standingApproval.longest"],
        answersKept: config["reads.kept"],
        operationsAtOnce: config["operations.atOnce"],
        lease: config["operations.lease"] * 1_000,
        bodyKeyWindow: config["idempotency.bodyKeyWindow"],
        approvalExpiry: config.approvalExpiry,
        auditLogKept: config["retention.auditLog"],
        legalHold: config["retention.legalHold"],
        rescreenAfter: config["screening.rescreenAfter"],
        successorCooling: config.successorCooling
      }).toEqual(
        Struct.pick(settingsDefaults, [
          "tenantId",
          "inputsMax",
          "rebootstrap",
          "batchLines",
          "rateChange",
          "partialDistribution",
          "linesMax",
          "reserveOrderDeadline",
          "reconciliationAt",
          "statementSources",
          "statementLinesMax",
          "standingApprovalLongest",
          "answersKept",
          "operationsAtOnce",
          "lease",
          "bodyKeyWindow",
          "approvalExpiry",
          "auditLogKept",
          "legalHold",
          "rescreenAfter",
          "successorCooling"
        ])
      )
      expect(config["retention.events"]).toEqual(settingsDefaults.retention.events)
    })
  )

  it.effect("say none by an empty variable where there is a none, and else nothing", () =>
    Effect.gen(function* () {
      const empty = { BURSAR_RETENTION_EVENTS: "", BURSAR_PORT: "", BURSAR_WEBHOOKS_PORTS: "" }
      const config = yield* load({ ...needed, ...empty })
      const without = yield* load(needed)
      expect(without["retention.events"]).not.toBeNull()
      expect(config["retention.events"]).toBeNull()
      expect(config.port).toBe(without.port)
      expect(config["webhooks.ports"]).toEqual(without["webhooks.ports"])
    })
  )

  it.effect(
    "that are wrong or missing are all named, with what they may be and never what they were",
    () =>
      Effect.gen(function* () {
        const wrong = {
          BURSAR_JWKS_URL: "http://issuer.test/jwks",
          BURSAR_PORT: "65536",
          BURSAR_TENANT_ID: "a b",
          BURSAR_ALGORITHMS: "ES256,HS256",
          BURSAR_BASE_PATH: "/a/",
          BURSAR_APPROVAL_EXPIRY: "P1M",
          BURSAR_CURSOR_KEYS: "1:planted-secret",
          DATABASE_URL: "mysql://planted-secret"
        }
        const { message, faults } = yield* Effect.flip(load(wrong))
        expect(faults).toHaveLength(9)
        for (const name of [...Object.keys(wrong), "BURSAR_ISSUER"]) expect(message).toContain(name)
        expect(message).not.toContain("planted-secret")
      })
  )

  const signIns: ReadonlyArray<readonly [written: string, unknown]> = [
    ["", { scopes: [], parameters: {} }],
    ['{"resource": "urn:v"}', { scopes: [], parameters: { resource: "urn:v" } }],
    [
      '{"scope": "api://v/act  offline_access", "audience": "urn:v"}',
      { scopes: ["api://v/act", "offline_access"], parameters: { audience: "urn:v" } }
    ],
    ['{"state": "x"}', null],
    ['{"redirect_uri": "https://elsewhere.test"}', null],
    ['{"a b": "x"}', null],
    ['{"resource": ""}', null],
    ['{"resource": "line\\nbreak"}', null],
    ['{"resource": 1}', null],
    [JSON.stringify(Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`p${n}`, "x"]))), null]
  ]
  it.effect.each(signIns)(
    "of the request to sign in leave what the page sets itself: %s",
    ([written, expected]) =>
      Effect.gen(function* () {
        const loaded = yield* Effect.result(load({ ...needed, BURSAR_SIGN_IN_PARAMETERS: written }))
        expect(Result.isSuccess(loaded) ? loaded.success["signIn.parameters"] : null).toEqual(
          expected
        )
      })
  )

  const ofJson = Object.entries<HostConfig.Setting>(HostConfig.settings).filter(
    ([, { form }]) => form === "json"
  )
  // The slip is at the first character that is not JSON.
  const slips: ReadonlyArray<readonly [text: string, place: string]> = [
    [`{"planted-secret": ]`, "line 1, column 20"],
    [`[{"secret": "planted-secret"},\n]`, "line 2, column 1"],
    [`[\n  {"secret": "planted-secret" "b": 1}]`, "line 2, column 31"],
    ["planted-secret", "line 1, column 1"]
  ]
  it.effect.each(ofJson.map(([name]) => name))(
    "that are broken JSON say so with line and column: %s",
    (name) =>
      Effect.gen(function* () {
        const setting = ofJson.find(([named]) => named === name)?.[1]
        if (setting === undefined) return expect.unreachable()
        const variable = HostConfig.variableOf(name, setting)
        for (const [text, place] of slips) {
          const { faults } = yield* Effect.flip(load({ ...needed, [variable]: text }))
          expect(faults).toEqual([
            expect.stringContaining(`${name} (${variable}): it is not JSON at ${place}: `)
          ])
          expect(faults.join()).not.toContain("planted-secret")
        }
      })
  )

  it.effect("of each kind are read", () =>
    Effect.gen(function* () {
      const secret = Buffer.alloc(32, 7).toString("base64url")
      const config = yield* load({
        ...needed,
        BURSAR_JWKS_URL: "http://127.0.0.1:9000/jwks",
        BURSAR_ALGORITHMS: "ES256, EdDSA",
        BURSAR_APPROVAL_EXPIRY: "P2D",
        BURSAR_CURSOR_KEYS: `2:${secret},1:${secret}`,
        DATABASE_URL: "postgres://u:p@db/x"
      })
      expect(config.algorithms).toEqual(["ES256", "EdDSA"])
      expect(config.approvalExpiry).toBe(2 * 86_400_000)
      expect(config["cursor.keys"].map(({ id }) => id)).toEqual([2, 1])
      const url = config["database.url"]
      expect(String(url)).not.toContain("u:p")
      expect(url === null ? "" : Redacted.value(url)).toContain("u:p")
    })
  )

  it("have a sentence, a limit and a variable each, no variable twice, and secrets no default", () => {
    const all = Object.entries<HostConfig.Setting>(HostConfig.settings)
    const variables = all.map(([name, setting]) => HostConfig.variableOf(name, setting))
    expect(new Set(variables).size).toBe(all.length)
    expect(variables).toContain("BURSAR_IDEMPOTENCY_BODY_KEY_WINDOW")
    for (const [name, setting] of all) {
      expect(name).toMatch(/^[a-z][A-Za-z]*(\.[a-z][A-Za-z]*){0,3}$/)
      expect(setting.doc).toMatch(/^[A-Z].*\.$/)
      expect(setting.limit).not.toBe("")
      // No name is a prefix of another: in the file a member is either a setting or a part of
      // names.
      expect(all.filter(([other]) => other.startsWith(`${name}.`))).toEqual([])
    }
  })

  it.effect("have defaults that their own limits take", () =>
    Effect.gen(function* () {
      const { printedSettings } = yield* HostConfig.read.pipe(inEnvironment(needed))
      const secrets = Object.entries<HostConfig.Setting>(HostConfig.settings)
        .filter(([, { secret }]) => secret === "secret")
        .map(([name]) => name)
      expect(secrets).not.toEqual([])
      // A secret with a default would be a secret that everybody knows.
      const shown = printedSettings
        .filter(({ name }) => secrets.includes(name))
        .map(({ written }) => written)
      expect(new Set(shown)).toEqual(new Set([""]))
    })
  )
})

describe("the file of settings", () => {
  it.effect(
    "is read by names, in parts or whole; numbers, lists and null are as JSON has them",
    () =>
      Effect.gen(function* () {
        const text = JSON.stringify({
          port: 1,
          algorithms: ["ES256", "EdDSA"],
          approvalExpiry: null,
          database: { connections: 7 },
          "ledger.door": { port: 3 }
        })
        const config = yield* load(withFile(text))
        expect(config.port).toBe(1)
        expect(config.algorithms).toEqual(["ES256", "EdDSA"])
        expect(config.approvalExpiry).toBeNull()
        expect(config["database.connections"]).toBe(7)
        expect(config["ledger.door.port"]).toBe(3)
      })
  )

  it.effect("gives way to the environment, and each value says where it came from", () =>
    Effect.gen(function* () {
      const env = withFile(`{"port": 1, "host": "h"}`, { ...needed, BURSAR_PORT: "2" })
      const { config, printedSettings } = yield* HostConfig.read.pipe(inEnvironment(env))
      expect([config.port, config.host]).toEqual([2, "h"])
      const from = Object.fromEntries(printedSettings.map((one) => [one.name, one.from]))
      expect([from["port"], from["host"], from["basePath"]]).toEqual([
        "environment",
        "file",
        "default"
      ])
    })
  )

  const unusable: ReadonlyArray<readonly [string, string | Uint8Array, string]> = [
    ["is not JSON", "{", "BURSAR_CONFIG"],
    ["is not JSON further down", `{"port": 1,\n  "host": }`, "JSON at line 2, column 11: "],
    ["names a setting twice", `{"port": 1, "port": 2}`, "BURSAR_CONFIG"],
    [
      "names it whole and in parts",
      `{"a": 1, "database.connections": 2, "database": {"connections": 3}}`,
      "database.connections is set twice"
    ],
    ["is a list", "[]", "not an object"],
    ["is not UTF-8", Buffer.from([0x7b, 0xff, 0x7d]), "UTF-8"],
    ["is larger than a file of settings is", " ".repeat(1024 * 1024 + 1), "bytes"],
    ["has a slip in a name", `{"prot": 1}`, `"prot" is no setting; the nearest is port`],
    [
      "has a slip in a part",
      `{"database": {"connectoins": 7}}`,
      "the nearest is database.connections"
    ],
    [
      "leaves out the first part",
      `{"bodyKeyWindow": "PT1H"}`,
      "the nearest is idempotency.bodyKeyWindow"
    ],
    [
      "has a name that is near nothing",
      `{"zzzzzzzzzzzzzzz": 7}`,
      `"zzzzzzzzzzzzzzz" is no setting`
    ],
    ["has a member for a prototype", `{"__proto__": {"port": 1}}`, "BURSAR_CONFIG"],
    ["gives a text the wrong shape", `{"port": {"a": "planted-secret"}}`, "port of the file"],
    ["gives a limit no heed", `{"port": 65536}`, "port of the file"],
    [
      "gives a secret that is none",
      `{"database.url": "mysql://planted-secret"}`,
      "database.url of the file"
    ],
    [
      "gives a secret as an object",
      `{"database": {"url": {"x": "planted-secret"}}}`,
      "database.url of the file"
    ]
  ]
  for (const [what, text, said] of unusable) {
    it.effect(`that ${what} stops the start and is told without a value`, () =>
      Effect.gen(function* () {
        const { message } = yield* Effect.flip(load(withFile(text)))
        expect(message).toContain(said)
        expect(message).not.toContain("planted-secret")
      })
    )
  }

  it.effect("that is not there stops the start", () =>
    Effect.gen(function* () {
      const missing = { ...needed, BURSAR_CONFIG: join(folder, "none.json") }
      expect((yield* Effect.flip(load(missing))).message).toContain("ENOENT")
    })
  )
})

describe("a setting that is more than text", () => {
  const keys = Kind.structured({
    limit: "JSON: a list of keys",
    secret: "secret",
    schema: Schema.Array(
      Schema.Struct({
        keyId: Schema.String,
        secret: Schema.String.check(
          Schema.isPattern(/^[a-z]{3}$/, { expected: "three letters" })
        ).pipe(Schema.RedactedFromValue)
      })
    )
  })

  it("is decoded by its schema; faults have their place and never the value", () => {
    const good = keys.read([{ keyId: "a", secret: "abc" }])
    expect(Result.isSuccess(good)).toBe(true)
    const bad = keys.read([
      { keyId: 1, secret: "planted-secret" },
      { keyId: "a", secret: "abc", more: "planted-secret" }
    ])
    const faults = Result.isFailure(bad) ? bad.failure : []
    expect(faults.map(({ pointer }) => pointer)).toEqual(["/0/keyId", "/0/secret", "/1/more"])
    expect(JSON.stringify(faults)).not.toContain("planted-secret")
  })

  it("refuses what is no list at all", () => {
    expect(Result.isFailure(keys.read("planted-secret"))).toBe(true)
  })
})
