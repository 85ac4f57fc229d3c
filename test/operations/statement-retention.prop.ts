/**
 * Retention of statements over histories by chance: exactly those lose their lines and bytes that the
 * test's own books let go, whatever was corrected, found, taken and held.
 */
import { Records, type Retention, settingsDefaults } from "@bursar/engine-core"
import { Date, Duration, Instant } from "@bursar/engine-core/kernel"
import { WorkQueue } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { cashTakings, takingIdOf } from "#core/orders/order/CashTaking.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import { steps } from "#core/reconciliation/statement-retention/StatementRetentionSteps.ts"
import { externalStatements } from "#core/statements/external-statement/ExternalStatement.ts"
import * as StageSteps from "#core/statements/external-statement/StageSteps.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Subscriptions from "../machines/subscriptions.ts"
import * as Bank from "./bank.ts"
import { finds } from "./finding-plants.ts"
import * as Stating from "./stating.ts"
import { runsOf } from "../long-run.ts"

const runs = runsOf(25)

const sources = {
  admin: { kind: "holdings" },
  bank: { kind: "cash", account: "account-1" },
  prices: { kind: "nav" }
} as const
type SourceName = keyof typeof sources

const firstDay = Date.of("2026-01-05")
const day = (offset: number) => Date.addDays(firstDay, offset)
const noon = (offset: number) => Instant.add(Instant.fromDate(day(offset)), Duration.of("PT12H"))

const instrumentIds = ["fund-a", "fund-b"]
const instrumentId = fc.constantFrom("fund-a", "fund-a", "fund-a", "fund-b")

/** A statement that comes: of a business date, so many days later; the second of a date corrects. */
const stating = fc.record({
  source: fc.constantFrom<SourceName>("admin", "bank", "bank", "bank", "prices"),
  instrumentId,
  businessDay: fc.nat(2),
  lag: fc.nat(8),
  /** Lines of a statement of cash. */
  lines: fc.nat(1)
})

/** Other acts, each on a statement by its number modulo the number of statements. */
const finding = fc.record({
  state: fc.constantFrom("open", "accepted", "cleared"),
  stating: fc.option(fc.nat(20), { nil: null }),
  instrumentId,
  firstSeen: fc.nat(14)
})
const taking = fc.record({
  stating: fc.nat(20),
  state: fc.constantFrom("reserved", "ended", "unended", "lost", "partial")
})

const history = fc.record({
  statings: fc.array(stating, { minLength: 3, maxLength: 8 }),
  findings: fc.array(finding, { maxLength: 1 }),
  takings: fc.array(taking, { maxLength: 1 }),
  holdInstrument: fc.oneof({ weight: 4, arbitrary: fc.constant(null) }, instrumentId),
  holdHolder: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.boolean()),
  /** Day up to which statements are past their period, mostly a late one. */
  cut: fc.oneof({ weight: 3, arbitrary: fc.constant(14) }, { weight: 1, arbitrary: fc.nat(14) })
})

type History = typeof history extends fc.Arbitrary<infer A> ? A : never

/** A statement in the books of the test. */
interface Booked {
  readonly id: string
  readonly source: SourceName
  readonly instrumentId: string
  readonly businessDay: number
  readonly receivedAt: Instant.Instant
  /** Whether the statement has a line, whose cash orders may take. */
  readonly isLined: boolean
}

const period = Duration.of("P100D")

const settingsOf = (history: History) => ({
  ...settingsDefaults,
  retention: { ...settingsDefaults.retention, externalStatements: period },
  legalHold: {
    holderIds: history.holdHolder ? ["h1"] : [],
    instrumentIds: history.holdInstrument === null ? [] : [history.holdInstrument]
  }
})

/** A later statement of each source and instrument, so that those before are not the newest. */
const newest = (["admin", "bank", "prices"] as const).flatMap((source) =>
  instrumentIds.map((instrumentId) => ({ source, instrumentId, businessDay: 11, lag: 0, lines: 0 }))
)

