/** Planted faults of reserves: each is found as the table of checks says, and nothing else; a low cover is held. */
import { EventQueries, Records } from "@bursar/engine-core"
import { Date, Decimal, Duration, Instant, PlainJson } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { findings } from "#core/findings/Finding.ts"
import { assetQuotes, quoteIdOf } from "#core/instruments/price/AssetQuote.ts"
import { reserves } from "#core/reserves/reserve/Reserve.ts"
import { reserveHoldings } from "#core/reserves/reserve/ReserveHolding.ts"
import { reserveRedemptions } from "#core/reserves/reserve-order/ReserveRedemption.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Backed from "./backed.ts"
import * as Covered from "./covered.ts"
import { forge } from "./forging.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"

const engine = () => Effect.provide(world())

/** `check severity subject unexplained` of every open finding. */
const open = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(findings, { where: { state: ["open"] }, limit: 100 })
  return rows
    .map(
      ({ record: { check, severity, subject, unexplained } }) =>
        `${check} ${severity} ${subject.id} ${Decimal.formatPlain(unexplained)}`
    )
    .toSorted()
})

/** Sources of the open holds with what they block. */
const held = Effect.map(Reconciling.openHolds, (all) =>
  all.map(({ blocks, source }) => `${source}: ${blocks.join(" ")}`).toSorted()
)

const runs = Effect.map(Reconciling.run(), ({ value }) => value.verdict)

/** Units that leave the reserve covered, by cash alone. */
const few = "900"

/** A sound reserve, whose first run is clear. */
const scene = (units = few) =>
  Effect.gen(function* () {
    const scene = yield* Covered.covered()
    yield* Covered.issues(scene, units)
    assert.deepEqual([yield* runs, yield* open], ["clear", []])
    return scene
  })

/** The reserve as the ledger judges it, with the given points. */
const judgingOf = (pointCids: ReadonlyArray<string>, supply: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const where = { reserveId: ["res-1"] }
    const locked = yield* records.list(reserveHoldings, { where, limit: 10 })
    const holdingCids = locked.map(({ record }) => record.contractId)
    return { supply: Decimal.of(supply), holdingCids, pointCids }
  })

/** Has the ledger compute a report with these of the reserve's points, as a venue may choose. */
const reportsWith = (pointCids: ReadonlyArray<string>, supply: string, reportId = "rep-1") =>
  Effect.gen(function* () {
    const { reserveCid } = yield* Backed.reserve()
    yield* Covered.asVenue(
      Templates.exercise(Templates.Reserve, reserveCid ?? "", "ComputeReport", {
        reportId,
        ...(yield* judgingOf(pointCids, supply))
      })
    )
  })

const pointOf = ({ bill, oracle }: Backed.Scene) =>
  Effect.gen(function* () {
    const records = yield* Records
    const quoteId = quoteIdOf({ source: oracle.party, asset: bill })
    return (yield* records.get(assetQuotes, quoteId)).contractId
  })

