/** A venue that begins again on a ledger that has forgotten: distributions in flight go on to their end. */
import { Records } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Struct } from "effect"
import { distributionContracts } from "#core/distributions/distribution/DistributionContract.ts"
import { distributionSlots } from "#core/distributions/distribution/DistributionSlot.ts"
import { findings } from "#core/findings/Finding.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { again, forgets, recordsAgain } from "./again.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"
import * as Reconciling from "./reconciling.ts"
import * as Restricting from "./restricting.ts"

type Stage = Effect.Success<ReturnType<typeof Month.founded>>["stage"]

const ids = ["h1", "h2", "h3"]
const delivers = (number: number) => (stage: Stage) =>
  Month.delivers(stage, "d-july", `d-july.${number}`)
const rolls = (number: number) => () => Month.rolls([`d-july.${number}`])

/** July of three holders, the third of whom has nothing but a carry. */
const begins = Effect.gen(function* () {
  const { stage, holders, point } = yield* Month.founded(ids)
  const [h1, h2, h3] = holders
  const lines = [
    Month.lineOf(1, h1!.party),
    Month.lineOf(2, h2!.party),
    Month.carried(3, h3!.party)
  ]
  yield* Cycles.at("2026-08-03T09:00:00Z")
  yield* Month.executes(stage, Month.termsOf(stage, point))
  return { stage, lines }
})
type Scene = Effect.Success<typeof begins>

const adds = ({ lines }: Scene) => Month.adds("d-july", lines)
const seals = ({ lines }: Scene) => Month.seals("d-july", lines)
const opens = () => Month.turns("d-july", "Open")

/** Steps of a month, each after those before it. */
const steps = [
  { name: "executed", does: (_: Scene) => Effect.void },
  { name: "with its lines added", does: adds },
  { name: "sealed", does: seals },
  { name: "open", does: opens },
  { name: "with a line delivered", does: ({ stage }: Scene) => delivers(1)(stage) },
  { name: "with a line rolled", does: () => rolls(1)() },
  { name: "with all lines delivered", does: ({ stage }: Scene) => delivers(2)(stage) }
] as const

/** Members of a line that follow from its contract and the records. */
const shownMembers = [
  "lineId",
  "number",
  "state",
  "reason",
  "holderId",
  "party",
  "custodian",
  "units",
  "gross",
  "withheld",
  "net",
  "payoutUnits",
  "lineCid",
  "directed",
  "evidence",
  "deliveredAt",
  "paidOn"
] as const

/** Lines with a contract, as the records show them. */
const onContracts = Effect.map(Month.lines, (lines) =>
  lines.filter(({ lineCid }) => lineCid !== null).map((line) => Struct.pick(line, shownMembers))
)

/** Members of a distribution that its contract on the ledger states. */
const onLedger = Effect.gen(function* () {
  const records = yield* Records
  const self = yield* Month.distribution()
  const { residual: _, suspended: __, holders, ...sums } = self.totals
  const isSealed = self.sealedAt !== null
  const contract = yield* records.get(distributionContracts, "d-july")
  const { lastMonth, distributionId, slotCid } = yield* records.get(distributionSlots, "fund-a")
  return {
    distributionId: self.distributionId,
    month: self.month,
    recordDate: self.recordDate,
    recordEndsAt: self.recordEndsAt,
    paymentDate: self.paymentDate,
    pointCids: self.pointCids,
    linesHash: self.linesHash,
    withholding: self.withholding,
    payoutAsset: self.payoutAsset,
    // Sums of a distribution that is not sealed are its plan's, and a snapshot has no plan.
    totals: isSealed ? { holders, ...sums } : null,
    isSealed,
    contract: [contract.cid, contract.lineCount, contract.isSealed, contract.isOpen],
    slot: [slotCid, lastMonth, distributionId]
  }
})

const found = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(findings, { limit: 100 })
  return rows.map(
    ({ record: { check, severity, state, subject, unit } }) =>
      `${check} ${subject.id} ${unit} ${severity} ${state}`
  )
})

const unplanned = "distribution-recompute d-july plan blocking"

