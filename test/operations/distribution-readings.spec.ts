/** Distributions as the ledger shows them: executed, their lines added, delivered, void, rolled and paid. */
import { EventQueries, Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Struct } from "effect"
import { distributionContracts } from "#core/distributions/distribution/DistributionContract.ts"
import { distributionPlans } from "#core/distributions/distribution/DistributionPlan.ts"
import { DistributionId, planned } from "#core/distributions/distribution/Distribution.ts"
import * as Lookups from "#core/distributions/distribution/DistributionLookups.ts"
import * as LineLookups from "#core/distributions/distribution/LineLookups.ts"
import { standingApprovals } from "#core/distributions/standing-approval/StandingApproval.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Machines from "../machines/distributions.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Restricting from "./restricting.ts"
import { granted } from "./standing-approvals.ts"

const engine = (options: Parameters<typeof world>[0] = {}) => Effect.provide(world(options))
const includes = (self: object, members: object) => assert.deepInclude(self, members)

const announced = Effect.gen(function* () {
  const feed = yield* EventQueries.EventQueries
  const page = yield* feed.page({
    caller: Calls.operator,
    params: { resourceKind: ["distribution"] },
    limit: 1000
  })
  return page.value.map(({ type }) => type).filter((type) => type.startsWith("distribution."))
})

const scene = (holderIds: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const { stage, holders, point } = yield* Month.founded(holderIds)
    const parties = holders.map(({ party }) => party)
    return { stage, holders, point, parties }
  })

