/** Calendar of distributions: which months have a row, in which state, for which reader and zone. */
import { Queries } from "@bursar/engine-core"
import { Date, Instant, Month, Zone } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as CalendarQueries from "#core/distributions/period/CalendarQueries.ts"
import { InstrumentId } from "#core/instruments/instrument/Manifest.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Lines from "./distributions.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import { bodyOf } from "./instrumentBody.ts"
import * as Powers from "./powers.ts"
import { auditor, list, offsetNow, person, refusal } from "./venue.ts"

const engine = () => Effect.provide(world())
const clock = (at: string) => TestClock.setTime(Instant.toEpochMillis(Instant.of(at)))
const idOf = Schema.decodeSync(InstrumentId)

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
const monthEnd = {
  distribution: { schedule: "monthly", withholding: 0, payoutDecimals: 2, payout: "units" }
}

/** Two funds since 2026-07-31: one by a calendar with points, one by month end without. */
const funds = Effect.gen(function* () {
  const stage = yield* Fund.opened(monthly)
  const { registrar, oracle } = stage
  yield* Calls.write(
    "instrument.record",
    {},
    {
      ...bodyOf(),
      ...monthEnd,
      instrumentId: "fund-b",
      registrar: registrar.party,
      oracle: oracle.party
    }
  )
  yield* Calls.write(
    "instrument.record",
    {},
    { ...bodyOf(), instrumentId: "fund-c", registrar: registrar.party, oracle: oracle.party }
  )
  for (const day of ["2026-08-04", "2026-09-08"]) {
    yield* clock(`${day}T21:00:00Z`)
    yield* Fund.publishes(stage, "1.01", `${day}T20:30:00Z`)
  }
  return stage
})

type Params = Parameters<(typeof CalendarQueries.list)["where"]>[0]
type As = Parameters<typeof list>[2]

const rows = (params: Params = {}, as: As = {}) =>
  Effect.map(list(CalendarQueries.list, params, as), ({ value }) => value)
const shown = (params: Params = {}, as: As = {}) =>
  Effect.map(rows(params, as), (found) =>
    found.map(({ instrumentId, month, periodState }) => `${instrumentId} ${month} ${periodState}`)
  )
const until = (to: string): Params => ({ to: Month.of(to) })

