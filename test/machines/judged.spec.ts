/** Judged sets, row by row: the state by facts and instant. */
import { describe, expect, it } from "vitest"
import { judged } from "#core/catalogue.ts"
import {
  DistributionPeriod,
  type Subject as Period
} from "#core/distributions/period/DistributionPeriod.ts"
import { DistributionRoll } from "#core/distributions/roll/DistributionRoll.ts"
import {
  type Subject as Standing,
  StandingApprovalState
} from "#core/distributions/standing-approval/StandingApproval.ts"
import { NavFeed, type FeedSubject as Nav } from "#core/instruments/price/NavFeed.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import * as Instant from "#core/kernel/Instant.ts"
import type { JudgedState } from "#core/kernel/Judged.ts"
import { RedemptionOrder, type Subject as Redemption } from "#core/orders/redemption/Redemption.ts"
import {
  type Subject as Subscription,
  SubscriptionOrder
} from "#core/orders/subscription/Subscription.ts"

const before = Instant.of("2026-07-30T12:00:00Z")
const at = Instant.of("2026-07-31T12:00:00Z")
const after = Instant.of("2026-08-01T12:00:00Z")

type Row<S extends string, Subject> = readonly [state: S, because: string, change: Partial<Subject>]

const covered = new Map<string, Set<string>>()

/** Rows change one subject; together they must reach every state of the set. */
const rows = <S extends string, Subject>(
  set: JudgedState<S, Subject>,
  subject: Subject,
  table: ReadonlyArray<Row<NoInfer<S>, Subject>>
) => {
  covered.set(set.name, new Set(table.map(([state]) => state)))
  describe(set.name, () => {
    it.each(table)("is %s: %s", (state, _because, change) => {
      expect(set.judge({ ...subject, ...change })).toBe(state)
    })
  })
}

const subscription: Subscription = { state: "priced", cashStands: false, settleBy: at, now: before }

rows(SubscriptionOrder, subscription, [
  ["awaiting-price", "nobody priced the claim", { state: "claimed" }],
  [
    "awaiting-price",
    "a claim has no time to settle that could pass",
    { state: "claimed", now: after }
  ],
  ["awaiting-cash", "priced, and the cash leg is missing", {}],
  ["awaiting-cash", "no time to settle is set", { settleBy: null, now: after }],
  ["ready", "priced, and the cash leg stands", { cashStands: true }],
  ["expired", "the time to settle is reached", { now: at }],
  ["expired", "it passed, though the cash came", { now: after, cashStands: true }],
  ["settled", "delivered is the value date", { state: "delivered", now: after }],
  ["settled", "closed", { state: "closed", now: after }],
  ["withdrawn", "withdrawn", { state: "withdrawn" }],
  ["released", "released", { state: "released", now: after }]
])

const redemption: Redemption = {
  state: "priced",
  payment: "wire",
  unitsAllocated: false,
  burnRequested: false,
  cashStands: false,
  settleBy: at,
  now: before
}

rows(RedemptionOrder, redemption, [
  ["awaiting-price", "nobody priced the claim", { state: "claimed" }],
  [
    "awaiting-price",
    "a claim has no time to settle that could pass",
    { state: "claimed", now: after }
  ],
  ["awaiting-units", "paid by wire, the burn is not requested", {}],
  [
    "awaiting-units",
    "paid by wire, whatever is allocated",
    { unitsAllocated: true, cashStands: true }
  ],
  [
    "awaiting-units",
    "on the ledger, the units are missing",
    { payment: "ledger", cashStands: true }
  ],
  [
    "awaiting-payment",
    "on the ledger, only the cash is missing",
    { payment: "ledger", unitsAllocated: true }
  ],
  [
    "ready",
    "on the ledger, both are allocated",
    { payment: "ledger", unitsAllocated: true, cashStands: true }
  ],
  [
    "ready",
    "on the ledger, funded and both allocated",
    { state: "funded", payment: "ledger", unitsAllocated: true, cashStands: true }
  ],
  ["awaiting-registrar", "paid by wire and funded", { state: "funded", cashStands: true }],
  [
    "awaiting-registrar",
    "on the ledger, the burn is requested, whatever is allocated",
    {
      state: "funded",
      payment: "ledger",
      burnRequested: true,
      unitsAllocated: true,
      cashStands: true
    }
  ],
  [
    "expired",
    "the burn is requested and the time to settle passed",
    { state: "funded", burnRequested: true, now: after }
  ],
  ["awaiting-payment", "burned, the cash is not evidenced", { state: "burned" }],
  ["awaiting-payment", "a burned one never expires", { state: "burned", now: after }],
  ["ready", "burned, the cash is evidenced", { state: "burned", cashStands: true }],
  ["expired", "priced and the time to settle is reached", { now: at }],
  ["expired", "funded and it passed", { state: "funded", now: after }],
  [
    "expired",
    "it wins over ready",
    { payment: "ledger", unitsAllocated: true, cashStands: true, now: at }
  ],
  ["settled", "settled", { state: "settled", now: after }],
  ["withdrawn", "withdrawn", { state: "withdrawn", now: after }],
  ["released", "released", { state: "released", now: after }]
])

