/**
 * Golden vectors of reserves (docs/domain/figures.md#golden-vectors), each as text by the view, by the
 * ledger's own report and by prechecks, and those of orders by the orders themselves.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Backed from "./backed.ts"
import * as Covered from "./covered.ts"
import * as Minting from "./minting.ts"
import * as Stated from "./stated-reserves.ts"

const engine = () => Effect.provide(world())

const a: Stated.StatedAsset = { units: "1000", price: "1" }
const b: Stated.StatedAsset = { units: "500", price: "2.1", haircut: "0.05", maxShare: "0.4" }
/** At par: A without a haircut, B with one and at most 0.4 of the duty. */
const base: Stated.Stated = { assets: { A: a, B: b }, outstanding: "1500", minCover: "1.02" }
/** Accumulating, the same assets without a cap. */
const owned: Stated.Stated = {
  assets: { A: a, B: { ...b, maxShare: null } },
  outstanding: "1800",
  minCover: "0.97",
  accumulating: "1"
}

/** Figures as text; a report has no cap, and nothing of what may be minted. */
interface Shown {
  readonly required?: string
  readonly counted?: string
  readonly cover: string
  readonly sharePrice?: string
  readonly mintable?: string
  /** `value cap counted` of each asset. */
  readonly worths?: ReadonlyArray<string>
}

/** A precheck, the checks that refuse it, and figures of its answer. */
interface Answer {
  readonly ask: Stated.Ask
  readonly refused?: ReadonlyArray<string>
  readonly figures?: Readonly<Record<string, string>>
}

interface Moment {
  readonly name: string
  /** Act after the moment before. */
  readonly change?: (scene: Backed.Scene) => Effect.Effect<unknown, unknown, Needs>
  readonly shown: Shown
  readonly asks: ReadonlyArray<Answer>
}
type Needs = Effect.Services<ReturnType<typeof Backed.proposes>>

const issues = (units: string) => (scene: Backed.Scene) => Covered.issues(scene, units)
const locks = (name: string, amount: string) => (scene: Backed.Scene) =>
  Backed.locks(scene, { asset: Stated.assetOf(scene, name), amount })
const prices = (name: string, price: string) => (scene: Backed.Scene) =>
  Stated.publishes(scene, name, { price })
/** A millisecond later the oracle prices A as of an instant so many microseconds before. */
const priced = (age: number) => (scene: Backed.Scene) =>
  Effect.andThen(TestClock.adjust(1), Stated.publishes(scene, "A", { price: "1", age }))

const byA = (deposit: string) => ({ asset: "A", deposit })
const byB = (deposit: string) => ({ asset: "B", deposit })
const ofA = (units: string) => ({ asset: "A", units })
const ofB = (units: string) => ({ asset: "B", units })

const par = "1.0000000000"
const whole: Shown = {
  required: "1530.00",
  counted: "1612.00",
  cover: "1.0746666666 covered",
  sharePrice: par,
  mintable: "133.986928",
  worths: ["1000.00 - 1000.00", "997.50 612.00 612.00"]
}
const staleA: Shown = {
  required: "1530.00",
  counted: "612.00",
  cover: "0.4080000000 low",
  mintable: "0",
  worths: ["0.00 - 0.00", "997.50 612.00 612.00"]
}
const refusesStale: ReadonlyArray<Answer> = [
  { ask: byA("1"), refused: ["price-fresh", "cover"], figures: { coverBefore: "0.408" } },
  { ask: byB("1"), refused: ["cover"], figures: { coverBefore: "0.408" } }
]

