/** Audit of distributions once the town is at rest: figures by hand, conservation of each month, and each line where its causes put it. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant, type Offset } from "@bursar/engine-core/kernel"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { admissions } from "#core/admissions/Admission.ts"
import { distributions } from "#core/distributions/distribution/Distribution.ts"
import {
  type DistributionLine,
  distributionLines
} from "#core/distributions/distribution/DistributionLine.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import { holds as openHolds } from "#core/restraints/hold/Hold.ts"
import { restrictions } from "#core/restraints/restriction/Restriction.ts"
import { holds, same } from "../books.ts"
import type { BookedLine, BookedMonth, DistributionBooks } from "./distribution-books.ts"
import { add, atoms } from "./figures.ts"
import type { Contract } from "./ledger-observer.ts"
import * as Town from "./town.ts"
import { member } from "./wallets.ts"

const limit = 100_000
const day = 86_400_000_000_000n
const cent = 10n ** 8n
const whole = 10n ** 10n

const midnight = (date: string): bigint => Instant.of(`${date}T00:00:00Z`)
const dayOf = (at: bigint): bigint => (at / day) * day

const floorOf = (value: bigint, by: bigint): bigint => {
  const part = value / by
  return value % by < 0n ? part - 1n : part
}

const signed = (text: string): bigint =>
  text.startsWith("-") ? -atoms(text.slice(1)) : atoms(text)

/** Day on which the town's funds began to distribute. */
const firstDay = midnight("2026-07-31")

interface Point {
  readonly cid: string
  readonly date: bigint
  readonly income: bigint
  readonly rate: bigint | null
}

/** The points of income that an offset of the ledger shows, each date's last one. */
const pointsOf = (
  town: Town.Town,
  instrumentId: string,
  through: Offset.Offset
): ReadonlyArray<Point> => {
  const byDate = new Map<bigint, Contract>()
  const valued = (one: Contract) => Instant.of(member(one, "valuationTime"))
  for (const one of town.observer.all("OraclePoint").values()) {
    if (member(one, "instrumentId") !== instrumentId || member(one, "metric") !== "income") continue
    if (one.createdOffset > through) continue
    const date = dayOf(valued(one))
    const other = byDate.get(date)
    // Of those last valued the last published: contracts come in the order of the ledger.
    if (other === undefined || valued(other) <= valued(one)) byDate.set(date, one)
  }
  return [...byDate]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([date, one]) => {
      const rate = one.payload["withholdingRate"]
      return {
        cid: one.cid,
        date,
        income: signed(member(one, "value")),
        rate: typeof rate === "string" ? atoms(rate) : null
      }
    })
}

/** Expected figures of a payee's line of a month, by plain integers; null: it gets no line. */
interface Expected {
  readonly entitlement: bigint
  readonly carryIn: bigint
  readonly gross: bigint
  readonly withheld: bigint
  readonly net: bigint
  readonly carryOut: bigint
  readonly payoutUnits: bigint | null
  readonly carried: string | null
}

const expectedOf = (of: {
  readonly entitlement: bigint
  readonly carryIn: bigint
  readonly rate: bigint
  readonly units: bigint
  readonly isUnrolled: boolean
  /** Smallest part of a unit that is paid; null: cash is. */
  readonly atom: bigint | null
}): Expected | null => {
  const { atom, carryIn, entitlement, isUnrolled, rate, units } = of
  if (entitlement === 0n && carryIn === 0n) return null
  const due = entitlement + carryIn
  const cents = floorOf(due, cent) * cent
  const paid = isUnrolled || cents < 0n ? 0n : cents
  const half = whole / 2n
  const tax = (gross: bigint) => floorOf((gross / cent) * rate + half, whole) * cent
  const units0 = atom === null ? 0n : floorOf(paid - tax(paid), atom) * atom
  const buysNothing = atom !== null && paid - tax(paid) > 0n && units0 === 0n
  const carried = isUnrolled ? "unrolled" : paid === 0n || buysNothing ? "below-smallest" : null
  const gross = carried === null ? paid : 0n
  const withheld = tax(gross)
  const isKept = units > 0n || (carried !== null && due >= cent)
  return {
    entitlement,
    carryIn,
    gross,
    withheld,
    net: gross - withheld,
    carryOut: isKept ? due - gross : 0n,
    payoutUnits: atom === null ? null : carried === null ? units0 : 0n,
    carried
  }
}