const period: Period = {
  executed: null,
  recordDatePassed: true,
  earlierUnexecuted: 0,
  ratesSeen: [Decimal.of("0.15")],
  acknowledgedRate: null,
  rateChange: ["alert", "refuse"],
  linesUnrolled: 0,
  partial: ["carry", "refuse"],
  holds: 0,
  scheduledBy: "calendar"
}

const bothRates = [Decimal.of("0.15"), Decimal.of("0.2")]

rows(DistributionPeriod, period, [
  [
    "executed",
    "a positive line exists",
    { executed: { positiveLines: 1 }, holds: 1, recordDatePassed: false }
  ],
  ["nil", "executed with no positive line", { executed: { positiveLines: 0 }, holds: 1 }],
  ["accruing", "the record date has not passed", { recordDatePassed: false }],
  ["accruing", "even while something blocks", { recordDatePassed: false, holds: 1 }],
  ["blocked", "an earlier period is not executed", { earlierUnexecuted: 1 }],
  ["blocked", "rates differ and one word refuses that", { ratesSeen: bothRates }],
  [
    "blocked",
    "rates differ and not the latest is acknowledged",
    { ratesSeen: bothRates, acknowledgedRate: Decimal.of("0.15") }
  ],
  [
    "due",
    "rates differ and the latest is acknowledged",
    { ratesSeen: bothRates, acknowledgedRate: Decimal.of("0.2") }
  ],
  [
    "due",
    "rates differ and every word only alerts",
    { ratesSeen: bothRates, rateChange: ["alert", "alert"] }
  ],
  ["due", "no point states a rate", { ratesSeen: [] }],
  ["blocked", "lines are unrolled and one word refuses that", { linesUnrolled: 1 }],
  [
    "due",
    "lines are unrolled and every word carries",
    { linesUnrolled: 1, partial: ["carry", "carry"] }
  ],
  ["blocked", "a hold is open", { holds: 1 }],
  ["blocked", "without a calendar as well", { holds: 1, scheduledBy: "month-end" }],
  ["due", "a calendar set its record date", {}],
  ["ready", "no calendar did", { scheduledBy: "month-end" }]
])

rows(DistributionRoll, { delivered: 0, rolled: 0 }, [
  ["waiting", "nothing is delivered", {}],
  ["ready", "delivered, none rolled", { delivered: 2 }],
  ["partial", "one of them is rolled", { delivered: 1, rolled: 1 }],
  ["rolled", "all are", { rolled: 2 }]
])

const standingApproval: Standing = {
  from: before,
  until: after,
  maxUses: 3,
  maxNet: Decimal.of("100"),
  uses: 0,
  usedNet: Decimal.zero,
  revokedAt: null,
  now: at
}

rows(StandingApprovalState, standingApproval, [
  ["scheduled", "not yet in force", { from: after, until: Instant.of("2026-09-01T00:00:00Z") }],
  ["active", "its first instant", { now: before }],
  ["active", "one use and one cent are left", { uses: 2, usedNet: Decimal.of("99.99") }],
  [
    "active",
    "without limits",
    { maxUses: null, maxNet: null, uses: 99, usedNet: Decimal.of("999") }
  ],
  ["exhausted", "its uses are used up", { uses: 3 }],
  ["exhausted", "its amount is used up", { usedNet: Decimal.of("100") }],
  ["exhausted", "that came before its end", { uses: 3, now: after }],
  ["lapsed", "its end is reached", { now: after }],
  ["revoked", "while active", { revokedAt: at }],
  ["revoked", "before it was in force", { revokedAt: before, from: after }],
  ["revoked", "and its end passed since", { revokedAt: at, now: after }]
])

const statement = { ripcord: false, expiresAt: after, move: "inside" } as const
const nav: Nav = { feed: { latest: statement, businessDate: "received" }, now: at }
const feed = (
  latest: NonNullable<Nav["feed"]>["latest"],
  businessDate: NonNullable<Nav["feed"]>["businessDate"] = "received"
): Partial<Nav> => ({ feed: { latest, businessDate } })

rows(NavFeed, nav, [
  ["none", "no feed is mapped", { feed: null }],
  ["ripcord", "the administrator pulled it", feed({ ...statement, ripcord: true })],
  ["ripcord", "it wins over missing", feed({ ...statement, ripcord: true }, { missingFrom: at })],
  ["missing", "the business date's statement is missed", feed(statement, { missingFrom: at })],
  ["usable", "it is not missed yet", feed(statement, { missingFrom: after })],
  ["missing", "none ever came", feed(null)],
  ["missing", "it wins over stale", feed({ ...statement, expiresAt: before }, { missingFrom: at })],
  ["stale", "its expiry is reached", feed({ ...statement, expiresAt: at })],
  ["stale", "it wins over deviating", feed({ ...statement, expiresAt: before, move: "outside" })],
  ["deviating", "the move is outside the guardrail", feed({ ...statement, move: "outside" })],
  ["usable", "nothing speaks against it", {}]
])

describe("the tables above", () => {
  it.each(judged.map((set) => [set.name, set] as const))("reach every state of %s", (name, set) => {
    expect(covered.get(name)).toEqual(new Set(Object.keys(set.states)))
  })
})
