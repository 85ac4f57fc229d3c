/** Checks of statements: from statements, register and orders in an engine in memory to findings. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { world } from "../engine/world.ts"
import * as Calls from "../engine/calls.ts"
import * as Executions from "./executions.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"

const checks = [
  "register-line",
  "statement-total",
  "supply-outstanding",
  "statement-overdue",
  "statement-gap",
  "cash-balance"
]
const scope = (names: ReadonlyArray<string> = checks) =>
  JSON.stringify({ scope: { instrumentIds: ["fund-a"], checks: names } })

const h1 = { account: "h1", quantity: "100" }
const h2 = { account: "h2", quantity: "20.5" }

/** Two holders with 100 and 20.5 units, one hour after they got them. */
const held = Effect.gen(function* () {
  const { stage, holders } = yield* Executions.founded(["h1", "h2"])
  yield* Powers.mints(stage, holders[0]!, "100")
  yield* Powers.mints(stage, holders[1]!, "20.5")
  yield* Stating.alone
  yield* Calls.catchUp
  yield* TestClock.adjust("1 hour")
  return { stage, holders, today: yield* Stating.today }
})

const ran = Effect.fnUntraced(function* (names: ReadonlyArray<string> = checks) {
  const { value } = yield* Reconciling.run(scope(names))
  return Object.fromEntries(
    value.checks.map(({ check, ran, why, findings }) => [
      check,
      ran ? (why ?? findings) : `! ${why}`
    ])
  )
})

const idle = "nothing-to-compare"

describe("statements that agree", () => {
  it("are no findings, and without a source there is nothing to compare", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        expect(yield* ran()).toEqual(Object.fromEntries(checks.map((check) => [check, idle])))
        const admin = yield* Stating.source("admin")
        const nav = yield* Stating.source("nav", { kind: "nav" })
        const bank = yield* Stating.source("bank", { kind: "cash", account: "acc-1" })
        yield* Stating.states(admin, {
          businessDate: today,
          lines: [h2, h1],
          totalQuantity: Decimal.of("120.5"),
          statedLines: 2
        })
        yield* Stating.states(nav, { businessDate: today, totalQuantity: Decimal.of("120.5") })
        yield* Stating.states(bank, {
          businessDate: today,
          opening: Decimal.of("10"),
          closing: Decimal.of("13.5"),
          lines: [
            { amount: "5", direction: "credit" },
            { amount: "1.5", direction: "debit" }
          ]
        })
        expect(yield* ran()).toEqual(Object.fromEntries(checks.map((check) => [check, 0])))
        expect(yield* Reconciling.found).toEqual([])
      }).pipe(Effect.provide(world()))
    ))
})

describe("the units that an administrator states", () => {
  it.each([
    // Each of two holders may be out by an atom of six places.
    ["120.500002", 0],
    ["120.500003", 1],
    ["120.499998", 0],
    ["120.499997", 1]
  ])("come to %s, of 120.5 of two holders: %i findings", (total, findings) =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        const nav = yield* Stating.source("nav", { kind: "nav" })
        yield* Stating.states(nav, { businessDate: today, totalQuantity: Decimal.of(total) })
        const outcome = yield* ran(["supply-outstanding"])
        expect(outcome["supply-outstanding"]).toBe(findings)
      }).pipe(Effect.provide(world()))
    )
  )
})

