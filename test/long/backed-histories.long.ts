/**
 * Random histories of a backed instrument through the engine: mints, redemptions and their cancels, prechecks,
 * locks and releases, prices, amendments and their withdrawals, holds, the close and clocks, judged by books
 * that the test keeps by itself.
 */
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as ReportQueries from "#core/reserves/report/ReportQueries.ts"
import * as ReserveQueries from "#core/reserves/reserve/ReserveQueries.ts"
import * as Calls from "../engine/calls.ts"
import { transactions } from "../engine/ledger-toys.ts"
import { world } from "../engine/world.ts"
import * as Books from "../simulated-ledger/reserve-books.ts"
import * as Backed from "../operations/backed.ts"
import { sets } from "../operations/controlled.ts"
import * as Cycles from "../operations/cycles.ts"
import * as Minting from "../operations/minting.ts"
import * as Powers from "../operations/powers.ts"
import * as Stated from "../operations/stated-reserves.ts"
import * as Venue from "../operations/venue.ts"

const whats = [
  "wait",
  "price",
  "lock",
  "mint",
  "mint",
  "mint",
  "redeem",
  "redeem",
  "cancel",
  "amend",
  "amend",
  "withdraw",
  "hold",
  "release",
  "close"
] as const
type What = (typeof whats)[number]

interface Step {
  readonly what: What
  readonly which: number
  readonly much: number
}

const steps = fc.array(
  fc.record({
    what: fc.constantFrom(...whats),
    which: fc.nat(20),
    much: fc.integer({ min: 1, max: 400 })
  }),
  { minLength: 8, maxLength: 16 }
)

const opening = fc.record({
  isPar: fc.boolean(),
  /** The price of the bills never moves. */
  isStill: fc.constantFrom(true, false, false),
  /** Both assets are locked, and h1 has units, from the beginning. */
  isFilled: fc.constantFrom(true, true, true, false),
  terms: fc.nat(5)
})

interface Opening {
  readonly isPar: boolean
  readonly isStill: boolean
  readonly isFilled: boolean
  readonly terms: number
}

const delayHours = 2n
const hour = 3_600_000_000_000n

/** Terms that a reserve has at its start, or is amended to; all of them could be met. */
const choices = [
  { minCover: 0.9, haircut: 0, maxShare: null, freshness: null },
  { minCover: 0.95, haircut: 0.05, maxShare: 0.5, freshness: "PT1H" },
  { minCover: 0.9, haircut: 0.02, maxShare: 0.4, freshness: "PT1H" },
  { minCover: 0.9, haircut: 0, maxShare: 0.6, freshness: "PT2H" },
  { minCover: 0.97, haircut: 0.01, maxShare: 0.3, freshness: "PT1H" },
  { minCover: 0.92, haircut: 0.05, maxShare: null, freshness: "PT3H" }
] as const

const choiceAt = (index: number) => choices[index % choices.length] ?? choices[0]

const atomsOf = (figure: number) => Decimal.atoms(Decimal.of(String(figure)))

/** The terms as the books have them. */
const booked = (index: number): Books.Terms => {
  const { minCover, haircut, maxShare, freshness } = choiceAt(index)
  return {
    minCover: atomsOf(minCover),
    assets: [
      { asset: "USD", isPriced: false, freshness: null, haircut: 0n, maxShare: null },
      {
        asset: "BILL",
        isPriced: true,
        freshness: freshness === null ? null : BigInt(freshness.slice(2, -1)) * hour,
        haircut: atomsOf(haircut),
        maxShare: maxShare === null ? null : atomsOf(maxShare)
      }
    ]
  }
}

interface Order {
  readonly id: string
  readonly kind: "mint" | "redemption"
  readonly holder: "h1" | "h2"
  readonly asset: "USD" | "BILL"
  readonly amount: bigint
  readonly units: bigint
}

