/**
 * Months of a par fund by chance, of a seed: points of any sign, holders who buy, sell, give, leave, are
 * frozen, succeeded and paid late or not at all, holds, rates of points and holders. Keeps the journal
 * of what people did at the engine.
 */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import { transactions } from "../engine/ledger-toys.ts"
import type { world } from "../engine/world.ts"
import { dice } from "../simulation/faults.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import { type Act, Books, type Done } from "./distribution-books.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Restricting from "./restricting.ts"

export interface Year {
  readonly seed: number
  readonly months: number
}

export interface Played {
  readonly journal: ReadonlyArray<Act>
  /** Holder ids by party. */
  readonly holders: ReadonlyMap<string, string>
  readonly payout: "cash" | "units"
  /** Number of times that each act was done. */
  readonly done: ReadonlyMap<string, number>
}

type Move =
  | "point"
  | "mint"
  | "burn"
  | "give"
  | "freeze"
  | "lift"
  | "rate"
  | "pause"
  | "resume"
  | "recover"
  | "deliver"
  | "roll"
  | "turn"

/** Does something if there is anything to do it with; returns whether it did. */
type Does = Effect.Effect<boolean, unknown, Layer.Success<ReturnType<typeof world>>>

const day = 86_400_000
const far = Instant.of("2030-01-01T00:00:00Z")

/** Names of the months from July 2026 on. */
const monthsOf = (count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, nth) =>
    new Date(Date.UTC(2026, 6 + nth, 1)).toISOString().slice(0, 7)
  )

const until = (month: string): number => {
  const [year = 0, number = 0] = month.split("-").map(Number)
  return Date.UTC(year, number, 1)
}

/** A write that has to succeed. */
const succeeds = <E, R>(write: Effect.Effect<Calls.Ended, E, R>) =>
  Effect.map(write, (ended) => {
    if (ended.state !== "succeeded") throw new Error(`a write is ${ended.state}: ${ended.why}`)
  })

/**
 * Plays the months, and calls `after` with the id of each distribution once it is sealed, and `each`
 * after every act.
 */