describe("a statement of holdings", () => {
  const rows: ReadonlyArray<
    readonly [
      string,
      Partial<Stating.Stated>,
      Parameters<typeof Stating.source>[1],
      ReadonlyArray<string>
    ]
  > = [
    ["nothing, of an inactive source", { lines: [] }, { state: "inactive" }, []],
    [
      "another quantity",
      { lines: [{ ...h1, quantity: "99" }, h2] },
      {},
      ["register-line h1 open -1"]
    ],
    ["a missing line", { lines: [h2] }, {}, ["register-line h1 open -100"]],
    [
      "an account that nobody mapped",
      { lines: [h1, h2, { account: "h3", quantity: "7" }] },
      {},
      ["register-line admin:* open 7"]
    ],
    [
      "units in several lines",
      { lines: [h1, { ...h2, quantity: "20" }, { ...h2, quantity: "0.5" }] },
      {},
      []
    ],
    [
      "half an atom of its places",
      { lines: [{ ...h1, quantity: "100.005" }, h2] },
      { places: 2 },
      []
    ],
    [
      "more than half an atom",
      { lines: [{ ...h1, quantity: "100.0050000001" }, h2] },
      { places: 2 },
      ["register-line h1 open 0.0050000001"]
    ],
    [
      "a total that its lines have not",
      { lines: [h1, h2], totalQuantity: Decimal.of("121") },
      {},
      ["statement-total admin:2026-06-30 open 0.5"]
    ],
    [
      "a number of lines that it has not",
      { lines: [h1, h2], statedLines: 3 },
      {},
      ["statement-total admin:2026-06-30 open 1"]
    ]
  ]
  it("is a finding where it differs, one row after the other", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        for (const [name, stated, source, expected] of rows) {
          const admin = yield* Stating.source("admin", source)
          yield* Stating.states(admin, { businessDate: today, ...stated })
          yield* ran()
          const found = (yield* Reconciling.found).filter((text) => text.includes(" open "))
          expect([name, ...found.map((text) => text.replace(/admin:\w{16}/u, "admin:*"))]).toEqual([
            name,
            ...expected
          ])
        }
      }).pipe(Effect.provide(world()))
    ))

  it("is compared with the register at its own moment, and never one that lies before the history", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { stage, holders, today } = yield* held
        const admin = yield* Stating.source("admin")
        const asOf = yield* Instant.now
        yield* TestClock.adjust("1 hour")
        yield* Powers.mints(stage, holders[0]!, "10")
        yield* Calls.catchUp
        yield* Stating.states(admin, { businessDate: today, asOf, lines: [h1, h2] })
        expect(yield* ran(["register-line"])).toEqual({ "register-line": 0 })
        yield* Stating.states(admin, { businessDate: today, lines: [h1, h2] })
        expect(yield* ran(["register-line"])).toEqual({ "register-line": 1 })
        expect(yield* Reconciling.found).toEqual(["register-line h1 open -10"])
        // A statement of a moment before the first update of the ledger is compared with itself alone.
        const before = Instant.of("2020-01-01T00:00:00Z")
        const totalQuantity = Decimal.of("1")
        const old = { businessDate: today, asOf: before, lines: [h1, h2], totalQuantity }
        yield* Stating.states(admin, old)
        expect(yield* ran(["register-line", "statement-total"])).toEqual({
          "register-line": "! before-horizon",
          "statement-total": 1
        })
      }).pipe(Effect.provide(world()))
    ))

  it("by external accounts adds those of a holder, and names one that nobody mapped by its hash", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        const admin = yield* Stating.source("admin", { accountIs: "external-account" })
        const [a1, a2, b1, c1] = ["a1", "a2", "b1", "c1"].map(
          (end) => `key.${"0".repeat(62)}${end}`
        )
        yield* Stating.maps({ hash: a1!, holderId: "h1" })
        yield* Stating.maps({ hash: a2!, holderId: "h1" })
        yield* Stating.maps({ hash: b1!, holderId: "h2" })
        const lines = [
          { account: a1!, quantity: "60" },
          { account: b1!, quantity: "20.5" },
          { account: a2!, quantity: "40" }
        ]
        yield* Stating.states(admin, { businessDate: today, lines })
        expect(yield* ran(["register-line"])).toEqual({ "register-line": 0 })
        const strange = { account: c1!, quantity: "0" }
        yield* Stating.states(admin, { businessDate: today, lines: [...lines.slice(1), strange] })
        yield* ran(["register-line"])
        expect((yield* Reconciling.found).toSorted()).toEqual([
          `register-line admin:${"0".repeat(16)} open 0`,
          "register-line h1 open -60"
        ])
      }).pipe(Effect.provide(world()))
    ))

  it("of several sources gives one finding of a holder, the worst", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        for (const [id, quantity] of [
          ["a", "99"],
          ["b", "95"],
          ["c", "98"]
        ] as const) {
          const admin = yield* Stating.source(id)
          yield* Stating.states(admin, { businessDate: today, lines: [{ ...h1, quantity }, h2] })
        }
        yield* ran()
        expect(yield* Reconciling.found).toEqual(["register-line h1 open -5"])
      }).pipe(Effect.provide(world()))
    ))
})

describe("a statement that cannot be compared", () => {
  /** Runs the check, and the findings that it left, as `subject unexplained`. */
  const foundBy = Effect.fnUntraced(function* (check: string) {
    const outcome = yield* ran([check])
    const found = (yield* Reconciling.found).filter((text) => text.startsWith(`${check} `))
    return [outcome[check], ...found.map((text) => text.replace(`${check} `, ""))]
  })

  it("never hides what differs in one of another source: of a bank", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        const cash = { kind: "cash" } as const
        const line = { amount: "5", direction: "credit" } as const
        for (const id of ["bank-a", "bank-b", "bank-c"]) {
          const bank = yield* Stating.source(id, { ...cash, account: `account-of-${id}` })
          const opening = id === "bank-b" ? Decimal.zero : null
          const closing = Decimal.of("5.01")
          yield* Stating.states(bank, { businessDate: today, lines: [line], opening, closing })
        }
        const differs = ["! opening-missing", "bank-b:2026-06-30 open 0.01"]
        expect(yield* foundBy("cash-balance")).toEqual(differs)
        // Nor does it clear the finding, which the source that cannot be compared may have as well.
        expect(yield* foundBy("cash-balance")).toEqual(differs)
        const [hold] = yield* Reconciling.openHolds
        expect(hold?.findings).toHaveLength(1)
      }).pipe(Effect.provide(world()))
    ))

  it("never hides what differs in one of another source: of a register", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        const before = Instant.of("2020-01-01T00:00:00Z")
        for (const [id, quantity, dates] of [
          ["a", "77", { asOf: before }],
          ["b", "95", {}],
          ["c", "98", {}]
        ] as const) {
          const admin = yield* Stating.source(id)
          const lines = [{ ...h1, quantity }, h2]
          yield* Stating.states(admin, { businessDate: today, lines, ...dates })
        }
        expect(yield* foundBy("register-line")).toEqual(["! before-horizon", "h1 open -5"])
      }).pipe(Effect.provide(world()))
    ))
})

