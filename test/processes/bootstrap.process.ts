/**
 * A venue whose database is thrown away in the middle of a month: hosts and wallets as processes, on a
 * ledger that outlives the host and has forgotten how its contracts came to be.
 */
import { mkdir, mkdtemp, rename, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Decimal, PlainJson } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { PartySession, World } from "@bursar/storage-adapters/wallets"
import { Effect, Exit, Layer, Redacted, Result, Scope } from "effect"
import { SqlClient } from "effect/sql"
import { decodeJwt } from "jose"
import { afterAll, expect, it } from "vitest"
import * as backed from "../../examples/demo/backed.ts"
import * as Child from "#host/demo/Child.ts"
import * as Parties from "#host/demo/Parties.ts"
import { holderId, people } from "#host/demo/People.ts"
import * as Stack from "#host/demo/Stack.ts"
import * as stating from "../../examples/demo/statements.ts"
import * as walking from "../../examples/demo/steps.ts"
import * as VenueClient from "../../examples/demo/VenueClient.ts"
import * as wallet from "../../examples/demo/wallet.ts"
import * as files from "../../examples/statements.ts"
import * as story from "../../examples/story.ts"
import { until } from "../waiting.ts"
import { remove } from "../folders.ts"

const fund = { instrumentId: "elf-usd", unitDecimals: 6, valuation: "par" } as const
const note = { instrumentId: "ern-usd", unitDecimals: 6, valuation: "par" } as const
const month = "2026-07"
const distributionId = `${fund.instrumentId}.${month}`
const distribution = `/v1/distributions/${distributionId}`

/** Cash is paid monthly, from the third day after the record date on. */
const terms = {
  distribution: {
    schedule: "monthly",
    withholding: story.figure("0.15"),
    payoutDecimals: 2,
    payout: "cash",
    calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 3 }
  }
}

const ends: Array<() => Promise<unknown>> = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

const parsed = (text: string): PlainJson.Plain => Result.getOrThrow(PlainJson.parse(text))

/** A folder and a database, and a time of day that all programs and this test share. */
const opened = async () => {
  const scope = Effect.runSync(Scope.make())
  ends.push(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  const databaseUrl = await Effect.runPromise(Scope.provide(TestDatabase.url, scope))
  const folder = await mkdtemp(join(tmpdir(), "bursar-bootstrap-"))
  ends.push(() => remove(folder))
  const file = join(folder, "date-offset")
  const moved = new URL("../kill/moved-date.ts", import.meta.url)
  const real = Date
  const { move } = (await import(moved.href)) as typeof import("../kill/moved-date.ts")
  /** Sets the time of day of this process, which the others soon have. */
  const sets = async (instant: string) => {
    const offset = Date.parse(instant) - real.now()
    move(offset)
    // Replaced in one step: a program that read an emptied file would be at the real time of day.
    await writeFile(`${file}.new`, String(offset))
    await rename(`${file}.new`, file)
  }
  await sets("2026-07-20T12:00:00Z")
  process.env["DATE_OFFSET_FILE"] = file
  process.env["NODE_OPTIONS"] = `${process.env["NODE_OPTIONS"] ?? ""} --import=${moved.pathname}`
  /** Sets the time of day of all, and waits until identity provider and host have it. */
  const moves = async ({ venue }: Stack.Stack, instant: string) => {
    await sets(instant)
    await until(async () => {
      const token = await VenueClient.tokenOf(venue, people.operator)
      const { iat } = decodeJwt(token)
      if (iat === undefined || iat * 1_000 < Date.parse(instant)) return false
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(`${venue.api}/v1/instruments`, { headers })
      return answer.status === 200 && VenueClient.text(parsed(await answer.text()), "now") > instant
    })
  }
  return { databaseUrl, folder, moves }
}

const state = (is: string) => (json: PlainJson.Plain) =>
  VenueClient.text(json, "value", "state") === is

const statesOf = (json: PlainJson.Plain) =>
  VenueClient.list(json, "value").map((line) => VenueClient.text(line, "state"))

const subjectOf = (finding: PlainJson.Plain): string =>
  [["check"], ["subject", "resourceKind"], ["subject", "id"]]
    .map((path) => VenueClient.text(finding, ...path))
    .join(" ")

const processOf = ({ processes }: Stack.Stack, name: string): Child.Child => {
  const found = processes.find((child) => child.name === name)
  if (found === undefined) throw new Error(`no process ${name}`)
  return found
}
const pauses = (stack: Stack.Stack, name: string) =>
  process.kill(processOf(stack, name).pid, "SIGSTOP")
const wakes = (stack: Stack.Stack, name: string) =>
  process.kill(processOf(stack, name).pid, "SIGCONT")

const walkOf = (
  stack: Stack.Stack,
  instrument: walking.Walk["instrument"],
  stated = stating.nothingStated()
): walking.Walk => ({
  stack,
  desks: walking.desks(stack),
  instrument,
  stated,
  tell: () => undefined
})

/** Forgets every update on the ledger, and deletes everything that the host has stored. */
const throwsAway = (databaseUrl: string): Promise<void> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const participant = yield* SimulatedLedger.Participant
    yield* participant.admin.prune(yield* participant.ledgerEnd)
    yield* sql`drop schema bursar cascade`
  }).pipe(
    Effect.provide(
      SimulatedLedger.layerPostgres({
        ledgerId: Parties.ledgerId,
        participantId: "bursar-sim"
      }).pipe(
        Layer.provideMerge(Postgres.layer({ url: Redacted.make(databaseUrl), maxConnections: 4 }))
      )
    ),
    Effect.runPromise
  )