const vectors: ReadonlyArray<readonly [string, Stated.Stated, ReadonlyArray<Moment>]> = [
  [
    "G24, G26 and G51: a capped asset counts its share of the duty, a mint its deposit and its units",
    base,
    [
      {
        name: "of 1500 units",
        shown: whole,
        asks: [
          {
            ask: byA("100"),
            figures: { units: "100", coverBefore: "1.0746666666", coverAfter: "1.0955" }
          },
          {
            ask: byB("100"),
            refused: ["cover"],
            figures: {
              units: "210",
              required: "1744.2",
              counted: "1697.68",
              coverAfter: "0.9927953216"
            }
          }
        ]
      },
      {
        name: "of as many more as may be minted",
        change: issues("133.986928"),
        shown: { cover: "1.0200000000 covered", mintable: "0" },
        asks: [{ ask: byA("100"), figures: { coverBefore: "1.02" } }]
      },
      {
        name: "of one atom more",
        change: issues("0.000001"),
        shown: { cover: "1.0199999996 low", mintable: "0" },
        asks: [{ ask: byB("0.01"), refused: ["cover"], figures: { coverBefore: "1.0199999996" } }]
      },
      {
        name: "as the mint of 100 of B would leave it",
        change: (scene) =>
          Effect.andThen(locks("B", "100")(scene), Covered.issues(scene, "76.013071")),
        shown: {
          required: "1744.20",
          counted: "1697.68",
          cover: "0.9927953216 low",
          mintable: "0"
        },
        asks: [
          { ask: byA("1"), refused: ["cover"], figures: { coverBefore: "0.9927953216" } },
          // Redemptions go on while the cover is low.
          { ask: ofA("10"), figures: { coverBefore: "0.9927953216", payout: "10" } }
        ]
      }
    ]
  ],
  [
    "G25 and G59: a price counts to the very end of its life, and a stale or future one is worth 0",
    { ...base, assets: { A: { ...a, age: Stated.hour }, B: b } },
    [
      { name: "an hour old", shown: whole, asks: [{ ask: byA("1") }] },
      {
        name: "a microsecond older",
        change: priced(Stated.hour + 1),
        shown: staleA,
        asks: refusesStale
      },
      {
        name: "a microsecond ahead",
        change: priced(-1),
        shown: staleA,
        asks: refusesStale
      },
      { name: "of this instant", change: priced(0), shown: whole, asks: [{ ask: byA("1") }] }
    ]
  ],
  [
    "G27 and G28: a share price is rounded up for mints, and down for redemptions",
    {
      assets: { A: { units: "2500000.37" } },
      outstanding: "2400000",
      minCover: "1",
      accumulating: "1"
    },
    [
      {
        name: "of 2400000 units",
        shown: { sharePrice: "1.0416668208", cover: "1.0000000000 covered" },
        asks: [
          { ask: byA("100000"), figures: { sharePrice: "1.0416668209", units: "95999.985785" } },
          {
            ask: ofA("95999.985785"),
            figures: { sharePrice: "1.0416668208", payout: "99999.999989" }
          }
        ]
      }
    ]
  ],
  [
    "G53: the first mint needs what the reserve's holder has locked beyond the deposit",
    { assets: { A: { units: "0" } }, outstanding: "0", minCover: "1.02" },
    (
      [
        ["0", undefined, "1"],
        ["1.9999999999", locks("A", "1.9999999999"), "1.0199999999"],
        ["2", locks("A", "0.0000000001"), "1.02"]
      ] as const
    ).map(
      ([locked, change, coverAfter]): Moment => ({
        name: `${locked} locked`,
        ...(change === undefined ? {} : { change }),
        shown: { cover: "null covered", required: "0.00", sharePrice: par },
        asks: [
          {
            ask: byA("100"),
            refused: coverAfter === "1.02" ? [] : ["cover"],
            figures: { units: "100", coverAfter }
          }
        ]
      })
    )
  ],
  [
    "G54: as much may be minted as the largest requirement that is met, where one cap binds of two",
    {
      assets: { A: { units: "600", maxShare: "0.5" }, B: b, C: { units: "300" } },
      outstanding: "900",
      minCover: "1.02"
    },
    [
      {
        name: "of 900 units",
        shown: {
          cover: "1.2513333333 covered",
          mintable: "570.588235",
          worths: ["600.00 459.00 459.00", "997.50 367.20 367.20", "300.00 - 300.00"]
        },
        asks: [{ ask: { asset: "C", deposit: "1" }, figures: { coverBefore: "1.2513333333" } }]
      },
      {
        name: "of as many more as may be minted",
        change: issues("570.588235"),
        shown: { required: "1500.00", cover: "1.0200000001 covered", mintable: "0" },
        asks: [{ ask: { asset: "C", deposit: "1" }, figures: { coverBefore: "1.0200000001" } }]
      },
      {
        name: "of one atom more",
        change: issues("0.000001"),
        shown: { cover: "1.0199999997 low", mintable: "0" },
        asks: [{ ask: byB("0.01"), refused: ["cover"], figures: { coverBefore: "1.0199999997" } }]
      }
    ]
  ],
  [
    "G55 and G57: the units of an accumulating reserve own it, and a deposit mints less as it gains",
    owned,
    [
      {
        name: "with B at 2.10",
        shown: {
          required: "1988.50",
          counted: "1997.50",
          cover: "0.9743902439 covered",
          sharePrice: "1.1388888888",
          mintable: "8.146844",
          worths: ["1000.00 - 1000.00", "997.50 - 997.50"]
        },
        asks: [
          {
            ask: byA("100"),
            figures: {
              sharePrice: "1.1388888889",
              units: "87.804878",
              coverBefore: "0.9743902439",
              coverAfter: "0.9755813953"
            }
          },
          { ask: ofA("87.804878"), figures: { sharePrice: "1.1388888888", payout: "99.999999" } }
        ]
      },
      ...(
        [
          ["2.1000000001", "87.804878"],
          ["2.09", "88.019559"],
          ["2.11", "87.59124"]
        ] as const
      ).map(
        ([price, units]): Moment => ({
          name: `with B at ${price}`,
          change: prices("B", price),
          shown: { cover: "covered" },
          asks: [{ ask: byA("100"), figures: { units } }]
        })
      )
    ]
  ],
  [
    "G56: an accumulating reserve before its first unit has its initial share price",
    {
      assets: { A: { units: "500" } },
      outstanding: "0",
      minCover: "0.97",
      accumulating: "1.25"
    },
    [
      {
        name: "of no unit",
        shown: { cover: "null covered", sharePrice: "1.2500000000", mintable: "412.371134" },
        asks: [{ ask: byA("100"), figures: { sharePrice: "1.25", units: "80" } }]
      }
    ]
  ],
  [
    "G58: at par a deposit mints its worth, and units are paid it, by the price of the asset",
    { ...base, assets: { A: { ...a, units: "6000" }, B: b } },
    (
      [
        ["2.1", "1050", "47.619047"],
        ["2.09", "1045", "47.846889"],
        ["2.11", "1055", "47.393364"]
      ] as const
    ).map(
      ([price, units, payout]): Moment => ({
        name: `with B at ${price}`,
        change: prices("B", price),
        shown: { sharePrice: par, cover: "covered" },
        asks: [
          { ask: byB("500"), figures: { price, units } },
          { ask: ofB("100"), figures: { price, payout } }
        ]
      })
    )
  ]
]

