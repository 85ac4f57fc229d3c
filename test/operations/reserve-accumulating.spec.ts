/** Accumulating reserves through the engine: the units own what is locked, and its worth moves. */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { inspect } from "node:util"
import * as ReserveQueries from "#core/reserves/reserve/ReserveQueries.ts"
import { booksOf, judgingOf } from "#core/reserves/reserve/ReserveLookups.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { id } from "../machines/subscriptions.ts"
import * as Books from "../simulated-ledger/reserve-books.ts"
import * as Backed from "./backed.ts"
import * as Covered from "./covered.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Minting from "./minting.ts"
import * as Stated from "./stated-reserves.ts"
import * as Venue from "./venue.ts"

const engine = () => Effect.provide(world())
const atoms = (text: string) => Decimal.atoms(Decimal.of(text))
const text = (count: bigint) => Decimal.formatPlain(Decimal.fromAtoms(count))

/** Cash and a priced asset, of which nothing is locked and nothing is outstanding. */
const begins: Stated.Stated = {
  assets: { A: { units: "0" }, B: { units: "0", price: "2", haircut: "0.05" } },
  outstanding: "0",
  minCover: "0.9",
  accumulating: "1"
}

const view = Effect.map(
  Venue.read(ReserveQueries.get, { reserveId: id<"ReserveId">("res-1") }),
  ({ value }) => value
)

/** Books of the test: what is locked, at which price of B, and what is outstanding. */
interface Kept {
  readonly scene: Backed.Scene
  readonly locked: Map<string, bigint>
  price: bigint
  outstanding: bigint
}

const keptBooks = ({ locked, outstanding, price }: Kept): Books.Books => ({
  isPar: false,
  decimals: 6n,
  terms: {
    minCover: atoms("0.9"),
    assets: [
      { asset: "A", isPriced: false, freshness: null, haircut: 0n, maxShare: null },
      { asset: "B", isPriced: true, freshness: null, haircut: atoms("0.05"), maxShare: null }
    ]
  },
  points: new Map([["B", { value: price, at: 0n }]]),
  now: 0n,
  ...{ locked, outstanding }
})

const opened = Effect.gen(function* () {
  const scene = yield* Stated.stands(begins)
  const kept: Kept = {
    scene,
    locked: new Map([
      ["A", 0n],
      ["B", 0n]
    ]),
    price: atoms("2"),
    outstanding: 0n
  }
  return kept
})

const prices = (kept: Kept, price: string) =>
  Effect.gen(function* () {
    yield* Stated.publishes(kept.scene, "B", { price })
    kept.price = atoms(price)
  })

type Hand = "h1" | "h2"

/** A mint from start to settlement; returns its units, which are those of the test's books. */
const mints = (kept: Kept, by: Hand, mint: { readonly asset: string; readonly deposit: number }) =>
  Effect.gen(function* () {
    const { asset, deposit } = mint
    const mintId = `m-${by}-${asset}`
    const amount = atoms(String(deposit))
    const units = Books.unitsOf(keptBooks(kept), { asset, amount }) ?? 0n
    const holder = kept.scene[by]
    yield* Minting.mintsFor(kept.scene, {
      ...{ mintId, deposit, holder },
      asset: Stated.assetOf(kept.scene, asset)
    })
    assert.deepInclude(yield* Minting.mint(mintId), {
      state: "settled",
      units: Decimal.fromAtoms(units)
    })
    kept.outstanding += units
    kept.locked.set(asset, (kept.locked.get(asset) ?? 0n) + amount)
    return units
  })

/** A redemption from start to settlement; returns its payout, which is that of the test's books. */
const redeems = (
  kept: Kept,
  by: Hand,
  redemption: { readonly asset: string; readonly units: bigint }
) =>
  Effect.gen(function* () {
    const { asset, units } = redemption
    const reserveRedemptionId = `r-${by}-${text(units)}`
    const payout = Books.payoutOf(keptBooks(kept), redemption) ?? 0n
    yield* Minting.redeems(kept.scene, {
      reserveRedemptionId,
      asset: Stated.assetOf(kept.scene, asset),
      units: Number(text(units)),
      holder: kept.scene[by]
    })
    assert.deepInclude(yield* Minting.redemption(reserveRedemptionId), {
      state: "settled",
      payout: Decimal.fromAtoms(payout)
    })
    kept.outstanding -= units
    kept.locked.set(asset, (kept.locked.get(asset) ?? 0n) - payout)
    return payout
  })

/** The view has the figures of the test's books. */
const agrees = (kept: Kept) =>
  Effect.gen(function* () {
    const books = keptBooks(kept)
    const { required, counted, share, ratio, state } = Books.figuresOf(books, 2n)
    const shown = yield* view
    assert.deepStrictEqual(
      [shown.required, shown.counted, shown.cover.ratio, shown.cover.state, shown.sharePrice],
      [
        ...[required, counted].map(Decimal.fromAtoms),
        ratio === null ? null : Decimal.fromAtoms(ratio),
        state,
        share === null ? null : Decimal.fromAtoms(share[0])
      ]
    )
    return shown
  })

