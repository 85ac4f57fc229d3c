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
import { add, atoms, cent, signedAtoms as signed, whole } from "./figures.ts"
import { isRebasing, metricOf } from "./rebasing.ts"
import type { Contract } from "./ledger-observer.ts"
import * as Town from "./town.ts"
import { member } from "./wallets.ts"

const limit = 100_000
const day = 86_400_000_000_000n

const midnight = (date: string): bigint => Instant.of(`${date}T00:00:00Z`)
const dayOf = (at: bigint): bigint => (at / day) * day

const floorOf = (value: bigint, by: bigint): bigint => {
  const part = value / by
  return value % by < 0n ? part - 1n : part
}

/** Day on which the town's funds began to distribute. */
const firstDay = midnight("2026-07-31")

interface Point {
  readonly cid: string
  readonly date: bigint
  /** Income of a unit for a day of a par fund, the price of a unit of an accumulating one. */
  readonly value: bigint
  readonly rate: bigint | null
}

const pointOf = (one: Contract): Point => {
  const rate = one.payload["withholdingRate"]
  return {
    cid: one.cid,
    date: dayOf(Instant.of(member(one, "valuationTime"))),
    value: signed(member(one, "value")),
    rate: typeof rate === "string" ? atoms(rate) : null
  }
}

/** Points of a fund's income or price that stood at an offset of the ledger, each date's last one. */
const pointsOf = (
  town: Town.Town,
  fund: Town.Fund,
  through: Offset.Offset
): ReadonlyArray<Point> => {
  const { instrumentId, valuation } = fund
  const metric = valuation === "par" ? "income" : metricOf(fund)
  const byDate = new Map<bigint, Contract>()
  const valued = (one: Contract) => Instant.of(member(one, "valuationTime"))
  for (const one of town.observer.every("OraclePoint").values()) {
    if (member(one, "instrumentId") !== instrumentId || member(one, "metric") !== metric) continue
    if (one.createdOffset > through) continue
    // One that was corrected by then does not count.
    if (one.endedOffset !== null && one.endedOffset <= through) continue
    const date = dayOf(valued(one))
    const other = byDate.get(date)
    // Of those last valued the last published: contracts come in the order of the ledger.
    if (other === undefined || valued(other) <= valued(one)) byDate.set(date, one)
  }
  return [...byDate].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => pointOf(one))
}

/** Expected figures of a payee's line of a month, by plain integers; null: it gets no line. */
interface Expected {
  readonly entitlement: bigint
  readonly carryIn: bigint
  readonly gross: bigint
  readonly equalisation: bigint
  readonly withheld: bigint
  readonly net: bigint
  readonly carryOut: bigint
  readonly payoutUnits: bigint | null
  readonly carried: string | null
}

const expectedOf = (input: {
  readonly entitlement: bigint
  readonly carryIn: bigint
  readonly rate: bigint
  readonly units: bigint
  readonly isUnrolled: boolean
  /** Income that the payee paid for when it bought units, in currency. */
  readonly bought: bigint
  /** Smallest part of a unit that is paid, and the price of a unit; null: cash is paid. */
  readonly paidIn: { readonly atom: bigint; readonly price: bigint } | null
}): Expected | null => {
  const { carryIn, entitlement, isUnrolled, paidIn, rate, units } = input
  if (entitlement === 0n && carryIn === 0n) return null
  const due = entitlement + carryIn
  const cents = floorOf(due, cent) * cent
  const paid = isUnrolled || cents < 0n ? 0n : cents
  const given = least(floorOf(input.bought, cent) * cent, paid)
  const half = whole / 2n
  const tax = (taxed: bigint) => floorOf((taxed / cent) * rate + half, whole) * cent
  const netOf = paid - tax(paid - given)
  const bought =
    paidIn === null ? null : floorOf((netOf * whole) / paidIn.price, paidIn.atom) * paidIn.atom
  const buysNothing = netOf > 0n && bought === 0n
  const carried = isUnrolled ? "unrolled" : paid === 0n || buysNothing ? "below-smallest" : null
  const gross = carried === null ? paid : 0n
  const equalisation = carried === null ? given : 0n
  const withheld = tax(gross - equalisation)
  const isKept = units > 0n || (carried !== null && due >= cent)
  return {
    entitlement,
    carryIn,
    gross,
    equalisation,
    withheld,
    net: gross - withheld,
    carryOut: isKept ? due - gross : 0n,
    payoutUnits: bought === null ? null : carried === null ? bought : 0n,
    carried
  }
}

