/** Two hosts on one database distribute a month under a standing approval, and one of them dies in the middle. */
import { Records } from "@bursar/engine-core"
import { Effect } from "effect"
import { afterAll, expect, it } from "vitest"
import { distributionContracts } from "#core/distributions/distribution/DistributionContract.ts"
import { runs } from "#core/reconciliation/run/Run.ts"
import * as Months from "../kill/months.ts"
import * as Fund from "../operations/fund.ts"

let months: Months.Months | undefined
afterAll(() => months?.close())

const isOpen = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(distributionContracts, { limit: 2 })
  return found.some(({ record }) => record.isOpen)
})

const ran = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(runs, { limit: 100 })
  return found.map(({ record }) => `${record.trigger} ${record.distributionsCleared.join()}`)
})

it("two hosts never announce, execute, clear or open a month twice, and one goes on alone where the other dies", async () => {
  const size = { holders: 3, others: 0, batchLines: 2 }
  const twin = await Months.undisturbed(size)
  months = await Months.open(size, { at: "2026-07-31T12:00:00Z", first: Months.grants })
  const { at, committed, does, start, until } = months
  await start()
  await start()
  expect(await does(Months.announced)).toEqual([])
  const dead = months.dies({ choice: "AddLines", at: "after" })
  await at("2026-08-01T00:02:00Z")
  await dead
  expect(months.hosts()).toHaveLength(1)
  await until(isOpen)
  expect(await months.shown()).toEqual(twin)
  expect(committed()).toEqual({ Execute: 1, AddLines: 2, Seal: 1, Open: 1 })
  expect(await does(Months.announced)).toEqual(["distribution.due", "distribution.payable"])
  expect(await does(ran)).toEqual([`schedule ${Months.distributionId}`])
  expect(await does(Months.written)).toEqual([
    "distribution.execute succeeded",
    "distribution.instruct succeeded"
  ])
  expect(await does(Fund.surprises)).toEqual([])
})