export const play = <E = never, R = never>(
  year: Year,
  after: (distributionId: string) => Effect.Effect<unknown, E, R> = () => Effect.void,
  each: Effect.Effect<unknown, E, R> = Effect.void
) =>
  Effect.gen(function* () {
    const die = dice(year.seed)
    const payout = year.seed % 2 === 0 ? ("units" as const) : ("cash" as const)
    const { distribution } = Executions.par
    const { stage, holders: founders } = yield* Executions.founded(["h1", "h2", "h3", "h4"], {
      ...Executions.par,
      distribution: { ...distribution, payout }
    })
    yield* Powers.agrees(stage)
    for (const holder of founders) yield* Powers.consents(holder)
    const ledger = yield* Ledger.Ledger
    const holders = new Map(
      founders.map(({ holderId, party }) => [party as string, holderId as string])
    )
    const alive: Array<Cycles.Holder> = [...founders]
    const journal: Array<Act> = []
    const done = new Map<string, number>()
    const frozen = new Map<string, string>()
    const rates = new Map<string, bigint>()
    const usedDates = new Set<number>()
    let isPaused = false
    let acts = 0

    const now = Effect.map(Instant.now, Instant.toEpochMillis)
    const noted = (act: Done) =>
      Effect.map(ledger.ledgerEnd, (offset) => {
        journal.push({ offset, ...act })
      })
    const states = (party: string, rate: bigint) => {
      rates.set(party, rate)
      return noted({ act: "rate", party, rate })
    }
    const mobile = () => alive.filter(({ party }) => !frozen.has(party))
    const anyOf = <A>(members: ReadonlyArray<A>): A | undefined => members[die.roll(members.length)]
    const holdingsOf = (owner: string) =>
      Effect.map(Cycles.active(Templates.Holding), (found) =>
        found.filter(
          ({ payload }) =>
            payload.owner === owner && payload.lock === null && payload.instrument.id === "fund-a"
        )
      )

    const publish = Effect.gen(function* () {
      const at = yield* now
      const date = Math.floor(at / day)
      if (usedDates.has(date)) return false
      usedDates.add(date)
      const income = die.roll(4) === 0 ? -die.roll(9_000_000) : die.roll(3_000_000)
      const text = Decimal.format(Decimal.fromAtoms(BigInt(income)))
      const rate =
        die.roll(6) === 0 ? { withholdingRate: ["0.1", "0.2", "0.33"][die.roll(3)]! } : {}
      yield* Executions.publishes(stage, text, new Date(at).toISOString(), rate)
      return true
    })

    const moves: Readonly<Record<Move, Does>> = {
      point: publish,
      mint: Effect.gen(function* () {
        const to = anyOf(mobile())
        if (to === undefined) return false
        const atoms = (BigInt(die.roll(2_000_000_000)) * 1_000n + 1n) * 10_000n
        yield* Powers.mints(stage, to, Decimal.format(Decimal.fromAtoms(atoms)))
        return true
      }),
      burn: Effect.gen(function* () {
        const from = anyOf(mobile())
        if (from === undefined) return false
        const isLeaving = die.roll(2) === 0
        const held = yield* holdingsOf(from.party)
        for (const { cid, payload } of isLeaving ? held : held.slice(0, 1)) {
          yield* from.act(
            Templates.exercise(Templates.Holding, cid, "RequestBurn", {
              amount: Decimal.of(String(payload.amount)),
              reference: { kind: "exit", id: cid },
              custodian: null,
              executeBefore: far
            })
          )
          const request = yield* Fund.newestContract(Templates.BurnRequest)
          yield* stage.registrar.act(
            Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {})
          )
        }
        return held.length > 0
      }),
      give: Effect.gen(function* () {
        const [from, to] = [anyOf(mobile()), anyOf(mobile())]
        if (from === undefined || to === undefined || from.party === to.party) return false
        const [held] = yield* holdingsOf(from.party)
        if (held === undefined) return false
        const amount = Decimal.of(String(held.payload.amount))
        yield* from.act(
          Templates.exercise(Templates.Holding, held.cid, "OfferTransfer", {
            receiver: to.party,
            amount,
            executeBefore: far
          })
        )
        const offer = yield* Powers.saying(Templates.TransferOffer, { receiver: to.party })
        const credential = yield* Powers.saying(Templates.Credential, { holder: to.party })
        yield* to.act(
          Templates.exercise(Templates.TransferOffer, offer.cid, "Accept", {
            credentialCid: credential.cid
          })
        )
        return true
      }),
      freeze: Effect.gen(function* () {
        const holder = anyOf(mobile())
        if (holder === undefined || mobile().length < 3) return false
        const id = `r${++acts}`
        yield* noted({ act: "freeze", party: holder.party })
        yield* succeeds(Restricting.restricts(holder.holderId, id))
        frozen.set(holder.party, id)
        return true
      }),
      lift: Effect.gen(function* () {
        const [found] = frozen
        if (found === undefined) return false
        const [party, id] = found
        yield* noted({ act: "lift", party })
        yield* succeeds(Restricting.lifts(id))
        frozen.delete(party)
        return true
      }),
      rate: Effect.gen(function* () {
        const holder = anyOf(alive)
        if (holder === undefined) return false
        const tenths = die.roll(10)
        const { holderId, party } = holder
        yield* states(party, BigInt(tenths) * 10n ** 9n)
        const attribute = {
          name: "tax-rate",
          value: `0.${tenths}`,
          evidenceHash: "ab".repeat(32),
          state: "valid"
        }
        yield* succeeds(
          Calls.write("holder.set-attributes", { holderId }, { attributes: [attribute] })
        )
        return true
      }),
      pause: Effect.gen(function* () {
        if (isPaused) return false
        yield* noted({ act: "pause" })
        yield* succeeds(
          Calls.write("instrument.pause", { instrumentId: "fund-a" }, { reason: "a question" })
        )
        isPaused = true
        return true
      }),
      resume: Effect.suspend(() => resumes),
      recover: Effect.gen(function* () {
        const holder = anyOf(mobile())
        if (holder === undefined || isPaused) return false
        if ((yield* holdingsOf(holder.party)).length === 0) return false
        // A day passes on the way, which must not reach the next month.
        if (new Date((yield* now) + 2 * day).getUTCDate() <= 2) return false
        const next = yield* Powers.succeeds(stage, holder, { id: `${holder.holderId}-${++acts}` })
        holders.set(next.party, next.holderId)
        // A successor is registered with the attributes of its predecessor.
        const own = rates.get(holder.party)
        if (own !== undefined) yield* states(next.party, own)
        yield* Powers.consents(next)
        yield* succeeds(Powers.recovers(holder.holderId))
        alive.splice(alive.indexOf(holder), 1, next)
        return true
      }),
      deliver: Effect.suspend(() => delivers(() => die.roll(2) === 0)),
      roll: Effect.gen(function* () {
        const delivered = yield* Cycles.active(Templates.DeliveredLine)
        const [first] = delivered
        if (first === undefined) return false
        const { distributionId } = first.payload
        yield* succeeds(Calls.write("distribution.roll", { distributionId }, {}))
        return true
      }),
      turn: Effect.as(Cycles.turns, true)
    }

    const resumes = Effect.gen(function* () {
      if (!isPaused) return false
      const [hold] = yield* Reconciling.openHolds
      if (hold === undefined) throw new Error("a pause is a hold")
      yield* noted({ act: "resume" })
      yield* succeeds(
        Calls.write("hold.release", { holdId: hold.holdId }, { reason: "it is answered" })
      )
      isPaused = false
      return true
    })

    /**
     * The registrar delivers the lines that the ledger permits, after the engine has directed those
     * that wait: the delivery of a line that waits is a finding, which stops the fund until people
     * accept it.
     */
    const delivers = (isChosen: () => boolean) =>
      Effect.gen(function* () {
        yield* Cycles.turns
        const at = yield* now
        let count = 0
        for (const { payload: distribution } of yield* Cycles.active(Templates.Distribution)) {
          const { distributionId, open, payableFrom, sealed } = distribution
          if (!sealed || !open || Instant.toEpochMillis(Instant.of(String(payableFrom))) > at)
            continue
          for (const { payload } of yield* Cycles.active(Templates.DistributionLine)) {
            if (payload.distributionId !== distributionId || payload.waits || !isChosen()) continue
            const isDelivered = yield* payout === "cash"
              ? Effect.as(Month.deliversToday(stage, distributionId, payload.lineId), true)
              : mintsFor(distributionId, payload.lineId)
            if (isDelivered) count += 1
          }
        }
        return count > 0
      })

    /** The registrar mints the units that a line pays. */
    const mintsFor = (distributionId: string, lineId: string) =>
      Effect.gen(function* () {
        const line = yield* Powers.saying(Templates.DistributionLine, { lineId })
        const distribution = yield* Powers.saying(Templates.Distribution, { distributionId })
        const credential = (yield* Cycles.active(Templates.Credential)).findLast(
          ({ payload }) => payload.holder === line.payload.holder
        )
        // A predecessor's has ended, and the ledger does not name its successor yet.
        if (credential === undefined) return false
        yield* stage.registrar.act(
          Templates.exercise(Templates.DistributionLine, line.cid, "Deliver", {
            distributionCid: distribution.cid,
            credentialCid: credential.cid,
            configurationCid: null,
            evidence: null
          })
        )
        return true
      })

    const weights: ReadonlyArray<readonly [Move, number]> = [
      ["point", 6],
      ["mint", 3],
      ["burn", 2],
      ["give", 2],
      ["freeze", 1],
      ["lift", 2],
      ["rate", 1],
      ["pause", 1],
      ["resume", 2],
      ["recover", 1],
      ["deliver", 3],
      ["roll", 2],
      ["turn", 4]
    ]
    // Of every move as often as its weight.
    const bag = weights.flatMap(([move, times]) => Array.from({ length: times }, () => move))

    const does = (move: Move) =>
      Effect.map(moves[move], (isDone) => {
        if (isDone) done.set(move, (done.get(move) ?? 0) + 1)
      })

    // A party that is no holder has units too.
    yield* Powers.sends(stage, yield* Fund.outsider("stranger"), "1234.567891")
    yield* TestClock.adjust("12 hours")
    for (const holder of founders.slice(0, 3)) yield* Powers.mints(stage, holder, "333333.333333")

    for (const month of monthsOf(year.months)) {
      const end = until(month)
      const start = yield* now
      const count = 8 + die.roll(6)
      const times = Array.from({ length: count }, () => start + die.roll(Math.max(1, end - start)))
      for (const at of times.toSorted((a, b) => a - b)) {
        const present = yield* now
        if (present + 2 * day > end) break
        yield* Cycles.at(new Date(Math.max(at, present + 1_000)).toISOString())
        yield* does(bag[die.roll(bag.length)]!)
        yield* each
      }
      // A month without a point is none, and its days belong to the next.
      if (die.roll(7) > 0) yield* does("point")
      yield* does("resume")
      yield* Cycles.at(new Date(end + 120_000).toISOString())
      const books = yield* keep({ journal, holders, payout, done })
      if (!books.isPeriod(month)) continue
      const { rate, ratesDiffer } = books.periodOf(month)
      const acknowledged =
        ratesDiffer && rate !== null && die.roll(2) === 0
          ? { acknowledgedRate: Number(rate) / 1e10 }
          : {}
      // No run has found anything but units that a stranger holds, and lines that nobody rolls.
      const found = (yield* Reconciling.found).filter(
        (text) => !/^(?:admission-effect stranger|distribution-unpaid )/u.test(text)
      )
      if (found.length > 0) throw new Error(found.join("; "))
      yield* succeeds(
        Calls.write("distribution.execute", {}, { instrumentId: "fund-a", month, ...acknowledged })
      )
      done.set("execute", (done.get("execute") ?? 0) + 1)
      yield* after(`fund-a.${month}`)
      yield* Cycles.turns
      if (die.roll(3) > 0) {
        yield* Cycles.at(new Date(end + 3 * day + 3_600_000).toISOString())
        yield* Cycles.turns
        if (yield* delivers(() => die.roll(5) > 0)) done.set("pay", (done.get("pay") ?? 0) + 1)
        if (die.roll(2) === 0) yield* does("roll")
      }
      yield* each
    }
    const cast = { stage, mobile: mobile() }
    return { journal, holders, payout, done, ...cast } satisfies Played
  })

/**
 * Transactions in their order, each with the acts of people before it: the first offset that shows an
 * act is the next one.
 */
export const happened = Effect.fnUntraced(function* ({ journal }: Pick<Played, "journal">) {
  const all = yield* transactions
  return all.map((transaction, index) => {
    const after = all[index - 1]?.offset ?? 0
    const { offset } = transaction
    const acts = journal.filter((act) => act.offset >= after && act.offset < offset)
    return { transaction, acts }
  })
})

/** The books kept from everything that happened. */
export const keep = Effect.fnUntraced(function* (played: Played) {
  const books = new Books(played)
  let through = 0
  for (const { acts, transaction } of yield* happened(played)) {
    for (const act of acts) books.note(act)
    books.read(transaction)
    through = transaction.offset
  }
  for (const act of played.journal) if (act.offset >= through) books.note(act)
  books.rest()
  return books
})