/** Plants the statements in the order of their receipt; lists them by the test's own books. */
const plant = Effect.fnUntraced(function* (statings: History["statings"]) {
  const booked: Array<Booked> = []
  const some = newest.slice(0, statings.length % 2 === 0 ? newest.length : 3)
  const came = [...statings, ...some]
    .map((stating) => ({ ...stating, received: stating.businessDay + stating.lag }))
    .toSorted((a, b) => a.received - b.received)
  for (const [nth, stated] of came.entries()) {
    const { businessDay, received, source: name, instrumentId } = stated
    const source = yield* Stating.source(name, {
      ...sources[name],
      instruments: instrumentIds
    })
    const receivedAt = Instant.add(noon(received), Duration.of(`PT${nth}S`))
    const isLined = name === "bank" && stated.lines === 1
    // An entry of its own for each statement: takings of copies of one entry move between them.
    const entry = { amount: "100", direction: "credit", bankReference: `entry-${nth}` } as const
    const lines = isLined ? [entry] : []
    const statement = { businessDate: day(businessDay), instrumentId, receivedAt, lines }
    const id = yield* Stating.states(source, statement)
    booked.push({ id, source: name, instrumentId, businessDay, receivedAt, isLined })
  }
  return booked
})

/** Plants a taking of a statement of cash, of an order that has ended, or not. */
const takes = (statementId: string, state: string, nth: number) =>
  Effect.gen(function* () {
    const records = yield* Records
    const act = { cause: { by: "clock" } as const, now: yield* Instant.now }
    const orderId = `order-${nth}`
    const order = { kind: "subscription", orderId } as const
    const named = { statementId, line: 1, amount: state === "partial" ? "50" : "100" }
    yield* Bank.reserves({ order, named })
    const ended = { state: "closed", endedAt: act.now, endedAs: "closed" } as const
    const end = state === "unended" ? {} : ended
    const subscriptionId = Subscriptions.id<"SubscriptionId">(orderId)
    const subscription = Subscriptions.claimed({ subscriptionId, ...end })
    yield* records.transact(
      Effect.gen(function* () {
        yield* records.open(subscriptions, subscription, act)
        const id = takingIdOf({ ...order, named: { statementId: statementId as never, line: 1 } })
        const reserved = yield* records.get(cashTakings, id)
        if (state === "reserved") return
        const used = yield* records.append(cashTakings, reserved, { on: "use" }, act)
        if (state !== "lost") return
        const lost = { on: "move", statementId, places: [], lost: reserved.named.amount } as const
        yield* records.append(cashTakings, used, lost as never, act)
      })
    )
  })

/** Takes the step, batch after batch, and counts what it deleted. */
const retains = Effect.gen(function* () {
  const records = yield* Records
  const now = yield* Instant.now
  let count = 0
  for (const step of steps) {
    let after: string | null = null
    do {
      const batch: Retention.Batch = yield* records.transactAlone(step.run({ now, after }))
      count += batch.counts["externalStatements"] ?? 0
      after = batch.after
    } while (after !== null)
  }
  return count
})

describe("retention of statements", () => {
  it("never lets go a statement that is young, newest, found, owed or held, and keeps no other", () =>
    fc.assert(
      fc.asyncProperty(history, (history) =>
        Calls.runCase(
          Effect.gen(function* () {
            yield* TestClock.setTime(Instant.toEpochMillis(noon(30)))
            const booked = yield* plant(history.statings)
            const at = (nth: number) => booked[nth % booked.length] as Booked
            for (const [nth, found] of history.findings.entries()) {
              const { firstSeen, state } = found
              const facts =
                state === "open"
                  ? []
                  : state === "cleared"
                    ? [{ on: "clear", runId: "run_2" } as const]
                    : [{ on: "accept", accepted: accepted(noon(firstSeen)) } as const]
              const named = found.stating === null ? {} : { statementId: at(found.stating).id }
              const { instrumentId } = found.stating === null ? found : at(found.stating)
              const firstSeenAt = noon(firstSeen)
              yield* finds(`f-${nth}`, facts, { ...named, instrumentId, firstSeenAt })
            }
            const owed = new Set(booked.filter(({ isLined }) => isLined).map(({ id }) => id))
            for (const [nth, taken] of history.takings.entries()) {
              const ofBank = booked.filter(({ source }) => source === "bank")
              const lined = ofBank[taken.stating % ofBank.length]
              if (lined === undefined) continue
              const inForce = inForceOf(booked, lined)
              if (!inForce.isLined) continue
              yield* takes(inForce.id, taken.state, nth)
              if (taken.state === "ended") owed.delete(inForce.id)
            }
            const now = Instant.add(noon(history.cut), period)
            yield* TestClock.setTime(Instant.toEpochMillis(now))
            const gone = booked.filter((each) => goes(each, { history, booked, owed }))
            expect(yield* retains).toBe(gone.length)
            const records = yield* Records
            const work = yield* WorkQueue
            for (const { id } of booked) {
              const { prunedAt, supersededBy } = yield* records.get(externalStatements, id)
              const isGone = gone.some((each) => each.id === id)
              expect([id, prunedAt !== undefined, supersededBy]).toEqual([id, isGone, supersededBy])
              const item = yield* work.find({ queue: StageSteps.queue, itemId: id })
              expect([id, item._tag]).toEqual([id, isGone ? "Some" : "None"])
            }
            // Lines that are gone are not deleted again.
            expect(yield* retains).toBe(0)
          }).pipe(Effect.provide(world({ settings: settingsOf(history) })))
        )
      ),
      { numRuns: runs, examples: [...tables] }
    ))
})

