/**
 * Months of an accumulating fund by chance: holders who buy at the price of the day, sell, give, are paid
 * and not paid. Plain integers of the test's own, from what it did, give every line again, and what each
 * holder paid for income that was in the price comes back to it.
 */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { DistributionLine } from "#core/distributions/distribution/DistributionLine.ts"
import { walkSeed } from "../seeds.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { dice } from "../simulation/faults.ts"
import * as Books from "./distribution-books.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"

const holderIds = ["h1", "h2", "h3"] as const
type HolderId = (typeof holderIds)[number]

/** Amounts, prices and units count 10^-10, as the ledger does. */
const whole = 10n ** 10n
const cent = 10n ** 8n
/** Smallest part of a unit. */
const atom = 10n ** 4n
const exPrice = 500n * whole
const far = Instant.of("2030-01-01T00:00:00Z")

const text = (atoms: bigint): string => Decimal.formatPlain(Decimal.fromAtoms(atoms))
const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
/** Of amounts that are not below 0, all but the smallest part that is cut. */
const cut = (value: bigint, by: bigint): bigint => value - (value % by)

/** Units that came at one instant and price; null: no price is known. */
interface Lot {
  readonly at: number
  /** When another holder gave them; null: nobody did. */
  readonly givenAt: number | null
  readonly base: bigint | null
  left: bigint
}

/** Lots of every holder, oldest first, kept by hand. */
class Lots {
  private readonly lotsByHolder = new Map<string, ReadonlyArray<Lot>>()

  all(holderId: string): ReadonlyArray<Lot> {
    return this.lotsByHolder.get(holderId) ?? []
  }

  units(holderId: string): bigint {
    return Books.sum(this.all(holderId), ({ left }) => left)
  }

  come(holderId: string, lot: Lot): void {
    const sorted = [...this.all(holderId), lot].toSorted((a, b) => a.at - b.at)
    this.lotsByHolder.set(holderId, sorted)
  }

  /** Takes the oldest units. */
  leave(holderId: string, units: bigint): ReadonlyArray<Lot> {
    const taken: Array<Lot> = []
    let wanted = units
    for (const lot of this.all(holderId)) {
      const part = least(lot.left, wanted)
      if (part > 0n) taken.push({ ...lot, left: part })
      lot.left -= part
      wanted -= part
    }
    this.lotsByHolder.set(
      holderId,
      this.all(holderId).filter(({ left }) => left > 0n)
    )
    return taken
  }
}

interface Expected {
  readonly holderId: string
  readonly units: bigint
  readonly entitlement: bigint
  readonly carryIn: bigint
  readonly gross: bigint
  readonly equalisation: bigint
  readonly withheld: bigint
  readonly net: bigint
  readonly carryOut: bigint
  readonly payoutUnits: bigint | null
}

const figuresOf = (line: DistributionLine): Expected => {
  const atoms = Decimal.atoms
  return {
    holderId: line.holderId ?? line.party,
    units: atoms(line.units),
    entitlement: atoms(line.entitlement),
    carryIn: atoms(line.carryIn),
    gross: atoms(line.gross),
    equalisation: atoms(line.equalisation),
    withheld: atoms(line.withheld),
    net: atoms(line.net),
    carryOut: atoms(line.carryOut),
    payoutUnits: line.payoutUnits === null ? null : atoms(line.payoutUnits)
  }
}

