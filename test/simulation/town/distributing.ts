/** Distributions by chance: income published, months executed by people or by themselves, delivered, rolled and voided. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Reconciler, Records } from "@bursar/engine-core"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { distributionLines } from "#core/distributions/distribution/DistributionLine.ts"
import * as Calls from "../../engine/calls.ts"
import { refusalOf, signs, submit } from "./asking.ts"
import * as Controls from "./controls.ts"
import { atoms, plain, written } from "./figures.ts"
import * as Joining from "./joining.ts"
import type { Contract } from "./ledger-observer.ts"
import * as People from "./people.ts"
import { priceOf } from "./pricing.ts"
import { isRebasing, metricOf, movedAtom } from "./rebasing.ts"
import * as Town from "./town.ts"
import type { Fund } from "./town.ts"
import * as Wallets from "./wallets.ts"

const hour = 3_600_000
const day = 24 * hour

const millisNow = Effect.map(Instant.now, (now) => Number(now / 1_000_000n))
const at = (millis: number): string => new globalThis.Date(millis).toISOString()

const pick = <A>(town: Town.Town, from: ReadonlyArray<A>): A | undefined =>
  from[town.die.roll(Math.max(1, from.length))]

const distributing = (town: Town.Town): Fund & { readonly distribution: Town.Distributing } => {
  const funds = town.funds.flatMap((fund) =>
    fund.distribution === null ? [] : [{ ...fund, distribution: fund.distribution }]
  )
  const fund = pick(town, funds)
  if (fund === undefined) throw new Error("no fund distributes")
  return fund
}

/**
 * The oracle states what a unit earned a day, seldom less than nothing, or the price of a fund that
 * accumulates; seldom for a day long past.
 */
const publishes = Effect.fnUntraced(function* (town: Town.Town) {
  const { die } = town
  const fund = distributing(town)
  const now = yield* millisNow
  const ago = die.once(6) ? die.roll(30) * day : die.roll(36) * hour
  const valuationTime = Instant.fromEpochMillis(now - ago)
  const isPar = fund.valuation === "par"
  const value = isPar ? incomeOf(town) : written(priceOf(town, fund, valuationTime))
  yield* Wallets.act(
    town,
    fund.oracle,
    isPar ? "states income" : `states a${isRebasing(fund) ? "n index" : " price"}`,
    Templates.create(Templates.OraclePoint, {
      oracle: fund.oracle.party,
      venue: town.venue,
      fund: fund.fund.party,
      registrar: fund.registrar.party,
      attestors: isPar ? [] : [fund.attestor.party],
      instrumentId: fund.instrumentId,
      metric: isPar ? "income" : metricOf(fund),
      value: Decimal.of(value),
      valuationTime,
      period: null,
      withholdingRate: die.once(5) ? Decimal.of(die.pick(["0.15", "0.2", "0.305"])) : null,
      statementRef: null,
      corrects: null
    })
  )
})

const incomeOf = (town: Town.Town): string => {
  const { die } = town
  const text = plain(BigInt(1 + die.roll(3_000_000)), 10)
  return die.once(8) ? `-${text}` : text
}

/** The oracle takes a point of its own back, and states another one in its place. */
const corrects = Effect.fnUntraced(function* (town: Town.Town) {
  const { die } = town
  const fund = distributing(town)
  const points = [...town.observer.all("OraclePoint").values()].filter(
    (one) => Wallets.member(one, "instrumentId") === fund.instrumentId
  )
  // Mostly one of those that the next month reads.
  const point = die.once(3) ? pick(town, points) : points.at(-1 - die.roll(4))
  if (point === undefined) return
  const valuationTime = Instant.of(Wallets.member(point, "valuationTime"))
  const isIncome = Wallets.member(point, "metric") === "income"
  const value = isIncome ? incomeOf(town) : written(priceOf(town, fund, valuationTime))
  const rate = point.payload["withholdingRate"]
  yield* Wallets.act(
    town,
    fund.oracle,
    "corrects",
    Templates.exercise(Templates.OraclePoint, point.cid, "Correct", {
      value: Decimal.of(value),
      valuationTime,
      period: null,
      withholdingRate: typeof rate === "string" ? Decimal.of(rate) : null,
      statementRef: null
    })
  )
})

/** The registrar opens a holder's account with units that it had before there was a venue. */
export const opensAccount = Effect.fnUntraced(function* (town: Town.Town) {
  const { die } = town
  const fund = distributing(town)
  const { instrumentId, registrar } = fund
  const atom = movedAtom(fund)
  const credentials = [...town.observer.all("Credential").values()].filter(
    (one) => Wallets.member(one, "instrumentId") === instrumentId
  )
  const credential = pick(town, credentials)
  if (credential === undefined) return
  const units = (1n + (BigInt(die.roll(900_000_000)) * 10_000n) / atom) * atom
  yield* Wallets.act(
    town,
    registrar,
    "opens an account",
    Templates.exercise(Templates.Credential, credential.cid, "Receive", {
      amount: Decimal.of(written(units)),
      reference: { kind: "opening", id: `opening-${++town.count}` },
      configurationCid: null
    })
  )
})