/** A statement and its correction, of which an accepted finding names this one. */
const accepting = (statementNumber: number): History => ({
  statings: [0, 1, 5].map((lag) => ({
    source: "admin",
    instrumentId: "fund-a",
    businessDay: lag === 5 ? 1 : 0,
    lag,
    lines: 0
  })),
  findings: [
    { state: "accepted", stating: statementNumber, instrumentId: "fund-a", firstSeen: 14 }
  ],
  takings: [],
  holdInstrument: null,
  holdHolder: false,
  cut: 14
})

/** A statement of cash with one line, of which an order took in this way. */
const takenAs = (state: History["takings"][number]["state"]): History => ({
  ...accepting(0),
  statings: [{ source: "bank", instrumentId: "fund-a", businessDay: 0, lag: 0, lines: 1 }],
  findings: [],
  takings: [{ stating: 0, state }]
})

/** Three days, of whose first statement an open finding was seen long after all of them. */
const seenLate: History = {
  ...accepting(0),
  statings: [0, 1, 2].map((businessDay) => ({
    source: "admin",
    instrumentId: "fund-a",
    businessDay,
    lag: 0,
    lines: 0
  })),
  findings: [{ state: "open", stating: 0, instrumentId: "fund-a", firstSeen: 13 }]
}

/** Histories with each reason to keep a statement by itself. */
const tables: ReadonlyArray<[History]> = [
  accepting(0),
  accepting(1),
  seenLate,
  ...(["reserved", "ended", "unended", "lost", "partial"] as const).map(takenAs)
].map((history) => [history])

const accepted = (at: Instant.Instant) => ({
  unexplained: 0n as never,
  reason: "known",
  holdId: "hold_1",
  operationId: "op_1",
  at
})

const inForceOf = (booked: ReadonlyArray<Booked>, statement: Booked): Booked =>
  booked.findLast(
    (each) =>
      each.source === statement.source &&
      each.instrumentId === statement.instrumentId &&
      each.businessDay === statement.businessDay
  ) as Booked

/**
 * Whether the books allow that retention deletes a statement, one condition for each sentence of
 * the documentation.
 */
const goes = (
  self: Booked,
  {
    history,
    booked,
    owed
  }: {
    readonly history: History
    readonly booked: ReadonlyArray<Booked>
    readonly owed: ReadonlySet<string>
  }
): boolean => {
  const inForce = inForceOf(booked, self)
  if (inForce.receivedAt >= noon(history.cut)) return false
  const feed = booked.filter(
    ({ instrumentId, source }) => source === self.source && instrumentId === self.instrumentId
  )
  if (feed.every(({ businessDay }) => businessDay <= self.businessDay)) return false
  if (history.holdInstrument === self.instrumentId) return false
  if (history.holdHolder && self.source !== "prices") return false
  if (owed.has(inForce.id)) return false
  return history.findings.every((found) => {
    if (found.state === "cleared") return true
    const named = found.stating === null ? null : (booked[found.stating % booked.length] as Booked)
    if (named !== null && (named === self || named === inForce)) return false
    if (found.state !== "open") return true
    if (named === null || !feed.includes(named)) return true
    return inForce.receivedAt < Instant.min(noon(found.firstSeen), named.receivedAt)
  })
}
