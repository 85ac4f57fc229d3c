/** Acts that price by a point, judged by the administrator's NAV of the point's business date. */
import { Queries } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import type { InstrumentId } from "#core/instruments/instrument/Instrument.ts"
import * as InstrumentQueries from "#core/overviews/instrument/InstrumentQueries.ts"
import * as PrecheckQueries from "#core/overviews/precheck/PrecheckQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Navs from "./navs.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"

const engine = () => Effect.provide(world())
const cutOff = "2026-07-31T20:00:00Z"
const refused = "rule-refused nav-feed feed-usable"

const guarded = { ...Navs.fed, navGuardrail: { up: 0.05, down: 0.05 } } as const

const claims = (body: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write(
    "subscription.claim",
    {},
    {
      subscriptionId: "s1",
      instrumentId: "fund-a",
      holderId: "h1",
      payment: "wire",
      amount: 100000,
      ...body
    }
  )
const delivers = Calls.write("subscription.deliver", { subscriptionId: "s1" }, {})

const withMarket = (change: Readonly<Record<string, Calls.Json>>) =>
  Effect.gen(function* () {
    const stage = yield* Fund.opened(change)
    yield* Calls.write(
      "policy.set",
      { instrumentId: "fund-a" },
      { deliverBeforeCash: true },
      Calls.operator,
      "1"
    )
    yield* Fund.market(stage)
    yield* Fund.admitted(stage)
    return stage
  })

/** An order that a point of the cut-off priced at 1.0437. */
const priced = (change: Readonly<Record<string, Calls.Json>> = guarded) =>
  Effect.gen(function* () {
    const stage = yield* withMarket(change)
    yield* claims()
    yield* Fund.publishesInTime(stage, "1.0437", cutOff)
    yield* Fund.attests(stage.attestor, "95812.973076")
    return stage
  })

const feedState = Effect.gen(function* () {
  const queries = yield* Queries
  const { value } = yield* queries.one(InstrumentQueries.get, {
    caller: Calls.operator,
    params: { instrumentId: "fund-a" as InstrumentId },
    point: {}
  })
  return value.navFeedState
})

/** Checks that a precheck shows as refusing. */
const prechecking = Effect.fnUntraced(function* (query: Readonly<Record<string, unknown>>) {
  const queries = yield* Queries
  const params = { instrumentId: "fund-a", ...query }
  const { value } = yield* queries.one(PrecheckQueries.get, {
    caller: Calls.operator,
    params: params as unknown as Parameters<(typeof PrecheckQueries.get)["run"]>[0],
    point: {}
  })
  return value.gates.flatMap(({ check, gate, ok }) => (ok ? [] : [`rule-refused ${gate} ${check}`]))
})

const prechecked = prechecking({ act: "subscription.deliver", subscriptionId: "s1" })

const date = "2026-07-31"

describe("a delivery under a mapped feed", () => {
  const rows: ReadonlyArray<
    readonly [string, ReadonlyArray<Navs.Stated>, "passes" | "is refused"]
  > = [
    ["no NAV of the point's date", [], "is refused"],
    ["a NAV equal to the point", [{ businessDate: date, official: "1.0437" }], "passes"],
    ["a NAV beyond the tolerance", [{ businessDate: date, official: "1.0460" }], "is refused"],
    [
      "a suspended NAV of the point's date",
      [{ businessDate: date, official: "1.0437", ripcord: true }],
      "is refused"
    ],
    [
      "a NAV of another date alone",
      [{ businessDate: "2026-07-30", official: "1.0437" }],
      "is refused"
    ],
    [
      "a latest NAV that is suspended, of a later date",
      [
        { businessDate: date, official: "1.0437" },
        { businessDate: "2026-08-03", official: "0", ripcord: true }
      ],
      "is refused"
    ],
    [
      "a suspended NAV that was corrected",
      [
        { businessDate: date, official: "0", ripcord: true },
        { businessDate: date, official: "1.0437" }
      ],
      "passes"
    ],
    [
      "an expired NAV: the order has its price",
      [{ businessDate: date, official: "1.0437", expiresAt: "2026-07-31T12:00:01Z" }],
      "passes"
    ]
  ]

  it.effect.each(rows.map((row) => ({ row })))("by: $row.0", ({ row: [, stated, expected] }) =>
    Effect.gen(function* () {
      yield* priced()
      for (const statement of stated) yield* Navs.states(statement)
      assert.deepStrictEqual(yield* prechecked, expected === "passes" ? [] : [refused])
      assert.strictEqual((yield* delivers).why, expected === "passes" ? "" : refused)
    }).pipe(engine())
  )

  it.effect("is refused where the NAV left the guardrail since the last accepted point", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket(guarded)
      yield* Fund.publishesInTime(stage, "0.9", "2026-07-30T20:00:00Z")
      yield* Navs.states({ businessDate: "2026-07-30", official: "0.9" })
      yield* claims()
      yield* Fund.publishesInTime(stage, "1.0437", cutOff)
      yield* Fund.attests(stage.attestor, "95812.973076")
      yield* Navs.states({ businessDate: date, official: "1.0437" })
      assert.strictEqual(yield* feedState, "deviating")
      assert.strictEqual((yield* delivers).why, refused)
      // A point that its own NAV does not confirm was never accepted: there is no move from it.
      yield* Navs.states({ businessDate: "2026-07-30", official: "0.8" })
      assert.strictEqual(yield* feedState, "usable")
      assert.strictEqual((yield* delivers).why, "")
    }).pipe(engine())
  )

  it.effect("is judged by a move since the last valued point of a date, whichever came last", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket(guarded)
      yield* Fund.publishesInTime(stage, "0.9", "2026-07-30T20:00:00Z")
      yield* Fund.publishesInTime(stage, "1.0437", "2026-07-30T08:00:00Z")
      yield* Navs.states({ businessDate: "2026-07-30", official: "0.9" })
      yield* Fund.publishesInTime(stage, "1.0437", cutOff)
      yield* Navs.states({ businessDate: date, official: "1.0437" })
      assert.strictEqual(yield* feedState, "deviating")
    }).pipe(engine())
  )

  it.effect("is as free as before where no feed is mapped", () =>
    Effect.gen(function* () {
      yield* priced({})
      assert.strictEqual((yield* delivers).why, "")
    }).pipe(engine())
  )
})

