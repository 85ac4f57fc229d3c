/** Executions of distributions, from the points and the register to sealed lines on the ledger. */
import { EventQueries, Records } from "@bursar/engine-core"
import { Decimal, Instant, Offset, type PlainJson } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { pricePoints } from "#core/instruments/price/PricePoint.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Venue from "./venue.ts"

const engine = (options: Parameters<typeof world>[0] = {}) => Effect.provide(world(options))
const includes = (self: object, members: object) => assert.deepInclude(self, members)
const d = Decimal.of

const july = { instrumentId: "fund-a", month: "2026-07" } as const
const execute = (body: Calls.Json = july) => Calls.write("distribution.execute", {}, body)

/** Signs an action without running the engine: its operation stays queued. */
const signs = (actionKey: PlainJson.Plain) =>
  Effect.map(Calls.approve(String(actionKey), Calls.person("ada", "approver")), (answer) =>
    String(Calls.field(answer, "operationId"))
  )

describe("a month whose record date had passed when it was proposed", () => {
  const months = ["fund-a", "fund-b", "fund-c", "fund-d"].map((instrumentId) => ({
    instrumentId,
    month: "2026-07"
  }))
  /** Four funds without a calendar, each with a point in July and nothing on the ledger since. */
  const fourFunds = Effect.gen(function* () {
    const terms = {
      ...Executions.par,
      distribution: { ...Executions.par.distribution, calendar: null }
    }
    const { stage, holders } = yield* Executions.founded(["h1"], terms)
    for (const { instrumentId } of months) {
      if (instrumentId !== "fund-a") {
        yield* Powers.another(stage, instrumentId, terms)
        yield* Powers.admits(holders[0]!, instrumentId)
      }
      yield* Powers.mints(stage, holders[0]!, "333333.333333", instrumentId)
    }
    yield* Cycles.at("2026-07-28T12:00:00Z")
    for (const { instrumentId } of months) {
      yield* Executions.publishes(stage, "0.000095759", "2026-07-28T11:00:00Z", { instrumentId })
    }
    yield* Cycles.at("2026-08-01T00:02:00Z")
  })

  it.effect("is executed with three others that are signed together", () =>
    Effect.gen(function* () {
      yield* fourFunds
      const keys = yield* Effect.forEach(months, (month) =>
        Calls.openAction("distribution.execute", {}, month)
      )
      const ids = yield* Effect.forEach(keys, signs)
      yield* Calls.settle
      const records = yield* Records
      const ended = yield* Effect.forEach(ids, (id) => records.get(operations, id))
      assert.deepStrictEqual(
        ended.map(({ state, problem }) => `${state} ${problem?.check ?? ""}`.trim()),
        ["succeeded", "succeeded", "succeeded", "succeeded"]
      )
    }).pipe(engine())
  )

  let ahead = 0
  const tamper = (ledger: Ledger.Ledger["Service"]) => ({
    ...ledger,
    ledgerEnd: Effect.map(ledger.ledgerEnd, (end) => Offset.of(end + ahead))
  })

  it.effect("is signed while the ledger's end of now is not read yet; a new one is refused", () =>
    Effect.gen(function* () {
      yield* fourFunds
      const [first, second] = months
      const actionKey = yield* Calls.openAction("distribution.execute", {}, first!)
      ahead = 1
      const refused = yield* Calls.write("distribution.execute", {}, second!)
      assert.strictEqual(refused.why, "rule-refused window record-date-passed")
      const operationId = yield* signs(actionKey)
      ahead = 0
      yield* Calls.settle
      const ended = yield* Effect.flatMap(Records, (records) =>
        records.get(operations, operationId)
      )
      assert.strictEqual(ended.state, "succeeded")
    }).pipe(Effect.ensuring(Effect.sync(() => void (ahead = 0))), engine({ tamper }))
  )
})

