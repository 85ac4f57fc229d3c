/** Statements of several dates that come before one run: each is compared, and none ends another's finding. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Records } from "@bursar/engine-core"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { checkMarks } from "#core/reconciliation/run/CheckMark.ts"
import { instrumentVerdicts } from "#core/reconciliation/verdict/InstrumentVerdict.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Executions from "./executions.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"

const d = Decimal.of

/** A fund with 100 units of one holder, on the evening of Tuesday, 30 June 2026, without a source. */
const opened = Effect.gen(function* () {
  const { stage, holders } = yield* Executions.founded(["h1"])
  yield* Powers.mints(stage, holders[0]!, "100")
  yield* Stating.alone
  yield* Calls.catchUp
  yield* TestClock.adjust("1 hour")
})

const runs = (...checks: ReadonlyArray<string>) =>
  Effect.map(
    Reconciling.run(JSON.stringify({ scope: { instrumentIds: ["fund-a"], checks } })),
    ({ value }) =>
      value.checks.map(({ findings, ran, why }) => (ran ? (why ?? findings) : `! ${why}`))
  )

const found = Effect.map(Reconciling.found, (all) => all.toSorted())

const verdict = Effect.flatMap(Records, (records) =>
  Effect.map(records.get(instrumentVerdicts, "fund-a"), ({ notCompared }) =>
    notCompared.map(({ check, isNeeded, subject, why }) =>
      [check, subject.id, why, ...(isNeeded ? ["needed"] : [])].join(" ")
    )
  )
)

const at = (text: string) => TestClock.setTime(Instant.toEpochMillis(Instant.of(text)))
const monday = Date.of("2026-06-29")
const tuesday = Date.of("2026-06-30")

describe("two files that come before one run", () => {
  interface Row {
    readonly check: string
    readonly source: Parameters<typeof Stating.source>[1]
    readonly wrong: Partial<Stating.Stated>
    readonly right: Partial<Stating.Stated>
    readonly subject: string
  }
  const rows: ReadonlyArray<Row> = [
    {
      check: "cash-balance",
      source: { kind: "cash", account: "acc-1" },
      wrong: { opening: d("0"), closing: d("1") },
      right: { opening: d("1"), closing: d("1") },
      subject: "source:2026-06-29"
    },
    {
      check: "statement-total",
      source: {},
      wrong: { lines: [{ account: "h1", quantity: "100" }], totalQuantity: d("101") },
      right: { lines: [{ account: "h1", quantity: "100" }], totalQuantity: d("100") },
      subject: "source:2026-06-29"
    },
    {
      check: "supply-outstanding",
      source: { kind: "nav" },
      wrong: { totalQuantity: d("101") },
      right: { totalQuantity: d("100") },
      subject: "source:2026-06-29"
    },
    {
      check: "register-line",
      source: {},
      wrong: { lines: [{ account: "h1", quantity: "101" }] },
      right: { lines: [{ account: "h1", quantity: "100" }] },
      subject: "h1"
    }
  ]

  it.each(rows)(
    "never leave the first uncompared by $check, nor clear what it found: only its correction does",
    ({ check, right, source, subject, wrong }) =>
      Calls.runCase(
        Effect.gen(function* () {
          yield* opened
          const sender = yield* Stating.source("source", source)
          yield* Stating.states(sender, { businessDate: monday, ...wrong })
          yield* Stating.states(sender, { businessDate: tuesday, ...right })
          yield* runs(check)
          expect(yield* found).toEqual([`${check} ${subject} open 1`])
          expect(yield* Reconciling.openHolds).toHaveLength(1)
          yield* TestClock.adjust("1 day")
          yield* Stating.states(sender, { businessDate: Date.next(tuesday), ...right })
          yield* runs(check)
          yield* runs(check)
          expect(yield* found).toEqual([`${check} ${subject} open 1`])
          const corrected = check === "cash-balance" ? { opening: d("1"), closing: d("1") } : right
          yield* Stating.states(sender, { businessDate: monday, ...corrected })
          yield* runs(check)
          expect(yield* found).toEqual([`${check} ${subject} cleared 1`])
        }).pipe(Effect.provide(world()))
      )
  )

  it("never clear what an acceptance covers, and find the next date's difference beside it", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        const bank = yield* Stating.source("source", { kind: "cash", account: "acc-1" })
        yield* Stating.states(bank, { businessDate: monday, opening: d("0"), closing: d("1") })
        yield* runs("cash-balance")
        const [hold] = yield* Reconciling.openHolds
        const body = { accept: [...hold!.findings], reason: "a charge that was booked later" }
        yield* Calls.write("hold.release", { holdId: hold!.holdId }, body)
        yield* Stating.states(bank, { businessDate: tuesday, opening: d("1"), closing: d("3") })
        yield* runs("cash-balance")
        expect(yield* found).toEqual([
          "cash-balance source:2026-06-29 accepted 1",
          "cash-balance source:2026-06-30 open 2"
        ])
      }).pipe(Effect.provide(world()))
    ))

  it("of one holder show the difference that no acceptance covers, not the larger that one does", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        const admin = yield* Stating.source("source")
        const lines = (quantity: string) => ({ lines: [{ account: "h1", quantity }] })
        yield* Stating.states(admin, { businessDate: monday, ...lines("90") })
        yield* runs("register-line")
        const [hold] = yield* Reconciling.openHolds
        const body = { accept: [...hold!.findings], reason: "booked a day late" }
        yield* Calls.write("hold.release", { holdId: hold!.holdId }, body)
        yield* Stating.states(admin, { businessDate: tuesday, ...lines("103") })
        yield* runs("register-line")
        expect(yield* found).toEqual(["register-line h1 open 3"])
      }).pipe(Effect.provide(world()))
    ))
})