/** Lines of a payee that were added by an offset and are neither rolled nor void there. */
const isUnrolledAt = (
  books: DistributionBooks,
  month: BookedMonth,
  point: { readonly head: string; readonly through: Offset.Offset }
): boolean =>
  books
    .monthsOf(month.instrumentId)
    .filter((earlier) => earlier.month < month.month)
    .flatMap(({ lines }) => lines)
    .some(
      ({ addedAt, carried, endedAt, party }) =>
        carried === null &&
        addedAt <= point.through &&
        (endedAt === null || endedAt > point.through) &&
        books.headOf(month.instrumentId, party, point.through) === point.head
    )

/** A month that is recomputed, and what it is recomputed from. */
interface Month {
  readonly month: BookedMonth
  readonly fund: Town.Fund & { readonly distribution: Town.Distributing }
  /** First instant of the period, and the end of its record date. */
  readonly from: bigint
  readonly end: bigint
  readonly points: ReadonlyArray<Point>
  /** Points that are dated in the period. */
  readonly dated: ReadonlyArray<Point>
  /** Payee to the parties whose units count for it, and those that it succeeded. */
  readonly members: ReadonlyMap<string, ReadonlyArray<string>>
  readonly through: Offset.Offset
}

/** Income of a payee's units, and the part of it that the payee paid for when it bought them. */
interface Earning {
  /** Contracts of the points that this is computed from. */
  readonly pointCids: ReadonlyArray<string>
  /** Twenty places. */
  readonly earnedOf: (head: string) => bigint
  /** Ten places, below nothing cut. */
  readonly boughtOf: (head: string) => bigint
  /** Price of a unit that is paid out. */
  readonly payoutPrice: bigint
}

/** Input of the income of a par fund. */
type Earned = Pick<Month, "dated" | "end" | "from" | "fund" | "members" | "points">

const unitsOf = (
  town: Town.Town,
  { fund, members }: Pick<Month, "fund" | "members">,
  head: string,
  end: bigint
): bigint =>
  (members.get(head) ?? []).reduce(
    (sum, party) => sum + town.observer.unitsBefore(fund.instrumentId, party, end),
    0n
  )

/** Income of a par fund: a day's on the units at the end of each point's date. */
const earningOfPar = (town: Town.Town, earning: Earned): Earning => {
  const { dated, end, from, points } = earning
  const before = points.filter(({ date }) => date < from)
  // The last point before lends the period its first days, unless a point is dated on the first.
  const reaching = [...(dated[0]?.date === from ? [] : before.slice(-1)), ...dated]
  return {
    pointCids: reaching.map(({ cid }) => cid),
    earnedOf: (head) =>
      reaching.reduce((sum, { date, value }, index) => {
        const until = reaching[index + 1]?.date ?? end
        const days = (until - (date < from ? from : date)) / day
        return sum + unitsOf(town, earning, head, date + day) * value * days
      }, 0n),
    boughtOf: () => 0n,
    payoutPrice: whole
  }
}

/** End of the record date of a month, from 0 for January of year 0. */
const recordEndOf = (month: number, { recordDay }: Town.Distributing): bigint => {
  const [year, nth] = [Math.floor(month / 12), month % 12]
  const lastDay = new Date(Date.UTC(year, nth + 1, 0)).getUTCDate()
  return BigInt(Date.UTC(year, nth, Math.min(lastDay, recordDay) + 1)) * 1_000_000n
}

const monthOf = (at: bigint): number => {
  const date = new Date(Number(at / 1_000_000n))
  return date.getUTCFullYear() * 12 + date.getUTCMonth()
}