const cents = (decimal: Decimal.Decimal) => Decimal.formatPlaces(decimal, 2)

/** `value cap counted` of the assets of a view; a report has no cap. */
const worthsOf = (
  assets: ReadonlyArray<{
    readonly value: Decimal.Decimal
    readonly counted: Decimal.Decimal
    readonly cap?: Decimal.Decimal | null
  }>
) =>
  assets.map(({ cap = null, counted, value }) =>
    [cents(value), cap === null ? "-" : cents(cap), cents(counted)].join(" ")
  )
const withoutCap = (worths: string) => worths.replace(/ \S+ /, " - ")

/** Asserts these figures of the view and of the ledger's report, which are of one instant. */
const assertsFigures = ({ cover, mintable, worths, ...amounts }: Shown) =>
  Effect.gen(function* () {
    const { at, view, report } = yield* Stated.agreed
    for (const read of [view, report]) {
      const text = Stated.shownBy(read)
      assert.include(text.cover, cover)
      assert.deepInclude(text, { ...amounts, cover: text.cover })
    }
    if (mintable !== undefined) assert.strictEqual(Decimal.formatPlain(view.mintable), mintable)
    if (worths !== undefined) {
      assert.deepStrictEqual(worthsOf(view.assets), worths)
      assert.deepStrictEqual(worthsOf(report.assets), worths.map(withoutCap))
    }
    return { at, view }
  })

describe("a golden vector as the view, the ledger's report and prechecks tell it", () => {
  it.effect.each(vectors)("%s", ([, statement, moments]) =>
    Effect.gen(function* () {
      const scene = yield* Stated.stands(statement)
      for (const { name, asks, change, shown } of moments) {
        if (change !== undefined) yield* change(scene)
        const { at } = yield* assertsFigures(shown)
        for (const { ask, figures = {}, refused = [] } of asks) {
          const answer = yield* Stated.precheck(scene, { ...ask, at })
          assert.deepStrictEqual([name, ...answer.refused], [name, ...refused])
          assert.deepInclude(answer.figures, figures)
        }
      }
    }).pipe(engine())
  )
})

