/** Accrued income of a portfolio, day by day, and the number of its look-ups. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, Month, Offset } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { distributionSlots } from "#core/distributions/distribution/DistributionSlot.ts"
import * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import { LedgerReach } from "#core/records/LedgerReach.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import type * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import { holderIdOf } from "./reports.ts"
import * as Venue from "./venue.ts"

const engine = () => Effect.provide(world())
const holderId = holderIdOf("h1")

/** Instrument, accrued and cost of each row. */
const rows = (point: { readonly asOf?: Instant.Instant; readonly at?: Offset.Offset } = {}) =>
  Effect.map(Venue.read(PortfolioQueries.portfolio, { holderId }, { point }), (answer) => ({
    now: answer.now,
    offset: answer.offset,
    rows: answer.value.map(({ accrued, cost, instrumentId }) => [
      instrumentId as string,
      accrued === null ? null : Decimal.formatPlain(accrued),
      cost === null ? null : Decimal.formatPlain(cost)
    ])
  }))

/** The rows once the ledger's time has reached an instant: an update that is of no instrument here. */
const accruedAt = (stage: Fund.Parties, instant: string) =>
  Effect.gen(function* () {
    yield* Cycles.at(instant)
    yield* Executions.publishes(stage, "1", instant, { instrumentId: "elsewhere" })
    return yield* rows()
  })

/** A par fund in a zone that is five and a half hours ahead of UTC, and its holder. */
const founded = Effect.gen(function* () {
  const terms = { ...Executions.par, businessZone: "Asia/Kolkata" }
  const { stage, holders } = yield* Executions.founded(["h1"], terms)
  const [holder] = holders
  if (holder === undefined) throw new Error("one holder")
  return { stage, holder, terms }
})

/** Look-ups of a portfolio, by collection. */
const lookups = Effect.gen(function* () {
  const records = yield* Records
  const storeCalls: Array<string> = []
  const note = <A>({ name }: { readonly name: string }, answer: A): A => {
    storeCalls.push(name)
    return answer
  }
  const counted: Records["Service"] = {
    ...records,
    find: (collection, ...args) => note(collection, records.find(collection, ...args)),
    get: (collection, ...args) => note(collection, records.get(collection, ...args)),
    many: (collection, ...args) => note(collection, records.many(collection, ...args)),
    list: (collection, query) => note(collection, records.list(collection, query)),
    versions: (collection, ...args) => note(collection, records.versions(collection, ...args)),
    stream: (collection, query) =>
      Stream.suspend(() => note(collection, records.stream(collection, query)))
  }
  const now = yield* Instant.now
  const value = yield* PortfolioQueries.portfolio
    .run({ holderId }, { ...asking, pin: { ...asking.pin, ledgerTime: now, judgedAt: now }, now })
    .pipe(Effect.provideService(Records, counted))
  return { storeCalls: storeCalls.toSorted(), value }
})

const asking = {
  caller: Venue.auditor,
  role: "auditor",
  sight: "all",
  venue: "venue::1220aa" as never,
  pin: {
    offset: Offset.of(1_000_000),
    select: { by: "latest" }
  }
} as const