describe("a claim under a mapped feed", () => {
  it.effect("waits for no NAV where a point to come prices it", () =>
    Effect.gen(function* () {
      yield* withMarket(guarded)
      yield* Navs.states({ businessDate: date, official: "0", ripcord: true })
      assert.strictEqual((yield* claims()).why, "")
    }).pipe(engine())
  )

  it.effect("is refused historically without a NAV, and once the NAV has expired", () =>
    Effect.gen(function* () {
      const stage = yield* withMarket({ ...guarded, pricing: "historic" })
      yield* Fund.publishesInTime(stage, "1.0437", "2026-07-30T20:00:00Z")
      assert.strictEqual((yield* claims()).why, refused)
      const expiresAt = "2026-07-31T12:30:00Z"
      yield* Navs.states({ businessDate: "2026-07-30", official: "1.0437", expiresAt })
      assert.strictEqual((yield* claims({ subscriptionId: "s2" })).why, "")
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(expiresAt)) - 1)
      assert.strictEqual((yield* claims({ subscriptionId: "s3" })).why, "")
      yield* TestClock.adjust(1)
      assert.strictEqual((yield* claims({ subscriptionId: "s4" })).why, refused)
    }).pipe(engine())
  )
})

describe("a historic redemption's claim", () => {
  it.effect("is refused without a NAV of the latest point's date", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"], { ...guarded, pricing: "historic" })
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      yield* Fund.publishesInTime(stage, "1", "2026-07-30T20:00:00Z")
      const order = { instrumentId: "fund-a", holderId: "h1", payment: "wire", units: 1 }
      const claimed = yield* Calls.write("redemption.claim", {}, { ...order, redemptionId: "r1" })
      // The holder has no units; the earlier gate answers, and the feed's row refuses beside it.
      assert.strictEqual(claimed.why, "rule-refused units units-free")
      const rows = prechecking({ ...order, units: Decimal.of("1"), act: "redemption.claim" })
      assert.include(yield* rows, refused)
      yield* Navs.states({ businessDate: "2026-07-30", official: "1" })
      assert.notInclude(yield* rows, refused)
    }).pipe(engine())
  )
})