/**
 * Income that a party's units have earned since the last record date of a par fund, over the days that
 * have ended by the instant of the read (docs/domain/figures.md#accrued-income); null: nothing accrues to it.
 */
export const accruedTo = (
  town: Town.Town,
  payee: { readonly fund: Town.Fund; readonly party: string; readonly now: bigint }
): bigint | null => {
  const { distribution, instrumentId, valuation } = payee.fund
  const books = town.distributions
  if (books === null || distribution === null || valuation !== "par") return null
  const fund = { ...payee.fund, distribution }
  const { now } = payee
  const points = pointsOf(town, fund, town.observer.offset())
  const executed = books.monthsOf(instrumentId).at(-1)
  let from = executed === undefined ? firstDay : midnight(executed.recordDate) + day
  // A record date that has passed ended a period if a point is dated in it, executed or not.
  for (let month = monthOf(from) - 1; recordEndOf(month, distribution) <= now; month++) {
    const end = recordEndOf(month, distribution)
    if (points.some(({ date }) => date >= from && date < end)) from = end
  }
  const end = dayOf(now)
  const dated = points.filter(({ date }) => date >= from && date < end)
  const parties = town.observer
    .owners(instrumentId)
    .filter((party) => books.headOf(instrumentId, party) === payee.party)
  const members = new Map([[payee.party, parties]])
  const { earnedOf } = earningOfPar(town, { fund, from, end, points, dated, members })
  Town.note(town, "accrued income compared")
  return floorOf(earnedOf(payee.party), whole)
}

/** Income of an accumulating fund: what its price rose above the one that it returns to after each payout. */
const earningOfPrice = (town: Town.Town, books: DistributionBooks, facts: Month): Earning => {
  const { dated, end, fund, month, points, through } = facts
  const { distributionId, instrumentId } = month
  const all = books.monthsOf(instrumentId)
  const earlier = all.slice(0, all.indexOf(month))
  const started = earlier[0] === undefined ? undefined : books.prices.get(earlier[0])
  const first = points.findLast(({ date }) => date < firstDay) ?? points[0]
  const exPoint = started?.exPoint ?? first?.cid ?? ""
  const ex = started?.ex ?? first?.value ?? 0n
  const cum = dated.at(-1)?.value ?? 0n
  const prices = { exPoint, ex, cumPoint: dated.at(-1)?.cid ?? "", cum }
  books.prices.set(month, prices)
  const paid = earlier.findLast(({ lines }) => lines.some(({ gross }) => gross > 0n))
  if (paid !== undefined) {
    const paidEnd = midnight(paid.recordDate) + day
    const after = points.find(({ date }) => date >= paidEnd)
    const before = books.prices.get(paid)
    const went =
      after === undefined ||
      before === undefined ||
      before.cum <= before.ex ||
      distance(after.value, before.ex) < distance(after.value, before.cum)
    holds(went, `${distributionId} pays the income of ${paid.month} again`)
    Town.note(town, "price gone ex")
  }
  const rise = most(0n, cum - ex)
  const lots = books.lots.before(instrumentId, end)
  const incomeEnds = earlier
    .filter(({ lines }) => lines.some(({ entitlement }) => entitlement > 0n))
    .map(({ recordDate }) => midnight(recordDate) + day)
  const boughtOf = (head: string): bigint => {
    const since = earlier.findLast(({ lines }) =>
      lines.some(
        ({ gross, party }) => gross > 0n && books.headOf(instrumentId, party, through) === head
      )
    )
    const from = since === undefined ? 0n : midnight(since.recordDate) + day
    const counted = (facts.members.get(head) ?? [])
      .flatMap((party) => lots.get(party) ?? [])
      .filter(({ at, owners }) => {
        const other = owners.findLastIndex(
          ({ party }) => books.headOf(instrumentId, party, through) !== head
        )
        const received = owners[other + 1]?.since ?? at
        return at >= from && !incomeEnds.some((ended) => at < ended && ended <= received)
      })
    const exact = counted.reduce(
      (sum, { base, left }) =>
        base === null ? sum : sum + left * (least(most(base, ex), cum) - ex),
      0n
    )
    return most(0n, floorOf(exact, whole))
  }
  for (const [party, held] of lots) {
    const left = held.reduce((sum, lot) => sum + lot.left, 0n)
    same(left, town.observer.unitsBefore(fund.instrumentId, party, end), `the lots of ${party}`)
  }
  return {
    pointCids: [...new Set([exPoint, ...dated.map(({ cid }) => cid)])],
    earnedOf: (head) => unitsOf(town, facts, head, end) * rise,
    boughtOf,
    payoutPrice: ex
  }
}