/** Lines of a payee that were added by an offset and are neither rolled nor void there. */
const isUnrolledAt = (
  books: DistributionBooks,
  month: BookedMonth,
  of: { readonly head: string; readonly through: Offset.Offset }
): boolean =>
  books
    .monthsOf(month.instrumentId)
    .filter((earlier) => earlier.month < month.month)
    .flatMap(({ lines }) => lines)
    .some(
      ({ addedAt, carried, endedAt, party }) =>
        carried === null &&
        addedAt <= of.through &&
        (endedAt === null || endedAt > of.through) &&
        books.headOf(month.instrumentId, party, of.through) === of.head
    )

/** Recomputes every line of a sealed month, and what it leaves to the next. */
const figures = (
  town: Town.Town,
  books: DistributionBooks,
  of: { readonly month: BookedMonth; readonly through: Offset.Offset }
) => {
  const { month, through } = of
  const { distributionId, instrumentId } = month
  const fund = town.funds.find((one) => one.instrumentId === instrumentId)
  if (fund?.distribution == null) throw new Error(`audit: ${instrumentId} distributes`)
  const all = books.monthsOf(instrumentId)
  const previous = all[all.indexOf(month) - 1]
  const from = previous === undefined ? firstDay : midnight(previous.recordDate) + day
  const end = midnight(month.recordDate) + day
  const points = pointsOf(town, instrumentId, through)
  const before = points.filter(({ date }) => date < from)
  const dated = points.filter(({ date }) => date >= from && date < end)
  // The last point before lends the period its first days, unless a point is dated on the first.
  const reaching = [...(dated[0]?.date === from ? [] : before.slice(-1)), ...dated]
  holds(dated.length > 0, `${distributionId} has no point of its own`)
  const dateOf = (cid: string) => {
    const valued = town.observer.standing(cid)
    return `${valued === undefined ? "" : member(valued, "valuationTime")} ${cid.slice(0, 12)}`
  }
  same(
    month.pointCids.map(dateOf).toSorted(),
    reaching.map(({ cid }) => dateOf(cid)).toSorted(),
    `the points of ${distributionId}`
  )
  const rates = dated.flatMap(({ rate }) => (rate === null ? [] : [rate]))
  const rate = rates.at(-1) ?? (15n * whole) / 100n
  same(month.rate, rate, `the rate of ${distributionId}`)
  const carriedOver = new Map<string, bigint>()
  for (const [party, carry] of books.carries.get(instrumentId) ?? []) {
    add(carriedOver, books.headOf(instrumentId, party, through), carry)
  }
  const members = Map.groupBy(town.observer.owners(instrumentId), (party) =>
    books.headOf(instrumentId, party, through)
  )
  const unitsOf = (head: string, before: bigint): bigint =>
    (members.get(head) ?? []).reduce(
      (sum, party) => sum + town.observer.unitsBefore(instrumentId, party, before),
      0n
    )
  const left = new Map<string, bigint>()
  const byParty = new Map(month.lines.map((line) => [line.party, line]))
  let exact = 0n
  let rests = 0n
  for (const head of new Set([...members.keys(), ...carriedOver.keys()])) {
    let earned = 0n
    for (const [index, { date, income }] of reaching.entries()) {
      const until = reaching[index + 1]?.date ?? end
      const days = (until - (date < from ? from : date)) / day
      earned += unitsOf(head, date + day) * income * days
    }
    exact += earned
    const expected = expectedOf({
      entitlement: floorOf(earned, whole),
      carryIn: carriedOver.get(head) ?? 0n,
      rate,
      units: unitsOf(head, end),
      isUnrolled: isUnrolledAt(books, month, { head, through }),
      atom: fund.distribution.payout === "units" ? fund.atom * 10_000n : null
    })
    const line = byParty.get(head)
    byParty.delete(head)
    const got = line === undefined ? null : figuresOf(line)
    same(got, expected, `the line of ${head} in ${distributionId}`)
    if (expected === null) continue
    rests += expected.entitlement + expected.carryIn - expected.gross - expected.carryOut
    if (expected.carryOut !== 0n) left.set(head, expected.carryOut)
  }
  same([...byParty.keys()], [], `lines of ${distributionId} that nobody earned`)
  books.carries.set(instrumentId, left)
  conserves({ month, exact, rests, carriedOver })
  Town.note(town, "month recomputed")
  Town.note(town, "line recomputed", month.lines.length)
}

const figuresOf = (line: BookedLine): Expected => {
  const { carried, carryIn, carryOut, entitlement, gross, net, payoutUnits, withheld } = line
  return { entitlement, carryIn, gross, withheld, net, carryOut, payoutUnits, carried }
}

