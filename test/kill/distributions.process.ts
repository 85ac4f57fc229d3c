/**
 * kill -9 of the host in every step of a distribution, before the ledger has it, after it has committed
 * and while its update is projected: one distribution, each line once, as if no host had ever died.
 */
import { Records } from "@bursar/engine-core"
import * as Templates from "@bursar/engine-core/templates"
import { Effect } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { distributionContracts } from "#core/distributions/distribution/DistributionContract.ts"
import * as Calls from "../engine/calls.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Month from "../operations/distributions.ts"
import * as Executions from "../operations/executions.ts"
import * as Fund from "../operations/fund.ts"
import * as Powers from "../operations/powers.ts"
import * as Restricting from "../operations/restricting.ts"
import * as Months from "./months.ts"
import { isLong } from "../long-run.ts"

/** A run's fact of a distribution that it clears, on its way to the database. */
const clears = '"on\\\\*":\\\\*"clear'

/** Three batches of lines, of whatever size: each step is killed at the same places. */
const lineCount = isLong ? 1_200 : 60

let months: Months.Months | undefined
afterEach(async () => {
  await months?.close()
  months = undefined
})

/** The scheduler's fact that a month is due, on its way to the database. */
const announces = '"announced\\\\*":'
/** The same of the operation that it has opened to execute the month. */
const opens = '"circumstances\\\\*":\\\\*"'

const isOpen = Effect.gen(function* () {
  const records = yield* Records
  return (yield* records.get(distributionContracts, Months.distributionId)).isOpen
})

/** Counts the lines of these holders that wait on the ledger. */
const waiting = (holderIds: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const lines = yield* Executions.linesOf(Months.distributionId)
    const ids = new Set<string>(
      lines.flatMap(({ holderId, lineId }) => (holderIds.includes(holderId ?? "") ? [lineId] : []))
    )
    const active = yield* Cycles.active(Templates.DistributionLine)
    return active.flatMap(({ payload }) =>
      ids.has(payload.lineId) && payload.waits ? [payload.lineId] : []
    ).length
  })

const counted = Effect.map(Executions.linesOf(Months.distributionId), (lines) =>
  lines.reduce<Record<string, number>>(
    (counts, { state }) => ({ ...counts, [state]: (counts[state] ?? 0) + 1 }),
    {}
  )
)