describe("a statement of cash", () => {
  const line = { amount: "5", direction: "credit" } as const
  const rows = [
    ["no opening balance", { closing: Decimal.of("5") }, "! opening-missing"],
    ["no closing balance", { opening: Decimal.of("5") }, "! closing-missing"],
    [
      "an entry in another currency",
      { opening: Decimal.zero, closing: Decimal.zero, lines: [{ ...line, currency: "SEK" }] },
      "! other-currency"
    ],
    ["a closing balance off by a cent", { opening: Decimal.zero, closing: Decimal.of("5.01") }, 1]
  ] as const

  it("is balanced, or says why it cannot be", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        const bank = yield* Stating.source("bank", { kind: "cash", account: "acc-1" })
        for (const [name, stated, expected] of rows) {
          yield* Stating.states(bank, { businessDate: today, lines: [line], ...stated })
          expect([name, yield* ran(["cash-balance"])]).toEqual([name, { "cash-balance": expected }])
        }
      }).pipe(Effect.provide(world()))
    ))
})

describe("an administrator's total", () => {
  const rows = [
    ["an atom for each holder is within it", "120.500002", 0],
    ["more is not", "120.5000021", 1],
    ["a suspended NAV says nothing", "ripcord", idle]
  ] as const

  it("is compared with the supply", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        const nav = yield* Stating.source("nav", { kind: "nav" })
        for (const [name, total, expected] of rows) {
          const isOfficial = total !== "ripcord"
          yield* Stating.states(nav, {
            businessDate: today,
            totalQuantity: Decimal.of(isOfficial ? total : "1"),
            ...(isOfficial
              ? {}
              : {
                  nav: {
                    official: Decimal.zero,
                    indicative: null,
                    indicativeAsOf: null,
                    expiresAt: Instant.of("2027-01-01T00:00:00Z"),
                    ripcord: true
                  }
                })
          })
          const checked = yield* ran(["supply-outstanding"])
          expect([name, checked["supply-outstanding"]]).toEqual([name, expected])
        }
      }).pipe(Effect.provide(world()))
    ))
})

describe("statements that do not come", () => {
  it("are overdue once their grace has passed, block from the second on, and are announced once", () =>
    Calls.runCase(
      Effect.gen(function* () {
        // Tuesday, 30 June 2026; each statement is due at 06:00 the day after, with two hours of grace.
        yield* held
        yield* Stating.source("admin")
        const found = Effect.gen(function* () {
          yield* ran(["statement-overdue"])
          const all = yield* Reconciling.found
          return [all, (yield* Reconciling.openHolds).length, yield* Stating.overdueEvents]
        })
        const at = (text: string) => TestClock.setTime(Instant.toEpochMillis(Instant.of(text)))
        expect(yield* found).toEqual([[], 0, []])
        yield* at("2026-07-01T08:00:00Z")
        expect(yield* found).toEqual([[], 0, []])
        yield* at("2026-07-01T08:00:00.001Z")
        expect(yield* found).toEqual([["statement-overdue admin open -1"], 0, ["2026-06-30"]])
        yield* at("2026-07-02T09:00:00Z")
        const both = ["2026-06-30", "2026-07-01"]
        expect(yield* found).toEqual([["statement-overdue admin open -2"], 1, both])
        expect(yield* found).toEqual([["statement-overdue admin open -2"], 1, both])
        const admin = yield* Stating.source("admin")
        yield* Stating.states(admin, { businessDate: Date.of("2026-07-01"), lines: [h1, h2] })
        expect(yield* found).toEqual([["statement-overdue admin cleared -2"], 1, both])
      }).pipe(Effect.provide(world()))
    ))

  it("leave a gap between those that came, weekends aside", () =>
    Calls.runCase(
      Effect.gen(function* () {
        yield* held
        const admin = yield* Stating.source("admin")
        for (const day of ["2026-06-22", "2026-06-23", "2026-06-25", "2026-06-26", "2026-06-29"]) {
          yield* Stating.states(admin, { businessDate: Date.of(day), lines: [h1, h2] })
        }
        expect(yield* ran(["statement-gap"])).toEqual({ "statement-gap": 1 })
        expect(yield* Reconciling.found).toEqual(["statement-gap admin open -1"])
        yield* Stating.states(admin, { businessDate: Date.of("2026-06-24"), lines: [h1, h2] })
        expect(yield* ran(["statement-gap"])).toEqual({ "statement-gap": 0 })
        expect(yield* Reconciling.found).toEqual(["statement-gap admin cleared -1"])
      }).pipe(Effect.provide(world()))
    ))
})

