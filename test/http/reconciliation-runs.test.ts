/** Reconciliation runs over HTTP: started in the call, listed, read, announced and logged. */
import { reconciliationRun, Records } from "@bursar/engine-core"
import * as Client from "@bursar/http-host/client"
import { Effect } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import * as Reconciling from "../operations/reconciling.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import { WorkQueue } from "@bursar/engine-core/ports"
import * as Parts from "#core/reconciliation/run/PartsRunner.ts"
import { type RunUnderWay, runsUnderWay } from "#core/reconciliation/run/RunUnderWay.ts"
import * as Templates from "@bursar/engine-core/templates"
import * as Venue from "./venue.ts"
import * as Wallets from "./wallets.ts"

let venue: Wallets.WholeVenue
let registrar: Wallets.Wallet

const path = "/v1/reconciliation-runs"

beforeAll(async () => {
  venue = await Wallets.open()
  registrar = await venue.wallet("registrar")
  for (const instrumentId of ["fund-a", "fund-b", "fund-c"]) {
    const body = { ...bodyOf(), instrumentId, registrar: registrar.party, oracle: null }
    expect(await venue.write("/v1/instruments", body)).toMatchObject({ state: "succeeded" })
    await registrar.acts(
      Templates.create(Templates.Holding, {
        registrar: registrar.party,
        owner: registrar.party,
        provider: venue.party,
        instrument: { admin: registrar.party, id: instrumentId },
        amount: Decimal.of("120"),
        restricted: false,
        lock: null,
        label: "",
        meta: {}
      })
    )
  }
})
afterAll(() => venue.close())

interface Shown {
  readonly runId: string
  readonly verdict: string
  readonly holdsOpened: ReadonlyArray<string>
}

const start = async (
  options: { readonly as?: string; readonly body?: string; readonly key?: string } = {}
) =>
  Venue.send(venue, {
    method: "POST",
    path,
    as: await Venue.bearer([options.as ?? "operator"]),
    ...(options.body === undefined ? {} : { body: options.body }),
    headers: { "idempotency-key": options.key ?? crypto.randomUUID() }
  })

const run = async (body?: string): Promise<Shown> => {
  const response = await start(body === undefined ? {} : { body })
  expect(response.status).toBe(201)
  return Venue.json<Shown>(response)
}

const scoped = (...instrumentIds: ReadonlyArray<string>) =>
  JSON.stringify({ scope: { instrumentIds } })

const listed = async (query: string): Promise<ReadonlyArray<string>> =>
  ((await venue.read(`${path}${query}`)).value as ReadonlyArray<Shown>).map(({ runId }) => runId)

const plant = (units: string) =>
  venue.run(
    Reconciling.plant(
      { registrar: registrar.party, instrumentId: "fund-a", party: registrar.party },
      units
    )
  )