describe("a distribution whose hosts are killed", () => {
  it("never loses a line or has one twice: five lines, killed while their seal is projected", async () => {
    const size = { holders: 5, others: 0, batchLines: 2 }
    const twin = await Months.undisturbed(size)
    months = await Months.open(size)
    await months.dies({ choice: "Seal", at: 5 })
    await months.start()
    await months.until(Effect.map(Months.stateOf, (state) => state === "payable"))
    expect(await months.shown()).toEqual(twin)
    expect(twin).toMatchObject({ holders: 5, isSealed: true })
    expect(months.committed()).toMatchObject({ Execute: 1, AddLines: 3, Seal: 1 })
    expect(await months.does(Fund.surprises)).toEqual([])
  })

  it("never is announced or executed twice by the scheduler: five lines, killed as the month is announced, as its execution is opened, and in every step", async () => {
    const size = { holders: 4, others: 1, batchLines: 2 }
    const twin = await Months.undisturbed(size)
    months = await Months.open(size, { first: Months.grants })
    const { committed, dies, does, start, until } = months
    for (const death of [
      { says: announces, at: 1 },
      { says: announces, at: 2 },
      { says: opens, at: 1 },
      { says: opens, at: 2 },
      { choice: "Execute", at: "before" },
      { choice: "Execute", at: "after" },
      { choice: "AddLines", at: "before" },
      { choice: "AddLines", at: "after" },
      { choice: "AddLines", at: 3 },
      { choice: "Seal", at: "before" },
      { choice: "Seal", at: "after" }
    ] as const) {
      await dies(death)
    }
    await start()
    await until(isOpen)
    expect(await months.shown()).toEqual(twin)
    expect(committed()).toEqual({ Execute: 1, AddLines: 3, Seal: 1, Open: 1 })
    expect(await does(Months.announced)).toEqual(["distribution.due", "distribution.payable"])
    expect(await does(Months.written)).toEqual([
      "distribution.execute succeeded",
      "distribution.instruct succeeded"
    ])
    expect(await does(Fund.surprises)).toEqual([])
  })

  it(`never pays a line twice or not at all: ${lineCount} lines, killed in every step from the first to paid`, async () => {
    const size = { holders: 4, others: lineCount - 4, batchLines: Math.ceil(lineCount / 2.4) }
    const holderIds = ["h1", "h2", "h3", "h4"]
    const twin = await Months.undisturbed(size)
    expect(twin).toMatchObject({ holders: lineCount, isSealed: true })
    months = await Months.open(size)
    const { at, committed, does, stage, until } = months
    const dies = async (...deaths: ReadonlyArray<Months.Death>) => {
      for (const death of deaths) await months?.dies(death)
    }
    const dying = async (...deaths: ReadonlyArray<Months.Death>) => {
      await dies(...deaths)
      await months?.start()
    }
    const { clearedBy, stateOf } = Months

    await dies(
      { choice: "Execute", at: "before" },
      { choice: "Execute", at: "after" },
      { choice: "AddLines", at: "before" },
      { choice: "AddLines", at: "after" },
      { choice: "AddLines", at: "before" },
      { choice: "AddLines", at: 3 },
      { choice: "AddLines", at: "after" },
      { choice: "Seal", at: "before" },
      { choice: "Seal", at: 5 }
    )
    // The run that clears it dies as it records that, and again as it commits.
    await dies({ says: clears, at: 1 })
    expect([await does(stateOf), await does(clearedBy)]).toEqual(["executed", []])
    await dies({ says: clears, at: 2 })
    await dying({ choice: "Open", at: "before" }, { choice: "Open", at: "after" })
    await until(isOpen)
    expect(await months.shown()).toEqual(twin)
    expect(committed()).toEqual({ Execute: 1, AddLines: 3, Seal: 1, Open: 1 })
    expect((await does(Months.written))[0]).toBe("distribution.execute succeeded")
    expect(await does(clearedBy)).toEqual(["schedule"])

    // One holder is frozen while the distribution is open, which is then held and released.
    await does(Restricting.restricts("h2", "r1"))
    await dying({ choice: "Direct", at: "before" }, { choice: "Direct", at: "after" })
    await until(Effect.map(waiting(holderIds), (lines) => lines === 1))
    const paused = { holdId: "p1", reason: "looked into" }
    await does(Calls.write("instrument.pause", { instrumentId: "fund-a" }, paused))
    await dying({ choice: "Close", at: "before" }, { choice: "Close", at: 4 })
    await until(Effect.map(isOpen, (open) => !open))
    await does(Restricting.lifts("r1"))
    await does(Restricting.restricts("h3", "r3"))
    await does(Restricting.restricts("h4", "r4"))
    await until(Effect.map(counted, ({ due }) => due === 2))
    await does(Calls.write("hold.release", { holdId: "p1" }, {}))
    await dying({ choice: "Open", at: "after" })
    await until(isOpen)
    expect(await does(waiting(holderIds))).toBe(2)
    expect(await does(clearedBy)).toEqual(["schedule", "release"])

    // An order voids the lines of the two that are frozen by then.
    const voided = async (holderId: string, ...deaths: ReadonlyArray<Months.Death>) => {
      const own = (await does(Executions.linesOf(Months.distributionId))).find(
        (line) => line.holderId === holderId
      )
      const [first, ...rest] = deaths
      const dead = first === undefined ? undefined : dies(first)
      const body = { voids: [own?.lineId ?? ""], order: Powers.order }
      await does(Calls.write("holder.force-transfer", { holderId }, body))
      await dead
      await dying(...rest)
    }
    await voided("h3", { choice: "Void", at: "before" }, { choice: "Void", at: "after" })
    await until(Effect.map(counted, (counts) => counts["void"] === 1))
    await voided("h4", { choice: "Void", at: 4 })
    await until(Effect.map(counted, (counts) => counts["void"] === 2))

    await at("2026-08-03T09:00:00Z")
    for (const { lineId, state } of await does(Executions.linesOf(Months.distributionId))) {
      if (state === "due") await does(Month.delivers(stage, Months.distributionId, lineId))
    }
    await until(Effect.map(counted, ({ delivered }) => delivered === 2))
    // The hour after which the engine rolls runs by the database's clock, which no test moves.
    const rolling = dies({ choice: "Roll", at: "before" })
    const { distributionId } = Months
    await does(Calls.write("distribution.roll", { distributionId }, {}))
    await rolling
    await dying({ choice: "Roll", at: "after" })
    await until(Effect.map(Months.stateOf, (state) => state === "paid"))

    expect(await does(counted)).toEqual({ rolled: 2, void: 2, suspended: lineCount - 4 })
    expect(await months.shown()).toEqual(twin)
    expect(committed()).toEqual({
      ...{ Execute: 1, AddLines: 3, Seal: 1 },
      ...{ Open: 2, Direct: 2, Close: 1, Void: 2, Roll: 1 }
    })
    const written = await does(Months.written)
    expect(written.filter((text) => !text.endsWith(" succeeded"))).toEqual([])
    expect(await does(Fund.surprises)).toEqual([])
  })
})