/** The identities of a month, exactly: nothing is lost between the points, the lines and the next month. */
const conserves = (of: {
  readonly month: BookedMonth
  readonly exact: bigint
  readonly rests: bigint
  readonly carriedOver: ReadonlyMap<string, bigint>
}) => {
  const { carriedOver, exact, month, rests } = of
  const { distributionId, lines } = month
  const sum = (figure: (line: BookedLine) => bigint) =>
    lines.reduce((total, line) => total + figure(line), 0n)
  const gross = sum((line) => line.gross)
  same(
    gross,
    sum(({ net, withheld }) => net + withheld),
    `${distributionId}: gross is paid or withheld`
  )
  same(
    gross + sum((line) => line.carryOut) + rests,
    sum(({ carryIn, entitlement }) => entitlement + carryIn),
    `${distributionId}: what is due is paid, carried or the fund's`
  )
  same(
    sum((line) => line.carryIn),
    [...carriedOver.values()].reduce((total, carry) => total + carry, 0n),
    `${distributionId}: what the month before left over comes in`
  )
  const cut = exact - sum((line) => line.entitlement) * whole
  holds(
    cut >= 0n && cut < BigInt(lines.length + 1) * whole,
    `${distributionId}: ${cut} was cut off`
  )
}

type State = DistributionLine["state"]

/** Where the ledger has a line, by the states of its record. */
const statesOf: Readonly<Record<BookedLine["state"], ReadonlyArray<State>>> = {
  owed: ["due", "suspended"],
  delivered: ["delivered"],
  rolled: ["rolled"],
  void: ["void"],
  carried: ["carried"]
}

/** Why a line waits, by the cause table written out once more; each cause with the states of it that are open to doubt. */
const causesOf = Effect.fnUntraced(function* (town: Town.Town, line: DistributionLine) {
  const records = yield* Records
  const known = town.byParty.get(line.party)
  const holder =
    known === undefined ? null : Option.getOrNull(yield* records.find(holders, known.holderId))
  if (holder === null) return ["no-holder"]
  const now = yield* Instant.now
  const active = (yield* records.list(restrictions, {
    where: { holderId: [holder.holderId] },
    limit
  }))
    .map(({ record }) => record)
    .filter(
      ({ instrumentId, state }) =>
        state === "active" && (instrumentId === null || instrumentId === line.instrumentId)
    )
  const stops = active.filter(
    ({ mode }) => mode === "freeze" || (mode === "redeem-only" && line.payout === "units")
  )
  const receives = active.some(
    ({ mode, reason }) => mode === "receive-only" && reason === "kyc-expired"
  )
  const admitted = (yield* records.list(admissions, {
    where: { holderId: [holder.holderId], instrumentId: [line.instrumentId] },
    limit
  })).map(({ record }) => record.state as string)
  const isAdmitted = admitted.includes("admitted")
  const hasExpired = admitted.includes("expired") || admitted.includes("offered")
  const names = [...new Set(holder.attributes.map(({ name }) => name))]
  const lacks = names.flatMap((name) => {
    const verified = holder.attributes.filter(
      (one) => one.name === name && ["valid", "expired", "revoked"].includes(one.state)
    )
    const isValid = ({ state, validFrom, validUntil }: (typeof verified)[number]) =>
      state === "valid" && validFrom <= now && (validUntil === null || validUntil > now)
    if (verified.length === 0 || verified.some(isValid)) return []
    return [verified.some(({ state }) => state !== "revoked") ? "expired" : "ended"]
  })
  const causes: Array<string> = []
  if (stops.some(({ reason }) => reason !== "court-order")) causes.push("restriction")
  if (stops.some(({ reason }) => reason === "court-order")) causes.push("court-order")
  if (holder.state !== "active" && !(holder.state === "lapsed" && receives)) {
    causes.push("registration")
  }
  if (!isAdmitted && !(hasExpired && receives)) causes.push("admission")
  if (lacks.length > 0 && !(receives && lacks.every((lack) => lack === "expired"))) {
    causes.push("attribute")
  }
  const screening = holder.screening?.state
  if (screening === "review" || screening === "match") causes.push("screening")
  return causes
})