describe("the calendar", () => {
  it.effect("lists past months with a point, the present one and those to come, by date", () =>
    Effect.gen(function* () {
      yield* funds
      yield* clock("2026-10-15T12:00:00Z")
      assert.deepEqual(yield* shown(until("2026-11")), [
        "fund-a 2026-08 due",
        "fund-a 2026-09 blocked",
        "fund-a 2026-10 accruing",
        "fund-b 2026-10 accruing",
        "fund-a 2026-11 accruing",
        "fund-b 2026-11 accruing"
      ])
      const all = yield* rows()
      assert.strictEqual(all.at(-1)?.month, Month.of("2027-10"))
      assert.strictEqual(all.length, 2 + 2 * 13)
      const [first] = all
      assert.deepEqual(first, {
        scheduledDistributionId: "fund-a:2026-08",
        instrumentId: idOf("fund-a"),
        month: Month.of("2026-08"),
        periodState: "due",
        recordDate: Date.of("2026-08-31"),
        businessZone: Zone.of("America/New_York"),
        recordEndsAt: Instant.of("2026-09-01T04:00:00Z"),
        on: Date.of("2026-09-01"),
        exDate: Date.of("2026-09-01"),
        paymentDate: Date.of("2026-09-07"),
        zone: Zone.utc,
        distributionId: null,
        refused: null
      })
      assert.deepEqual(yield* shown({ ...until("2026-10"), instrumentId: [idOf("fund-b")] }), [
        "fund-b 2026-10 accruing"
      ])
      assert.deepEqual(yield* shown({ from: Month.of("2026-09"), to: Month.of("2026-09") }), [
        "fund-a 2026-09 blocked"
      ])
    }).pipe(engine())
  )

  it.effect.each(["carry", "refuse"] as const)(
    "shows a month that paid nobody as nil, and blocks one by earlier lines as the policy says: %s",
    (partialDistribution) =>
      Effect.gen(function* () {
        const { stage, holders } = yield* Executions.founded(["h1"])
        yield* Cycles.changes(1, { partialDistribution })
        const executes = (month: string) =>
          Calls.write("distribution.execute", {}, { instrumentId: "fund-a", month })
        yield* Executions.publishes(stage, "0.01", "2026-06-30T11:00:00Z")
        yield* Cycles.at("2026-07-01T00:02:00Z")
        assert.strictEqual((yield* executes("2026-06")).why, "")
        yield* Powers.mints(stage, holders[0]!, "100")
        yield* Executions.publishes(stage, "0.01", "2026-07-20T11:00:00Z")
        yield* Cycles.at("2026-08-01T00:02:00Z")
        assert.strictEqual((yield* executes("2026-07")).why, "")
        yield* Executions.publishes(stage, "0.01", "2026-08-20T11:00:00Z")
        yield* Cycles.at("2026-09-01T00:02:00Z")
        const states = Effect.map(
          rows({ from: Month.of("2026-06"), to: Month.of("2026-08") }),
          (found) => found.map(({ periodState }) => periodState)
        )
        const august = partialDistribution === "refuse" ? "blocked" : "due"
        assert.deepEqual(yield* states, ["nil", "executed", august])
        yield* Lines.voids("fund-a.2026-07.1")
        assert.deepEqual(yield* states, ["nil", "executed", "due"])
      }).pipe(engine())
  )

  it.effect("reads accruing until 60 seconds after the end of the record date", () =>
    Effect.gen(function* () {
      yield* funds
      const august = { from: Month.of("2026-08"), to: Month.of("2026-08") }
      const at = (text: string) => shown(august, { point: { asOf: Instant.of(text) } })
      yield* clock("2026-10-15T12:00:00Z")
      assert.deepEqual(yield* at("2026-09-01T04:00:59.999999Z"), ["fund-a 2026-08 accruing"])
      assert.deepEqual(yield* at("2026-09-01T04:01:00Z"), ["fund-a 2026-08 due"])
    }).pipe(engine())
  )

  it.effect(
    "never moves a record date for a reader's zone, which decides the day it falls on",
    () =>
      Effect.gen(function* () {
        yield* funds
        yield* clock("2026-10-31T23:30:00Z")
        const august = { from: Month.of("2026-08"), to: Month.of("2026-08") }
        for (const [zone, on] of [
          ["America/New_York", "2026-08-31"],
          ["UTC", "2026-09-01"],
          ["Pacific/Honolulu", "2026-08-31"],
          ["Asia/Tokyo", "2026-09-01"]
        ] as const) {
          const [row] = yield* rows({ ...august, zone: Zone.of(zone) })
          assert.deepInclude(row, {
            recordDate: Date.of("2026-08-31"),
            on: Date.of(on),
            zone: Zone.of(zone)
          })
        }
        // November has begun in Tokyo.
        const last = (zone: string) =>
          Effect.map(rows({ zone: Zone.of(zone) }), (found) => found.at(-1)?.month)
        assert.strictEqual(yield* last("UTC"), Month.of("2027-10"))
        assert.strictEqual(yield* last("Asia/Tokyo"), Month.of("2027-11"))
      }).pipe(engine())
  )

  it.effect("shows what it showed at an offset, whatever came later", () =>
    Effect.gen(function* () {
      const stage = yield* funds
      const range = { from: Month.of("2026-08"), to: Month.of("2026-12") }
      const before = yield* offsetNow
      const then = yield* rows(range, { point: { at: before } })
      yield* clock("2026-10-15T12:00:00Z")
      yield* Fund.publishes(stage, "1.2", "2026-09-30T20:30:00Z")
      yield* Calls.write("instrument.pause", { instrumentId: "fund-a" }, { reason: "because" })
      assert.deepEqual([...(yield* rows(range, { point: { at: before } }))], [...then])
      assert.include(yield* shown(range), "fund-a 2026-08 blocked")
    }).pipe(engine())
  )

  it.effect("tells investors and apps nothing of what blocks a period, nor of other funds", () =>
    Effect.gen(function* () {
      const stage = yield* funds
      yield* Fund.admitted(stage)
      yield* clock("2026-10-15T12:00:00Z")
      yield* Calls.write("instrument.pause", { instrumentId: "fund-a" }, { reason: "because" })
      const investor = person("ines", ["investor"], { holderId: "h1" })
      const to = until("2026-10")
      assert.deepEqual(yield* shown(to, { caller: investor }), [
        "fund-a 2026-08 due",
        "fund-a 2026-09 due",
        "fund-a 2026-10 accruing"
      ])
      const app = person("app", ["app"])
      assert.strictEqual((yield* shown(to, { caller: app }))[0], "fund-a 2026-08 due")
      assert.strictEqual((yield* shown(to))[0], "fund-a 2026-08 blocked")
      const other = person("ivo", ["investor"], { holderId: "h2" })
      assert.deepEqual(yield* shown(to, { caller: other }), [])
      const nobody = person("nora", ["investor"])
      assert.strictEqual(yield* refusal(shown(to, { caller: nobody })), "permission-denied")
      const registrar = person("rita", ["registrar"], { party: stage.registrar.party })
      assert.strictEqual((yield* shown(to, { caller: registrar })).length, 4)
      const stranger = person("rolf", ["registrar"], { party: stage.bank.party })
      assert.deepEqual(yield* shown(to, { caller: stranger }), [])
      assert.strictEqual(yield* refusal(shown(until("2126-11"))), "invalid-request")
    }).pipe(engine())
  )

  it.effect("is the same page by page, and as one stream", () =>
    Effect.gen(function* () {
      yield* funds
      yield* clock("2026-10-15T12:00:00Z")
      const whole = yield* rows()
      const queries = yield* Queries
      for (const limit of [1, 3, 27, 28, 29]) {
        const found: Array<unknown> = []
        let after: string | null = null
        do {
          const page: { readonly value: ReadonlyArray<unknown>; readonly next: string | null } =
            yield* queries.page(CalendarQueries.list, {
              caller: auditor,
              params: {},
              point: {},
              page: { limit, ...(after === null ? {} : { after }) }
            })
          found.push(...page.value)
          after = page.next
          // The clock of later pages is that of the first.
          yield* TestClock.adjust("1 hour")
        } while (after !== null)
        assert.deepEqual(found, [...whole])
      }
      const streamed = yield* queries.all(CalendarQueries.list, {
        caller: auditor,
        params: {},
        point: {},
        page: {}
      })
      assert.deepEqual([...(yield* Stream.runCollect(streamed.value))], [...whole])
    }).pipe(engine())
  )
})