/** Income of a rebasing fund: what its index rose, or fell, since the month before was executed. */
const earningOfIndex = (town: Town.Town, books: DistributionBooks, facts: Month): Earning => {
  const { dated, end, fund, month, points } = facts
  const all = books.monthsOf(fund.instrumentId)
  const before = all[all.indexOf(month) - 1]
  const first = points.findLast(({ date }) => date < firstDay) ?? points[0]
  const from = before === undefined ? undefined : books.prices.get(before)
  const fromPoint = from?.cumPoint ?? first?.cid ?? ""
  const fromIndex = from?.cum ?? first?.value ?? 0n
  const to = dated.at(-1)
  const toIndex = to?.value ?? 0n
  books.prices.set(month, {
    exPoint: fromPoint,
    ex: fromIndex,
    cumPoint: to?.cid ?? "",
    cum: toIndex
  })
  return {
    pointCids: [...new Set([fromPoint, ...dated.map(({ cid }) => cid)])],
    earnedOf: (head) => unitsOf(town, facts, head, end) * (toIndex - fromIndex),
    boughtOf: () => 0n,
    payoutPrice: whole
  }
}

const least = (a: bigint, b: bigint): bigint => (a < b ? a : b)
const most = (a: bigint, b: bigint): bigint => (a > b ? a : b)
const distance = (a: bigint, b: bigint): bigint => (a > b ? a - b : b - a)