/** Lists the differences between records and ledger of a month, in words; at rest there are none. */
const unsettled = Effect.fnUntraced(function* (town: Town.Town, month: BookedMonth) {
  const records = yield* Records
  const { distributionId, instrumentId, isOpen, isSealed } = month
  const found = Option.getOrNull(yield* records.find(distributions, distributionId))
  if (found === null) return [`${distributionId} is not recorded`]
  const left: Array<string> = []
  const lines = (yield* records.list(distributionLines, {
    where: { distributionId: [distributionId] },
    limit
  })).map(({ record }) => record)
  const isHeld = (yield* records.list(openHolds, { limit })).some(
    ({ record }) => record.state === "open" && record.instrumentId === instrumentId
  )
  const hasDue = lines.some(({ state }) => state === "due")
  const isOwed = lines.some(({ state }) => state === "due" || state === "suspended")
  const isUnpaid = lines.some(({ state }) => state === "due" || state === "delivered")
  if (isSealed && !isHeld && !["payable", "paid"].includes(found.state)) {
    left.push(`${distributionId} is ${found.state} and no hold is open`)
  }
  if (isSealed && isHeld && hasDue && found.state === "payable") {
    left.push(`${distributionId} is payable under a hold`)
  }
  if (isOwed && isOpen && isHeld) left.push(`${distributionId} is open under a hold`)
  if (isSealed && isOwed && !isOpen && !isHeld) left.push(`${distributionId} is closed`)
  if (found.state === "payable" && !isUnpaid) left.push(`${distributionId} is not paid`)
  for (const line of lines) {
    const booked = month.lines[line.number - 1]
    if (booked === undefined) throw new Error(`audit: ${line.lineId} is not on the ledger`)
    if (!statesOf[booked.state].includes(line.state)) {
      left.push(`${line.lineId} is ${line.state}, on the ledger ${booked.state}`)
    }
    if (line.state !== "due" && line.state !== "suspended") continue
    const causes = yield* causesOf(town, line)
    if (causes.join() !== line.causes.toSorted(byTable).join()) {
      left.push(`${line.lineId} waits for [${line.causes.join()}], not [${causes.join()}]`)
    }
    const head = town.distributions?.headOf(instrumentId, booked.party)
    if (line.party !== head) left.push(`${line.lineId} is ${line.party}'s, not ${head}'s`)
    if (!isOpen) continue
    if (booked.payee !== line.party || booked.waits !== (line.state === "suspended")) {
      left.push(`${line.lineId} is ${line.state} and directed ${booked.waits} ${booked.payee}`)
    }
  }
  return left
})

const order = [
  "restriction",
  "court-order",
  "registration",
  "admission",
  "attribute",
  "screening",
  "no-holder"
]
const byTable = (a: string, b: string): number => order.indexOf(a) - order.indexOf(b)

/** Rounds of the clock until what the engine owes the ledger is said. */
const roundsMax = 120

/** Goes on until engine and ledger say the same of every month. */
const rests = Effect.fnUntraced(function* (town: Town.Town, books: DistributionBooks) {
  let left: ReadonlyArray<string> = []
  for (let round = 0; round < roundsMax; round++) {
    left = (yield* Effect.forEach(books.months.values(), (month) => unsettled(town, month))).flat()
    if (left.length === 0) return
    yield* TestClock.adjust("10 seconds")
    yield* Town.turns
    yield* Town.work(town)
    yield* town.observer.look(town.step)
  }
  throw new Error(`audit: ${left.slice(0, 8).join("; ")}`)
})

/** The sums of a month by what became of its lines are its gross. */
const states = Effect.fnUntraced(function* (town: Town.Town, month: BookedMonth) {
  const records = yield* Records
  const { distributionId } = month
  const self = yield* records.get(distributions, distributionId)
  const sums = new Map<string, bigint>()
  for (const { record } of yield* records.list(distributionLines, {
    where: { distributionId: [distributionId] },
    limit
  })) {
    const { gross, net, number, party, state } = record
    const booked = month.lines[number - 1]
    const told = [gross, net].map((figure) => atoms(Decimal.formatPlain(figure)))
    same(told, [booked?.gross, booked?.net], `the amounts of ${record.lineId}`)
    if (state === "delivered" || state === "rolled") {
      same(party, booked?.payee, `who was paid ${record.lineId}`)
    }
    add(sums, state, told[0] ?? 0n)
    Town.note(town, `line ${state}`)
  }
  const units = month.lines.reduce(
    (sum, { payoutUnits, state }) =>
      state === "delivered" || state === "rolled" ? sum + (payoutUnits ?? 0n) : sum,
    0n
  )
  same(town.distributions?.paid.get(distributionId) ?? 0n, units, `units of ${distributionId}`)
  const total = [...sums.values()].reduce((sum, one) => sum + one, 0n)
  same(total, atoms(Decimal.formatPlain(self.totals.gross)), `the gross of ${distributionId}`)
  Town.note(town, `distribution ${self.state}`)
})

/** Every distribution against the ledger, once nothing is under way. */
export const atRest = Effect.fnUntraced(function* (town: Town.Town) {
  const books = town.distributions
  if (books === null) return
  const records = yield* Records
  yield* rests(town, books)
  for (const month of books.months.values()) {
    if (!month.isSealed) continue
    if (!books.recomputed.has(month)) {
      const { executedOffset } = yield* records.get(distributions, month.distributionId)
      figures(town, books, { month, through: executedOffset })
      books.recomputed.add(month)
    }
    yield* states(town, month)
  }
})