describe("statements in any order, with runs between them", () => {
  const step = fc.record({
    day: fc.integer({ min: 0, max: 4 }),
    off: fc.constantFrom(0, 0, 1, -2),
    run: fc.boolean()
  })

  it("leave open exactly the dates whose statement in force does not add up", () =>
    fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 9 }), (steps) =>
        Calls.runCase(
          Effect.gen(function* () {
            yield* opened
            const bank = yield* Stating.source("source", { kind: "cash", account: "acc-1" })
            const inForce = new Map<string, number>()
            for (const { day, off, run } of steps) {
              const businessDate = Date.addDays(Date.of("2026-06-22"), day)
              // Balances that continue from each date to any other, so that only the entries can differ.
              const lines = off === 0 ? [] : [entryOf(-off)]
              yield* Stating.states(bank, { businessDate, opening: d("0"), closing: d("0"), lines })
              inForce.set(businessDate, off)
              if (run) yield* runs("cash-balance")
            }
            yield* runs("cash-balance")
            const expected = [...inForce]
              .filter(([, off]) => off !== 0)
              .map(([date, off]) => `cash-balance source:${date} open ${off}`)
            const open = (yield* found).filter((text) => text.includes(" open "))
            expect(open).toEqual(expected.toSorted())
          }).pipe(Effect.provide(world()))
        )
      ),
      { numRuns: Number(process.env["STATEMENT_DATES"] ?? 6), seed: 33 }
    ))

  const entryOf = (amount: number) =>
    ({ amount: String(Math.abs(amount)), direction: amount > 0 ? "credit" : "debit" }) as const
})