describe("a venue that begins on a ledger that has forgotten", () => {
  it.effect.each(steps.map(({ name }, nth) => ({ name, done: steps.slice(0, nth + 1) })))(
    "has the records of a month that was $name, and none twice",
    ({ done }) =>
      Effect.gen(function* () {
        const scene = yield* begins
        for (const { does } of done) yield* does(scene)
        const before = { lines: yield* onContracts, distribution: yield* onLedger }
        yield* forgets
        yield* Effect.gen(function* () {
          yield* Calls.settle
          // The slot has the executed month at once, so that no month is executed twice.
          const records = yield* Records
          const slot = yield* records.get(distributionSlots, "fund-a")
          assert.deepStrictEqual([slot.lastMonth, slot.distributionId], ["2026-07", null])
          assert.strictEqual((yield* recordsAgain(scene.stage, Month.monthly("cash"))).why, "")
          assert.deepStrictEqual(yield* onContracts, before.lines)
          assert.deepStrictEqual(yield* onLedger, before.distribution)
          const executed = yield* Calls.write(
            "distribution.execute",
            {},
            { instrumentId: "fund-a", month: "2026-07" }
          )
          assert.match(executed.why, /^state-conflict/u)
          assert.deepStrictEqual(yield* Fund.surprises, [])
        }).pipe(Effect.provide(yield* again))
      }).pipe(Effect.provide(world()))
  )

  it.effect("has the lines as the registrar left them before the instrument was recorded", () =>
    Effect.gen(function* () {
      const scene = yield* begins
      const { stage } = scene
      yield* adds(scene)
      yield* seals(scene)
      yield* opens()
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        yield* delivers(2)(stage)
        assert.deepStrictEqual(yield* Fund.surprises, [])
        assert.strictEqual((yield* recordsAgain(stage, Month.monthly("cash"))).why, "")
        assert.deepStrictEqual(yield* Month.states, ["1 due", "2 delivered"])
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )

  it.effect("pays nothing before people accept what is unknown, then all of it once", () =>
    Effect.gen(function* () {
      const scene = yield* begins
      const { stage } = scene
      yield* adds(scene)
      yield* seals(scene)
      yield* opens()
      yield* delivers(1)(stage)
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        yield* Restricting.restricts("h2", "r1")
        yield* recordsAgain(stage, Month.monthly("cash"))
        yield* Cycles.turns
        assert.deepStrictEqual(yield* found, [`${unplanned} open`])
        // The engine stops the registrar, who could still deliver by the former venue's word.
        const [closed] = yield* Cycles.active(Templates.Distribution)
        assert.isFalse(closed!.payload.open)
        assert.deepStrictEqual(yield* Month.states, ["1 delivered", "2 suspended restriction"])
        assert.strictEqual((yield* Month.distribution()).state, "executed")
        const [hold] = yield* Reconciling.openHolds
        const accept = (yield* (yield* Records).list(findings, { limit: 1 })).map(
          ({ record }) => record.findingId as string
        )
        const released = yield* Calls.write(
          "hold.release",
          { holdId: hold!.holdId },
          { accept, reason: "the carries were paid by hand" }
        )
        assert.strictEqual(released.why, "")
        yield* Cycles.turns
        assert.deepStrictEqual(yield* found, [`${unplanned} accepted`])
        assert.strictEqual((yield* Month.distribution()).state, "payable")
        const [line] = yield* Cycles.active(Templates.DistributionLine)
        assert.isTrue(line!.payload.waits)
        yield* Restricting.lifts("r1")
        yield* Cycles.turns
        yield* delivers(2)(stage)
        assert.deepStrictEqual(yield* Month.states, ["1 delivered", "2 delivered"])
        yield* Cycles.at("2026-08-04T09:00:00Z")
        yield* Cycles.turns
        assert.deepStrictEqual(yield* Month.states, ["1 rolled", "2 rolled"])
        assert.strictEqual((yield* Month.distribution()).state, "paid")
        assert.deepStrictEqual(
          (yield* Month.lines).map(({ net }) => net),
          [Decimal.of("46.17"), Decimal.of("46.17")]
        )
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )
})