describe("what a par portfolio has earned", () => {
  it.effect(
    "is the income of the days that have ended since the record date, each at the units of its point",
    () =>
      Effect.gen(function* () {
        const { stage, holder } = yield* founded
        yield* Cycles.at("2026-07-01T06:00:00Z")
        yield* Powers.mints(stage, holder, "1000")
        yield* Cycles.at("2026-07-03T10:00:00Z")
        yield* Executions.publishes(stage, "0.0001", "2026-07-03T10:00:00Z")
        const seen: Array<Effect.Success<ReturnType<typeof rows>>> = []
        const expected = (instant: string, accrued: string) =>
          Effect.gen(function* () {
            const found = yield* accruedAt(stage, instant)
            assert.deepEqual(found.rows, [["fund-a", accrued, null]], instant)
            seen.push(found)
          })
        yield* expected("2026-07-03T18:29:59Z", "0")
        yield* expected("2026-07-03T18:30:00Z", "0.1")
        // Units received in the last second of the zone's Monday: the point of Friday does not
        // count them.
        yield* Cycles.at("2026-07-06T18:29:59Z")
        yield* Powers.mints(stage, holder, "500")
        yield* expected("2026-07-06T18:30:00Z", "0.4")
        // Valued on Monday by UTC, and on Tuesday in the zone.
        yield* Cycles.at("2026-07-06T20:00:00Z")
        yield* Executions.publishes(stage, "0.0002", "2026-07-06T20:00:00Z")
        yield* expected("2026-07-07T18:29:59Z", "0.4")
        // Units that come at the very midnight are of the next day.
        yield* Cycles.at("2026-07-07T18:30:00Z")
        yield* Powers.mints(stage, holder, "1")
        yield* expected("2026-07-07T18:30:00Z", "0.7")
        yield* expected("2026-07-31T18:29:59Z", "7.6")
        yield* expected("2026-07-31T18:30:00Z", "0")
        yield* expected("2026-08-01T18:30:00Z", "0.3")
        const { why } = yield* Calls.write(
          "distribution.execute",
          {},
          { instrumentId: "fund-a", month: "2026-07" }
        )
        assert.strictEqual(why, "")
        assert.deepEqual((yield* rows()).rows, [["fund-a", "0.3", null]])
        yield* expected("2026-08-02T18:30:00Z", "0.6")
        // Pinned to each of those instants the answer is unchanged, although a month has been
        // executed since.
        for (const { now, offset, rows: rowsThen } of seen) {
          assert.deepEqual((yield* rows({ at: offset })).rows, rowsThen, Instant.format(now))
          assert.deepEqual((yield* rows({ asOf: now })).rows, rowsThen, Instant.format(now))
        }
      }).pipe(engine())
  )

  it.effect("goes on while the ledger rests, by the instant of the read", () =>
    Effect.gen(function* () {
      const { stage, holder } = yield* founded
      yield* Powers.mints(stage, holder, "1000")
      yield* Cycles.at("2026-07-03T10:00:00Z")
      yield* Executions.publishes(stage, "0.0001", "2026-07-03T10:00:00Z")
      const accrued: Array<unknown> = []
      for (const instant of [
        "2026-07-03T18:29:59Z",
        "2026-07-03T18:30:00Z",
        "2026-07-04T18:29:59Z",
        "2026-07-05T18:30:00Z"
      ]) {
        yield* Cycles.at(instant)
        accrued.push((yield* rows()).rows[0]?.[1])
      }
      assert.deepStrictEqual(accrued, ["0", "0.1", "0.1", "0.3"])
      const asOf = Instant.of("2026-07-04T18:30:00Z")
      assert.deepStrictEqual((yield* rows({ asOf })).rows[0]?.[1], "0.2")
    }).pipe(engine())
  )

  it.effect(
    "is not told where no history says which units earned it, or nothing is distributed",
    () =>
      Effect.gen(function* () {
        const { stage, holder } = yield* founded
        yield* Powers.another(stage, "fund-b")
        yield* Powers.admits(holder, "fund-b")
        yield* Powers.mints(stage, holder, "5", "fund-b")
        yield* Powers.mints(stage, holder, "1000")
        yield* Cycles.at("2026-07-03T10:00:00Z")
        yield* Executions.publishes(stage, "0.0001", "2026-07-03T10:00:00Z")
        const whole = (yield* accruedAt(stage, "2026-07-05T10:00:00Z")).rows
        assert.deepEqual(whole, [
          ["fund-a", "0.2", null],
          ["fund-b", null, null]
        ])
        const reach = yield* LedgerReach
        const { value } = yield* lookups.pipe(
          Effect.provideService(LedgerReach, {
            ...reach,
            offsetBefore: () => Effect.succeed(Option.none())
          })
        )
        assert.deepEqual(
          value.map(({ accrued }) => accrued),
          [null, null]
        )
        // A snapshot of the ledger showed that a month was executed, and not to which record date.
        const records = yield* Records
        const slot = {
          instrumentId: "fund-a" as never,
          slotCid: "ab",
          lastMonth: Month.of("2026-06"),
          distributionId: null
        }
        const act = { cause: { by: "run", runId: "seed" } as const, now: yield* Instant.now }
        yield* records.transact(records.open(distributionSlots, slot, act))
        const begun = yield* lookups
        assert.deepEqual(
          begun.value.map(({ accrued }) => accrued),
          [null, null]
        )
      }).pipe(engine())
  )

  it.effect("takes as many look-ups for three instruments as for one", () =>
    Effect.gen(function* () {
      const { stage, holder, terms } = yield* founded
      yield* Powers.mints(stage, holder, "1000")
      yield* Cycles.at("2026-07-03T10:00:00Z")
      yield* Executions.publishes(stage, "0.0001", "2026-07-03T10:00:00Z")
      yield* Cycles.at("2026-07-05T10:00:00Z")
      const one = yield* lookups
      for (const instrumentId of ["fund-b", "fund-c"]) {
        yield* Powers.another(stage, instrumentId, { ...terms })
        yield* Powers.admits(holder, instrumentId)
        yield* Powers.mints(stage, holder, "500", instrumentId)
        yield* Executions.publishes(stage, "0.0003", "2026-07-05T10:00:00Z", { instrumentId })
      }
      yield* Cycles.at("2026-07-07T10:00:00Z")
      const three = yield* lookups
      assert.deepEqual(three.storeCalls, one.storeCalls)
      assert.deepEqual(
        three.value.map(({ accrued }) => (accrued === null ? null : Decimal.formatPlain(accrued))),
        ["0.4", "0.3", "0.3"]
      )
    }).pipe(engine())
  )
})
