/**
 * A venue whose database is thrown away in the middle of a month: hosts and wallets as processes, on a
 * ledger that outlives the host and has forgotten how its contracts came to be.
 */
import { mkdir, mkdtemp, rename, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Postgres from "@bursar/storage-adapters/postgres"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { PartySession, World } from "@bursar/storage-adapters/wallets"
import { Effect, Exit, Layer, Redacted, Scope } from "effect"
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
import * as Desk from "../../examples/demo/Desk.ts"
import * as wallet from "../../examples/demo/wallet.ts"
import * as files from "../../examples/statements.ts"
import * as story from "../../examples/story.ts"
import { until } from "../waiting.ts"
import { remove } from "../folders.ts"

const fund = { instrumentId: "elf-usd", unitDecimals: 6, valuation: "par" } as const
const note = { instrumentId: "ern-usd", unitDecimals: 6, valuation: "par" } as const
const month = "2026-07"
const distributionId = `${fund.instrumentId}.${month}`

/** Cash is paid monthly, from the third day after the record date on. */
const terms = {
  distribution: {
    schedule: "monthly",
    withholding: "0.15",
    payoutDecimals: 2,
    payout: "cash",
    calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 3 }
  }
} as const

const ends: Array<() => Promise<unknown>> = []
afterAll(async () => {
  for (const end of ends.toReversed()) await end()
})

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
      const token = await Desk.tokenOf(venue, people.operator)
      const { iat } = decodeJwt(token)
      if (iat === undefined || iat * 1_000 < Date.parse(instant)) return false
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(`${venue.api}/v1/instruments`, { headers })
      if (answer.status !== 200) return false
      return ((await answer.json()) as { readonly now: string }).now > instant
    })
  }
  return { databaseUrl, folder, moves }
}