describe("settlements under a mapped feed", () => {
  const refusedUntilStated = <R>(
    settles: Effect.Effect<Calls.Ended, unknown, R>,
    businessDate: string
  ) =>
    Effect.gen(function* () {
      assert.strictEqual((yield* settles).why, refused)
      yield* Navs.states({ businessDate, official: "1" })
      assert.strictEqual((yield* settles).why, "")
    })

  it.effect("on the ledger wait for a NAV that confirms the point, units in or units back", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"], guarded)
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      yield* Cycles.subscribes(stage, h1, { id: "s1", amount: "100" })
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishesInTime(stage, "1", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "100", price: "1" })
      yield* refusedUntilStated(
        Calls.write("subscription.settle", { subscriptionId: "s1" }, {}),
        date
      )

      yield* Cycles.redeems(stage, h1, { id: "r1", units: "40" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishesInTime(stage, "1", Cycles.monday)
      yield* Cycles.pays(stage, { id: "r1", units: "40", price: "1", proceeds: "40" })
      const paying = { assetId: "USD", amount: "40", to: h1, reference: "r1" }
      yield* Cycles.allocates(stage, stage.fund, paying)
      yield* refusedUntilStated(
        Calls.write("redemption.settle", { redemptionId: "r1" }, {}),
        "2026-08-03"
      )
    }).pipe(engine())
  )

  it.effect("of a dealing cycle wait for it too", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"], guarded)
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, h1, { id: "s1", amount: "100" })
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishesInTime(stage, "1", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "100", price: "1" })
      yield* refusedUntilStated(Cycles.settles("c1"), date)
    }).pipe(engine())
  )
})

describe("an order whose point its oracle takes back, without a feed", () => {
  const refused = "rule-refused nav-feed feed-usable"
  const rows: ReadonlyArray<
    readonly [string, (stage: Fund.Parties) => Effect.Effect<unknown, unknown, unknown>, string]
  > = [
    ["to another price", (stage) => Fund.corrects(stage, "1.05", cutOff), refused],
    ["for good", Fund.withdrawsPoint, refused],
    ["to another time", (stage) => Fund.corrects(stage, "1.0437", "2026-07-31T21:00:00Z"), refused],
    ["to the same price of the same time", (stage) => Fund.corrects(stage, "1.0437", cutOff), ""],
    [
      "and back",
      (stage) =>
        Effect.andThen(
          Fund.corrects(stage, "1.05", cutOff),
          Fund.corrects(stage, "1.0437", cutOff)
        ),
      ""
    ],
    [
      "by a correction that is withdrawn itself",
      (stage) => Effect.andThen(Fund.corrects(stage, "1.0437", cutOff), Fund.withdrawsPoint(stage)),
      refused
    ]
  ]
  it.effect.each(rows)("is delivered at no price that is gone: %s", ([, takesBack, expected]) =>
    Effect.gen(function* () {
      const stage = yield* priced({})
      yield* takesBack(stage) as Effect.Effect<unknown>
      assert.strictEqual((yield* delivers).why, expected)
    }).pipe(engine())
  )

  it.effect("is not settled on the ledger, units in or units back, but released", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      const bought = { subscriptionId: "s1" }
      yield* Cycles.subscribes(stage, h1, { id: "s0", amount: "100" })
      yield* Cycles.subscribes(stage, h1, { id: "s1", amount: "100" })
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishesInTime(stage, "1", Cycles.friday)
      for (const id of ["s0", "s1"]) yield* Cycles.attests(stage, { id, units: "100", price: "1" })
      const first = yield* Calls.write("subscription.settle", { subscriptionId: "s0" }, {})
      assert.strictEqual(first.why, "")
      yield* Fund.corrects(stage, "1.1", Cycles.friday)
      assert.strictEqual((yield* Calls.write("subscription.settle", bought, {})).why, refused)
      assert.strictEqual((yield* Calls.write("subscription.release", bought, {})).why, "")

      const sold = { redemptionId: "r1" }
      yield* Cycles.redeems(stage, h1, { id: "r1", units: "40" })
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishesInTime(stage, "1", Cycles.monday)
      yield* Cycles.pays(stage, { id: "r1", units: "40", price: "1", proceeds: "40" })
      const paying = { assetId: "USD", amount: "40", to: h1, reference: "r1" }
      yield* Cycles.allocates(stage, stage.fund, paying)
      yield* Fund.withdrawsPoint(stage)
      assert.strictEqual((yield* Calls.write("redemption.settle", sold, {})).why, refused)
      assert.strictEqual((yield* Calls.write("redemption.release", sold, {})).why, "")
    }).pipe(engine())
  )
})