interface Game {
  readonly scene: Backed.Scene
  readonly opening: Opening
  readonly owned: Map<string, bigint>
  readonly given: Map<string, bigint>
  readonly locked: Map<string, bigint>
  readonly open: Array<Order>
  points: ReadonlyMap<string, Books.Point>
  terms: number
  pending: { readonly id: string; readonly terms: number; readonly at: bigint } | null
  outstanding: bigint
  /** Takes the open hold away; null: there is none. */
  hold: Effect.Effect<Calls.Ended, unknown, Layer.Success<ReturnType<typeof world>>> | null
  /** The agreement in force of an asset, by its id; without one nothing is locked. */
  readonly agreements: Map<string, string>
  reserve: "active" | "closing" | "closed"
  readonly done: Array<string>
}

const inForce = (game: Game, now: bigint) =>
  game.pending !== null && game.pending.at <= now ? game.pending.terms : game.terms

/** The books at an instant. */
const booksAt = (game: Game, now: bigint): Books.Books => ({
  isPar: game.opening.isPar,
  decimals: 6n,
  terms: booked(inForce(game, now)),
  outstanding: game.outstanding,
  locked: game.locked,
  points: game.points,
  now
})

const books = (game: Game) => Effect.map(Instant.now, (now) => booksAt(game, now))

const plus = (map: Map<string, bigint>, key: string, amount: bigint) =>
  map.set(key, (map.get(key) ?? 0n) + amount)

const text = (atoms: bigint) => Decimal.formatPlain(Decimal.fromAtoms(atoms))

const assetOf = ({ scene }: Game, id: "USD" | "BILL") => (id === "USD" ? scene.usd : scene.bill)

/** Open orders of the books that have settled, in the order of their ledger updates. */
const settledOf = (game: Game) =>
  Effect.gen(function* () {
    const settled: Array<{ readonly order: Order; readonly updateId: string | null }> = []
    for (const order of game.open) {
      const { state, updateId } =
        order.kind === "mint" ? yield* Minting.mint(order.id) : yield* Minting.redemption(order.id)
      if (state === "settled") settled.push({ order, updateId })
    }
    if (settled.length < 2) return settled.map(({ order }) => order)
    const places = new Map((yield* transactions).map(({ updateId }, place) => [updateId, place]))
    const placeOf = ({ updateId }: (typeof settled)[number]) => places.get(updateId ?? "") ?? -1
    return settled.toSorted((a, b) => placeOf(a) - placeOf(b)).map(({ order }) => order)
  })

/**
 * The engine runs its due writes; orders settle exactly where the books, before or after, permit it.
 */
const turn = (game: Game) =>
  Effect.gen(function* () {
    const before = yield* books(game)
    yield* Minting.turn
    for (const order of yield* settledOf(game)) {
      const { asset, amount, units, holder, kind } = order
      expect(game.hold, `${kind} settled in spite of a hold`).toBeNull()
      expect(kind === "redemption" || game.reserve === "active", "minted while closing").toBe(true)
      game.open.splice(game.open.indexOf(order), 1)
      const judge = kind === "mint" ? Books.mayMint : Books.mayRedeem
      // Orders that settled before it in this turn are in the books by now.
      const now = yield* books(game)
      const held = judge({ ...now, now: before.now }, order) || judge(now, order)
      expect(held, `${kind} of ${text(units)} settled by the books`).toBe(true)
      const sign = kind === "mint" ? 1n : -1n
      plus(game.owned, `${holder} ${asset}`, -sign * amount)
      plus(game.owned, `${holder} fund-a`, sign * units)
      plus(game.locked, asset, sign * amount)
      game.outstanding += sign * units
      game.done.push(`settled ${kind}`)
    }
  })

/** A start succeeds exactly where the books permit it. */
const starts = (game: Game, started: Calls.Ended, holds: boolean) => {
  expect(started.state === "succeeded", `${started.why}`).toBe(holds)
  if (!holds) game.done.push("refused")
  return holds
}

const deadline = Effect.map(Instant.now, (now) =>
  Instant.format(Instant.add(now, Duration.days(6)))
)

type Played = Effect.Effect<void, unknown, Layer.Success<ReturnType<typeof world>>>