describe("a cover that is low", () => {
  it.effect("blocks, and holds mints and distributions apart from other holds", () =>
    Effect.gen(function* () {
      const stage = yield* scene("1500")
      yield* Backed.prices(stage, "0.9")
      assert.strictEqual(yield* runs, "blocked")
      assert.deepEqual(yield* open, ["reserve-cover blocking res-1 -72.5"])
      assert.deepEqual(yield* held, ["cover: mint distribution"])
      const feed = yield* EventQueries.EventQueries
      const page = yield* feed.page({ caller: Calls.operator, params: {}, limit: 1000 })
      const [event, ...more] = page.value.filter(({ type }) => type === "reserve.cover-low")
      const [hold] = yield* Reconciling.openHolds
      assert.deepEqual(
        [event?.resourceId, PlainJson.stringify(event?.payload ?? null), more.length],
        [
          "res-1",
          `{"ratio":0.9516666666,"minCover":1.0000000000,"holdId":"${hold?.holdId}","runId":"${hold?.runId}"}`,
          0
        ]
      )
    }).pipe(engine())
  )

  it.effect("is one hold however many runs find it, and its release stands once it is cured", () =>
    Effect.gen(function* () {
      const stage = yield* scene("1500")
      yield* Backed.prices(stage, "0.9")
      yield* runs
      yield* Backed.prices(stage, "0.8")
      yield* runs
      assert.deepEqual(yield* open, ["reserve-cover blocking res-1 -120"])
      const [hold, ...others] = yield* Reconciling.openHolds
      assert.deepEqual(others, [])
      const holdId = String(hold?.holdId)
      const release = Calls.write("hold.release", { holdId }, { reason: "cured" })
      assert.strictEqual((yield* release).why, "rule-refused hold findings-cleared")
      yield* Backed.prices(stage, "2.1")
      assert.strictEqual(yield* runs, "clear")
      assert.strictEqual((yield* release).state, "succeeded")
      yield* Calls.settle
      assert.deepEqual([yield* open, yield* held], [[], []])
    }).pipe(engine())
  )

  it.effect("is not found at its very edge, and is a hundredth of a cent below", () =>
    Effect.gen(function* () {
      const stage = yield* scene("1475")
      yield* Backed.prices(stage, "1")
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
      yield* Backed.prices(stage, "0.9999999999")
      assert.strictEqual(yield* runs, "blocked")
      assert.deepEqual(yield* open, ["reserve-cover blocking res-1 -0.01"])
    }).pipe(engine())
  )

  it.effect("stops like an unknown one, where a locked asset never had a price", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      yield* Backed.reserved(scene)
      yield* Backed.locked(scene, { asset: scene.usd, amount: "1000" })
      yield* Backed.locked(scene, { asset: scene.bill, amount: "500" })
      yield* Covered.issues(scene, "1500")
      assert.strictEqual(yield* runs, "blocked")
      assert.deepEqual(yield* open, [
        "reserve-cover blocking res-1 -500",
        "reserve-price-fresh warning res-1 1"
      ])
      assert.deepEqual(yield* held, ["cover: mint distribution"])
    }).pipe(engine())
  )
})

describe("a price that does not count", () => {
  it.effect("warns a moment after its freshness, and stops nothing while the rest covers", () =>
    Effect.gen(function* () {
      const stage = yield* scene()
      const now = yield* Instant.now
      yield* Backed.prices(stage, "2.1")
      yield* TestClock.setTime(Instant.toEpochMillis(now) + 3_600_000)
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
      yield* TestClock.adjust("1 millis")
      assert.strictEqual(yield* runs, "findings")
      assert.deepEqual(yield* open, ["reserve-price-fresh warning res-1 1"])
      assert.deepEqual(yield* held, [])
      yield* Backed.prices(stage, "2.1")
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
    }).pipe(engine())
  )
})

describe("a report", () => {
  it.effect("is what the engine computes, at whatever the prices were then", () =>
    Effect.gen(function* () {
      const stage = yield* scene()
      yield* Backed.prices(stage, "2.07")
      const made = yield* Calls.write("reserve-report.create", { reserveId: "res-1" }, {})
      assert.strictEqual(made.state, "succeeded")
      yield* TestClock.adjust("5 minutes")
      yield* Backed.prices(stage, "1.9")
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
    }).pipe(engine())
  )

  it.effect("for which the venue left a point out blocks, and opens no cover hold", () =>
    Effect.gen(function* () {
      yield* scene()
      yield* reportsWith([], few)
      assert.strictEqual(yield* runs, "blocked")
      // The report leaves out the bills: 0.4 times 900 units.
      assert.deepEqual(yield* open, ["reserve-report blocking res-1 -360"])
      assert.deepEqual(yield* held, ["reconciliation: distribution"])
      yield* Calls.write("reserve-report.create", { reserveId: "res-1" }, {})
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
    }).pipe(engine())
  )

  it.effect("is found to be wrong also where a right one follows before the next run", () =>
    Effect.gen(function* () {
      yield* scene()
      yield* Calls.write("reserve-report.create", { reserveId: "res-1" }, {})
      assert.strictEqual(yield* runs, "clear")
      yield* reportsWith([], few, "rep-2")
      yield* Calls.write("reserve-report.create", { reserveId: "res-1" }, {})
      assert.strictEqual(yield* runs, "blocked")
      assert.deepEqual(yield* open, ["reserve-report blocking res-1 -360"])
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
    }).pipe(engine())
  )

  it.effect("by an old point blocks, unless the point was replaced while the venue asked", () =>
    Effect.gen(function* () {
      const stage = yield* scene("1500")
      const old = yield* pointOf(stage)
      yield* Backed.prices(stage, "0.7")
      yield* TestClock.adjust("30 seconds")
      yield* Backed.prices(stage, "2.1")
      const just = yield* pointOf(stage)
      yield* TestClock.adjust("10 seconds")
      yield* Backed.prices(stage, "2.2")
      yield* TestClock.adjust("59 seconds")
      yield* reportsWith([just], "1500")
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
      yield* TestClock.adjust("10 minutes")
      yield* reportsWith([old], "1500", "rep-2")
      assert.deepEqual(
        [yield* runs, yield* open],
        ["blocked", [`reserve-report blocking res-1 -0.1`]]
      )
    }).pipe(engine())
  )

  it.effect("of another supply than the register has blocks", () =>
    Effect.gen(function* () {
      const stage = yield* scene()
      yield* reportsWith([yield* pointOf(stage)], "899")
      assert.strictEqual(yield* runs, "blocked")
      assert.deepEqual(yield* open, ["reserve-report blocking res-1 -1"])
    }).pipe(engine())
  )
})