describe("a source that the configuration names no more", () => {
  it("leaves its difference to people, owes no dates, and is judged again once it is named again", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        const admin = yield* Stating.source("admin")
        const businessDate = today
        yield* Stating.states(admin, { businessDate, lines: [{ ...h1, quantity: "101" }, h2] })
        yield* TestClock.adjust("8 days")
        yield* ran()
        const [overdue, line] = (yield* Reconciling.found).toSorted().toReversed()
        expect([overdue, line]).toEqual([
          expect.stringMatching(/^statement-overdue admin open -[0-9]+$/u),
          "register-line h1 open 1"
        ])
        yield* Stating.source("admin", { state: "inactive" })
        expect(yield* ran()).toEqual(Object.fromEntries(checks.map((check) => [check, idle])))
        const cleared = expect.stringMatching(/^statement-overdue admin cleared /u)
        const shown = Effect.map(Reconciling.found, (found) => found.toSorted().toReversed())
        expect(yield* shown).toEqual([cleared, "register-line h1 open 1"])
        const [hold] = yield* Reconciling.openHolds
        const { state } = yield* Calls.write(
          "hold.release",
          { holdId: hold!.holdId },
          { accept: [...hold!.findings], reason: "the administrator has changed" }
        )
        expect(state).toBe("succeeded")
        yield* ran()
        expect(yield* shown).toEqual([cleared, "register-line h1 accepted 1"])
        // The same source is compared again: a statement of today that agrees ends nothing, and a
        // correction of the date does.
        const again = yield* Stating.source("admin")
        yield* Stating.states(again, { businessDate: yield* Stating.today, lines: [h1, h2] })
        yield* ran()
        expect(yield* shown).toContain("register-line h1 accepted 1")
        yield* Stating.states(again, { businessDate, lines: [h1, h2] })
        yield* ran()
        expect(yield* shown).toContain("register-line h1 cleared 1")
      }).pipe(Effect.provide(world()))
    ))
})

describe("statements that arrive in another order", () => {
  /** Findings of a run over statements of four sources, sent in this order. */
  const foundIn = (order: ReadonlyArray<number>) =>
    Calls.runCase(
      Effect.gen(function* () {
        const { today } = yield* held
        const asOf = yield* Instant.now
        const admin = yield* Stating.source("admin")
        const other = yield* Stating.source("other")
        const nav = yield* Stating.source("nav", { kind: "nav" })
        const bank = yield* Stating.source("bank", { kind: "cash", account: "acc-1" })
        const dates = { asOf, businessDate: today }
        const files = [
          [admin, { ...dates, businessDate: Date.addDays(today, -1), lines: [h2] }],
          [admin, { ...dates, lines: [{ ...h1, quantity: "101" }, h2], statedLines: 3 }],
          [other, { ...dates, lines: [h1, { ...h2, quantity: "18" }] }],
          [nav, { ...dates, totalQuantity: Decimal.of("120") }],
          [bank, { ...dates, opening: Decimal.of("10"), closing: Decimal.of("14") }]
        ] as const
        for (const nth of order) {
          const [source, stated] = files[nth]!
          yield* Stating.states(source, stated)
          yield* TestClock.adjust("1 minute")
        }
        yield* ran()
        return yield* Reconciling.found
      }).pipe(Effect.provide(world()))
    )

  it("never give other findings", async () => {
    const inOrder = [0, 1, 2, 3, 4]
    const expected = await foundIn(inOrder)
    expect(expected.toSorted()).toEqual([
      "cash-balance bank:2026-06-30 open 4",
      // The file of the day before lacks the holder, and is compared as well.
      "register-line h1 open -100",
      "register-line h2 open -2.5",
      "statement-total admin:2026-06-30 open 1",
      "supply-outstanding nav:2026-06-30 open -0.5"
    ])
    const others = fc.sample(fc.shuffledSubarray(inOrder, { minLength: 5 }), 3)
    for (const order of [inOrder.toReversed(), ...others]) {
      expect([order, await foundIn(order)]).toEqual([order, expected])
    }
  })
})