describe("the execution of a distribution", () => {
  it.effect("pays three holders of a third each what vector G31 says", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2", "h3"])
      for (const holder of holders) yield* Powers.mints(stage, holder, "333333.333333")
      yield* Cycles.at("2026-07-28T12:00:00Z")
      yield* Executions.publishes(stage, "0.000095759", "2026-07-28T11:00:00Z")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      const ended = yield* execute()
      includes(ended, { state: "succeeded", why: "" })
      const self = yield* Executions.distributionOf("fund-a.2026-07")
      includes(self, {
        // A run follows the Seal by itself, and finds nothing that stops it.
        state: "payable",
        recordDate: "2026-07-31",
        linesHash: "b25dc7318ec640ce5c7bd80a3c9ffeb1538f69a8995be39a33d12d861a7356f2"
      })
      includes(self.totals, { holders: 3, residual: d("0.0000000001") })
      const lines = yield* Executions.linesOf("fund-a.2026-07")
      assert.deepStrictEqual(
        lines.map(({ holderId }) => holderId),
        ["h1", "h2", "h3"]
      )
      for (const line of lines) {
        includes(line, {
          state: "due",
          gross: d("127.67"),
          carryOut: d("0.0086666665"),
          net: d("108.52")
        })
      }
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect(
    "of an accumulating fund pays units at the ex price, and gives bought income back",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* Executions.founded(["h1", "h2"], {
          ...Executions.accumulating,
          distribution: { ...Executions.accumulating.distribution, withholding: 0.2 }
        })
        const [h1, h2] = holders
        if (h1 === undefined || h2 === undefined) throw new Error("no holders")
        const price = { metric: "price" } as const
        yield* Executions.publishes(stage, "500", "2026-06-29T11:00:00Z", price)
        // Vector G42: one unit bought at the ex price, one at 510 in the period.
        yield* Executions.buys(stage, h1, {
          id: "s1",
          at: "2026-07-01T12:00:00Z",
          price: "500",
          pays: "500"
        })
        yield* Executions.buys(stage, h2, {
          id: "s2",
          at: "2026-07-15T12:00:00Z",
          price: "510",
          pays: "510"
        })
        yield* Cycles.at("2026-07-31T12:00:00Z")
        yield* Executions.publishes(stage, "520", "2026-07-31T11:00:00Z", price)
        yield* Cycles.at("2026-08-01T00:02:00Z")
        includes(yield* execute(), { state: "succeeded", why: "" })
        const lines = yield* Executions.linesOf("fund-a.2026-07")
        assert.deepStrictEqual(
          lines.map((line) => [line.gross, line.equalisation, line.withheld, line.net]),
          [
            [d("20"), d("0"), d("4"), d("16")],
            [d("20"), d("10"), d("2"), d("18")]
          ]
        )
        assert.deepStrictEqual(
          lines.map(({ payoutUnits }) => payoutUnits),
          [d("0.032"), d("0.036")]
        )
        // The price still holds the income: August would pay it again.
        yield* Cycles.at("2026-08-14T12:00:00Z")
        yield* Executions.publishes(stage, "511", "2026-08-14T11:00:00Z", price)
        yield* Cycles.at("2026-09-01T00:02:00Z")
        const again = yield* execute({ ...july, month: "2026-08" })
        assert.strictEqual(again.why, "rule-refused policy went-ex")
      }).pipe(engine())
  )

  it.effect("is judged by its gates, in their order", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1"])
      yield* Powers.mints(stage, holders[0]!, "1000000")
      const refusedAs = Effect.map(execute(), ({ state, why }) => `${state} ${why}`)
      yield* Cycles.at("2026-07-15T12:00:00Z")
      assert.strictEqual(yield* refusedAs, "refused rule-refused policy in-order")
      yield* Executions.publishes(stage, "0.0001", "2026-07-15T11:00:00Z")
      assert.strictEqual(yield* refusedAs, "refused rule-refused window record-date-passed")
      yield* Cycles.at("2026-08-01T00:00:59Z")
      assert.strictEqual(yield* refusedAs, "refused rule-refused window record-date-passed")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      const fundA = { instrumentId: "fund-a" }
      yield* Calls.write("instrument.pause", fundA, { holdId: "p1", reason: "to see" })
      assert.strictEqual(yield* refusedAs, "refused rule-refused hold not-held")
      yield* Calls.write("hold.release", { holdId: "p1" }, {})
      const acknowledged = yield* execute({ ...july, acknowledgedRate: 0.15 })
      assert.strictEqual(acknowledged.why, "rule-refused policy rate-acknowledged")
      includes(yield* execute(), { state: "succeeded" })
      assert.strictEqual(yield* refusedAs, "refused state-conflict DistributionState")
      const before = yield* execute({ ...july, month: "2026-05" })
      assert.strictEqual(before.why, "rule-refused policy distributes")
      const taken = yield* execute({ ...july, month: "2026-08", distributionId: "fund-a.2026-07" })
      assert.strictEqual(taken.why, "already-exists")
    }).pipe(engine())
  )

  it.effect("is refused with more lines than the deployment allows, before anything is sent", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2", "h3"])
      for (const holder of holders) yield* Powers.mints(stage, holder, "100000")
      yield* Executions.publishes(stage, "0.01", "2026-07-15T11:00:00Z")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      const { why } = yield* execute()
      assert.strictEqual(why, "rule-refused ledger distribution-size")
    }).pipe(engine({ settings: { linesMax: 2 } }))
  )

  it.effect("never withholds less than nothing or more than all that is paid", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1"])
      yield* Powers.mints(stage, holders[0]!, "333333.333333")
      yield* Cycles.at("2026-07-28T12:00:00Z")
      yield* Executions.publishes(stage, "0.000095759", "2026-07-28T09:00:00Z")
      for (const withholdingRate of ["1.0000000001", "-0.1", "15", `9${"0".repeat(27)}`]) {
        const at = "2026-07-28T11:00:00Z"
        yield* Executions.publishes(stage, "0.000095759", at, { withholdingRate })
      }
      assert.deepStrictEqual(
        yield* Fund.surprises,
        Array(4).fill("price-point price: A withholding rate is from 0 to 1.")
      )
      yield* Cycles.at("2026-08-01T00:02:00Z")
      includes(yield* execute(), { state: "succeeded", why: "" })
      includes((yield* Executions.linesOf("fund-a.2026-07"))[0]!, {
        rate: d("0.15"),
        gross: d("127.67"),
        net: d("108.52")
      })
    }).pipe(engine())
  )

  it.effect("is refused where a point of the period, read before the rule, states no rate", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1"])
      yield* Powers.mints(stage, holders[0]!, "333333.333333")
      yield* Cycles.at("2026-07-28T12:00:00Z")
      yield* Executions.publishes(stage, "0.000095759", "2026-07-28T09:00:00Z")
      const records = yield* Records
      const [point] = yield* records.list(pricePoints, { limit: 1 })
      const stored = {
        ...point!.record,
        contractId: "00ab",
        withholding: d(`9${"0".repeat(27)}`),
        valuationTime: Instant.of("2026-07-28T11:00:00Z")
      }
      const act = {
        cause: { by: "run", runId: "r" },
        now: yield* Instant.now,
        offset: yield* Venue.offsetNow
      } as const
      yield* records.transact(records.open(pricePoints, stored, act))
      yield* Cycles.at("2026-08-01T00:02:00Z")
      assert.strictEqual((yield* execute()).why, "rule-refused policy rate-range")
    }).pipe(engine())
  )

  it.effect("announces a rate change that nobody acknowledged, and holders who are left out", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2"])
      const [h1, h2] = holders
      yield* Powers.mints(stage, h1!, "100000")
      const rated = (value: string, at: string, withholdingRate: string) =>
        Effect.andThen(Cycles.at(at), Executions.publishes(stage, value, at, { withholdingRate }))
      yield* rated("0.001", "2026-07-15T11:00:00Z", "0.1")
      yield* rated("0.001", "2026-07-20T11:00:00Z", "0.2")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      includes(yield* execute(), { state: "succeeded" })
      const [line] = yield* Executions.linesOf("fund-a.2026-07")
      includes(line ?? {}, { rate: d("0.2"), rateSource: "point" })
      yield* Powers.mints(stage, h2!, "100000")
      yield* rated("0.001", "2026-08-15T11:00:00Z", "0.2")
      yield* rated("0.001", "2026-08-20T11:00:00Z", "0.3")
      yield* Cycles.at("2026-09-01T00:02:00Z")
      // The line of July is not rolled, so that its holder is left out of August.
      const august = { ...july, month: "2026-08" }
      includes(yield* execute({ ...august, acknowledgedRate: 0.3 }), { state: "succeeded" })
      const lines = yield* Executions.linesOf("fund-a.2026-08")
      assert.deepStrictEqual(
        lines.map(({ holderId, reason, state }) => `${holderId} ${state} ${reason}`),
        ["h1 carried unrolled", "h2 due null"]
      )
      const feed = yield* EventQueries.EventQueries
      const page = yield* feed.page({
        caller: Calls.operator,
        params: { resourceKind: ["distribution"] },
        limit: 1000
      })
      assert.deepStrictEqual(
        page.value
          .filter(({ type }) => type.startsWith("distribution."))
          .map(({ resourceId, type }) => `${type} ${resourceId}`),
        [
          "distribution.rate-changed fund-a.2026-07",
          "distribution.payable fund-a.2026-07",
          "distribution.carried fund-a.2026-08",
          "distribution.payable fund-a.2026-08"
        ]
      )
    }).pipe(engine())
  )

  it.effect("gives a chain of successors one line, and a party that is no holder its own", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2"])
      const [h1, h2] = holders
      if (h1 === undefined || h2 === undefined) throw new Error("no holders")
      yield* Powers.agrees(stage)
      yield* Powers.mints(stage, h1, "100")
      yield* Powers.mints(stage, h2, "50")
      yield* Powers.consents(h1)
      const stranger = yield* Fund.outsider("stranger")
      yield* Powers.sends(stage, stranger, "10")
      yield* Cycles.at("2026-07-10T12:00:00Z")
      yield* Executions.publishes(stage, "0.01", "2026-07-10T11:00:00Z")
      yield* Cycles.at("2026-07-12T12:00:00Z")
      yield* Powers.succeeds(stage, h1)
      includes(yield* Calls.write("holder.recover", { holderId: "h1" }, {}), { why: "" })
      yield* Executions.publishes(stage, "0.02", "2026-07-13T15:00:00Z")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      const ended = yield* execute()
      assert.deepStrictEqual([ended.why, ended.state], ["", "succeeded"])
      const lines = yield* Executions.linesOf("fund-a.2026-07")
      assert.deepStrictEqual(
        lines.map((line) => [
          line.holderId ?? line.party,
          Decimal.formatPlain(line.units),
          Decimal.formatPlain(line.entitlement),
          line.state,
          line.reason,
          line.predecessor
        ]),
        [
          // 3 days at 0.01 and 19 at 0.02, before and after the recovery.
          ["h1-next", "100", "41", "due", null, "h1"],
          ["h2", "50", "20.5", "due", null, null],
          [stranger.party, "10", "4.1", "suspended", "no-holder", null]
        ]
      )
    }).pipe(engine())
  )

  it.effect("pays a successor what its predecessor earned with units that it sold before", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2"])
      const [h1, h2] = holders
      if (h1 === undefined || h2 === undefined) throw new Error("no holders")
      yield* Powers.another(stage, "fund-b")
      yield* Powers.admits(h1, "fund-b")
      yield* Powers.mints(stage, h1, "5", "fund-b")
      yield* Powers.mints(stage, h1, "100")
      for (const instrumentId of ["fund-a", "fund-b"]) {
        yield* Powers.agrees(stage, { instrumentId })
        yield* Powers.consents(h1, { instrumentId })
      }
      yield* Cycles.at("2026-07-05T12:00:00Z")
      yield* Executions.publishes(stage, "0.01", "2026-07-05T11:00:00Z")
      yield* Cycles.at("2026-07-07T12:00:00Z")
      includes(yield* Powers.forces("h1", "h2", { instruments: [{ instrumentId: "fund-a" }] }), {
        why: ""
      })
      yield* Cycles.at("2026-07-10T12:00:00Z")
      yield* Executions.publishes(stage, "0.01", "2026-07-10T11:00:00Z")
      const next = yield* Powers.succeeds(stage, h1, { admitted: ["fund-a", "fund-b"] })
      yield* Powers.mints(stage, next, "10")
      // The last units of all: of fund-a, which the holder has no units of, there is no recovery.
      includes(yield* Powers.recovers("h1"), { why: "" })
      yield* Cycles.at("2026-07-20T12:00:00Z")
      yield* Executions.publishes(stage, "0.01", "2026-07-20T11:00:00Z")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      includes(yield* execute(), { why: "", state: "succeeded" })
      const lines = yield* Executions.linesOf("fund-a.2026-07")
      assert.deepStrictEqual(
        lines.map((line) => [
          line.holderId,
          line.predecessor,
          Decimal.formatPlain(line.units),
          Decimal.formatPlain(line.entitlement)
        ]),
        [
          // 5 days of the predecessor's 100 units, and 12 of its own 10.
          ["h1-next", null, "10", "6.2"],
          ["h2", null, "100", "22"]
        ]
      )
    }).pipe(engine())
  )

  it.effect("reads the register before the midnight that ends the record date", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Executions.founded(["h1", "h2", "h3"])
      const [h1, h2, h3] = holders
      yield* Executions.publishes(stage, "0.01", "2026-07-31T11:00:00Z")
      yield* Cycles.at("2026-07-31T23:59:59Z")
      yield* Powers.mints(stage, h1!, "100")
      yield* Cycles.at("2026-08-01T00:00:00Z")
      yield* Powers.mints(stage, h2!, "100")
      yield* Cycles.at("2026-08-01T00:01:30Z")
      yield* Powers.mints(stage, h3!, "100")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      includes(yield* execute(), { state: "succeeded", why: "" })
      const lines = yield* Executions.linesOf("fund-a.2026-07")
      assert.deepStrictEqual(
        lines.map(({ holderId }) => holderId),
        ["h1"]
      )
    }).pipe(engine())
  )
})