/** A holder's line of a month that closes at this price; undefined: it gets none. */
const expectedOf = (input: {
  readonly holderId: string
  readonly lots: ReadonlyArray<Lot>
  readonly price: bigint
  readonly carryIn: bigint
  /** End of the record date of the holder's last line that paid anything. */
  readonly paidThrough: number
  /** Ends of the record dates of the months before that had income. */
  readonly incomeEnds: ReadonlyArray<number>
  readonly isUnrolled: boolean
  readonly payout: "cash" | "units"
}): Expected | undefined => {
  const { carryIn, holderId, lots, payout, price } = input
  const units = Books.sum(lots, ({ left }) => left)
  const entitlement = (units * most(0n, price - exPrice)) / whole
  if (entitlement === 0n && carryIn === 0n) return undefined
  const due = entitlement + carryIn
  const paid = input.isUnrolled ? 0n : cut(due, cent)
  const bought = Books.sum(
    lots.filter(
      ({ at, givenAt }) =>
        at > input.paidThrough &&
        // The income went with the units to whoever had them then.
        !input.incomeEnds.some((end) => at <= end && givenAt !== null && givenAt > end)
    ),
    ({ base, left }) => (base === null ? 0n : left * (least(most(base, exPrice), price) - exPrice))
  )
  const given = least(cut(most(0n, bought) / whole, cent), paid)
  // A fifth is withheld, half up at cents.
  const taxOf = (taxed: bigint) => ((taxed + (5n * cent) / 2n) / (5n * cent)) * cent
  const netOf = paid - taxOf(paid - given)
  const unitsOf = cut((netOf * whole) / exPrice, atom)
  const isCarried = paid === 0n || (payout === "units" && unitsOf === 0n)
  const gross = isCarried ? 0n : paid
  const equalisation = isCarried ? 0n : given
  const withheld = isCarried ? 0n : taxOf(paid - given)
  const isKept = units > 0n || (isCarried && due >= cent)
  return {
    holderId,
    units,
    entitlement,
    carryIn,
    gross,
    equalisation,
    withheld,
    net: gross - withheld,
    carryOut: isKept ? due - gross : 0n,
    payoutUnits: payout === "cash" ? null : isCarried ? 0n : unitsOf
  }
}

const holdingsOf = (owner: string) =>
  Effect.map(Cycles.active(Templates.Holding), (found) =>
    found.filter(
      ({ payload }) =>
        payload.owner === owner && payload.lock === null && payload.instrument.id === "fund-a"
    )
  )

/** Weekdays of a month on which a holder acts. */
const weekdays = (month: string): ReadonlyArray<string> =>
  Array.from({ length: 24 }, (_, n) => `${month}-${String(n + 6).padStart(2, "0")}`).filter(
    (date) => ![0, 6].includes(new Date(`${date}T00:00:00Z`).getUTCDay())
  )

/** Months, and the day after the record date of each. */
const months = [
  ["2026-07", "2026-08-01"],
  ["2026-08", "2026-09-01"],
  ["2026-09", "2026-10-01"]
] as const

/**
 * Plays the months, and checks the lines of each as soon as it is sealed; returns counts of the
 * cases that occurred.
 */