/** Releases the hold of each run that blocks, with the figure accepted that it shows; the figures, in turn. */
const acceptsEach = Effect.gen(function* () {
  const records = yield* Records
  const figures: Array<string | null | undefined> = []
  let verdict = "blocked"
  while (verdict === "blocked" && figures.length < 10) {
    const [found] = yield* records.list(findings, { where: { state: ["open"] }, limit: 1 })
    const [hold] = yield* Reconciling.openHolds
    yield* TestClock.adjust("1 minute")
    const released = yield* Calls.write(
      "hold.release",
      { holdId: String(hold?.holdId) },
      { accept: [String(found?.record.findingId)], reason: "the supply was late" }
    )
    assert.strictEqual(released.state, "succeeded")
    figures.push(found?.record.figure)
    verdict = yield* runs
  }
  assert.strictEqual(verdict, "findings")
  return figures
})

describe("a report whose difference people accepted", () => {
  it.effect("covers no difference of another figure's unit, however small it is", () =>
    Effect.gen(function* () {
      const stage = yield* scene()
      yield* reportsWith([yield* pointOf(stage)], "400")
      assert.strictEqual(yield* runs, "blocked")
      assert.deepEqual(yield* open, ["reserve-report blocking res-1 -500"])
      const accepted = yield* acceptsEach
      const ofReserve = ["outstanding", "required", "counted", "ratio"]
      assert.deepEqual([accepted.slice(0, 4), accepted.length], [ofReserve, 5])
      assert.deepEqual([yield* runs, yield* open, yield* held], ["findings", [], []])
      // Right units; the bills are left out of the counted value: 0.4 times 900 units.
      yield* reportsWith([], few, "rep-2")
      assert.strictEqual(yield* runs, "blocked")
      assert.deepEqual(yield* open, ["reserve-report blocking res-1 -360"])
      assert.deepEqual(yield* held, ["reconciliation: distribution"])
    }).pipe(engine())
  )
})

describe("a finding whose unit an earlier release replaced after people accepted it", () => {
  it.effect("is open once it is found again in the unit that nobody accepted", () =>
    Effect.gen(function* () {
      const stage = yield* scene()
      yield* reportsWith([yield* pointOf(stage)], "400")
      assert.strictEqual(yield* runs, "blocked")
      const records = yield* Records
      const [found] = yield* records.list(findings, { where: { state: ["open"] }, limit: 1 })
      const findingId = String(found?.record.findingId)
      yield* acceptsEach
      assert.deepEqual([yield* runs, yield* open], ["findings", []])
      yield* TestClock.adjust("1 minute")
      const accepted = yield* records.get(findings, findingId)
      const now = yield* Instant.now
      yield* records.transact(
        records.append(
          findings,
          accepted,
          { on: "see", seen: { ...accepted, unit: "USD" } },
          { cause: { by: "clock" }, now }
        )
      )
      // The bills are left out of the counted value, which is an amount of USD.
      yield* reportsWith([], few, "rep-2")
      assert.strictEqual(yield* runs, "blocked")
      assert.deepEqual(yield* open, ["reserve-report blocking res-1 -360"])
    }).pipe(engine())
  )
})