// ---- orders

/** A mint of 100 of A that its depositor has accepted, and that the engine has not settled yet. */
const mint = (scene: Backed.Scene) => ({
  mintId: "m-1",
  asset: Stated.assetOf(scene, "A"),
  deposit: 100
})

const started = (statement: Stated.Stated) =>
  Effect.gen(function* () {
    const scene = yield* Stated.stands(statement)
    assert.strictEqual((yield* Minting.starts(scene, mint(scene))).why, "")
    return scene
  })

const settles = (scene: Backed.Scene) =>
  Effect.andThen(Minting.accepts(scene, mint(scene)), Minting.turn)

/** The mint is still ready, since this check refused to settle it. */
const isRefused = (check: string) =>
  Effect.gen(function* () {
    assert.strictEqual((yield* Minting.endings("mint.settle")).at(-1), `reserve-cover ${check}`)
    assert.strictEqual((yield* Minting.mint("m-1")).state, "ready")
  })

const isSettled = (units: string, coverAfter: string) =>
  Effect.gen(function* () {
    assert.deepInclude(yield* Minting.mint("m-1"), {
      state: "settled",
      units: Decimal.of(units),
      coverAfter: Decimal.of(coverAfter)
    })
  })

const answered = (scene: Backed.Scene, answer: Answer) =>
  Effect.gen(function* () {
    const { figures, refused } = yield* Stated.precheck(scene, answer.ask)
    assert.deepStrictEqual(refused, answer.refused ?? [])
    assert.deepInclude(figures, answer.figures ?? {})
  })

/** Terms of at least 1.10, of which B carries at most 0.3. */
const tightens = (scene: Backed.Scene) =>
  Effect.gen(function* () {
    const terms = Stated.termsOf(scene, {
      assets: { A: a, B: { ...b, maxShare: "0.3" } },
      minCover: "1.1"
    })
    assert.strictEqual((yield* Backed.amends("am-1", terms)).why, "")
    yield* Backed.answersAmendment(scene, "am-1")
  })