describe("the watermark of a check of statements", () => {
  it("names what differs and what could not be compared, and no statement that is settled", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        const bank = yield* Stating.source("source", { kind: "cash", account: "acc-1" })
        const states = (businessDate: Date.Date, changes: Partial<Stating.Stated>) =>
          Stating.states(bank, { businessDate, ...changes })
        yield* states(Date.of("2026-06-24"), { opening: d("0"), closing: d("0") })
        const wrong = yield* states(Date.of("2026-06-25"), { opening: d("0"), closing: d("1") })
        const unread = yield* states(Date.of("2026-06-26"), { closing: d("1") })
        yield* states(monday, { opening: d("1"), closing: d("1") })
        expect(yield* runs("cash-balance")).toEqual(["! opening-missing"])
        const records = yield* Records
        const again = Effect.map(
          records.get(checkMarks, "cash-balance/fund-a"),
          // Statements of the sources that the world began with wait for these to be active again.
          (mark) => mark.again.filter((id) => id.startsWith("sta-"))
        )
        expect([...(yield* again)].toSorted()).toEqual([wrong, unread].toSorted())
        expect(yield* verdict).toEqual(["cash-balance source:2026-06-26 opening-missing needed"])
        // A later statement with balances does not end it; its correction does.
        yield* TestClock.adjust("1 day")
        yield* states(tuesday, { opening: d("1"), closing: d("1") })
        expect(yield* runs("cash-balance")).toEqual(["! opening-missing"])
        yield* states(Date.of("2026-06-26"), { opening: d("1"), closing: d("1") })
        expect(yield* runs("cash-balance")).toEqual([1])
        expect(yield* again).toEqual([wrong])
        expect(yield* verdict).toEqual([])
      }).pipe(Effect.provide(world()))
    ))

  it("waits for a source that is inactive when its statement would be compared", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        const cash = { kind: "cash", account: "acc-1" } as const
        const bank = yield* Stating.source("source", cash)
        const other = yield* Stating.source("other", { kind: "cash", account: "acc-2" })
        yield* Stating.states(bank, { businessDate: monday, opening: d("0"), closing: d("1") })
        yield* Stating.states(bank, { businessDate: tuesday, opening: d("1"), closing: d("1") })
        yield* Stating.states(other, { businessDate: monday, opening: d("0"), closing: d("0") })
        yield* Stating.source("source", { ...cash, state: "inactive" })
        yield* runs("cash-balance")
        expect(yield* found).toEqual([])
        yield* TestClock.adjust("1 day")
        yield* Stating.source("source", cash)
        yield* runs("cash-balance")
        expect(yield* found).toEqual(["cash-balance source:2026-06-29 open 1"])
        // Another source's statements clear nothing of one that is inactive.
        yield* Stating.source("source", { ...cash, state: "inactive" })
        yield* Stating.states(other, { businessDate: tuesday, opening: d("0"), closing: d("0") })
        yield* runs("cash-balance")
        expect(yield* found).toEqual(["cash-balance source:2026-06-29 open 1"])
      }).pipe(Effect.provide(world()))
    ))
})

