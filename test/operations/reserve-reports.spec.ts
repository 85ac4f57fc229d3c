/** Reports of reserves: the ledger's figures are the engine's, on demand and by schedule, and a series of covers. */
import { EventQueries, Records, verify, Workers } from "@bursar/engine-core"
import { Decimal, Duration, Instant, PlainJson } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as SeriesQueries from "#core/overviews/series/SeriesQueries.ts"
import * as ReportQueries from "#core/reserves/report/ReportQueries.ts"
import type { ReserveReportView } from "#core/reserves/report/ReportView.ts"
import { scheduledIdOf } from "#core/reserves/report/ReserveReport.ts"
import { reserveReporting } from "#core/reserves/report/ReportRunner.ts"
import { FourEyes } from "#core/writes/FourEyes.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world, type WorldOptions } from "../engine/world.ts"
import * as Backed from "./backed.ts"
import * as Covered from "./covered.ts"
import * as Fund from "./fund.ts"
import * as Venue from "./venue.ts"

const engine = (settings: WorldOptions["settings"] = {}) => Effect.provide(world({ settings }))
const params = { reserveId: "res-1" as never }

const creates = (body: Calls.Json = {}, caller = Calls.operator) =>
  Calls.write("reserve-report.create", { reserveId: "res-1" }, body, caller)

const reports = Effect.map(Venue.list(ReportQueries.list, params), ({ value }) =>
  value.toReversed()
)

const report = (reportId: string) =>
  Effect.map(
    Venue.read(ReportQueries.get, { ...params, reportId: reportId as never }),
    ({ value }) => value
  )

/** Figures of a report in short. */
const shownOf = ({ view }: ReserveReportView) => ({
  outstanding: Decimal.formatPlain(view.outstanding),
  required: Decimal.formatPlain(view.required),
  counted: Decimal.formatPlain(view.counted),
  ratio: view.cover.ratio === null ? null : Decimal.format(view.cover.ratio),
  state: view.cover.state
})

/** Turns of the scheduled tasks, one a half hour, and the operations that they open. */
const passes = (hours: number) =>
  Effect.gen(function* () {
    const { runOnce } = yield* Workers.runnerOf("schedules")
    for (let half = 0; half < hours * 2; half++) {
      yield* TestClock.adjust("30 minutes")
      yield* runOnce
      yield* Calls.settle
    }
  })

const opened = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* records.list(operations, {
    where: { kind: ["reserve-report.create"] },
    limit: 1000
  })
  return found.map(({ record: { actor, state } }) => `${actor} ${state}`)
})

const ids = Effect.map(reports, (all) => all.map(({ reportId }) => reportId))