describe("a distribution on the ledger", () => {
  it.effect("opens with its lines, and is sealed with the sums of the ledger", () =>
    Effect.gen(function* () {
      const { stage, parties, point } = yield* scene(["h1", "h2"])
      const [h1, h2] = parties
      const lines = [Month.lineOf(1, h1!), Month.carried(2, h2!)]
      yield* Month.executes(stage, Month.termsOf(stage, point))
      includes(yield* Month.distribution(), { state: "executed", sealedAt: null, month: "2026-07" })
      yield* Month.adds("d-july", lines)
      assert.deepStrictEqual(yield* Month.states, ["1 due", "2 carried unrolled"])
      yield* Month.seals("d-july", lines)
      const sealed = yield* Month.distribution()
      assert.isNotNull(sealed.sealedAt)
      includes(sealed.totals, {
        holders: 2,
        gross: Decimal.of("54.32"),
        net: Decimal.of("46.17"),
        carried: Decimal.of("54.3219743288")
      })
      // Only its own states make a version of it: it opened, was sealed, and was cleared by the run
      // that follows.
      assert.strictEqual(sealed.version, 3)
      const records = yield* Records
      includes(yield* records.get(distributionContracts, "d-july"), {
        lineCount: 2,
        isSealed: true,
        isOpen: false
      })
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("counts its income from the first of its points where it is not at par", () =>
    Effect.gen(function* () {
      const { stage } = yield* Executions.founded(["h1"], Executions.accumulating)
      const cids = []
      for (const [price, valued] of [
        ["1", "2026-06-29T10:00:00Z"],
        ["1.01", "2026-07-28T11:00:00Z"]
      ] as const) {
        yield* Cycles.at("2026-07-28T12:00:00Z")
        yield* Executions.publishes(stage, price, valued, { metric: "price" })
        cids.push((yield* Fund.newestContract(Templates.OraclePoint)).cid)
      }
      const paid = { payout: "units", payoutPrice: Decimal.of("1.01"), pointCids: cids } as const
      yield* Month.executes(stage, Month.termsOf(stage, cids[1]!, paid))
      includes(yield* Month.distribution(), { fromPoint: cids[0], toPoint: cids[1] })
    }).pipe(engine())
  )

  it.effect("keeps the terms and pins of its operation's plan", () =>
    Effect.gen(function* () {
      const { stage, parties, point } = yield* scene(["h1"])
      const records = yield* Records
      const terms = Struct.pick(Machines.distribution(), planned)
      const plan = {
        ...terms,
        operationId: "op_plan",
        toPoint: point,
        pointCids: [point],
        linesHash: "cd".repeat(32),
        registrar: stage.registrar.party,
        recordOffset: Offset.of(3),
        standingApprovalId: "sa1",
        executedAt: Machines.executedAt,
        fromPrice: null,
        toPrice: Decimal.one,
        points: [],
        previous: null,
        unrolledIn: [],
        partyOffsets: [],
        carryIn: Decimal.zero,
        steps: []
      }
      const act = { cause: { by: "request" as const, requestId: "r" }, now: yield* Instant.now }
      yield* records.transact(records.open(distributionPlans, plan, act))
      yield* records.transact(records.open(standingApprovals, granted(), act))
      yield* Month.executes(stage, Month.termsOf(stage, point), "op_plan")
      includes(yield* Month.distribution(), {
        recordOffset: Offset.of(3),
        totals: terms.totals,
        executedBy: { operationId: "op_plan", standingApprovalId: "sa1" }
      })
      const used = yield* records.get(standingApprovals, "sa1")
      includes(used, { uses: 1, usedNet: terms.totals.net })
      assert.isNotEmpty(parties)
    }).pipe(engine())
  )

  it.effect("is paid once, by the roll of the last line that is left", () =>
    Effect.gen(function* () {
      const { stage, parties, point } = yield* scene(["h1", "h2"])
      const lines = parties.map((party, nth) => Month.lineOf(nth + 1, party))
      yield* Month.opened(stage, point, lines)
      yield* Month.delivers(stage, "d-july", "d-july.1")
      yield* Month.rolls(["d-july.1"])
      assert.strictEqual((yield* Month.distribution()).state, "payable")
      yield* Month.delivers(stage, "d-july", "d-july.2")
      assert.deepStrictEqual(yield* Month.states, ["1 rolled", "2 delivered"])
      assert.strictEqual((yield* Month.distribution()).state, "payable")
      yield* Month.rolls(["d-july.2"])
      assert.strictEqual((yield* Month.distribution()).state, "paid")
      assert.deepStrictEqual(yield* announced, ["distribution.payable", "distribution.paid"])
      const [first] = yield* Month.lines
      includes(first!, { evidence: Month.evidence, paidOn: Month.evidence.paidOn, lineCid: null })
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("is paid without its suspended, carried and void lines", () =>
    Effect.gen(function* () {
      const { stage, holders, parties, point } = yield* scene(["h1", "h2", "h3"])
      assert.lengthOf(holders, 3)
      yield* Restricting.restricts("h2", "r2")
      yield* Restricting.restricts("h3", "r3")
      const lines = parties.map((party, nth) => Month.lineOf(nth + 1, party, { waits: nth > 0 }))
      yield* Month.opened(stage, point, lines)
      assert.deepStrictEqual(yield* Month.states, [
        "1 due",
        "2 suspended restriction",
        "3 suspended restriction"
      ])
      assert.deepStrictEqual((yield* Month.distribution()).totals.suspended, Decimal.of("92.34"))
      yield* Month.voids("d-july.3")
      yield* Month.delivers(stage, "d-july", "d-july.1")
      yield* Month.rolls(["d-july.1"])
      assert.deepStrictEqual(yield* Month.states, ["1 rolled", "2 suspended restriction", "3 void"])
      assert.strictEqual((yield* Month.distribution()).state, "paid")
    }).pipe(engine())
  )

  it.effect("never loses a delivery of a line that was to wait, and keeps the breach", () =>
    Effect.gen(function* () {
      const { stage, parties, point } = yield* scene(["h1"])
      yield* Restricting.restricts("h1", "r1")
      // The ledger was not announced that it waits.
      yield* Month.opened(stage, point, [Month.lineOf(1, parties[0]!)])
      assert.deepStrictEqual(yield* Month.states, ["1 suspended restriction"])
      yield* Month.delivers(stage, "d-july", "d-july.1")
      assert.deepStrictEqual(yield* Month.states, ["1 delivered"])
      assert.deepStrictEqual(yield* Fund.surprises, [
        "distribution deliver: The line was suspended, and its distribution paid."
      ])
    }).pipe(engine())
  )

  it.effect("suspends a line of a party that is no holder", () =>
    Effect.gen(function* () {
      const { stage, point } = yield* scene([])
      yield* Month.opened(stage, point, [Month.lineOf(1, stage.bank.party, { waits: true })])
      assert.deepStrictEqual(yield* Month.states, ["1 suspended no-holder"])
    }).pipe(engine())
  )

  it.effect("follows what the venue tells the registrar of a line", () =>
    Effect.gen(function* () {
      const { stage, parties, point } = yield* scene(["h1"])
      const [holder] = parties
      yield* Month.opened(stage, point, [Month.lineOf(1, holder!)])
      yield* Month.directs("d-july.1", { holder: holder!, custodian: null, waits: true })
      const [line] = yield* Month.lines
      includes(line!, { state: "due", directed: { party: holder!, waits: true } })
      // An investor may not learn of it.
      assert.deepStrictEqual(line!.visible.version, 1)
    }).pipe(engine())
  )

  it.effect("is found by its instrument, and its lines by their payees", () =>
    Effect.gen(function* () {
      const { stage, holders, parties, point } = yield* scene(["h1", "h2"])
      assert.isNull(yield* Lookups.lastExecuted("fund-a", null))
      assert.isFalse(yield* LineLookups.hasUnrolled("fund-a", null))
      const lines = [
        Month.lineOf(1, parties[0]!),
        Month.carried(2, parties[1]!),
        Month.lineOf(3, stage.bank.party, { waits: true })
      ]
      yield* Month.opened(stage, point, lines)
      assert.strictEqual((yield* Lookups.lastExecuted("fund-a", null))?.distributionId, "d-july")
      assert.strictEqual((yield* Lookups.slotOf("fund-a", null))?.lastMonth, "2026-07")
      const id = Schema.decodeSync(DistributionId)("d-july")
      const payees = [
        ...holders.map(({ holderId, party }) => ({ holderId, party })),
        { holderId: null, party: stage.bank.party }
      ]
      const numbers = (found: ReadonlyArray<{ readonly number: number }>) =>
        found.map(({ number }) => number).toSorted()
      assert.deepStrictEqual(
        numbers(yield* LineLookups.linesOfPayees([id], payees, null)),
        [1, 2, 3]
      )
      assert.deepStrictEqual(numbers(yield* LineLookups.unrolledOf([id], payees, null)), [1, 3])
      assert.deepStrictEqual(
        numbers(yield* LineLookups.linesOfPayees([id], payees.slice(0, 1), null)),
        [1]
      )
      assert.deepStrictEqual([...(yield* LineLookups.unrolledIn("fund-a", null))], [["d-july", 2]])
      assert.strictEqual(yield* LineLookups.unrolledOfHolder("h1"), "d-july.1")
      assert.isNull(yield* LineLookups.unrolledOfHolder("h2"))
      includes((yield* LineLookups.countsOf([id], null)).get(id)!, {
        due: 1,
        suspended: 1,
        carried: 1,
        delivered: 0
      })
    }).pipe(engine())
  )
})
