/** A deployment over parts of its own: served, migrated and refused by one line each. */
import { Offset, Party } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Deployment from "@bursar/http-host/deployment"
import { HostConfig } from "@bursar/http-host"
import * as Memory from "@bursar/storage-adapters/memory"
import { Cause, ConfigProvider, Effect, Exit, Fiber, Layer, Logger, Option, Stream } from "effect"
import { mkdtemp, readdir, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { hangs, wanted } from "../waiting.ts"

let folder = ""
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "bursar-parts-"))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const configOf = (data: string) =>
  Effect.runPromise(
    Effect.provideService(
      HostConfig.load,
      ConfigProvider.ConfigProvider,
      ConfigProvider.fromEnv({
        env: {
          BURSAR_DATA: join(folder, data),
          BURSAR_ISSUER: "https://issuer.test",
          BURSAR_JWKS_URL: "https://issuer.test/jwks",
          BURSAR_PORT: "0",
          BURSAR_MANAGEMENT_PORT: "0",
          BURSAR_RECONCILIATION_AT: ""
        }
      })
    )
  )

/** A ledger on which nothing happens, and whose end is its own. */
const ownLedger = (end: number): Ledger.Ledger["Service"] => ({
  venue: Party.make({ hint: "venue", fingerprint: "1220aa" }),
  submit: () => Effect.die(new Error("nothing is submitted here")),
  outcome: () => Effect.succeed(Option.none()),
  updates: () => Stream.never,
  acs: () => Stream.empty,
  ledgerEnd: Effect.succeed(Offset.of(end)),
  horizon: Effect.succeed(Offset.zero),
  describe: Effect.succeed({
    kind: "simulated",
    version: "1",
    participant: "own",
    features: [],
    rights: []
  }),
  packages: () => Effect.succeed([])
})

const ownParts = (end: number) => ({
  storage: Deployment.storageOf(Memory.layer),
  ledger: Deployment.ledgerOf(() => Layer.succeed(Ledger.Ledger, ownLedger(end)))
})

describe("a deployment over a storage and a ledger of its own", () => {
  it("is served by them, without a database or a door", { timeout: hangs }, async () => {
    const config = await configOf("own")
    let found: Deployment.Addresses | undefined
    const serving = Deployment.serve(ownParts(41), {
      config,
      ready: (at) =>
        Effect.sync(() => {
          found = at
        })
    })
    const fiber = Effect.runFork(Effect.provide(serving, Logger.layer([])))
    const at = await wanted(() => found)
    expect(at.ledgerDoor).toBeUndefined()
    const health = await fetch(`${at.api}/v1/health`)
    expect(await health.json()).toMatchObject({ value: { ledgerEnd: 41, ready: true } })
    expect((await readdir(config.data)).toSorted()).toEqual(["audit", "keys"])
    await Effect.runPromise(Fiber.interrupt(fiber))
    await expect(fetch(`${at.api}/v1/health`)).rejects.toThrow("fetch failed")
  })

  it("has nothing to migrate where its parts have nothing", async () => {
    const config = await configOf("nothing")
    const { migrated } = await Effect.runPromise(Deployment.make(ownParts(0)))
    expect(await Effect.runPromise(migrated(config))).toEqual([])
  })

  it("fails with the one line of the part that cannot be opened", async () => {
    const config = await configOf("away")
    const { storage } = ownParts(0)
    const away = new Error("the node at ledger.test does not answer")
    const ledger = Deployment.ledgerOf(() => Layer.effectContext(Effect.fail(away)))
    const exit = await Effect.runPromiseExit(
      Effect.provide(Deployment.serve({ storage, ledger }, { config }), Logger.layer([]))
    )
    expect(Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined).toBe(away)
    const unopened = {
      ...storage,
      open: () => Effect.fail({ message: "the store at store.test does not answer" })
    }
    const { ledger: own } = ownParts(0)
    expect(
      await Effect.runPromise(
        Effect.flip(Deployment.serve({ storage: unopened, ledger: own }, { config }))
      )
    ).toEqual({ message: "the store at store.test does not answer" })
  })

  it("is refused by name where it brings no ledger, which the types require as well", async () => {
    const { storage } = ownParts(0)
    // @ts-expect-error a storage of its own brings its ledger along
    const made = Deployment.make({ storage })
    const { message } = await Effect.runPromise(Effect.flip(made))
    expect(message).toMatch(/^ledger: [^\n]+$/u)
  })
})