describe("a report on demand", () => {
  it.effect("has the figures of the ledger, each as the engine's formulas give it", () =>
    Effect.gen(function* () {
      const scene = yield* Covered.covered()
      yield* Covered.issues(scene, "1500")
      const { result, state } = yield* creates()
      assert.strictEqual(state, "succeeded")
      const read = yield* report(String(result["reportId"]))
      assert.deepEqual(shownOf(read), {
        outstanding: "1500",
        required: "1500",
        counted: "1600",
        ratio: "1.0666666666",
        state: "covered"
      })
      assert.strictEqual(read.trigger, "demand")
      const verified = read.basis.map((basis) => [
        basis.field,
        Decimal.formatPlain(Decimal.of(Result.getOrThrow(verify(basis))))
      ])
      const { view } = read
      assert.deepEqual(Object.fromEntries(verified), {
        "view.required": Decimal.formatPlain(view.required),
        "view.counted": Decimal.formatPlain(view.counted),
        "view.cover.ratio": Decimal.formatPlain(view.cover.ratio ?? Decimal.zero),
        ...Object.fromEntries(
          view.assets.flatMap(({ counted, value }, index) => [
            [`view.assets.${index}.value`, Decimal.formatPlain(value)],
            [`view.assets.${index}.counted`, Decimal.formatPlain(counted)]
          ])
        )
      })
      // Each amount of a sum over assets names its asset.
      const counted = read.basis.find(({ field }) => field === "view.counted")
      const ids = counted?.inputs.filter(({ name }) => name.endsWith("Price")).map(({ id }) => id)
      const { bill, usd } = scene
      assert.deepEqual(ids, [`res-1:${usd.admin}/USD`, `res-1:${bill.admin}/BILL`])
      assert.deepEqual((yield* Backed.reserve()).reportedAt, read.at)
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("is announced once, with what it says of the cover", () =>
    Effect.gen(function* () {
      const scene = yield* Covered.covered()
      yield* Covered.issues(scene, "2000")
      const { result } = yield* creates({ reportId: "rep-1" })
      assert.strictEqual(result["reportId"], "rep-1")
      const feed = yield* EventQueries.EventQueries
      const { value } = yield* feed.page({
        caller: Calls.operator,
        params: { resourceKind: ["reserve"] },
        limit: 100
      })
      const found = value.filter(({ type }) => type === "reserve.reported")
      assert.deepEqual(
        found.map(({ payload, resourceId }) => `${resourceId} ${PlainJson.stringify(payload)}`),
        ['res-1 {"reportId":"rep-1","trigger":"demand","cover":"low","ratio":0.9000000000}']
      )
    }).pipe(engine())
  )

  it.effect("is of risk too, is of a reserve in force alone, and takes no id of the schedule", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.proposes(scene)
      assert.strictEqual((yield* creates()).why, "state-conflict ReserveState")
      yield* Backed.answers(scene.registrar)
      yield* Backed.answers(scene.custodian)
      const risk = Calls.person("rita", "risk")
      assert.strictEqual((yield* creates({ reportId: "rep-1" }, risk)).state, "succeeded")
      assert.strictEqual((yield* creates({ reportId: "rep-1" })).why, "already-exists")
      assert.strictEqual((yield* creates({ reportId: "res-1~1" })).why, "invalid-request")
      assert.deepEqual(yield* ids, ["rep-1"])
      const near = (party: string) =>
        Venue.read(
          ReportQueries.get,
          { ...params, reportId: "rep-1" as never },
          { caller: Venue.person("rosa", ["registrar"], { party: party as never }) }
        )
      assert.strictEqual((yield* near(scene.registrar.party)).value.reportId, "rep-1")
      assert.strictEqual(yield* Venue.refusal(near(scene.bank.party)), "not-found")
    }).pipe(engine())
  )

  it.effect("of units that are worth nothing has no ratio", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened({ valuation: "accumulating" })
      yield* Backed.reserved(scene, { terms: Backed.termsOf(scene, { minCover: 0.5 }) })
      yield* Covered.issues(scene, "10")
      const { result, state } = yield* creates()
      assert.strictEqual(state, "succeeded")
      const read = yield* report(String(result["reportId"]))
      assert.deepEqual(
        [read.view.cover.ratio, read.view.sharePrice, Decimal.formatPlain(read.view.outstanding)],
        [null, null, "10"]
      )
    }).pipe(engine())
  )
})