/** Recomputes every line of a sealed month, and what it leaves to the next. */
const figures = (
  town: Town.Town,
  books: DistributionBooks,
  { month, through }: { readonly month: BookedMonth; readonly through: Offset.Offset }
) => {
  const { distributionId, instrumentId } = month
  const found = town.funds.find((one) => one.instrumentId === instrumentId)
  if (found?.distribution == null) throw new Error(`audit: ${instrumentId} distributes`)
  const fund = { ...found, distribution: found.distribution }
  const all = books.monthsOf(instrumentId)
  const previous = all[all.indexOf(month) - 1]
  const from = previous === undefined ? firstDay : midnight(previous.recordDate) + day
  const end = midnight(month.recordDate) + day
  const points = pointsOf(town, fund, through)
  const dated = points.filter(({ date }) => date >= from && date < end)
  holds(dated.length > 0, `${distributionId} has no point of its own`)
  const members = Map.groupBy(town.observer.owners(instrumentId), (party) =>
    books.headOf(instrumentId, party, through)
  )
  const facts: Month = { month, fund, from, end, points, dated, members, through }
  const earning = {
    par: () => earningOfPar(town, facts),
    accumulating: () => earningOfPrice(town, books, facts),
    rebasing: () => earningOfIndex(town, books, facts)
  }[fund.valuation]()
  const { boughtOf, earnedOf, payoutPrice, pointCids } = earning
  const paysUnits = fund.distribution.payout === "units"
  const dateOf = (cid: string) => {
    const valued = town.observer.every("OraclePoint").get(cid)
    return `${valued === undefined ? "" : member(valued, "valuationTime")} ${cid.slice(0, 12)}`
  }
  same(
    month.pointCids.map(dateOf).toSorted(),
    pointCids.map(dateOf).toSorted(),
    `the points of ${distributionId}`
  )
  const rates = dated.flatMap(({ rate }) => (rate === null ? [] : [rate]))
  // A line that pays nothing withholds nothing.
  const rate = isRebasing(fund) ? 0n : (rates.at(-1) ?? (15n * whole) / 100n)
  same(month.rate, rate, `the rate of ${distributionId}`)
  same(month.payoutPrice, paysUnits ? payoutPrice : null, `the price of ${distributionId}`)
  const carriedOver = new Map<string, bigint>()
  for (const [party, carry] of books.carries.get(instrumentId) ?? []) {
    add(carriedOver, books.headOf(instrumentId, party, through), carry)
  }
  const left = new Map<string, bigint>()
  const byParty = new Map(month.lines.map((line) => [line.party, line]))
  let exact = 0n
  let rests = 0n
  for (const head of new Set([...members.keys(), ...carriedOver.keys()])) {
    const earned = earnedOf(head)
    exact += earned
    const expected = expectedOf({
      entitlement: floorOf(earned, whole),
      carryIn: carriedOver.get(head) ?? 0n,
      rate,
      units: unitsOf(town, facts, head, end),
      isUnrolled: isUnrolledAt(books, month, { head, through }),
      bought: boughtOf(head),
      paidIn: paysUnits ? { atom: fund.atom, price: payoutPrice } : null
    })
    const line = byParty.get(head)
    byParty.delete(head)
    const got = line === undefined ? null : figuresOf(line)
    same(got, expected, `the line of ${head} in ${distributionId}`)
    if (expected === null) continue
    if (expected.equalisation > 0n) Town.note(town, "line equalised")
    rests += expected.entitlement + expected.carryIn - expected.gross - expected.carryOut
    if (expected.carryOut !== 0n) left.set(head, expected.carryOut)
  }
  same([...byParty.keys()], [], `lines of ${distributionId} that nobody earned`)
  books.carries.set(instrumentId, left)
  conserves({ month, exact, rests, carriedOver })
  const [ofMonth, ofLine] = recomputed[fund.valuation]
  Town.note(town, ofMonth)
  Town.note(town, ofLine, month.lines.length)
}

const recomputed = {
  par: ["month recomputed", "line recomputed"],
  accumulating: ["month of prices recomputed", "line by price recomputed"],
  rebasing: ["month of an index recomputed", "line by index recomputed"]
} as const

const figuresOf = (line: BookedLine): Expected => {
  const { carried, carryIn, carryOut, entitlement, equalisation, gross, net, payoutUnits } = line
  const { withheld } = line
  return {
    entitlement,
    carryIn,
    gross,
    equalisation,
    withheld,
    net,
    carryOut,
    payoutUnits,
    carried
  }
}

/** The identities of a month, exactly: nothing is lost between the points, the lines and the next month. */
const conserves = (input: {
  readonly month: BookedMonth
  readonly exact: bigint
  readonly rests: bigint
  readonly carriedOver: ReadonlyMap<string, bigint>
}) => {
  const { carriedOver, exact, month, rests } = input
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

/** States of the record that a line in a state of the books may have. */
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
  const registeredHolder = town.byParty.get(line.party)
  const holder =
    registeredHolder === undefined
      ? null
      : Option.getOrNull(yield* records.find(holders, registeredHolder.holderId))
  if (holder === null) return ["no-holder"]
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
  const causes: Array<string> = []
  if (stops.some(({ reason }) => reason !== "court-order")) causes.push("restriction")
  if (stops.some(({ reason }) => reason === "court-order")) causes.push("court-order")
  if (holder.state !== "active" && !(holder.state === "lapsed" && receives)) {
    causes.push("registration")
  }
  if (!isAdmitted && !(hasExpired && receives)) causes.push("admission")
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
    const shownAmounts = [gross, net].map((figure) => atoms(Decimal.formatPlain(figure)))
    same(shownAmounts, [booked?.gross, booked?.net], `the amounts of ${record.lineId}`)
    if (state === "delivered" || state === "rolled") {
      same(party, booked?.payee, `who was paid ${record.lineId}`)
    }
    add(sums, state, shownAmounts[0] ?? 0n)
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
