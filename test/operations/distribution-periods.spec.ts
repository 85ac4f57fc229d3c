/**
 * Facts of distribution periods as they are loaded: policies and points at a pin, the offset of the
 * register of record, and when a record date has passed for ledger and projection.
 */
import { Records } from "@bursar/engine-core"
import { Date, Instant, Month, Offset } from "@bursar/engine-core/kernel"
import { ProjectionLog } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as PeriodLookups from "#core/distributions/period/PeriodLookups.ts"
import * as PeriodRules from "#core/distributions/period/PeriodRules.ts"
import { pricePoints } from "#core/instruments/price/PricePoint.ts"
import * as LedgerReach from "#core/records/LedgerReach.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"
import { id as instrumentIds } from "./story.ts"

const monthly = {
  distribution: {
    schedule: "monthly",
    withholding: 0.15,
    payoutDecimals: 2,
    payout: "units",
    calendar: { frequency: "monthly", recordDay: 31, paymentLagDays: 5 }
  },
  businessZone: "America/New_York"
}

const clock = (at: string) => TestClock.setTime(Instant.toEpochMillis(Instant.of(at)))
const facts = (executed: PeriodLookups.LastExecuted | null = null) =>
  PeriodLookups.factsOf({ instrumentId: "fund-a", executed })
const newest = Effect.map(Fund.newestContract(Templates.OraclePoint), ({ cid }) => cid)

/** A fund that distributes from 2026-07-31 on, with a point on each of these days at 20:30 UTC. */
const priced = (days: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened(monthly)
    const cids: Array<string> = []
    for (const [index, day] of days.entries()) {
      yield* clock(`${day}T21:00:00Z`)
      yield* Fund.publishes(stage, `1.0${index}`, `${day}T20:30:00Z`)
      cids.push(yield* newest)
    }
    return { stage, cids }
  })

describe("the facts of an instrument's periods", () => {
  it.effect("are its policies and the points of every oracle that any of them names", () =>
    Effect.gen(function* () {
      const { stage, cids } = yield* priced(["2026-08-04", "2026-08-31"])
      const other = yield* Fund.outsider("other-oracle")
      yield* Calls.write(
        "policy.set",
        instrumentIds,
        { oracle: other.party, effectiveFrom: "2026-09-02T00:00:00Z" },
        Calls.operator,
        "1"
      )
      yield* clock("2026-09-03T21:00:00Z")
      // Published by the former oracle after its time.
      yield* Fund.publishes(stage, "1.5", "2026-09-03T20:30:00Z")
      yield* Fund.publishes({ ...stage, oracle: other }, "1.02", "2026-09-03T20:30:00Z")
      const present = yield* newest
      const { versions, points, executed } = yield* facts()
      assert.deepEqual(
        versions.map(({ policyVersion, state }) => `${policyVersion} ${state}`),
        ["1 superseded", "2 current"]
      )
      assert.strictEqual(points.length, 4)
      const periods = PeriodRules.openPeriods({ versions, points, executed }, Month.of("2026-09"))
      assert.deepEqual(
        periods.map(({ month, points: dated }) => [
          month,
          dated.map(({ point }) => point.contractId)
        ]),
        [
          ["2026-08", cids],
          ["2026-09", [present]]
        ]
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("begin with the last executed month's point, or with all where it was taken back", () =>
    Effect.gen(function* () {
      const { stage, cids } = yield* priced([
        "2026-08-03",
        "2026-08-04",
        "2026-08-31",
        "2026-09-02"
      ])
      const executed = {
        month: Month.of("2026-08"),
        recordDate: Date.of("2026-08-31"),
        fromPoint: cids[0] ?? null,
        toPoint: cids[2] ?? "",
        paidRecordDate: null
      }
      const loaded = (lastExecuted: PeriodLookups.LastExecuted) =>
        Effect.map(facts(lastExecuted), ({ points }) => points.map(({ contractId }) => contractId))
      assert.deepEqual(yield* loaded(executed), cids.slice(2))
      const paid = { ...executed, paidRecordDate: Date.of("2026-08-04") }
      assert.deepEqual(yield* loaded(paid), cids)
      yield* stage.oracle.act({
        _tag: "Exercise",
        target: Templates.OraclePoint.typeRef,
        contractId: executed.toPoint,
        choice: "Archive",
        arg: {}
      })
      assert.deepEqual(yield* loaded(executed), cids)
      const [next] = PeriodRules.openPeriods(yield* facts(executed), Month.of("2026-09"))
      assert.strictEqual(next?.before?.point.contractId, cids[1])
      assert.strictEqual(next?.fromPoint?.contractId, cids[0])
    }).pipe(Effect.provide(world()))
  )
})

describe("the register of record", () => {
  const end = Instant.of("2026-09-01T04:00:00Z")

  it.effect("is read before the midnight, where an update at that very midnight is out", () =>
    Effect.gen(function* () {
      const { stage } = yield* priced(["2026-08-31"])
      yield* clock("2026-09-01T03:59:59.999Z")
      yield* Fund.publishes(stage, "1.1", "2026-09-01T03:00:00Z")
      const before = yield* Effect.flatMap(ProjectionLog, ({ head }) => head)
      yield* clock("2026-09-01T04:00:00Z")
      yield* Fund.publishes(stage, "1.2", "2026-09-01T03:00:00Z")
      const records = yield* Records
      const [late] = yield* records.list(pricePoints, {
        where: { instrumentId: ["fund-a"] },
        direction: "desc",
        limit: 1
      })
      assert.isDefined(late)
      if (late === undefined) return
      const offset = yield* PeriodLookups.recordOffsetOf(end)
      assert.isBelow(offset, late.record.offset)
      assert.strictEqual(offset, before.offset)
      assert.strictEqual(
        yield* PeriodLookups.recordOffsetOf(Instant.fromNanos(late.record.publishedAt + 1n)),
        late.record.offset
      )
    }).pipe(Effect.provide(world()))
  )

  it.effect("never is read where the history begins after the record date", () =>
    Effect.gen(function* () {
      yield* priced(["2026-08-31"])
      const log = yield* ProjectionLog
      const { offset } = yield* log.head
      yield* log.prune({ offset, limit: 1000 })
      const refusal = yield* Effect.flip(
        PeriodLookups.recordOffsetOf(Instant.of("2026-08-31T04:00:00Z"))
      )
      assert.strictEqual("slug" in refusal ? refusal.slug : "", "before-horizon")
      assert.strictEqual(yield* PeriodLookups.recordOffsetOf(end), offset)
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "is final 60 seconds after the midnight, once the projection read the ledger's end",
    () =>
      Effect.gen(function* () {
        yield* priced(["2026-08-31"])
        const { offset } = yield* Effect.flatMap(ProjectionLog, ({ head }) => head)
        const reach = yield* LedgerReach.LedgerReach
        const passed = (at: string, ledgerEnd: number) =>
          PeriodLookups.recordDatePassed(end, { now: Instant.of(at) }).pipe(
            Effect.provideService(LedgerReach.LedgerReach, {
              ...reach,
              ledgerEnd: Effect.map(reach.ledgerEnd, ({ readAt }) => ({
                readAt,
                offset: Offset.of(ledgerEnd)
              }))
            })
          )
        yield* clock("2026-09-01T04:01:00Z")
        assert.isFalse(yield* passed("2026-09-01T04:00:59.999999Z", offset))
        assert.isTrue(yield* passed("2026-09-01T04:01:00Z", offset))
        assert.isFalse(yield* passed("2026-09-01T04:01:00Z", offset + 1))
      }).pipe(Effect.provide(world()))
  )
})