describe("scheduled reports", () => {
  const active = Effect.gen(function* () {
    const scene = yield* Backed.opened()
    yield* Backed.reserved(scene)
    return scene
  })
  const midnight = (date: string) => scheduledIdOf("res-1", Instant.of(`${date}T00:00:00Z`))

  it.effect("are made although that of another reserve fails in every turn", () =>
    Effect.gen(function* () {
      yield* active
      const fourEyes = yield* FourEyes
      const records = yield* Records
      const id = "res-0"
      // The failing reserve is in the same batch, and comes first.
      const stream = ((...args: Parameters<typeof records.stream>) =>
        records
          .stream(...args)
          .pipe(
            Stream.flatMap((row) =>
              Stream.fromIterable([
                { ...row, record: { ...(row.record as object), reserveId: id } },
                row
              ])
            )
          )) as unknown as typeof records.stream
      const open = ((operation: never, request: { readonly reserveId: string }, key: never) =>
        request.reserveId === id
          ? Effect.die(new Error("this report cannot be opened"))
          : fourEyes.open(operation, request as never, key)) as unknown as typeof fourEyes.open
      yield* TestClock.adjust("1 day")
      const turn = {
        state: Instant.sortable(Instant.of("2020-01-01T00:00:00Z")),
        fence: Effect.void,
        next: () => Effect.void
      }
      yield* reserveReporting
        .run(turn)
        .pipe(
          Effect.provideService(Records, { ...records, stream }),
          Effect.provideService(FourEyes, { ...fourEyes, open })
        )
      yield* Calls.settle
      assert.deepEqual(yield* opened, ["engine succeeded"])
    }).pipe(engine())
  )

  it.effect("are made once a day, from the first midnight on, by the engine itself", () =>
    Effect.gen(function* () {
      yield* active
      // 12:00 UTC.
      yield* passes(11)
      assert.deepEqual(yield* ids, [])
      yield* passes(2)
      assert.deepEqual(yield* ids, [midnight("2026-08-01")])
      yield* passes(24)
      assert.deepEqual(yield* ids, [midnight("2026-08-01"), midnight("2026-08-02")])
      assert.deepEqual(yield* opened, ["engine succeeded", "engine succeeded"])
      assert.deepEqual(
        (yield* reports).map(({ trigger }) => trigger),
        ["schedule", "schedule"]
      )
    }).pipe(engine())
  )

  it.effect("are never made for an instant before the schedule was first looked at", () =>
    Effect.gen(function* () {
      yield* active
      yield* TestClock.adjust("20 hours")
      yield* passes(2)
      assert.deepEqual(yield* ids, [])
      yield* passes(15)
      assert.deepEqual(yield* ids, [midnight("2026-08-02")])
    }).pipe(engine())
  )

  it.effect("are made once for all periods that passed while no host ran", () =>
    Effect.gen(function* () {
      yield* active
      yield* passes(1)
      yield* TestClock.adjust("5 days")
      yield* passes(2)
      assert.deepEqual(yield* ids, [midnight("2026-08-05")])
    }).pipe(engine())
  )

  it.effect("are opened again each hour while they are missing", () =>
    Effect.gen(function* () {
      yield* active
      yield* passes(11)
      yield* Covered.hides
      yield* passes(1.5)
      assert.deepEqual([yield* opened, yield* ids], [["engine failed"], []])
      yield* Covered.shows
      yield* passes(1)
      assert.deepEqual(
        [yield* opened, yield* ids],
        [["engine failed", "engine succeeded"], [midnight("2026-08-01")]]
      )
    }).pipe(engine())
  )

  it.effect("follow the setting, and are none while it is off", () =>
    Effect.gen(function* () {
      yield* active
      yield* passes(30)
      assert.deepEqual(yield* ids, [])
    }).pipe(engine({ reserveReportEvery: null }))
  )

  it.effect("have the period of the setting", () =>
    Effect.gen(function* () {
      yield* active
      yield* passes(8)
      const at = (hour: string) => scheduledIdOf("res-1", Instant.of(`2026-07-31T${hour}:00:00Z`))
      assert.deepEqual(yield* ids, [at("15"), at("18")])
    }).pipe(engine({ reserveReportEvery: Duration.of("PT3H") }))
  )

  it.effect("are of reserves that were in force when they were due", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* passes(13)
      yield* Backed.reserved(scene)
      yield* passes(2)
      assert.deepEqual(yield* ids, [])
      yield* Backed.prices(scene, "2")
      yield* passes(24)
      assert.deepEqual(yield* ids, [midnight("2026-08-02")])
    }).pipe(engine())
  )
})

describe("the series of covers", () => {
  const series = Effect.map(
    Venue.read(SeriesQueries.get, {
      instrumentId: "fund-a" as never,
      metric: "cover",
      interval: "day"
    } as never),
    ({ value }) =>
      value.points.map(({ close, max, min, open, sum }) =>
        [open, close, min, max, sum]
          .map((figure) => (figure === null ? "-" : Decimal.formatPlain(figure)))
          .join(" ")
      )
  )

  it.effect("has the ratios that were reported, and none of a report of nothing outstanding", () =>
    Effect.gen(function* () {
      const scene = yield* Covered.covered()
      assert.deepEqual(yield* series, [])
      yield* creates()
      assert.deepEqual(yield* series, ["- - - - -"])
      yield* Covered.issues(scene, "1500")
      yield* creates()
      yield* TestClock.adjust("24 hours")
      yield* Backed.prices(scene, "1.8")
      yield* creates()
      const whole = "1.0666666666"
      const quiet = `${whole} ${whole} ${whole} ${whole} -`
      assert.deepEqual(yield* series, [quiet, quiet])
      yield* Backed.prices(scene, "1")
      yield* creates()
      const low = "0.9833333333"
      assert.deepEqual(yield* series, [quiet, `${whole} ${low} ${low} ${whole} -`])
    }).pipe(engine())
  )
})