const acts: {
  readonly [K in What]: (game: Game, step: Step, name: string) => Played
} = {
  wait: (_, { much }) => TestClock.adjust(`${much % 3 === 0 ? much % 150 : much % 20} minutes`),
  price: (game, { much }) =>
    Effect.gen(function* () {
      const value = game.opening.isStill ? "2.1" : `${1 + (much % 3)}.${much}`
      yield* Backed.prices(game.scene, value)
      const at = Instant.toMicros(yield* Instant.now)
      game.points = new Map([["BILL", { value: Decimal.atoms(Decimal.of(value)), at }]])
    }),
  lock: (game, { which, much }) =>
    Effect.gen(function* () {
      const id = which % 2 === 0 ? "USD" : "BILL"
      if (game.reserve !== "active") return
      yield* Backed.locks(game.scene, { amount: String(much), asset: assetOf(game, id) })
      plus(game.locked, id, atomsOf(much))
    }),
  mint: (game, { which, much }, name) =>
    Effect.gen(function* () {
      const asset = which % 2 === 0 ? "USD" : "BILL"
      const holder = which % 3 === 0 ? "h2" : "h1"
      const amount = atomsOf(much)
      const now = yield* books(game)
      const units = Books.unitsOf(now, { asset, amount }) ?? 0n
      const holds =
        isOpen(game, "active") && units > 0n && Books.mayMint(now, { asset, amount, units })
      const precheck = yield* Stated.precheck(game.scene, { asset, deposit: String(much), holder })
      expect(precheck.refused.length === 0, `${precheck.refused.join()} by precheck`).toBe(holds)
      const mint = {
        mintId: name,
        asset: assetOf(game, asset),
        deposit: much,
        holder: game.scene[holder]
      }
      const started = yield* Minting.starts(game.scene, mint, { deadline: yield* deadline })
      if (!starts(game, started, holds)) return
      game.open.push({ id: name, kind: "mint", holder, asset, amount, units })
      const { units: fixed } = yield* Minting.mint(name)
      expect(text(Decimal.atoms(fixed)), "units of the mint").toBe(text(units))
      // Some orders are never accepted.
      if (much % 7 === 0) return
      yield* Minting.accepts(game.scene, mint)
      plus(game.owned, `${holder} ${asset}`, amount)
      plus(game.given, `${holder} ${asset}`, amount)
      if (much % 5 !== 0) yield* turn(game)
    }),
  redeem: (game, { which, much }, name) =>
    Effect.gen(function* () {
      yield* turn(game)
      const isInBills = which % 4 !== 0 && (game.locked.get("BILL") ?? 0n) > 0n
      const asset = isInBills ? "BILL" : "USD"
      // Mostly the price is a fresh one.
      if (isInBills && much % 5 !== 0) yield* acts.price(game, { what: "price", which, much }, name)
      const units = atomsOf(1 + (much % 60))
      const isOfFirst = (game.owned.get("h1 fund-a") ?? 0n) >= units
      const holder = which % 5 === 0 || !isOfFirst ? "h2" : "h1"
      const now = yield* books(game)
      const amount = Books.payoutOf(now, { asset, units }) ?? 0n
      const free = game.owned.get(`${holder} fund-a`) ?? 0n
      const holds =
        (isOpen(game, "active") || isOpen(game, "closing")) &&
        amount > 0n &&
        free >= units &&
        Books.mayRedeem(now, { asset, amount, units })
      const precheck = yield* Stated.precheck(game.scene, { asset, units: text(units), holder })
      expect(precheck.refused.length === 0, `${precheck.refused.join()} by precheck`).toBe(holds)
      const redemption = {
        reserveRedemptionId: name,
        asset: assetOf(game, asset),
        units: 1 + (much % 60),
        holder: game.scene[holder]
      }
      const started = yield* Minting.startsRedemption(game.scene, redemption, {
        deadline: yield* deadline
      })
      if (!starts(game, started, holds)) return
      const { payout } = yield* Minting.redemption(name)
      expect(text(Decimal.atoms(payout)), "payout").toBe(text(amount))
      const held = yield* Cycles.active(Templates.Holding)
      const isWhole = held.some(
        ({ payload }) =>
          payload.owner === game.scene[holder].party &&
          payload.instrument.id === "fund-a" &&
          payload.lock === null &&
          Decimal.atoms(Decimal.of(String(payload.amount))) >= units
      )
      if (isWhole) {
        game.open.push({ id: name, kind: "redemption", holder, asset, amount, units })
        yield* Minting.acceptsRedemption(game.scene, redemption)
        // The price of what is paid rises between the acceptance and the settlement.
        if (much % 3 !== 0) yield* rises(game)
        const then = yield* books(game)
        const isMoved = (Books.payoutOf(then, { asset, units }) ?? amount) < amount
        yield* turn(game)
        if (isMoved) game.done.push("moved")
      }
      const left = game.open.findIndex(({ id }) => id === name)
      if (left < 0 && isWhole) return
      if (left >= 0) game.open.splice(left, 1)
      yield* Calls.write(
        "reserve-redemption.cancel",
        { reserveId: "res-1", reserveRedemptionId: name },
        {}
      )
      game.done.push("cancelled")
    }),
  amend: (game, { which }, name) =>
    Effect.gen(function* () {
      yield* turn(game)
      const now = yield* Instant.now
      const before = inForce(game, now)
      const after = which % choices.length
      const isTightening = Books.onlyTightens(booked(before), booked(after))
      const isWaiting = game.pending !== null && now < game.pending.at
      const holds = game.reserve === "active" && before !== after && (isTightening || !isWaiting)
      const terms = Backed.termsOf(game.scene, choiceAt(after))
      const proposed = yield* Calls.write(
        "amendment.propose",
        { reserveId: "res-1" },
        { amendmentId: name, terms }
      )
      if (!starts(game, proposed, holds)) return
      if (which % 5 === 4) {
        yield* withdraws(game, name)
        return
      }
      const { cid } = yield* Powers.saying(Templates.AmendmentProposal, { amendmentId: name })
      const { reserveCid } = yield* Backed.reserve()
      yield* game.scene.registrar.act(
        Templates.exercise(Templates.AmendmentProposal, cid, "Accept", {
          reserveCid: reserveCid ?? ""
        })
      )
      const at = Instant.toMicros(yield* Instant.now)
      game.terms = isTightening ? after : before
      game.pending = isTightening ? null : { id: name, terms: after, at: at + delayHours * hour }
      game.done.push(isTightening ? "tightened" : "loosened")
    }),
  cancel: (game, { which }) =>
    Effect.gen(function* () {
      const minting = game.open.filter(({ kind }) => kind === "mint")
      const order = minting[which % minting.length]
      if (order === undefined) return
      // A deposit that is allocated is its owner's again; units were never made.
      const key = { reserveId: "res-1", mintId: order.id }
      const cancelled = yield* Calls.write("mint.cancel", key, {})
      expect(cancelled.state, cancelled.why).toBe("succeeded")
      expect((yield* Minting.mint(order.id)).state).toBe("cancelled")
      game.open.splice(game.open.indexOf(order), 1)
      game.done.push("cancelled mint")
    }),
  withdraw: (game) =>
    Effect.gen(function* () {
      if (game.pending === null) return
      if (game.pending.at > Instant.toMicros(yield* Instant.now)) {
        yield* withdraws(game, game.pending.id)
        game.pending = null
        return
      }
      const key = { reserveId: "res-1", amendmentId: game.pending.id }
      const late = yield* Calls.write("amendment.withdraw", key, {})
      expect(late.state, "terms in force are not taken back").not.toBe("succeeded")
    }),
  hold: (game) =>
    Effect.gen(function* () {
      if (game.hold === null) {
        game.hold = yield* sets("hold")
        return
      }
      expect((yield* game.hold).why).toBe("")
      game.hold = null
      yield* turn(game)
    }),
  release: (game, { which, much }, name) =>
    Effect.gen(function* () {
      yield* turn(game)
      const asset = which % 2 === 0 ? "USD" : "BILL"
      const agreement = game.agreements.get(asset)
      if (agreement === undefined) return
      const now = yield* books(game)
      const isFree = game.open.every((order) => order.asset !== asset)
      const released = yield* Backed.releasesLock(agreement)
      if (!starts(game, released, isFree && Books.mayRelease(now, asset))) return
      game.done.push("released")
      game.locked.set(asset, 0n)
      game.agreements.delete(asset)
      if (game.reserve === "active") {
        const again = much % 2 === 0 ? { amount: String(much) } : {}
        yield* Backed.locked(game.scene, { asset: assetOf(game, asset), id: name, ...again })
        game.agreements.set(asset, name)
        game.locked.set(asset, much % 2 === 0 ? atomsOf(much) : 0n)
        return
      }
      const isLast = game.outstanding === 0n && game.open.length === 0 && game.agreements.size === 0
      if (isLast) game.reserve = "closed"
      expect((yield* Backed.reserve()).state).toBe(game.reserve)
    }),
  close: (game, { much }) =>
    Effect.gen(function* () {
      // One step in five closes the reserve; the others do nothing, so that histories go on.
      if (much % 5 !== 0) return
      yield* turn(game)
      const closed = yield* Backed.closes()
      const holds =
        game.reserve === "active" ||
        (game.outstanding === 0n && game.open.length === 0 && game.agreements.size === 0)
      if (!starts(game, closed, holds && game.reserve !== "closed")) return
      game.reserve = "closing"
    })
}

