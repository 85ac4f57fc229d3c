/**
 * A host is killed in the middle of a reconciliation run over several instruments: after its restart the
 * run is made once, with every instrument in it.
 */
import { Records, recordsLayer, Settings, settingsDefaults } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Effect, Layer, Redacted } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { findings } from "#core/findings/Finding.ts"
import { registerEntries } from "#core/instruments/register/RegisterEntry.ts"
import { runs } from "#core/reconciliation/run/Run.ts"
import { runParts } from "#core/reconciliation/run/RunPart.ts"
import { runsUnderWay } from "#core/reconciliation/run/RunUnderWay.ts"
import { bodyOf, registrar } from "../operations/instrumentBody.ts"
import { wanted } from "../waiting.ts"
import * as Instances from "./instances.ts"

const funds = ["fund-a", "fund-b", "fund-c", "fund-d"]

let instances: Instances.Instances
beforeAll(async () => {
  instances = await Instances.start({ count: 1 })
})
afterAll(() => instances.stop())

/** Reads and writes the records of the hosts' database. */
const does = <A>(effect: Effect.Effect<A, unknown, Records>): Promise<A> =>
  Effect.runPromise(
    Effect.provide(
      effect,
      recordsLayer.pipe(
        Layer.provide(
          Layer.mergeAll(
            Postgres.layer({ url: Redacted.make(instances.databaseUrl) }),
            NodeCrypto.layer,
            Layer.succeed(Settings, settingsDefaults)
          )
        )
      )
    )
  )

/** Units on the registers that no holding has: a finding of each instrument. */
const planted = async () => {
  const offset = await instances.ledger.ask(
    Effect.flatMap(Ledger.Ledger, ({ ledgerEnd }) => ledgerEnd)
  )
  await does(
    Effect.gen(function* () {
      const records = yield* Records
      const now = yield* Instant.now
      const act = { cause: { by: "run", runId: "fault" } as const, now, offset }
      const none = { locked: Decimal.zero, since: now, emptySince: null }
      for (const instrumentId of funds) {
        const entry = { registrar, instrumentId, party: registrar, units: Decimal.one, ...none }
        yield* records.transact(records.open(registerEntries, entry as never, act))
      }
    })
  )
}

const shown = Effect.gen(function* () {
  const records = yield* Records
  const made = yield* records.list(runs, { limit: 10 })
  const found = yield* records.list(findings, { limit: 100 })
  const supply = found.filter(({ record }) => record.check === "register-supply")
  return {
    runs: made.map(({ record }) => `${record.runId} ${record.trigger} ${record.verdict}`),
    compared: made.map(
      ({ record }) => record.checks.find(({ check }) => check === "register-supply")?.findings
    ),
    findings: supply.map(({ record }) => `${record.instrumentId} ${record.seenRuns}`).toSorted(),
    left:
      (yield* records.list(runsUnderWay, { limit: 10 })).length +
      (yield* records.list(runParts, { limit: 10 })).length
  }
})

it("a run of every instrument is made once where its host dies in the middle, and loses and doubles nothing", async () => {
  const { hosts, more, token } = instances
  const operator = await token("olga", ["operator"])
  const approver = await token("ada", ["approver"])
  for (const instrumentId of funds) {
    const body = { ...bodyOf(), instrumentId, oracle: null }
    const made = await Instances.insist(hosts, {
      ...{ as: operator, path: "/v1/instruments", key: instrumentId, body }
    })
    const action = Instances.textOf(made.body, "actionKey")
    const signed = await Instances.insist(hosts, {
      ...{ as: approver, path: `/v1/approvals/${action}:approve`, key: action, body: {} }
    })
    const operationId = Instances.textOf(signed.body, "operationId")
    expect(await Instances.ended(hosts, { as: operator, operationId })).toBe("succeeded")
  }
  await planted()

  const [dying] = hosts
  if (dying === undefined) throw new Error("no host")
  const path = "/v1/reconciliation-runs"
  const run = { as: operator, path, key: "run-1", body: {} }
  // It has compared two, and dies where it would lock the third.
  dying.arm(1, "before", "instrument/fund-c")
  expect(await Instances.call(dying, run)).toBeNull()
  await dying.ended
  const before = await does(shown)
  expect([before.runs, before.findings]).toEqual([[], ["fund-a 1", "fund-b 1"]])

  const next = await more()
  const answer = await Instances.insist([next], run)
  expect([200, 201]).toContain(answer.status)
  const runId = Instances.textOf(answer.body, "runId")
  const after = await wanted(async () => {
    const now = await does(shown)
    return now.left === 0 ? now : undefined
  })
  expect(after).toEqual({
    runs: [`${runId} manual blocked`],
    compared: [funds.length],
    findings: funds.map((instrumentId) => `${instrumentId} 1`),
    left: 0
  })
  const again = await Instances.insist([next], run)
  expect([again.status, Instances.textOf(again.body, "runId")]).toEqual([200, runId])
})