/** Days pass, or a record date, or an hour after which the engine rolls. */
const passes = Effect.fnUntraced(function* (town: Town.Town) {
  const { die } = town
  const now = yield* millisNow
  const { distribution } = distributing(town)
  const date = new globalThis.Date(now)
  const lastDay = globalThis.Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)
  const recordEnd =
    Math.min(
      lastDay,
      globalThis.Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), distribution.recordDay)
    ) + day
  const toRecordEnd = recordEnd + die.pick([-1_000, 0, 30_000, 120_000]) - now
  const jump =
    die.once(3) && toRecordEnd > 0 && toRecordEnd < 12 * day
      ? toRecordEnd
      : die.pick([hour + 60_000, day, 2 * day, 4 * day, 6 * day, 9 * day])
  Town.tell(town, `the clock moves ${jump / 1_000} seconds`)
  yield* TestClock.adjust(jump)
  // Lets due work run for a few turns, as in a host that runs on.
  for (let turn = 0; turn < 1 + die.roll(4); turn++) {
    yield* Town.turns
    yield* Town.work(town)
    yield* TestClock.adjust(61_000)
  }
})

const monthText = (millis: number): string => at(millis).slice(0, 7)

/** The month whose turn it is, or another one, is executed by people. */
const executes = Effect.fnUntraced(function* (town: Town.Town) {
  const { die } = town
  const { instrumentId } = distributing(town)
  const now = yield* millisNow
  const executed = town.distributions?.monthsOf(instrumentId).at(-1)
  const open = Array.from({ length: 4 }, (_, back) => monthText(now - back * 28 * day)).filter(
    (month) => executed === undefined || month > executed.month || !executed.isSealed
  )
  const month = die.once(10) ? monthText(now) : (open.at(-1) ?? monthText(now))
  const kind = "distribution.execute"
  const by = People.maker(town, kind)
  yield* submit(town, {
    by,
    body: {
      instrumentId,
      month,
      ...(die.once(8) ? { acknowledgedRate: die.pick([0.15, 0.2]) } : {})
    },
    act: { kind, asks: [{ instrumentId, hold: "distribution" }] }
  })
  const made = town.awaiting.findLast(({ act, maker }) => act.kind === kind && maker === by.sub)
  if (made !== undefined && !die.once(3)) yield* signs(town, made, People.signer(town))
})

/** A standing approval is granted, or taken back. */
const approves = Effect.fnUntraced(function* (town: Town.Town) {
  const { die } = town
  const { instrumentId } = distributing(town)
  const now = yield* millisNow
  const granted = [...town.approvals]
  if (granted.length > 0 && die.once(4)) {
    const standingApprovalId = pick(town, granted) ?? ""
    const kind = "standing-approval.revoke"
    yield* submit(town, {
      by: People.maker(town, kind),
      params: { standingApprovalId },
      act: { kind, asks: [] }
    })
    return
  }
  const standingApprovalId = `a${++town.count}`
  const kind = "standing-approval.grant"
  const by = People.maker(town, kind)
  yield* submit(town, {
    by,
    body: {
      standingApprovalId,
      instrumentId,
      until: at(now + (1 + die.roll(120)) * day),
      ...(die.once(4) ? { from: at(now + die.roll(20) * day) } : {}),
      ...(die.once(3) ? { maxUses: 1 + die.roll(3) } : {}),
      ...(die.once(5) ? { maxNet: 100 + die.roll(20_000) } : {}),
      ...(die.once(6) ? { rateChange: "refuse" } : {}),
      ...(die.once(8) ? { partial: "refuse" } : {})
    },
    act: {
      kind,
      asks: [],
      succeeds: () => {
        town.approvals.add(standingApprovalId)
      }
    }
  })
  const made = town.awaiting.findLast(({ act, maker }) => act.kind === kind && maker === by.sub)
  if (made !== undefined && !die.once(3)) yield* signs(town, made, People.signer(town))
})

const idOf = (one: Contract) => Wallets.member(one, "distributionId")