/** Takes an amendment back that is not in force: the terms stay as they are. */
const withdraws = (game: Game, amendmentId: string) =>
  Effect.gen(function* () {
    const key = { reserveId: "res-1", amendmentId }
    const ended = yield* Calls.write("amendment.withdraw", key, {})
    expect(ended.state, ended.why).toBe("succeeded")
    game.done.push("withdrawn")
  })

/** Checks that orders of a reserve in this state start at all. */
const isOpen = ({ hold, reserve }: Game, state: Game["reserve"]) =>
  hold === null && reserve === state

/** The price of the bills rises by a quarter. */
const rises = (game: Game) =>
  Effect.gen(function* () {
    const last = game.points.get("BILL")?.value
    if (game.opening.isStill || last === undefined) return
    const value = last + last / 4n
    yield* Backed.prices(game.scene, text(value))
    game.points = new Map([["BILL", { value, at: Instant.toMicros(yield* Instant.now) }]])
  })

const view = Effect.map(
  Venue.read(ReserveQueries.get, { reserveId: "res-1" as never }),
  ({ value }) => value
)

/** Asserts that the engine's views and the ledger's contracts agree with the test's books. */
const agrees = (game: Game) =>
  Effect.gen(function* () {
    const now = yield* books(game)
    const shown = yield* view
    expect(text(Decimal.atoms(shown.outstanding)), "outstanding").toBe(text(game.outstanding))
    for (const { asset, units } of shown.assets) {
      expect(text(Decimal.atoms(units)), asset.id).toBe(text(game.locked.get(asset.id) ?? 0n))
    }
    expect(shown.cover.state === "covered", "covered").toBe(Books.isCovered(now))
    for (const holder of ["h1", "h2"] as const) {
      for (const asset of ["USD", "BILL", "fund-a"]) {
        const held = yield* Cycles.holds(game.scene[holder], asset)
        expect(held, `${holder} ${asset}`).toBe(text(game.owned.get(`${holder} ${asset}`) ?? 0n))
      }
    }
    const mintable = Decimal.atoms(shown.mintable)
    if (mintable > 0n) expect(Books.wouldCover(now, mintable), "mintable").toBe(true)
    const one = Books.unit / 1_000_000n
    if (Books.isCovered(now)) {
      expect(Books.wouldCover(now, mintable + one), "one atom more").toBe(false)
    }
    if (game.opening.isPar && game.opening.isStill) {
      for (const holder of ["h1", "h2"]) {
        const worth = (amounts: ReadonlyMap<string, bigint>) =>
          10n * ((amounts.get(`${holder} USD`) ?? 0n) + (amounts.get(`${holder} fund-a`) ?? 0n)) +
          21n * (amounts.get(`${holder} BILL`) ?? 0n)
        expect(worth(game.owned) <= worth(game.given), `${holder} gained`).toBe(true)
      }
    }
  })