describe("locks of a reserve that has ended", () => {
  it.effect("warn, each of them", () =>
    Effect.gen(function* () {
      yield* scene()
      const records = yield* Records
      const locked = yield* records.list(reserveHoldings, {
        where: { reserveId: ["res-1"] },
        limit: 10
      })
      const now = yield* Instant.now
      yield* forge(reserves, "res-1", {
        fact: { on: "report", at: now },
        change: { state: "closed", reserveCid: null, endedAt: now }
      })
      assert.strictEqual(yield* runs, "findings")
      const amounts = new Map([
        ["USD", "1000"],
        ["BILL", "500"]
      ])
      assert.deepEqual(
        yield* open,
        locked
          .map(
            ({ record: { asset, contractId } }) =>
              `orphan-locks warning ${contractId} ${amounts.get(asset.id)}`
          )
          .toSorted()
      )
    }).pipe(engine())
  )
})

describe("units that are locked for a reserve redemption", () => {
  it.effect("warn once it has ended, and not before", () =>
    Effect.gen(function* () {
      const stage = yield* scene()
      const { reserveCid } = yield* Backed.reserve()
      const now = yield* Instant.now
      yield* Covered.asVenue(
        Templates.exercise(Templates.Reserve, reserveCid ?? "", "StartRedemption", {
          reserveRedemptionId: "rr-1",
          owner: stage.h1.party,
          units: Decimal.of("100"),
          asset: stage.usd,
          payout: Decimal.of("100"),
          executeBefore: Instant.add(now, Duration.hours(24)),
          ...(yield* judgingOf([yield* pointOf(stage)], few))
        })
      )
      const order = yield* Powers.saying(Templates.ReserveRedemptionOrder, { reserveId: "res-1" })
      const { cid: holdingCid } = yield* Fund.freeHolding(stage.h1.party)
      yield* stage.h1.act(
        Templates.exercise(Templates.ReserveRedemptionOrder, order.cid, "Accept", { holdingCid })
      )
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
      const { heldCid } = yield* Effect.flatMap(Records, (records) =>
        records.get(reserveRedemptions, "rr-1")
      )
      yield* forge(reserveRedemptions, "rr-1", {
        fact: { on: "lose" },
        change: {
          state: "cancelled",
          endedAs: "cancelled",
          endedAt: now,
          orderCid: null,
          heldCid: null
        }
      })
      assert.strictEqual(yield* runs, "findings")
      assert.deepEqual(yield* open, [`orphan-locks warning ${heldCid} 100`])
    }).pipe(engine())
  )
})

