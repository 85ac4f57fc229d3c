/** What runs around the interface: settings that name themselves, readiness, management, background. */
import { Refusal } from "@bursar/engine-core"
import { Offset } from "@bursar/engine-core/kernel"
import { Background, HostConfig, Management, Readiness } from "@bursar/http-host"
import { describe, expect, it } from "@effect/vitest"
import { ConfigProvider, Deferred, Effect, Exit, Fiber, Layer, Redacted, Scope } from "effect"
import { TestClock } from "effect/testing"

const needed = { BURSAR_ISSUER: "https://issuer.test", BURSAR_JWKS_URL: "https://issuer.test/jwks" }

const load = (env: Readonly<Record<string, string>>) =>
  HostConfig.load.pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...env } })))
  )

describe("settings", () => {
  it.effect("have their defaults where nothing is set", () =>
    Effect.gen(function* () {
      const config = yield* load(needed)
      expect(config.port).toBe(8080)
      expect(config.bodyKeyWindow).toBe(24 * 3_600_000)
      expect(config.approvalExpiry).toBeNull()
      expect(config.databaseUrl).toBeNull()
      expect(config.cursorKeys).toEqual([])
      expect(config.algorithms).toContain("EdDSA")
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
      expect(config.cursorKeys.map(({ id }) => id)).toEqual([2, 1])
      expect(String(config.databaseUrl)).not.toContain("u:p")
      expect(config.databaseUrl === null ? "" : Redacted.value(config.databaseUrl)).toContain("u:p")
    })
  )

  it("have a sentence, a limit and a variable each, no variable twice, and secrets no default", () => {
    const all = Object.values(HostConfig.settings)
    expect(new Set(all.map(({ variable }) => variable)).size).toBe(all.length)
    for (const setting of all) {
      expect(setting.doc).toMatch(/^[A-Z].*\.$/)
      expect(setting.limit).not.toBe("")
      if (setting.secret === "secret") expect(setting.fallback).toBe("")
      if (setting.fallback !== null) expect(setting.read(setting.fallback)).not.toBeUndefined()
    }
  })
})

const vitals: Readiness.Vitals = {
  projectionOffset: Offset.of(3),
  ledgerEnd: Offset.of(5),
  oldestQueuedSeconds: 0,
  lagSeconds: 0,
  migrationsPending: false
}

const away = Refusal.unavailable("not-ready", "away", 5)

const readiness = (look: Effect.Effect<Readiness.Vitals, Refusal.Unavailable>) =>
  Readiness.layer({ version: "1" }).pipe(Layer.provide(Layer.succeed(Readiness.Vital, { look })))

const state = Effect.flatMap(Readiness.Readiness, ({ current }) =>
  Effect.map(current, (seen) => (seen._tag === "Ready" ? seen.status : seen.slug))
)

describe("readiness", () => {
  const judged: ReadonlyArray<readonly [string, Partial<Readiness.Vitals>, string]> = [
    ["all is well", {}, "up"],
    ["the ledger is away", { ledgerEnd: null }, "degraded"],
    ["an operation waits 61 s", { oldestQueuedSeconds: 61 }, "degraded"],
    ["the projection is 61 s behind", { lagSeconds: 61 }, "degraded"],
    ["migrations are pending", { migrationsPending: true }, "not-ready"]
  ]
  for (const [what, change, expected] of judged) {
    it.effect(`is ${expected} when ${what}`, () =>
      Effect.map(
        Effect.provide(state, readiness(Effect.succeed({ ...vitals, ...change }))),
        (seen) => expect(seen).toBe(expected)
      )
    )
  }

  it.effect("outlives a store that is away for less than ten seconds, and no longer", () => {
    let up = true
    const look = Effect.suspend(() => (up ? Effect.succeed(vitals) : Effect.fail(away)))
    return Effect.gen(function* () {
      expect(yield* state).toBe("up")
      up = false
      yield* TestClock.adjust("9 seconds")
      expect(yield* state).toBe("up")
      yield* TestClock.adjust("4 seconds")
      expect(yield* state).toBe("not-ready")
      up = true
      yield* TestClock.adjust("3 seconds")
      expect(yield* state).toBe("up")
    }).pipe(Effect.provide(readiness(look)))
  })

  it.effect("never waits for a store that does not answer", () =>
    Effect.gen(function* () {
      const scope = yield* Scope.make()
      const building = yield* Effect.forkChild(Layer.buildWithScope(readiness(Effect.never), scope))
      yield* TestClock.adjust("2 seconds")
      const context = yield* Fiber.join(building)
      expect(yield* Effect.provideContext(state, context)).toBe("not-ready")
      yield* Scope.close(scope, Exit.void)
    })
  )

  it.effect("ends when the host is told to stop", () =>
    Effect.gen(function* () {
      const { stopping } = yield* Readiness.Readiness
      yield* stopping
      expect(yield* state).toBe("not-ready")
    }).pipe(Effect.provide(readiness(Effect.succeed(vitals))))
  )
})

describe("the management listener", () => {
  it.live("says apart whether the process lives and whether it is ready", () =>
    Effect.gen(function* () {
      let port = 0
      const layer = Management.layer({
        host: "127.0.0.1",
        port: 0,
        opened: (open) => {
          port = open
        }
      }).pipe(Layer.provide(readiness(Effect.fail(away))))
      yield* Layer.build(layer)
      const ask = (path: string) =>
        Effect.promise(async () => (await fetch(`http://127.0.0.1:${port}${path}`)).status)
      expect(yield* ask("/livez")).toBe(200)
      expect(yield* ask("/readyz")).toBe(503)
      expect(yield* ask("/v1/health")).toBe(404)
      const taken = Management.layer({ host: "127.0.0.1", port }).pipe(
        Layer.provide(readiness(Effect.succeed(vitals)))
      )
      const failed = yield* Effect.flip(Effect.scoped(Layer.build(taken)))
      expect(failed.message).toContain(`127.0.0.1:${port}`)
    }).pipe(Effect.scoped)
  )
})

describe("the background", () => {
  it.effect("is interrupted when the host ends, and given the time it needs to finish", () =>
    Effect.gen(function* () {
      const finished: Array<string> = []
      const run = Effect.never.pipe(
        Effect.onInterrupt(() =>
          Effect.andThen(
            Effect.sleep("10 seconds"),
            Effect.sync(() => finished.push("orderly"))
          )
        )
      )
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Background.layer([{ name: "work", run }]), scope)
      yield* TestClock.adjust("1 second")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("9 seconds")
      expect([finished, closing.pollUnsafe()]).toEqual([[], undefined])
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      expect(finished).toEqual(["orderly"])
    })
  )

  it.effect("that does not stop is left behind after its time", () =>
    Effect.gen(function* () {
      const stuck = yield* Deferred.make<void>()
      const run = Effect.never.pipe(Effect.onInterrupt(() => Deferred.await(stuck)))
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(Background.layer([{ name: "stuck", run }]), scope)
      yield* TestClock.adjust("1 second")
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void))
      yield* TestClock.adjust("26 seconds")
      yield* Fiber.join(closing)
      yield* Deferred.succeed(stuck, undefined)
    })
  )

  it.effect("that ends by itself is told to whoever runs the host", () =>
    Effect.gen(function* () {
      const { ended } = yield* Background.Background
      const failure = yield* Effect.flip(ended)
      expect([failure.name, failure.detail]).toEqual(["work", expect.stringContaining("broken")])
    }).pipe(
      Effect.provide(Background.layer([{ name: "work", run: Effect.die(new Error("broken")) }]))
    )
  )
})