/** The ledger's own report has the figures of the view. */
const reported = Effect.gen(function* () {
  const shown = yield* view
  const made = yield* Calls.write(
    "reserve-report.create",
    { reserveId: "res-1" },
    { reportId: "rep" }
  )
  expect(made.state, made.why).toBe("succeeded")
  const { value } = yield* Venue.read(ReportQueries.get, {
    reserveId: "res-1" as never,
    reportId: "rep" as never
  })
  expect(value.view.outstanding).toBe(shown.outstanding)
  expect(value.view.cover.state).toBe(shown.cover.state)
  expect(value.view.cover.ratio).toBe(shown.cover.ratio)
})

/** The custodian locks of both assets, and h1 mints by the first where the terms permit it. */
const filled = (game: Game) =>
  Effect.gen(function* () {
    const step = { which: 0, much: 202 }
    yield* acts.price(game, { ...step, what: "price" }, "")
    yield* acts.lock(game, { ...step, what: "lock" }, "")
    yield* acts.lock(game, { ...step, what: "lock", which: 1 }, "")
    yield* acts.mint(game, { ...step, what: "mint", which: 2 }, "first")
  })

const play = (opening: Opening, script: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const scene = yield* Minting.opened({
      terms: choiceAt(opening.terms),
      body: { loosenDelay: "PT2H" },
      instrument: opening.isPar ? {} : { valuation: "accumulating" },
      price: null
    })
    const game: Game = {
      ...{
        scene,
        opening,
        terms: opening.terms % choices.length,
        pending: null,
        outstanding: 0n
      },
      owned: new Map(),
      given: new Map(),
      locked: new Map(),
      open: [],
      points: new Map(),
      hold: null,
      agreements: new Map([
        ["USD", "lock-USD"],
        ["BILL", "lock-BILL"]
      ]),
      reserve: "active",
      done: []
    }
    if (opening.isFilled) yield* filled(game)
    for (const [index, step] of script.entries()) {
      // No reserve backs the instrument any more.
      if (game.reserve === "closed") break
      yield* acts[step.what](game, step, `n${index}`)
      game.done.push(step.what)
      yield* agrees(game)
    }
    yield* turn(game)
    yield* agrees(game)
    if (game.reserve !== "closed") yield* reported
    return game.done
  })

const run = (opening: Opening, script: ReadonlyArray<Step>): Promise<ReadonlyArray<string>> =>
  Effect.runPromise(
    play(opening, script).pipe(Effect.provide(world()), Effect.provide(TestClock.layer()))
  )

describe("after any history of a backed instrument", () => {
  it("orders settle, figures are shown and terms are in force as the test's own books have them", () =>
    fc.assert(
      fc.asyncProperty(
        opening,
        steps,
        async (opening, script) => void (await run(opening, script))
      ),
      { numRuns: Number(process.env["BACKED_HISTORIES"] ?? 60) }
    ))

  it("these histories do enough to prove something", async () => {
    const done = new Map<string, number>()
    for (const [start, script] of fc.sample(fc.tuple(opening, steps), { numRuns: 20, seed: 3 })) {
      for (const what of await run(start, script)) done.set(what, (done.get(what) ?? 0) + 1)
    }
    const reached = ["settled mint", "settled redemption", "refused", "tightened", "loosened"]
    const ended = ["released", "moved", "cancelled mint", "withdrawn"]
    for (const what of [...whats, ...reached, ...ended]) {
      expect(done.get(what) ?? 0, what).toBeGreaterThan(0)
    }
  })
})