/** Units of an instrument by owner, as the ledger itself has them. */
const heldOnLedger = async (stack: Stack.Stack, instrumentId: string) => {
  const token = await Parties.tokenOf(stack.folder, "registrar")
  const session = await Effect.runPromise(
    PartySession.open({ url: stack.ledgerDoor, token: Effect.succeed(token) })
  )
  const contracts = await Effect.runPromise(
    Effect.flatMap(session.ledgerEnd, (end) => session.acs(end))
  )
  const world: World.World = {
    party: session.party,
    now: 0n as World.World["now"],
    contracts: new Map(contracts.map((one) => [one.contractId, one]))
  }
  const held = World.find(world, Templates.Holding).filter(
    ({ payload }) => payload.instrument.id === instrumentId
  )
  return Decimal.sum(held.map(({ payload }) => payload.amount))
}

/** Takes the venue to a state in which every order and line waits on a party or role. */
const inFlight = async (host: Awaited<ReturnType<typeof opened>>, stack: Stack.Stack) => {
  const [elf, ern] = [walkOf(stack, fund), walkOf(stack, note)]
  const { app, operator, risk } = elf.desks
  await walking.openMarket(elf, terms)
  await stating.mapped(elf)
  await walking.onboard(elf)
  await walking.publish(elf, { metric: "income", value: Decimal.zero })
  await walking.subscribe(elf, { subscriptionId: "sub-1", amount: "100000" })
  await host.moves(stack, "2026-07-21T21:00:00Z")
  await walking.publish(elf, { metric: "income", value: Decimal.of("0.001") })
  await backed.recorded(ern)
  await operator.done(`/v1/holders/${holderId}/admissions`, { instrumentId: note.instrumentId })
  await walking.admitted(ern, holderId)
  await backed.agreed(ern)

  await host.moves(stack, "2026-08-01T05:02:00Z")
  await walking.agreed(elf, "/v1/distributions", { instrumentId: fund.instrumentId, month })
  await operator.until(distribution, state("payable"))
  pauses(stack, "attestor")
  const order = { instrumentId: fund.instrumentId, holderId }
  await app.done(
    "/v1/subscriptions",
    story.claim({ ...order, subscriptionId: "sub-2", amount: "10000" })
  )
  pauses(stack, "registrar")
  await app.done("/v1/redemptions", {
    ...order,
    redemptionId: "red-1",
    units: story.figure("25000")
  })
  await operator.until("/v1/redemptions/red-1", state("funded"))
  pauses(stack, "investor")
  await backed.started(ern, { mintId: "mint-1", id: "USD", deposit: "5000" })
  await risk.done(`/v1/instruments/${note.instrumentId}:pause`, { reason: "a price is looked at" })
  wakes(stack, "investor")
  await operator.until(`${backed.reserve}/mints/mint-1`, state("ready"))
  await operator.until("/v1/subscriptions/sub-2", state("claimed"))
  const { json } = await operator.get(`${distribution}/lines`)
  expect(statesOf(json)).toEqual(["due"])
}