describe("a reconciliation run over HTTP", () => {
  it("is answered 201 with its place, where it reads the same, and 200 when it is repeated", async () => {
    const key = crypto.randomUUID()
    const made = await start({ key })
    const location = made.headers.get("location") ?? ""
    const text = await made.text()
    const { runId } = JSON.parse(text) as Shown
    expect([made.status, location]).toEqual([201, `${path}/${runId}`])
    expect((await venue.read(location)).text).toContain(`"value":${text}}`)
    const again = await start({ key })
    expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([200, "true"])
    expect([again.headers.get("location"), await again.text()]).toEqual([location, text])
  })

  it.each(["approver", "compliance", "auditor", "app", "registrar", "investor", "monitor", "feed"])(
    "is never started by %s",
    async (as) => {
      expect(await Venue.slugOf(await start({ as }))).toBe("permission-denied")
    }
  )

  it.each(["compliance", "app", "registrar", "investor", "monitor", "feed"])(
    "is never read by %s",
    async (role) => {
      const as = await Venue.bearer([role], { holder: "h1", party: registrar.party })
      expect(await Venue.slugOf(await Venue.send(venue, { path, as }))).toBe("permission-denied")
    }
  )

  it.each([
    ['{"scope":{"instrumentIds":[]}}', "/body/scope/instrumentIds"],
    ['{"scope":{"checks":[]}}', "/body/scope/checks"],
    ['{"scope":{"checks":["figures"]}}', "/body/scope/checks/0"],
    ['{"scope":{"instrumentIds":["fund-a","fund-a"]}}', "/body/scope/instrumentIds"],
    ['{"scope":[]}', "/body/scope"],
    ['{"instrumentIds":["fund-a"]}', "/body/instrumentIds"]
  ])("never runs for %s", async (body, pointer) => {
    const response = await start({ body })
    expect(response.status).toBe(400)
    const { errors } = await Venue.json<Venue.Problem>(response)
    expect(errors?.map((error) => error.pointer)).toContain(pointer)
  })

  it("never runs for an instrument that is not there", async () => {
    expect(await Venue.slugOf(await start({ body: scoped("fund-z") }))).toBe("not-found")
  })

  it("is listed newest first, by trigger, verdict and each instrument that it covers", async () => {
    const all = await run()
    const single = await run(scoped("fund-b"))
    const several = await run(scoped("fund-b", "fund-c"))
    const ids = [several, single, all].map(({ runId }) => runId)
    expect((await listed("?limit=3")).slice(0, 3)).toEqual(ids)
    const idsOf = async (instrumentId: string) =>
      (await listed(`?instrumentId=${instrumentId}`)).filter((runId) => ids.includes(runId))
    expect(await idsOf("fund-a")).toEqual([all.runId])
    expect(await idsOf("fund-b")).toEqual(ids)
    expect(await idsOf("fund-c")).toEqual([several.runId, all.runId])
    expect(await listed("?verdict=blocked")).toEqual([])
    expect(await listed("?trigger=release")).toEqual([])
    // The registrar holds units of its own without an admission: a warning.
    expect((await listed("?trigger=manual&verdict=findings")).slice(0, 3)).toEqual(ids)
  })

  it("is started by the typed client, under a key of its own or the caller's", async () => {
    const client = Client.make({
      httpClient: await Effect.runPromise(
        HttpClient.HttpClient.pipe(Effect.provide(FetchHttpClient.layer))
      ),
      baseUrl: venue.url,
      authorization: Effect.succeed(await Venue.bearer(["risk"])),
      makeKey: () => crypto.randomUUID()
    })
    const scope = { instrumentIds: ["fund-c"], checks: null }
    const [one, two, again] = await Effect.runPromise(
      Effect.all([
        client.immediate(reconciliationRun, { scope }),
        client.immediate(reconciliationRun, { scope: null }, { key: "own" }),
        client.immediate(reconciliationRun, { scope: null }, { key: "own" })
      ])
    )
    expect(one.scope).toEqual({ instrumentIds: ["fund-c"], checks: null })
    expect(again.runId).toBe(two.runId)
    expect(one.runId).not.toBe(two.runId)
  })

  it("holds what differs, says so once, and is logged under the person who asked for it", async () => {
    await plant("5")
    const { holdsOpened, runId, verdict } = await run()
    expect(verdict).toBe("blocked")
    const [holdId] = holdsOpened
    expect((await venue.read(`/v1/holds/${holdId}`)).value).toMatchObject({
      instrumentId: "fund-a",
      source: "reconciliation",
      blocks: ["distribution"],
      runId,
      state: "open"
    })
    const events = async (type: string) =>
      JSON.parse(
        (
          await venue.read(
            `/v1/events?type=${type}&resourceId=${runId}&resourceKind=reconciliation-run`
          )
        ).text
      ).value
    expect(await events("reconciliation.run")).toMatchObject([
      { payload: { trigger: "manual", verdict: "blocked", findings: 6 } }
    ])
    expect(await events("reconciliation.finding")).toMatchObject([
      {
        payload: {
          counts: {
            "register-supply": 1,
            "movements-balance": 1,
            "lots-holdings": 1,
            "admission-effect": 3
          }
        }
      }
    ])
    const log = JSON.parse(
      (await venue.read(`/v1/audit-log?resourceId=${runId}&resourceKind=reconciliation-run`)).text
    )
    expect(log.value).toMatchObject([
      {
        action: "reconciliation.start",
        stage: "succeeded",
        actor: "operator-1",
        role: "operator",
        route: path,
        status: 201
      }
    ])
    await plant("-5")
    expect((await run()).verdict).toBe("findings")
  })
})

describe("a call that waits behind a run under way", () => {
  /** Another host holds the lock of a run. */
  const leased = (name: string) =>
    Effect.flatMap(WorkQueue, (work) =>
      work.lease({ queue: name, worker: "another-host", limit: 1, leaseMillis: 60_000 })
    )

  /** Another host has run for so long, and has compared no instrument of its three yet. */
  const underWay = (seconds: number) =>
    Effect.gen(function* () {
      const records = yield* Records
      const now = yield* Instant.now
      const began = Instant.subtract(now, Duration.seconds(seconds))
      const { offset } = yield* Calls.catchUp
      const progress = { startedAt: began, continuedAt: began, doneBefore: 0, continued: 0 }
      const runId = "run_elsewhere" as RunUnderWay["runId"]
      const runScope = { scope: { instrumentIds: null, checks: null }, instruments: 3 } as const
      const self = {
        runId,
        trigger: "manual",
        asOf: offset as never,
        readBy: began,
        itemId: "x"
      } as const
      yield* records.transact(
        records.open(
          runsUnderWay,
          { ...self, ...runScope, ...progress, call: null },
          { cause: { by: "run", runId }, now }
        )
      )
    })

  it("is told by Retry-After how long: for its own instrument, and for every one", async () => {
    const names = [Parts.instrumentLockName("fund-b"), Parts.venueLockName]
    for (const name of names) await venue.run(leased(name))
    await venue.run(underWay(1_000))
    const answers = await Promise.all([start({ body: scoped("fund-b") }), start({ body: "{}" })])
    const refusals = answers.map(({ headers, status }) => [
      status,
      Number(headers.get("retry-after"))
    ])
    const slugs = await Promise.all(answers.map(Venue.slugOf))
    expect(slugs).toEqual(["overloaded", "overloaded"])
    // The one under way has taken a thousand seconds and more for its first instrument of three.
    const [ofOne, ofAll] = refusals
    expect(ofOne).toEqual([503, expect.toSatisfy((seconds) => seconds >= 1_000 && seconds < 1_200)])
    expect(ofAll).toEqual([503, expect.toSatisfy((seconds) => seconds >= 3_000)])
  })
})