describe("continuity of balances", () => {
  const cash = { kind: "cash", account: "acc-1" } as const
  const balances = (opening: string, closing = opening) => ({
    opening: d(opening),
    closing: d(closing)
  })

  it("finds an opening that is not the closing before it, until either is corrected", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        const bank = yield* Stating.source("source", cash)
        yield* Stating.states(bank, { businessDate: monday, ...balances("100") })
        yield* Stating.states(bank, { businessDate: tuesday, ...balances("50") })
        yield* runs("cash-balance")
        expect(yield* found).toEqual(["cash-balance acc-1:2026-06-30 open -50"])
        expect(yield* Reconciling.openHolds).toHaveLength(1)
        // A run without the only source compares nothing, and clears nothing.
        yield* Stating.source("source", { ...cash, state: "inactive" })
        yield* runs("cash-balance")
        expect(yield* found).toEqual(["cash-balance acc-1:2026-06-30 open -50"])
        yield* Stating.source("source", cash)
        yield* Stating.states(bank, { businessDate: monday, ...balances("50") })
        yield* runs("cash-balance")
        expect(yield* found).toEqual(["cash-balance acc-1:2026-06-30 cleared -50"])
        // A correction of the earlier date is compared with the later one, which came before it.
        yield* Stating.states(bank, { businessDate: monday, ...balances("51") })
        yield* runs("cash-balance")
        expect(yield* found).toEqual(["cash-balance acc-1:2026-06-30 open -1"])
      }).pipe(Effect.provide(world()))
    ))

  it("names the dates between that are missing, warns while they may still come, then blocks", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        const bank = yield* Stating.source("source", cash)
        const thursday = Date.of("2026-07-02")
        yield* Stating.states(bank, { businessDate: monday, ...balances("100") })
        yield* at("2026-07-02T20:00:00Z")
        yield* Stating.states(bank, { businessDate: thursday, ...balances("50") })
        const finding = Effect.map(Reconciling.findings, (all) =>
          all.map(({ missingDates, severity, state }) => [state, severity, ...missingDates])
        )
        // Wednesday's statement is due on Thursday at 06:00, Tuesday's on Wednesday, both with two hours.
        yield* runs("cash-balance")
        expect(yield* finding).toEqual([["open", "blocking", "2026-06-30", "2026-07-01"]])
        yield* Stating.source("source", {
          ...cash,
          dueBy: { time: "06:00", zone: "UTC", daysAfter: 2 }
        })
        yield* runs("cash-balance")
        expect(yield* finding).toEqual([["open", "warning", "2026-06-30", "2026-07-01"]])
        yield* at("2026-07-03T08:00:00Z")
        yield* runs("cash-balance")
        expect(yield* finding).toEqual([["open", "warning", "2026-06-30", "2026-07-01"]])
        yield* at("2026-07-03T08:00:00.001Z")
        yield* runs("cash-balance")
        expect(yield* finding).toEqual([["open", "blocking", "2026-06-30", "2026-07-01"]])
        // What was missing comes, and explains it.
        yield* Stating.states(bank, { businessDate: tuesday, ...balances("100") })
        yield* runs("cash-balance")
        expect(yield* finding).toEqual([["open", "blocking", "2026-07-01"]])
        const lines = [{ amount: "50", direction: "debit" }] as const
        const businessDate = Date.of("2026-07-01")
        yield* Stating.states(bank, { businessDate, ...balances("100", "50"), lines })
        yield* runs("cash-balance")
        expect(yield* finding).toEqual([["cleared", "blocking", "2026-07-01"]])
      }).pipe(Effect.provide(world()))
    ))

  it("never asks across a weekend, nor of dates whose balances agree, and follows the account over sources", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        const bank = yield* Stating.source("source", cash)
        const feed = yield* Stating.source("table", { ...cash, balances: "none" })
        const next = yield* Stating.source("next", cash)
        yield* Stating.states(bank, { businessDate: Date.of("2026-06-24"), ...balances("7") })
        yield* Stating.states(feed, { businessDate: Date.of("2026-06-25") })
        yield* Stating.states(bank, { businessDate: Date.of("2026-06-26"), ...balances("7") })
        yield* Stating.states(bank, { businessDate: monday, ...balances("7", "7") })
        yield* runs("cash-balance")
        expect(yield* found).toEqual([])
        yield* Stating.states(next, { businessDate: tuesday, ...balances("8") })
        yield* runs("cash-balance")
        expect(yield* found).toEqual(["cash-balance acc-1:2026-06-30 open 1"])
      }).pipe(Effect.provide(world()))
    ))
})

describe("a source without balances", () => {
  it("has nothing to compare, is named, and does not clear what was found of it before", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* opened
        const cash = { kind: "cash", account: "acc-1" } as const
        const table = yield* Stating.source("source", { ...cash, balances: "none" })
        const lines = [{ amount: "5", direction: "credit" }] as const
        yield* Stating.states(table, { businessDate: monday, lines })
        yield* Stating.states(table, { businessDate: tuesday, lines })
        expect(yield* runs("cash-balance")).toEqual(["nothing-to-compare"])
        expect(yield* verdict).toEqual(["cash-balance source balances-none"])
        // Stated after all: the newest is not comparable.
        yield* Stating.source("source", cash)
        expect(yield* runs("cash-balance")).toEqual(["! opening-missing"])
        yield* Stating.states(table, {
          businessDate: tuesday,
          opening: d("0"),
          closing: d("9"),
          lines
        })
        yield* runs("cash-balance")
        const open = ["cash-balance source:2026-06-30 open 4"]
        expect(yield* found).toEqual(open)
        yield* Stating.source("source", { ...cash, balances: "none" })
        expect(yield* runs("cash-balance")).toEqual(["nothing-to-compare"])
        expect(yield* found).toEqual(open)
      }).pipe(Effect.provide(world()))
    ))
})