describe("a custodian's statement", () => {
  const [mapped, other] = ["hash-0001", "hash-0002"] as const

  /** The custodian states positions of the reserve's account, and others of an unmapped one. */
  const states = (
    scene: Backed.Scene,
    lines: ReadonlyArray<readonly [asset: string, quantity: string]>,
    custodian = "custody",
    businessDate = "2026-07-31"
  ) =>
    Effect.gen(function* () {
      const assets = {
        US0000000001: { ...scene.usd },
        XS0000000002: { ...scene.bill }
      }
      const source = yield* Stating.source(custodian, {
        kind: "custody",
        accountIs: null,
        assets
      })
      yield* Stating.states(source, {
        businessDate: Date.of(businessDate),
        lines: [
          ...lines.map(([asset, quantity]) => ({ account: mapped, asset, quantity })),
          { account: other, asset: "US0000000001", quantity: "77" },
          { account: other, asset: "DE0000000009", quantity: "5" }
        ]
      })
      yield* TestClock.adjust("1 second")
    })

  const custody = Effect.gen(function* () {
    const stage = yield* scene()
    yield* Stating.alone
    yield* Stating.maps({ hash: mapped, instrumentId: "fund-a" })
    return stage
  })

  const usdOf = ({ usd }: Backed.Scene) => `res-1:${usd.admin}/USD`
  const billOf = ({ bill }: Backed.Scene) => `res-1:${bill.admin}/BILL`

  it.effect("of what is locked is no finding, whatever other accounts hold", () =>
    Effect.gen(function* () {
      const scene = yield* custody
      yield* states(scene, [
        ["US0000000001", "400"],
        ["XS0000000002", "500"],
        ["US0000000001", "600"]
      ])
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
    }).pipe(engine())
  )

  it.effect("of more, or of less, blocks; and clears once it is corrected", () =>
    Effect.gen(function* () {
      const scene = yield* custody
      yield* states(scene, [["US0000000001", "1000.5"]])
      assert.strictEqual(yield* runs, "blocked")
      assert.deepEqual(
        yield* open,
        [
          `custody-reserve blocking ${usdOf(scene)}:2026-07-31 0.5`,
          `custody-reserve blocking ${billOf(scene)}:2026-07-31 -500`
        ].toSorted()
      )
      assert.deepEqual(yield* held, ["reconciliation: distribution"])
      yield* states(scene, [
        ["US0000000001", "1000"],
        ["XS0000000002", "500"]
      ])
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
    }).pipe(engine())
  )

  it.effect(
    "blocks also where the next date's, which agrees, came before the run or after it",
    () =>
      Effect.gen(function* () {
        const scene = yield* custody
        const right = [
          ["US0000000001", "1000"],
          ["XS0000000002", "500"]
        ] as const
        const wrong = [["US0000000001", "1000.5"], right[1]] as const
        yield* states(scene, wrong, "custody", "2026-07-30")
        yield* states(scene, right)
        const found = [`custody-reserve blocking ${usdOf(scene)}:2026-07-30 0.5`]
        assert.deepEqual([yield* runs, yield* open], ["blocked", found])
        yield* states(scene, right, "custody", "2026-08-01")
        assert.deepEqual([yield* runs, yield* open], ["blocked", found])
        yield* states(scene, right, "custody", "2026-07-30")
        assert.deepEqual([yield* runs, yield* open], ["clear", []])
      }).pipe(engine())
  )

  it.effect("of an asset that its source does not map warns", () =>
    Effect.gen(function* () {
      const scene = yield* custody
      yield* states(scene, [
        ["US0000000001", "1000"],
        ["XS0000000002", "500"],
        ["DE0000000009", "3"]
      ])
      assert.strictEqual(yield* runs, "findings")
      assert.deepEqual(yield* open, ["custody-reserve warning custody:DE0000000009 3"])
    }).pipe(engine())
  )

  it.effect("is compared with what was locked at its own moment", () =>
    Effect.gen(function* () {
      const scene = yield* custody
      yield* states(scene, [
        ["US0000000001", "1000"],
        ["XS0000000002", "500"]
      ])
      yield* Backed.locks(scene, { asset: scene.usd, amount: "50" })
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
      yield* states(scene, [
        ["US0000000001", "1000"],
        ["XS0000000002", "500"]
      ])
      assert.deepEqual(
        [yield* runs, yield* open],
        ["blocked", [`custody-reserve blocking ${usdOf(scene)}:2026-07-31 -50`]]
      )
    }).pipe(engine())
  )

  it.effect("is not compared with what somebody else locked in the reserve's name", () =>
    Effect.gen(function* () {
      const scene = yield* custody
      const records = yield* Records
      const where = { reserveId: ["res-1"] }
      const rows = yield* records.list(reserveHoldings, { where, limit: 10 })
      const cash = rows.find(({ record: { asset } }) => asset.id === "USD")?.record.contractId ?? ""
      const fact = { on: "end", offset: 1 } as never
      yield* forge(reserveHoldings, cash, { fact, change: { isFirm: false } })
      yield* states(scene, [["XS0000000002", "500"]])
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
    }).pipe(engine())
  )

  it.effect("of an asset that another custodian states too shows the larger difference", () =>
    Effect.gen(function* () {
      const scene = yield* custody
      yield* states(scene, [["XS0000000002", "500"]], "custody-a")
      yield* states(
        scene,
        [
          ["US0000000001", "999"],
          ["XS0000000002", "500"]
        ],
        "custody-b"
      )
      yield* runs
      assert.deepEqual(yield* open, [`custody-reserve blocking ${usdOf(scene)}:2026-07-31 -1000`])
    }).pipe(engine())
  )

  it.effect("says nothing where no account is mapped to the instrument", () =>
    Effect.gen(function* () {
      const stage = yield* scene()
      yield* Stating.alone
      yield* states(stage, [["US0000000001", "1"]])
      assert.deepEqual([yield* runs, yield* open], ["clear", []])
    }).pipe(engine())
  )
})