describe("a reconciliation run under a mapped feed", () => {
  const found = Effect.map(Reconciling.found, (rows) =>
    rows.filter((row) => row.startsWith("nav-")).toSorted()
  )

  it.effect(
    "compares a point that is dated ahead with the NAV of its date once its time has come",
    () =>
      Effect.gen(function* () {
        const stage = yield* priced()
        yield* Stating.source("nav-1", { kind: "nav", calendar: [] })
        yield* Navs.states({ businessDate: date, official: "1.0437" })
        yield* Fund.publishes(stage, "9", "2026-07-31T21:00:00Z")
        yield* Reconciling.run()
        assert.deepStrictEqual(yield* found, [])
        yield* Cycles.at("2026-07-31T21:00:00Z")
        yield* Reconciling.run()
        const open = [`nav-price nav-1:${date} open -7.9563`]
        assert.deepStrictEqual(yield* found, open)
        // Without its only source nothing is compared, and nothing cleared.
        yield* Stating.source("nav-1", { kind: "nav", calendar: [], state: "inactive" })
        yield* Reconciling.run()
        assert.deepStrictEqual(yield* found, open)
      }).pipe(engine())
  )

  it.effect("holds what the NAV does not confirm, warns of a waiting order, and clears both", () =>
    Effect.gen(function* () {
      yield* priced()
      yield* Stating.source("nav-1", { kind: "nav", calendar: [] })
      yield* Reconciling.run()
      assert.deepStrictEqual(yield* found, [])
      yield* Navs.states({ businessDate: date, official: "1.0460" })
      const held = yield* Reconciling.run()
      assert.strictEqual(held.value.holdsOpened.length, 1)
      assert.deepStrictEqual(yield* found, [`nav-price nav-1:${date} open 0.0023`])

      // A hold stops no correction; the NAV of the date is suspended, and an order waits.
      const holdId = held.value.holdsOpened[0] ?? ""
      yield* Navs.states({ businessDate: date, official: "1.0437" })
      yield* Reconciling.run()
      yield* Calls.write("hold.release", { holdId }, {})
      yield* claims({ subscriptionId: "s2" })
      yield* Navs.states({ businessDate: "2026-08-03", official: "0", ripcord: true })
      yield* Reconciling.run()
      assert.deepStrictEqual(yield* found, [
        `nav-price nav-1:${date} cleared 0.0023`,
        "nav-usable nav-1 open 0"
      ])
      yield* Navs.states({ businessDate: "2026-08-03", official: "1.2" })
      yield* Reconciling.run()
      assert.deepStrictEqual(yield* found, [
        "nav-movement nav-1 open 0.1563",
        `nav-price nav-1:${date} cleared 0.0023`,
        "nav-usable nav-1 cleared 0"
      ])
    }).pipe(engine())
  )
})