describe("a golden vector of an order or an act, as it is done", () => {
  it.effect(
    "G51 and G52: a mint is settled at the last price that covers it, and at none below",
    () =>
      Effect.gen(function* () {
        const scene = yield* started(base)
        assert.strictEqual(
          (yield* Minting.starts(scene, {
            mintId: "m-b",
            asset: Stated.assetOf(scene, "B"),
            deposit: 100
          })).why,
          "rule-refused reserve-cover cover"
        )
        yield* prices("B", "1.1199999999")(scene)
        yield* answered(scene, {
          ask: byA("100"),
          refused: ["cover"],
          figures: { coverAfter: "1.0199999999" }
        })
        yield* settles(scene)
        yield* isRefused("cover")
        yield* prices("B", "1.12")(scene)
        yield* answered(scene, { ask: byA("100"), figures: { coverAfter: "1.02" } })
        yield* Minting.retry
        yield* isSettled("100", "1.02")
        yield* assertsFigures({
          cover: "1.0200000000 covered",
          required: "1632.00",
          counted: "1632.00"
        })
      }).pipe(engine())
  )

  it.effect("G52: a mint is not settled while B is stale, which would leave too little", () =>
    Effect.gen(function* () {
      const scene = yield* started({
        ...base,
        assets: { A: { units: "1000" }, B: b }
      })
      yield* TestClock.adjust("61 minutes")
      yield* answered(scene, {
        ask: byA("100"),
        refused: ["cover"],
        figures: { coverAfter: "0.6875" }
      })
      yield* settles(scene)
      yield* isRefused("cover")
      yield* assertsFigures({ cover: "0.6666666666 low", counted: "1000.00" })
    }).pipe(engine())
  )

  it.effect("G57: a mint is never settled for more units than its deposit then mints", () =>
    Effect.gen(function* () {
      const scene = yield* started(owned)
      yield* prices("B", "2.11")(scene)
      yield* settles(scene)
      yield* isRefused("price-moved")
      yield* prices("B", "2.1000000001")(scene)
      yield* Minting.retry
      yield* isSettled("87.804878", "0.9755813953")
    }).pipe(engine())
  )

  it.effect("G57: a mint stands as it was where its deposit would mint more by now", () =>
    Effect.gen(function* () {
      const scene = yield* started(owned)
      yield* prices("B", "2.09")(scene)
      yield* settles(scene)
      yield* isSettled("87.804878", "0.9756410256")
    }).pipe(engine())
  )

  it.effect("G60: a mint that is ready is refused once terms have tightened beyond it", () =>
    Effect.gen(function* () {
      const scene = yield* started(base)
      yield* tightens(scene)
      yield* assertsFigures({ cover: "0.9966666666 low" })
      yield* answered(scene, {
        ask: byA("100"),
        refused: ["cover"],
        figures: { coverBefore: "0.9966666666", coverAfter: "1.0175" }
      })
      yield* settles(scene)
      yield* isRefused("cover")
    }).pipe(engine())
  )

  it.effect("G60: a mint that settled before the terms tighten leaves the reserve low", () =>
    Effect.gen(function* () {
      const scene = yield* started(base)
      yield* settles(scene)
      yield* isSettled("100", "1.0955")
      yield* assertsFigures({ cover: "1.0955000000 covered" })
      yield* tightens(scene)
      yield* assertsFigures({ cover: "1.0175000000 low" })
    }).pipe(engine())
  )

  it.effect("G61: an asset is released once the others cover the units, and not before", () =>
    Effect.gen(function* () {
      const scene = yield* Stated.stands({
        assets: { A: { units: "700" }, B: { units: "400" } },
        outstanding: "1000",
        minCover: "1.02"
      })
      yield* assertsFigures({ cover: "1.1000000000 covered" })
      assert.strictEqual(
        (yield* Backed.releasesLock("lock-B")).why,
        "rule-refused reserve-cover cover"
      )
      yield* locks("A", "320")(scene)
      assert.strictEqual((yield* Backed.releasesLock("lock-B")).why, "")
      yield* assertsFigures({ cover: "1.0200000000 covered", counted: "1020.00" })
      yield* answered(scene, {
        ask: byA("1"),
        refused: ["cover"],
        figures: { coverBefore: "1.02" }
      })
    }).pipe(engine())
  )

  const feasible = "rule-refused policy feasible"

  it.effect("G29: caps that leave a part of the duty uncovered make no terms", () =>
    Effect.gen(function* () {
      const capped = (maxShare: string): Stated.Stated => ({
        assets: { A: { units: "0", maxShare: "0.4" }, B: { units: "0", maxShare } },
        outstanding: "0",
        minCover: "1.02"
      })
      const scene = yield* Stated.opened(capped("0.5"))
      const refused = Stated.bodyOf(scene, capped("0.5"))
      assert.strictEqual((yield* Backed.proposes(scene, refused)).why, feasible)
      yield* Backed.reserved(scene, Stated.bodyOf(scene, capped("0.6")))
      const { terms } = refused
      const amended = yield* Calls.write("amendment.propose", { reserveId: "res-1" }, { terms })
      assert.strictEqual(amended.why, feasible)
      yield* assertsFigures({ cover: "null covered" })
    }).pipe(engine())
  )

  it.effect("G30: haircuts that the units would have to pay for make no terms", () =>
    Effect.gen(function* () {
      const cut = (minCover: string): Stated.Stated => ({
        assets: { A: { units: "0", maxShare: "0.5" }, B: { units: "0", haircut: "0.1" } },
        outstanding: "0",
        minCover,
        accumulating: "1"
      })
      const scene = yield* Stated.opened(cut("0.95"))
      const refused = Stated.bodyOf(scene, cut("0.95"))
      assert.strictEqual((yield* Backed.proposes(scene, refused)).why, feasible)
      yield* Backed.reserved(scene, Stated.bodyOf(scene, cut("0.94")))
      const { terms } = refused
      const amended = yield* Calls.write("amendment.propose", { reserveId: "res-1" }, { terms })
      assert.strictEqual(amended.why, feasible)
      yield* assertsFigures({ cover: "null covered", sharePrice: par })
    }).pipe(engine())
  )
})