/** Worth of units by their exact part of what is locked, in ten-billionths of ten-billionths. */
const worthOf = ({ locked, outstanding, price }: Kept, units: bigint) =>
  (units * ((locked.get("A") ?? 0n) * Books.unit + (locked.get("B") ?? 0n) * price)) / outstanding

describe("an accumulating reserve", () => {
  it.effect("mints and pays by a share price that moves, and keeps what rounding leaves", () =>
    Effect.gen(function* () {
      const kept = yield* opened
      const first = yield* mints(kept, "h1", { asset: "A", deposit: 900 })
      const more = yield* mints(kept, "h1", { asset: "B", deposit: 50 })
      assert.deepStrictEqual([first, more].map(text), ["900", "100"])
      yield* prices(kept, "3")
      const before = worthOf(kept, first)
      assert.strictEqual(
        Decimal.format((yield* agrees(kept)).sharePrice ?? Decimal.zero),
        "1.0500000000"
      )
      // A newcomer pays for what the others have gained, and lowers nobody's worth.
      const late = yield* mints(kept, "h2", { asset: "A", deposit: 100 })
      assert.strictEqual(text(late), "95.238095")
      assert.isTrue(worthOf(kept, first) >= before)
      yield* agrees(kept)
      yield* prices(kept, "1")
      yield* agrees(kept)
      // A fall is everybody's, the newcomer's too.
      const paid = yield* redeems(kept, "h2", { asset: "A", units: late })
      assert.strictEqual(text(paid), "91.304347")
      yield* agrees(kept)
      yield* redeems(kept, "h1", { asset: "B", units: atoms("52") })
      for (const units of ["800", "99", "48"]) {
        yield* redeems(kept, "h1", { asset: "A", units: atoms(units) })
      }
      // The last unit owns what is left of both, and is paid a part of itself by each: B first.
      assert.strictEqual(text(kept.outstanding), "1")
      const [down] = Books.figuresOf(keptBooks(kept), 2n).share ?? [0n]
      const forB = ((kept.locked.get("B") ?? 0n) * Books.unit) / down
      const units = forB - (forB % 10_000n)
      yield* redeems(kept, "h1", { asset: "B", units })
      yield* redeems(kept, "h1", { asset: "A", units: kept.outstanding })
      const rest = [...kept.locked.values()]
      assert.isTrue(
        rest.every((amount) => amount >= 0n && amount < 100_000n),
        rest.map(text).join()
      )
      assert.isTrue(rest.some((amount) => amount > 0n))
      // No unit is outstanding: the price is the initial one again, and the assets left are released.
      const empty = yield* agrees(kept)
      assert.deepStrictEqual(
        [empty.cover.ratio, Decimal.formatPlain(empty.sharePrice ?? Decimal.zero)],
        [null, "1"]
      )
      for (const name of ["A", "B"]) {
        assert.strictEqual((yield* Backed.releasesLock(`lock-${name}`)).why, "")
        assert.strictEqual(
          yield* Cycles.holds(kept.scene.custodian, name),
          text(kept.locked.get(name) ?? 0n)
        )
      }
      assert.deepStrictEqual((yield* Backed.reserve()).locked, [])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("releases nothing that its units own, though the rest would cover the rest", () =>
    Effect.gen(function* () {
      yield* Stated.stands({
        ...begins,
        assets: {
          ...begins.assets,
          A: { units: "1000" },
          B: { units: "50", price: "2" },
          C: { units: "0" }
        },
        outstanding: "100"
      })
      const release = (name: string) =>
        Effect.map(Backed.releasesLock(`lock-${name}`), ({ why }) => why)
      const cover = "rule-refused reserve-cover cover"
      assert.deepStrictEqual([yield* release("A"), yield* release("B")], [cover, cover])
      assert.strictEqual(yield* release("C"), "")
      const { assets } = yield* view
      assert.deepStrictEqual(
        assets.map(({ units }) => Decimal.formatPlain(units)),
        ["1000", "50", "0"]
      )
    }).pipe(engine())
  )

  it.effect("keeps an asset of which something is locked in its terms", () =>
    Effect.gen(function* () {
      const scene = yield* Stated.stands({ ...begins, outstanding: "0" })
      const without = Stated.termsOf(scene, {
        assets: { A: { units: "0" } },
        minCover: "0.9"
      })
      const proposes = (amendmentId: string) => Backed.amends(amendmentId, without)
      assert.strictEqual((yield* proposes("am-1")).why, "")
      // Locked since the proposal: the ledger refuses the issuer's acceptance.
      yield* Backed.locks(scene, { asset: Stated.assetOf(scene, "B"), amount: "1" })
      const accepted = yield* Effect.result(Backed.answersAmendment(scene, "am-1"))
      assert.isTrue(Result.isFailure(accepted))
      yield* Calls.write("amendment.withdraw", { reserveId: "res-1", amendmentId: "am-1" }, {})
      assert.strictEqual((yield* proposes("am-2")).why, "rule-refused policy asset-locked")
      assert.strictEqual((yield* Backed.releasesLock("lock-B")).why, "")
      assert.strictEqual((yield* proposes("am-3")).why, "")
    }).pipe(engine())
  )

  it.effect("has at supposed prices the figures that published ones give", () =>
    Effect.gen(function* () {
      const scene = yield* Stated.stands({
        ...begins,
        assets: { A: { units: "1000" }, B: { units: "500", price: "2", haircut: "0.05" } },
        outstanding: "1600"
      })
      const shown = ({
        assets,
        basis,
        cover,
        mintable,
        sharePrice,
        ...order
      }: Effect.Success<typeof view>) => ({
        ...Stated.shownBy({ assets, cover, sharePrice, ...order }),
        mintable: Decimal.format(mintable),
        formulas: basis.map(({ field, steps }) => `${field} ${steps.at(-1)?.value}`)
      })
      const published = shown(yield* view)
      const { bank } = scene
      const supposed = Effect.map(
        Venue.read(ReserveQueries.get, {
          reserveId: id<"ReserveId">("res-1"),
          price: [{ asset: { admin: bank.party, id: "B" }, price: Decimal.of("2.5") }]
        }),
        ({ value }) => shown(value)
      )
      const before = yield* supposed
      assert.deepInclude(before, { sharePrice: "1.4062500000", cover: "0.9722222222 covered" })
      assert.deepStrictEqual(shown(yield* view), published)
      yield* Stated.publishes(scene, "B", { price: "2.5" })
      assert.deepStrictEqual(shown(yield* view), before)
    }).pipe(engine())
  )
})

/** A reserve of which B is locked far beyond its cap, so that a deposit of it counts nothing more. */
interface Bound {
  readonly statement: Stated.Stated
  readonly mintable: string
  /** Deposits of B that mint just as much, and one atom more. */
  readonly deposits: readonly [string, string]
  readonly atom: string
}
const bounds: ReadonlyArray<readonly [string, Bound]> = [
  [
    "at par",
    {
      statement: {
        assets: {
          A: { units: "1000", price: "1" },
          B: { units: "500", price: "2.1", haircut: "0.05", maxShare: "0.4" }
        },
        outstanding: "1500",
        minCover: "1.02"
      },
      mintable: "133.986928",
      deposits: ["63.8032990477", "63.8032995239"],
      atom: "133.986929"
    }
  ],
  [
    "where one cap binds and one does not",
    {
      statement: {
        assets: {
          A: { units: "600", maxShare: "0.5" },
          B: { units: "500", price: "2.1", haircut: "0.05", maxShare: "0.4" },
          C: { units: "300" }
        },
        outstanding: "900",
        minCover: "1.02"
      },
      mintable: "570.588235",
      deposits: ["271.7086833334", "271.7086838096"],
      atom: "570.588236"
    }
  ],
  [
    "where the units own the reserve, at the share price of now",
    {
      statement: {
        assets: { A: { units: "1000" }, B: { units: "500", price: "2.1", maxShare: "0.4" } },
        outstanding: "1640",
        minCover: "0.8",
        accumulating: "1"
      },
      mintable: "26.666666",
      deposits: ["15.8730154762", "15.8730160715"],
      atom: "26.666667"
    }
  ]
]

/** A mint of h1 that the venue starts on the ledger without the engine; the ledger's refusal, or `started`. */
const onLedger = (
  scene: Backed.Scene,
  { deposit, units }: { readonly deposit: string; readonly units: string }
) =>
  Effect.gen(function* () {
    const self = yield* Backed.reserve()
    const now = yield* Instant.now
    const loaded = yield* booksOf(self, { at: now })
    const started = yield* Effect.result(
      Covered.asVenue(
        Templates.exercise(Templates.Reserve, self.reserveCid ?? "", "StartMint", {
          mintId: `m-${units}`,
          depositor: scene.h1.party,
          asset: Stated.assetOf(scene, "B"),
          deposit: Decimal.of(deposit),
          units: Decimal.of(units),
          executeBefore: Instant.add(now, Duration.hours(1)),
          ...(yield* judgingOf(self, loaded))
        })
      )
    )
    return Result.isSuccess(started) ? "started" : inspect(started.failure)
  })

describe("what may be minted", () => {
  it.effect.each(bounds)("%s, is minted exactly, and one atom more is refused", ([, bound]) =>
    Effect.gen(function* () {
      const { atom, deposits, mintable, statement } = bound
      const scene = yield* Stated.stands(statement)
      assert.strictEqual(Decimal.formatPlain((yield* view).mintable), mintable)
      const [exactly, oneMore] = deposits
      const ask = (deposit: string) => Stated.precheck(scene, { asset: "B", deposit })
      const refused = yield* ask(oneMore)
      assert.deepStrictEqual([refused.refused, refused.figures?.["units"]], [["cover"], atom])
      const allowed = yield* ask(exactly)
      assert.deepStrictEqual([allowed.refused, allowed.figures?.["units"]], [[], mintable])
      // The ledger judges the same for itself, of a venue that asks nobody.
      assert.include(
        yield* onLedger(scene, { deposit: oneMore, units: atom }),
        "the mint would not be covered"
      )
      assert.strictEqual(yield* onLedger(scene, { deposit: exactly, units: mintable }), "started")
    }).pipe(engine())
  )
})