const plays = (seed: number) =>
  Effect.gen(function* () {
    const die = dice(seed)
    const payout = seed % 2 === 0 ? ("units" as const) : ("cash" as const)
    const { distribution } = Executions.accumulating
    const { stage, holders } = yield* Executions.founded(holderIds, {
      ...Executions.accumulating,
      distribution: { ...distribution, payout, withholding: 0.2 }
    })
    const byId = new Map(holders.map((holder) => [holder.holderId, holder]))
    const holderOf = (holderId: string): Cycles.Holder => {
      const found = byId.get(holderId)
      if (found === undefined) throw new Error(holderId)
      return found
    }
    const lots = new Lots()
    const seen = new Map<string, number>()
    const saw = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1)
    let count = 0
    const now = Effect.map(Instant.now, Instant.toEpochMillis)
    const anyHolder = (): HolderId => holderIds[die.roll(holderIds.length)] ?? "h1"

    const publishes = (price: bigint, at: string) =>
      Executions.publishes(stage, text(price), at, { metric: "price" })

    /** A holder buys whole units by wire at the price of the day. */
    const buys = (
      holderId: HolderId,
      purchase: { readonly date: string; readonly price: bigint }
    ) =>
      Effect.gen(function* () {
        const units = BigInt(1 + die.roll(40))
        const subscriptionId = `s${++count}`
        const amount = Number(text(units * purchase.price))
        const claimed = yield* Calls.write(
          "subscription.claim",
          {},
          { instrumentId: "fund-a", payment: "wire", subscriptionId, holderId, amount }
        )
        assert.strictEqual(claimed.why, "")
        const cutOff = `${purchase.date}T20:00:00Z`
        yield* Cycles.at(cutOff)
        yield* publishes(purchase.price, cutOff)
        const claim = yield* Powers.saying(Templates.SubscriptionClaim, { subscriptionId })
        const point = yield* Fund.newestContract(Templates.OraclePoint)
        yield* stage.oracle.act(
          Templates.exercise(Templates.SubscriptionClaim, claim.cid, "Attest", {
            attestor: stage.oracle.party,
            pointCid: point.cid,
            price: Decimal.fromAtoms(purchase.price),
            units: Decimal.fromAtoms(units * whole)
          })
        )
        const cash = [{ statementId: "stmt-1", line: count, amount }]
        const { why } = yield* Calls.write("subscription.deliver", { subscriptionId }, { cash })
        assert.strictEqual(why, "")
        const request = yield* Powers.saying(Templates.MintRequest, {})
        const credential = yield* Powers.saying(Templates.Credential, {
          holder: holderOf(holderId).party
        })
        yield* stage.registrar.act(
          Templates.exercise(Templates.MintRequest, request.cid, "Accept", {
            credentialCid: credential.cid,
            configurationCid: null
          })
        )
        const base = purchase.price
        lots.come(holderId, { at: yield* now, givenAt: null, base, left: units * whole })
        saw("buy")
      })

    /** A holder sells one holding, or gives it to another holder. */
    const leaves = (holderId: HolderId, to: HolderId | null) =>
      Effect.gen(function* () {
        const { act, party } = holderOf(holderId)
        const [held] = yield* holdingsOf(party)
        if (held === undefined || to === holderId) return
        const { cid, payload } = held
        const amount = Decimal.of(String(payload.amount))
        const gone = lots.leave(holderId, Decimal.atoms(amount))
        if (to === null) {
          const reference = { kind: "exit", id: cid }
          const burn = { amount, reference, custodian: null, executeBefore: far }
          yield* act(Templates.exercise(Templates.Holding, cid, "RequestBurn", burn))
          const request = yield* Fund.newestContract(Templates.BurnRequest)
          yield* stage.registrar.act(
            Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {})
          )
          saw("sell")
          return
        }
        const receiver = holderOf(to)
        yield* act(
          Templates.exercise(Templates.Holding, cid, "OfferTransfer", {
            receiver: receiver.party,
            amount,
            executeBefore: far
          })
        )
        const offer = yield* Powers.saying(Templates.TransferOffer, { receiver: receiver.party })
        const credential = yield* Powers.saying(Templates.Credential, { holder: receiver.party })
        yield* receiver.act(
          Templates.exercise(Templates.TransferOffer, offer.cid, "Accept", {
            credentialCid: credential.cid
          })
        )
        const givenAt = yield* now
        for (const lot of gone) lots.come(to, { ...lot, givenAt })
        saw("give")
      })

    /** The registrar pays the due lines of a distribution, and a person rolls them. */
    const pays = (distributionId: string) =>
      Effect.gen(function* () {
        for (const line of yield* Executions.linesOf(distributionId)) {
          if (line.state !== "due") continue
          if (payout === "cash") {
            yield* Month.deliversToday(stage, distributionId, line.lineId)
            continue
          }
          const found = yield* Powers.saying(Templates.DistributionLine, { lineId: line.lineId })
          const month = yield* Powers.saying(Templates.Distribution, { distributionId })
          const credential = yield* Powers.saying(Templates.Credential, { holder: line.party })
          yield* stage.registrar.act(
            Templates.exercise(Templates.DistributionLine, found.cid, "Deliver", {
              distributionCid: month.cid,
              credentialCid: credential.cid,
              configurationCid: null,
              evidence: null
            })
          )
          const left = Decimal.atoms(line.payoutUnits ?? Decimal.zero)
          const at = yield* now
          lots.come(String(line.holderId), { at, givenAt: null, base: exPrice, left })
        }
        const { why } = yield* Calls.write("distribution.roll", { distributionId }, {})
        assert.strictEqual(why, "")
        saw("pay")
      })

    yield* publishes(exPrice, "2026-06-29T11:00:00Z")
    let carries = new Map<string, bigint>()
    const paidThrough = new Map<string, number>()
    const incomeEnds: Array<number> = []
    const open = new Map<string, ReadonlyArray<string>>()

    for (const [month, after] of months) {
      const dates = weekdays(month)
      const [first, ...later] = dates
      // The price goes ex first: a payout would else be refused.
      yield* Cycles.at(`${first}T12:00:00Z`)
      yield* publishes(exPrice, `${first}T12:00:00Z`)
      let closing = exPrice
      for (const date of later.filter(() => die.roll(3) === 0)) {
        yield* Cycles.at(`${date}T12:00:00Z`)
        const move = BigInt(die.roll(2_800)) - 600n
        const holderId = anyHolder()
        const roll = die.roll(5)
        if (roll < 2) {
          closing = exPrice + move * cent
          yield* buys(holderId, { date, price: closing })
        } else if (roll < 4) {
          yield* leaves(holderId, die.roll(2) === 0 ? null : anyHolder())
        } else {
          closing = exPrice + move * cent + BigInt(die.roll(100_000_000))
          yield* publishes(closing, `${date}T12:00:00Z`)
        }
      }
      const end = Instant.toEpochMillis(Instant.of(`${after}T00:00:00Z`))
      yield* Cycles.at(new Date(end + 120_000).toISOString())
      const distributionId = `fund-a.${month}`
      const ended = yield* Calls.write(
        "distribution.execute",
        {},
        { instrumentId: "fund-a", month }
      )
      assert.deepStrictEqual([ended.why, ended.state], ["", "succeeded"])
      const unrolled = new Set([...open.values()].flat())
      const expected = holderIds.flatMap((holderId) => {
        const line = expectedOf({
          holderId,
          lots: lots.all(holderId),
          price: closing,
          carryIn: carries.get(holderId) ?? 0n,
          paidThrough: paidThrough.get(holderId) ?? 0,
          incomeEnds,
          isUnrolled: unrolled.has(holderId),
          payout
        })
        return line === undefined ? [] : [line]
      })
      const stored = (yield* Executions.linesOf(distributionId)).map(figuresOf)
      assert.deepStrictEqual(stored, expected, distributionId)

      const totalOf = (figure: (line: Expected) => bigint) => Books.sum(stored, figure)
      assert.strictEqual(
        totalOf(({ gross }) => gross),
        totalOf(({ net, withheld }) => net + withheld)
      )
      const rests = totalOf((line) =>
        line.units > 0n ? 0n : line.entitlement + line.carryIn - line.gross - line.carryOut
      )
      assert.strictEqual(
        totalOf(({ carryOut, gross }) => gross + carryOut) + rests,
        totalOf(({ carryIn, entitlement }) => entitlement + carryIn)
      )
      const income =
        Books.sum(holderIds, (holderId) => lots.units(holderId)) * most(0n, closing - exPrice)
      const cutOff = income - totalOf(({ entitlement }) => entitlement) * whole
      assert.isTrue(cutOff >= 0n && cutOff < BigInt(holderIds.length) * whole, "what is cut off")
      const found = yield* Reconciling.found
      assert.deepStrictEqual(
        found.filter((one) => /^distribution-(?:recompute|identity) /u.test(one)),
        []
      )

      for (const { carryOut, equalisation, gross } of stored) {
        if (equalisation > 0n) saw("equalisation")
        if (gross > 0n) saw("paid")
        if (gross === 0n && carryOut > 0n) saw("carried")
      }
      carries = new Map(stored.map(({ carryOut, holderId }) => [holderId, carryOut]))
      const paid = stored.filter(({ gross }) => gross > 0n).map(({ holderId }) => holderId)
      for (const holderId of paid) paidThrough.set(holderId, end - 1)
      if (stored.some(({ entitlement }) => entitlement > 0n)) incomeEnds.push(end - 1)
      if (paid.length > 0) open.set(distributionId, paid)
      yield* Cycles.at(new Date(end + 4 * 86_400_000 + 43_200_000).toISOString())
      yield* Cycles.turns
      for (const owed of [...open.keys()].filter(() => die.roll(3) > 0)) {
        yield* pays(owed)
        open.delete(owed)
      }
    }
    assert.deepStrictEqual(yield* Fund.surprises, [])
    return seen
  })

/** SEEDS takes so many more, by the seed of the run. */
const more = Array.from({ length: Number(process.env["SEEDS"] ?? 0) }, (_, nth) => walkSeed(nth))
const seeds = [6, ...more]

describe("the months of an accumulating fund", () => {
  it.effect.each(seeds)(
    "never pay one unit more than another, nor keep what was bought: seed %i",
    (seed) =>
      Effect.gen(function* () {
        const seen = yield* plays(seed)
        if (seed > 6) return
        assert.includeMembers(
          [...seen.keys()],
          ["buy", "sell", "give", "paid", "equalisation", "pay"]
        )
      }).pipe(Effect.provide(world({ settings: { batchLines: 2 } })))
  )
})