/** Waits of the operator for records as wallets and engine leave them. */
const waits = (walk: walking.Walk) => {
  const { operator } = walk.desks
  return {
    subscription: (state: walking.Subscription["state"]) =>
      walking.subscriptionUntil(walk, "sub-2", state),
    redemption: (state: string) =>
      Desk.until(
        () => operator.read("redemptions.get", { redemptionId: "red-1" }),
        (redemption) => redemption.state === state
      ),
    distribution: (state: string) =>
      Desk.until(
        () => operator.read("distributions.get", { distributionId }),
        (distribution) => distribution.state === state
      ),
    lines: (state: string) =>
      Desk.until(
        () => operator.list("distributions.lines", { where: { distributionId } }),
        ({ value }) => value.map((line) => line.state).join() === state
      )
  }
}

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
  const until = waits(elf)
  await walking.openMarket(elf, terms)
  await stating.mapped(elf)
  await walking.onboard(elf)
  await walking.publish(elf, { metric: "income", value: Decimal.zero })
  await walking.subscribe(elf, { subscriptionId: "sub-1", amount: "100000" })
  await host.moves(stack, "2026-07-21T21:00:00Z")
  await walking.publish(elf, { metric: "income", value: Decimal.of("0.001") })
  await backed.recorded(ern)
  await operator.complete("admission.offer", { holderId, instrumentId: note.instrumentId })
  await walking.admitted(ern, holderId)
  await backed.agreed(ern)

  await host.moves(stack, "2026-08-01T05:02:00Z")
  await walking.agreed(elf, "distribution.execute", { instrumentId: fund.instrumentId, month })
  await until.distribution("payable")
  pauses(stack, "attestor")
  const order = { instrumentId: fund.instrumentId, holderId }
  const claim = story.claim({ ...order, subscriptionId: "sub-2", amount: "10000" })
  await app.complete("subscription.claim", claim)
  pauses(stack, "registrar")
  await app.complete("redemption.claim", { ...order, redemptionId: "red-1", units: "25000" })
  await until.redemption("funded")
  pauses(stack, "investor")
  await backed.started(ern, { mintId: "mint-1", id: "USD", deposit: "5000" })
  const reason = "a price is looked at"
  await risk.complete("instrument.pause", { instrumentId: note.instrumentId, reason })
  wakes(stack, "investor")
  await backed.mintUntil(ern, "mint-1", "ready")
  await until.subscription("claimed")
  const lines = await operator.list("distributions.lines", { where: { distributionId } })
  expect(lines.value.map(({ state }) => state)).toEqual(["due"])
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
  const until = waits(elf)
  expect((await operator.list("subscriptions.list")).value).toEqual([])
  const { oracle, registrar } = stack.parties
  const recorded = { ...story.instrument({ ...fund, registrar, oracle }), ...terms }
  await walking.agreed(elf, "instrument.record", recorded)
  await walking.agreed(ern, "instrument.record", story.backed({ ...note, registrar, oracle }))
  await stating.mapped(elf)
  wakes(stack, "registrar")

  // The engine tries ever more rarely to settle a mint whose instrument is not recorded yet.
  await scene.moves(stack, "2026-08-01T12:00:00Z")
  await backed.mintUntil(ern, "mint-1", "settled")
  await until.redemption("burned")
  const waiting = await operator.read("subscriptions.get", { subscriptionId: "sub-2" })
  expect([waiting.state, waiting.recovered]).toEqual(["claimed", true])
  wakes(stack, "attestor")
  await until.subscription("priced")
  const { statementId } = await stating.booked(elf, {
    entries: [
      files.paidIn({ amount: "10000", reference: "sub-2" }),
      files.paidOut({ amount: "25000", reference: "red-1" })
    ]
  })
  const bought = story.paid({ statementId, line: 1, amount: "10000" })
  await operator.complete("subscription.deliver", { subscriptionId: "sub-2", ...bought })
  await until.subscription("delivered")
  await operator.complete("subscription.settle", { subscriptionId: "sub-2" })
  await until.subscription("closed")
  const sold = story.paid({ statementId, line: 2, amount: "25000" })
  await operator.complete("redemption.settle", { redemptionId: "red-1", ...sold })
  await until.redemption("settled")

  // The carries of the month are unknown: people accept that before anything is paid.
  await operator.reconcile({ scope: { instrumentIds: [fund.instrumentId] } })
  const where = {
    instrumentId: fund.instrumentId,
    state: ["open"],
    severity: ["blocking"]
  } as const
  const { value: findings } = await auditor.list("findings.list", { where })
  expect(
    findings.map(({ check, subject }) => `${check} ${subject.resourceKind} ${subject.id}`)
  ).toEqual([`distribution-recompute distribution ${distributionId}`])
  const byHold = Map.groupBy(findings, ({ holdId }) => holdId ?? "")
  for (const [holdId, lines] of byHold) {
    const accept = lines.map(({ findingId }) => findingId)
    await walking.agreed(
      elf,
      "hold.release",
      { holdId, accept, reason: "nothing was carried" },
      { maker: "risk", approvers: ["approver", "approverTwo"] }
    )
  }
  await until.distribution("payable")
  await scene.moves(stack, "2026-08-03T05:00:00Z")
  await wallet.act(stack, "registrar", "deliver", {
    "line-id": `${distributionId}.1`,
    reference: "WIRE-1",
    "paid-on": "2026-08-03"
  })
  await until.lines("delivered")
  await operator.complete("distribution.roll", { distributionId })
  await until.distribution("paid")
  const { value } = await operator.list("distributions.lines", { where: { distributionId } })
  // 100,000 units earn 0.001 a day from July 21 on, less 15 %.
  expect(value.map(({ net }) => walking.plain(net))).toEqual(["935"])

  for (const [instrumentId, units] of [
    [fund.instrumentId, "85000"],
    [note.instrumentId, "5000"]
  ] as const) {
    const { head } = await operator.read("instruments.register", { instrumentId })
    expect([head.totalUnits, head.difference].map(walking.plain)).toEqual([units, "0"])
    expect(Decimal.formatPlain(await heldOnLedger(stack, instrumentId))).toBe(units)
  }
})