it("goes on with every order, line and mint in flight on a new database, with the wallets as they run, and ends as the ledger says", async () => {
  const scene = await opened()
  const { databaseUrl, folder } = scene
  const stack = await Stack.start({
    settings: {
      data: folder,
      databaseUrl,
      ports: { api: 0, management: 0, ledger: 0, identity: 0 }
    },
    instruments: [
      { instrumentId: fund.instrumentId, unitDecimals: 6, parValue: "1" },
      { instrumentId: note.instrumentId, unitDecimals: 6, parValue: "1", issuer: "registrar" }
    ]
  })
  ends.push(async () => {
    for (const { name } of stack.processes.slice(3)) wakes(stack, name)
    await stack.stop()
  })
  await inFlight(scene, stack)

  const first = processOf(stack, "host")
  process.kill(first.pid, "SIGKILL")
  await first.ended
  await throwsAway(databaseUrl)
  const data = join(folder, "second")
  await mkdir(data)
  const port = (url: string): string => new URL(url).port
  const second = await Child.start({
    ...stack.host,
    name: "host-2",
    logs: join(stack.folder, "logs"),
    env: {
      ...stack.host.env,
      BURSAR_DATA: data,
      BURSAR_PORT: port(stack.venue.api),
      BURSAR_MANAGEMENT_PORT: port(stack.management),
      BURSAR_LEDGER_DOOR_PORT: port(stack.ledgerDoor)
    }
  })
  ends.push(() => second.stop())

  const [elf, ern] = [walkOf(stack, fund), walkOf(stack, note)]
  const { auditor, operator } = elf.desks
  expect(VenueClient.list((await operator.get("/v1/subscriptions")).json, "value")).toEqual([])
  const { oracle, registrar } = stack.parties
  const recorded = { ...story.instrument({ ...fund, registrar, oracle }), ...terms }
  await walking.agreed(elf, "/v1/instruments", recorded)
  await walking.agreed(ern, "/v1/instruments", story.backed({ ...note, registrar, oracle }))
  await stating.mapped(elf)
  wakes(stack, "registrar")

  // The engine tries ever more rarely to settle a mint whose instrument is not recorded yet.
  await scene.moves(stack, "2026-08-01T12:00:00Z")
  await operator.until(`${backed.reserve}/mints/mint-1`, state("settled"))
  await operator.until("/v1/redemptions/red-1", state("burned"))
  const { json: waits } = await operator.get("/v1/subscriptions/sub-2")
  expect([
    VenueClient.text(waits, "value", "state"),
    VenueClient.member(waits, "value", "recovered")
  ]).toEqual(["claimed", true])
  wakes(stack, "attestor")
  await operator.until("/v1/subscriptions/sub-2", state("priced"))
  const { statementId } = await stating.booked(elf, {
    entries: [
      files.paidIn({ amount: "10000", reference: "sub-2" }),
      files.paidOut({ amount: "25000", reference: "red-1" })
    ]
  })
  const bought = story.paid({ statementId, line: 1, amount: "10000" })
  await operator.done("/v1/subscriptions/sub-2:deliver", bought)
  await operator.until("/v1/subscriptions/sub-2", state("delivered"))
  await operator.done("/v1/subscriptions/sub-2:settle", {})
  await operator.until("/v1/subscriptions/sub-2", state("closed"))
  const sold = story.paid({ statementId, line: 2, amount: "25000" })
  await operator.done("/v1/redemptions/red-1:settle", sold)
  await operator.until("/v1/redemptions/red-1", state("settled"))

  // The carries of the month are unknown: people accept that before anything is paid.
  await operator.post("/v1/reconciliation-runs", {
    scope: { instrumentIds: [fund.instrumentId] }
  })
  const open = `/v1/findings?instrumentId=${fund.instrumentId}&state=open&severity=blocking`
  const findings = VenueClient.list((await auditor.get(open)).json, "value")
  expect(findings.map(subjectOf).toSorted()).toEqual([
    `distribution-recompute distribution ${distributionId}`
  ])
  const byHold = Map.groupBy(findings, (row) => VenueClient.text(row, "holdId"))
  for (const [holdId, lines] of byHold) {
    await walking.agreed(
      elf,
      `/v1/holds/${holdId}:release`,
      {
        accept: lines.map((row) => VenueClient.text(row, "findingId")),
        reason: "nothing was carried"
      },
      { maker: "risk", approvers: ["approver", "approverTwo"] }
    )
  }
  await operator.until(distribution, state("payable"))
  await scene.moves(stack, "2026-08-03T05:00:00Z")
  await wallet.act(stack, "registrar", "deliver", {
    "line-id": `${distributionId}.1`,
    reference: "WIRE-1",
    "paid-on": "2026-08-03"
  })
  await operator.until(`${distribution}/lines`, (json) => statesOf(json).join() === "delivered")
  await operator.done(`${distribution}:roll`, {})
  await operator.until(distribution, state("paid"))
  const [line = null] = VenueClient.list(
    (await operator.get(`${distribution}/lines`)).json,
    "value"
  )
  // 100,000 units earn 0.001 a day from July 21 on, less 15 %.
  expect(Decimal.formatPlain(VenueClient.decimal(line, "net"))).toBe("935")

  for (const [instrumentId, units] of [
    [fund.instrumentId, "85000"],
    [note.instrumentId, "5000"]
  ] as const) {
    const { json } = await operator.get(`/v1/instruments/${instrumentId}/register`)
    const head = (name: string) =>
      Decimal.formatPlain(VenueClient.decimal(json, "value", "head", name))
    expect([head("totalUnits"), head("difference")]).toEqual([units, "0"])
    expect(Decimal.formatPlain(await heldOnLedger(stack, instrumentId))).toBe(units)
  }
})