/** The registrar delivers some lines together; now and then one that it may not, or without evidence. */
const delivers = Effect.fnUntraced(function* (town: Town.Town) {
  const { die, observer } = town
  const now = yield* Instant.now
  const months = [...observer.all("Distribution").values()]
  const owed = [...observer.all("DistributionLine").values()]
  const free = owed.filter((line) => {
    const month = months.find((one) => idOf(one) === idOf(line))
    return (
      month?.payload["open"] === true &&
      line.payload["waits"] === false &&
      Instant.of(Wallets.member(month, "payableFrom")) <= now
    )
  })
  const first = pick(town, die.once(8) ? owed : free)
  const month = months.find((one) => first !== undefined && idOf(one) === idOf(first))
  const fund = town.funds.find(
    ({ instrumentId }) => month !== undefined && Wallets.assetOf(month) === instrumentId
  )
  if (first === undefined || month === undefined || fund === undefined) return
  const together = free
    .filter((line) => line !== first && idOf(line) === idOf(first))
    .slice(0, die.pick([0, 1, 5, 40]))
  const isLacking = die.once(20)
  const { payout } = month.payload
  const isCash = payout === "cash"
  const commands = [first, ...together].map((line) => {
    const paysCash = isCash && atoms(Wallets.member(line, "net")) > 0n
    const credential =
      payout !== "units"
        ? undefined
        : Wallets.find(
            town,
            Wallets.member(line, "holder"),
            "Credential",
            (one) => Wallets.member(one, "instrumentId") === fund.instrumentId
          )
    return Templates.exercise(Templates.DistributionLine, line.cid, "Deliver", {
      distributionCid: month.cid,
      credentialCid: credential?.cid ?? null,
      configurationCid: null,
      evidence:
        paysCash && !isLacking
          ? {
              reference: `wire ${++town.bank.lines}`,
              paidOn: Date.of(Instant.format(now).slice(0, 10))
            }
          : null
    })
  })
  const done = yield* Wallets.act(town, fund.registrar, "delivers", ...commands)
  if (done) Town.note(town, "lines delivered", commands.length)
})

/** Rolls the delivered lines of a month. */
const rolls = Effect.fnUntraced(function* (town: Town.Town) {
  const delivered = [...town.observer.all("DeliveredLine").values()]
  const line = pick(town, delivered)
  const all = [...(town.distributions?.months.keys() ?? [])]
  const distributionId = line === undefined || town.die.once(10) ? pick(town, all) : idOf(line)
  if (distributionId === undefined) return
  const kind = "distribution.roll"
  yield* submit(town, {
    by: People.maker(town, kind),
    params: { distributionId },
    act: { kind, asks: [] }
  })
})

/** A run that somebody calls for. */
const runs = Effect.fnUntraced(function* (town: Town.Town) {
  if (!(yield* Town.mayRun(town))) return
  const runner = yield* Reconciler
  const answer = yield* Effect.result(
    runner.start({
      caller: Calls.person("risk-1", "risk"),
      identity: { requestId: `req-${++town.count}`, traceId: null, keyId: null },
      key: `town-${++town.count}`,
      request: { scope: null },
      body: {}
    })
  )
  Town.tell(town, `a run: ${Result.isSuccess(answer) ? "done" : refusalOf(answer.failure).slug}`)
  Town.note(town, `run ${Result.isSuccess(answer) ? "called" : "refused"}`)
})

const order = { authority: "A court", reference: "3/26", documentHash: "ef".repeat(32) }

/** A court's order cancels what a holder is owed and waits for; or names a line that does not wait. */
const voids = Effect.fnUntraced(function* (town: Town.Town) {
  const { die } = town
  const records = yield* Records
  const state = die.once(8) ? (["due"] as const) : (["suspended"] as const)
  const lines = (yield* records.list(distributionLines, { where: { state }, limit: 1_000 })).map(
    ({ record }) => record
  )
  const line = pick(town, lines)
  if (line === undefined || line.holderId === null) return
  const all = lines.filter(({ holderId }) => holderId === line.holderId)
  const kind = "holder.force-transfer"
  const by = People.maker(town, kind)
  yield* submit(town, {
    by,
    params: { holderId: line.holderId },
    body: { voids: (die.once(2) ? [line] : all).map(({ lineId }) => lineId), order },
    act: { kind, asks: [] }
  })
  const made = town.awaiting.findLast(({ act, maker }) => act.kind === kind && maker === by.sub)
  if (made !== undefined && !die.once(3)) yield* signs(town, made, People.signer(town))
})

/** A holder that is owed something meets a cause to wait, or is cured of one. */
const owedTo = (town: Town.Town): Town.Holder | undefined => {
  const owed = [...town.observer.all("DistributionLine").values()]
  const line = pick(town, owed)
  return line === undefined ? undefined : town.byParty.get(Wallets.member(line, "holder"))
}

const meets = (town: Town.Town) => {
  const holder = owedTo(town)
  if (holder === undefined) return Effect.void
  return town.die.once(3)
    ? Joining.offers(town, holder, distributing(town).instrumentId)
    : Controls.restricts(town, holder)
}

const acts = [
  [100, publishes],
  [6, corrects],
  [80, passes],
  [10, opensAccount],
  [25, executes],
  [12, approves],
  [60, delivers],
  [14, rolls],
  [6, runs],
  [8, voids],
  [25, meets]
] as const satisfies ReadonlyArray<readonly [number, (town: Town.Town) => unknown]>

/** The next thing that a month waits for; now and then something that it does not. */
export const goesOn = Effect.fnUntraced(function* (town: Town.Town) {
  let left = town.die.roll(acts.reduce((sum, [weight]) => sum + weight, 0))
  for (const [weight, act] of acts) {
    left -= weight
    if (left < 0) return yield* act(town)
  }
})
