/** Checks of bank lines by runs: lines that no order took, by an index, and the cash of suspended lines. */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Bulk, Feed, ProjectionLog } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { expect, it as test } from "vitest"
import { findings } from "#core/findings/Finding.ts"
import { cashLineParts, partLines } from "#core/orders/order/CashLinePart.ts"
import * as CashSteps from "#core/orders/order/CashSteps.ts"
import { cashLines } from "#core/orders/order/CashTaking.ts"
import { nameOf } from "#core/orders/order/CashLine.ts"
import * as Point from "#core/reads/Point.ts"
import { unmatched } from "#core/reconciliation/checks/CashUnmatchedLookups.ts"
import * as UnmatchedSums from "#core/reconciliation/checks/UnmatchedSums.ts"
import { externalStatements } from "#core/statements/external-statement/ExternalStatement.ts"
import * as StatementLookups from "#core/statements/external-statement/StatementLookups.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Bank from "./bank.ts"
import * as Cycles from "./cycles.ts"
import * as Month from "./distributions.ts"
import * as Fund from "./fund.ts"
import * as Reconciling from "./reconciling.ts"
import * as Restricting from "./restricting.ts"

const engine = () => Effect.provide(world())

/** An account that runs compare. */
const at = { at: "second" } as const
const account = Bank.accountOf("fund-a", at)

const states = (statement: Bank.Stated) => Bank.states({ ...at, ...statement })

/** Runs these checks, or all: why each did not run, or null, and the findings that are open or accepted. */
const ran = (...checks: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const instrumentIds = ["fund-a"]
    const body = { scope: checks.length === 0 ? { instrumentIds } : { instrumentIds, checks } }
    const { value } = yield* Reconciling.run(JSON.stringify(body))
    const records = yield* Records
    const rows = yield* records.list(findings, {
      where: { state: ["open", "accepted"] },
      limit: 100
    })
    return [
      ...value.checks.flatMap((check) => (check.ran ? [] : [`not run: ${check.why}`])),
      ...rows.map(({ record: { expected, actual, severity, subject } }) =>
        [
          severity,
          subject.id,
          ...[expected, actual].map((figure) =>
            figure === null ? "-" : Decimal.formatPlain(figure)
          )
        ].join(" ")
      )
    ]
  })

const order = (orderId: string) => ({ kind: "subscription", orderId }) as const

const takes = (orderId: string, [statementId, line, amount]: readonly [string, number, string]) =>
  Bank.reserves({ order: order(orderId), named: { statementId, line, amount } })

const gives = (orderId: string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const act = { cause: { by: "clock" }, now: yield* Instant.now } as const
    yield* records.transact(CashSteps.releaseReserved(order(orderId), ["reserved"], act))
  })

describe("a bank line that no order took", () => {
  it.effect("warns until orders took all of it, and drops out with its statement", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const unmatched = ran("cash-unmatched")
      assert.deepEqual(yield* unmatched, [])
      const entries = [
        { amount: "100", bankReference: "A" },
        { amount: "40", bankReference: "B", direction: "debit" as const },
        { amount: "7" }
      ]
      yield* states({ id: "st-1", entries })
      const rest = [`warning ${account}:B 0 -40`, `warning ${account}::2026-07-31 0 7`]
      assert.deepEqual(
        (yield* unmatched).toSorted(),
        [...rest, `warning ${account}:A 0 100`].toSorted()
      )
      yield* takes("s1", ["st-1", 1, "60"])
      assert.deepEqual(
        (yield* unmatched).toSorted(),
        [...rest, `warning ${account}:A 60 100`].toSorted()
      )
      yield* takes("s2", ["st-1", 1, "40"])
      assert.deepEqual((yield* unmatched).toSorted(), rest.toSorted())
      yield* gives("s1")
      assert.deepEqual(
        (yield* unmatched).toSorted(),
        [...rest, `warning ${account}:A 40 100`].toSorted()
      )
      yield* states({
        id: "st-2",
        corrects: "st-1",
        entries: [{ amount: "100", bankReference: "A" }]
      })
      assert.deepEqual(yield* unmatched, [`warning ${account}:A 40 100`])
    }).pipe(engine())
  )

  it.effect(
    "is found once, however many statements state it, and no more once a copy is taken",
    () =>
      Effect.gen(function* () {
        yield* Fund.opened()
        const unmatched = ran("cash-unmatched")
        const entries = [
          { amount: "100", bankReference: "A" },
          { amount: "7", reference: "r" }
        ]
        yield* states({ id: "st-1", entries })
        yield* states({ id: "st-2", source: "feed", entries: [...entries, { amount: "7" }] })
        yield* states({ id: "st-3", businessDate: Date.of("2026-08-03"), entries })
        const rest = `warning ${account}::2026-07-31 0 14`
        assert.deepEqual(
          (yield* unmatched).toSorted(),
          [rest, `warning ${account}:A 0 100`].toSorted()
        )
        yield* takes("s1", ["st-2", 1, "60"])
        assert.deepEqual(
          (yield* unmatched).toSorted(),
          [rest, `warning ${account}:A 60 100`].toSorted()
        )
        yield* takes("s2", ["st-3", 1, "40"])
        assert.deepEqual(yield* unmatched, [rest])
      }).pipe(engine())
  )

  it.effect("and its reversal come to nothing, under whichever reference", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const back = { direction: "debit", reversal: true } as const
      yield* states({
        id: "st-1",
        entries: [
          { amount: "100", bankReference: "A", reference: "order" },
          { amount: "30", bankReference: "C" }
        ]
      })
      yield* states({
        id: "st-2",
        businessDate: Date.of("2026-08-03"),
        entries: [
          { amount: "100", bankReference: "B", reference: "order", ...back },
          { amount: "40", bankReference: "D", ...back }
        ]
      })
      assert.deepEqual((yield* ran("cash-unmatched")).toSorted(), [
        `warning ${account}:C 0 30`,
        `warning ${account}:D 0 -40`
      ])
    }).pipe(engine())
  )

  it.effect(
    "blocks where two statements contradict each other about it, until one is corrected",
    () =>
      Effect.gen(function* () {
        yield* Fund.opened()
        const unmatched = ran("cash-unmatched")
        yield* states({ id: "st-1", entries: [{ amount: "100", bankReference: "A" }] })
        yield* states({
          id: "st-2",
          source: "feed",
          entries: [{ amount: "90", bankReference: "A" }]
        })
        assert.deepEqual(yield* unmatched, [`blocking ${account}:A 100 90`])
        const side = { amount: "100", direction: "debit" as const, bankReference: "A" }
        yield* states({ id: "st-3", source: "feed", corrects: "st-2", entries: [side] })
        assert.deepEqual(yield* unmatched, [`blocking ${account}:A 100 -100`])
        // The same cash in two parts is no contradiction, and is counted once.
        const parts = ["60", "40"].map((amount) => ({ amount, bankReference: "A" }))
        yield* states({ id: "st-4", source: "feed", corrects: "st-3", entries: parts })
        assert.deepEqual(yield* unmatched, [`warning ${account}:A 0 100`])
      }).pipe(engine())
  )

  it.effect(
    "hides no contradiction of statements by what people accepted as cash of no order",
    () =>
      Effect.gen(function* () {
        yield* Fund.opened()
        const unmatched = ran("cash-unmatched")
        const feeds = (id: string, amount: string, corrects?: string) =>
          states({
            ...{ id, source: "feed", entries: [{ amount, bankReference: "A" }] },
            ...(corrects === undefined ? {} : { corrects })
          })
        yield* states({ id: "st-1", entries: [{ amount: "100", bankReference: "A" }] })
        yield* feeds("st-2", "190")
        assert.deepEqual(yield* unmatched, [`blocking ${account}:A 100 190`])
        // The hold stays when the statement is corrected, and its release accepts what is left.
        yield* feeds("st-3", "100", "st-2")
        assert.deepEqual(yield* unmatched, [`warning ${account}:A 0 100`])
        const [hold] = yield* Reconciling.openHolds
        const released = yield* Calls.write(
          "hold.release",
          { holdId: hold?.holdId ?? "" },
          { accept: hold?.findings ?? [], reason: "a deposit" }
        )
        assert.strictEqual(released.state, "succeeded")
        yield* unmatched
        const unmatchedStates = Effect.map(Reconciling.findings, (all) =>
          all.filter(({ check }) => check === "cash-unmatched").map(({ state }) => state)
        )
        assert.deepEqual(yield* unmatchedStates, ["accepted"])
        // Both differences are of at most 100, and of one sign.
        yield* feeds("st-4", "190", "st-3")
        assert.deepEqual(yield* unmatched, [`blocking ${account}:A 100 190`])
        assert.deepEqual(yield* unmatchedStates, ["open"])
      }).pipe(engine())
  )

  it.effect.each<readonly [string, Partial<Bank.Stated>, ReadonlyArray<string>]>([
    ["of what is kept apart for suspended lines is none of its findings", { at: "apart" }, []],
    [
      "of another instrument's account that its source does not serve is not lost",
      { accountOf: "fund-b" },
      ["warning account-second-fund-b:A 0 5"]
    ],
    [
      "in another currency than its account is named with that currency",
      { entries: [{ amount: "5", bankReference: "A", currency: "EUR" }] },
      ["warning account-second-fund-a/EUR:A 0 5"]
    ]
  ])("%s", ([, changes, expected]) =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* states({ id: "st-1", entries: [{ amount: "5", bankReference: "A" }], ...changes })
      assert.deepEqual(yield* ran("cash-unmatched"), expected)
    }).pipe(engine())
  )

  it.effect("that lies in a second file of another instrument is found once, under that one", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* states({ id: "st-1", accountOf: "fund-b", entries: [{ amount: "5" }] })
      yield* Bank.serves("fund-a", at, ["fund-a", "fund-b"])
      assert.deepEqual(yield* ran("cash-unmatched"), [])
    }).pipe(engine())
  )

  it.effect.each<readonly [string, ReturnType<typeof Bank.ends>]>([
    ["is removed", Bank.ends("fund-a", at)],
    ["serves the instrument no longer", Bank.serves("fund-a", at, ["fund-b"])]
  ])("is found until orders took it, also once its source %s", ([, changed]) =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* states({ id: "st-1", entries: [{ amount: "100", bankReference: "A" }] })
      const warning = [`warning ${account}:A 0 100`]
      assert.deepEqual(yield* ran("cash-unmatched"), warning)
      yield* changed
      assert.deepEqual(yield* ran("cash-unmatched"), warning)
      yield* takes("s1", ["st-1", 1, "100"])
      assert.deepEqual(yield* ran("cash-unmatched"), [])
    }).pipe(engine())
  )

  it.effect("blocks where it contradicts one that an order took, also once its source ended", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const feed = { ...at, source: "feed" } as const
      yield* states({ id: "st-1", entries: [{ amount: "100", bankReference: "A" }] })
      yield* states({ id: "st-2", ...feed, entries: [{ amount: "80", bankReference: "A" }] })
      yield* takes("s1", ["st-1", 1, "100"])
      const blocking = [`blocking ${account}:A 100 80`]
      assert.deepEqual(yield* ran("cash-unmatched"), blocking)
      yield* Bank.ends("fund-a", feed)
      assert.deepEqual(yield* ran("cash-unmatched"), blocking)
      assert.lengthOf(yield* Reconciling.openHolds, 1)
    }).pipe(engine())
  )

  it.effect("is found whatever was taken before the index was kept", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const entries = ["A", "B", "C", "D"].map((bankReference) => ({ amount: "10", bankReference }))
      const records = yield* Records
      const act = { cause: { by: "clock" }, now: yield* Instant.now } as const
      const before = (line: number, amount: string) =>
        CashSteps.takeOf(
          {
            statementId: "st-1" as never,
            line,
            amount: Decimal.of(amount),
            amountOfLine: Decimal.of("10")
          },
          act
        )
      // A taking of a statement that is not there yet opens no part.
      yield* records.transact(Effect.andThen(before(1, "10"), before(2, "4")))
      assert.deepEqual(yield* records.many(cashLineParts, ["st-1/0"]), [])
      yield* states({ id: "st-1", entries })
      const expected = [
        "warning account-second-fund-a:B 4 10",
        "warning account-second-fund-a:C 0 10",
        "warning account-second-fund-a:D 0 10"
      ]
      assert.deepEqual((yield* ran("cash-unmatched")).toSorted(), expected)
      // The next taking opens the index with those before it.
      yield* takes("s3", ["st-1", 3, "10"])
      const part = yield* records.get(cashLineParts, "st-1/0")
      assert.strictEqual(part.matches.slice(0, 4), "mpm-")
      // A line that is taken whole between two that are not is read with them, and is no finding.
      assert.deepEqual((yield* ran("cash-unmatched")).toSorted(), [expected[0], expected[2]])
    }).pipe(engine())
  )

  it.effect("alone is read, and no line of a part that orders took whole", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      const count = partLines * 2 + 3
      const entries = Array.from({ length: count }, () => ({ amount: "1" }))
      yield* states({ id: "st-1", entries })
      const bulk = yield* Bulk
      const queries: Array<string> = []
      const counting = {
        ...bulk,
        read: (options: Parameters<typeof bulk.read>[0]) =>
          Effect.sync(
            () => void queries.push(`${Number(options.after ?? 0) + 1}+${options.limit}`)
          ).pipe(Effect.andThen(bulk.read(options)))
      }
      const facts = Effect.gen(function* () {
        queries.length = 0
        const now = yield* Instant.now
        const pin = yield* Point.newest({ feed: yield* Feed, log: yield* ProjectionLog }, now)
        const at = { pin, horizonOffset: 0 }
        const found = unmatched({ instrumentId: "fund-a" as never }, at)
        yield* Stream.runDrain(found)
        return [...queries]
      }).pipe(Effect.provideService(Bulk, counting))
      assert.deepEqual(yield* facts, [`1+1000`, `1001+3`])
      const records = yield* Records
      const act = { cause: { by: "clock" }, now: yield* Instant.now } as const
      const takesAll = (from: number, through: number) =>
        records.transact(
          Effect.forEach(
            Array.from({ length: through - from + 1 }, (_, n) => from + n),
            (line) =>
              CashSteps.takeOf(
                { ...lineOf(line), amount: Decimal.one, amountOfLine: Decimal.one },
                act
              ),
            { discard: true }
          )
        )
      const lineOf = (line: number) => ({ statementId: "st-1" as never, line })
      yield* takesAll(1, partLines)
      assert.deepEqual(yield* facts, [`${partLines + 1}+${partLines + 3}`])
      yield* takesAll(partLines + 2, count - 1)
      assert.deepEqual(yield* facts, [`${partLines + 1}+1`, `${count}+1`])
      yield* takesAll(partLines + 1, partLines + 1)
      yield* takesAll(count, count)
      assert.deepEqual(yield* facts, [])
    }).pipe(engine())
  )
})

/** Rests of every line of every statement in force, line by line and without the index. */
const naive = Effect.gen(function* () {
  const records = yield* Records
  const statements = yield* records.list(externalStatements, { limit: 100 })
  const sums: UnmatchedSums.Sums = new Map()
  for (const { record: statement } of statements) {
    if (
      statement.supersededBy !== null ||
      statement.externalSourceId !== Bank.sourceOf("fund-a", at)
    )
      continue
    const { externalStatementId: statementId } = statement
    for (const entry of yield* Stream.runCollect(StatementLookups.linesOf(statement))) {
      if (entry.kind !== "cash") continue
      const [taken] = yield* records.many(cashLines, [nameOf({ statementId, line: entry.line })])
      UnmatchedSums.addTo(sums, [
        {
          externalAccountId: account,
          accountCurrency: "USD",
          statementId,
          entry,
          takenAmount: taken?.taken ?? Decimal.zero
        }
      ])
    }
  }
  return shown([...sums.values()])
})

const shown = (sums: ReadonlyArray<Omit<UnmatchedSums.UnmatchedLines, "instrumentId">>) =>
  sums
    .filter(({ booked, takenAmount }) => !Decimal.equals(booked, takenAmount))
    .map(({ subjectId, booked, takenAmount }) => [
      subjectId,
      Decimal.formatPlain(Decimal.subtract(booked, takenAmount))
    ])
    .toSorted()

/** Pin of everything written so far. */
const pinned = Effect.gen(function* () {
  const now = yield* Instant.now
  return yield* Point.newest({ feed: yield* Feed, log: yield* ProjectionLog }, now)
})

const byIndex = (pin: Effect.Success<typeof pinned>) =>
  unmatched({ instrumentId: "fund-a" as never }, { pin, horizonOffset: 0 }).pipe(
    Stream.runCollect,
    Effect.map(shown)
  )

const steps = fc.array(
  fc.record({
    step: fc.constantFrom("take", "take", "take", "give", "correct", "state"),
    line: fc.nat({ max: 11 }),
    units: fc.constantFrom(1, 2, 5, 5),
    references: fc.array(fc.constantFrom("A", "B", "C", null), { minLength: 2, maxLength: 8 })
  }),
  { minLength: 4, maxLength: 16 }
)

/** A statement whose entries are booked on its own day, so that no other one has a copy of them. */
const dayOf = (day: number, references: ReadonlyArray<string | null>) => {
  const businessDate = Date.of(`2026-07-${String(day).padStart(2, "0")}`)
  const entries = references.map((bankReference) => ({
    ...{ amount: "5", bankReference },
    bookingDate: businessDate
  }))
  return { businessDate, entries }
}

test("the index finds what a reading of all lines finds, at every pin", async () => {
  await fc.assert(
    fc.asyncProperty(steps, (walk) =>
      Calls.runCase(
        Effect.gen(function* () {
          yield* Fund.opened()
          const inForce = new Map<number, { readonly id: string; readonly lines: number }>()
          const orders: Array<string> = []
          const pins: Array<readonly [Effect.Success<typeof pinned>, unknown]> = []
          let count = 0
          for (const { step, line, units, references } of walk) {
            const slots = [...inForce.keys()]
            const slot = slots[line % Math.max(1, slots.length)]
            const statement = slot === undefined ? undefined : inForce.get(slot)
            if (step === "give") {
              const orderId = orders.shift()
              if (orderId !== undefined) yield* gives(orderId)
            } else if (step === "take" && statement !== undefined) {
              const named = [statement.id, (line % statement.lines) + 1, String(units)] as const
              const [before] = yield* Effect.flatMap(Records, (records) =>
                records.many(cashLines, [`${named[0]}:${named[1]}`])
              )
              const left = Decimal.subtract(Decimal.of("5"), before?.taken ?? Decimal.zero)
              if (Decimal.greaterThan(Decimal.of(named[2]), left)) continue
              const orderId = `s${orders.length}-${pins.length}`
              orders.push(orderId)
              yield* takes(orderId, named)
            } else if (step === "state" || statement === undefined || slot === undefined) {
              count += 1
              const id = `st-${count}`
              inForce.set(count, { id, lines: references.length })
              yield* states({ id, ...dayOf(count, references) })
            } else {
              count += 1
              const id = `st-${count}`
              yield* states({ id, corrects: statement.id, ...dayOf(slot, references) })
              inForce.set(slot, { id, lines: references.length })
            }
            const pin = yield* pinned
            const expected = yield* naive
            expect(yield* byIndex(pin)).toEqual(expected)
            pins.push([pin, expected])
          }
          for (const [pin, expected] of pins) expect(yield* byIndex(pin)).toEqual(expected)
        }).pipe(Effect.provide(world()))
      )
    ),
    { numRuns: Number(process.env["BANK_LINES"] ?? 6) }
  )
})

describe("the cash of suspended lines", () => {
  /** A distribution whose line of holder h1 waits; its net is 46.17. */
  const suspended = Effect.gen(function* () {
    const { stage, holders, point } = yield* Month.founded(["h1"])
    const [h1] = holders
    yield* Month.opened(stage, point, [Month.lineOf(1, h1!.party)])
    yield* Restricting.restricts("h1", "r1")
    assert.deepEqual(yield* Month.states, ["1 suspended restriction"])
  })

  const check = ran("suspended-lines")
  const apart = Bank.accountOf("fund-a", { at: "apart" })
  const balance = (id: string, closing: string | null, changes: Partial<Bank.Stated> = {}) =>
    // A minute later: a statement of the instant of a write does not know of it.
    TestClock.adjust("1 minute").pipe(
      Effect.andThen(Calls.settle),
      Effect.andThen(Bank.states({ id, entries: [], closing, at: "apart", ...changes }))
    )

  it.effect("is that of the segregated account, at the moment of its statement", () =>
    Effect.gen(function* () {
      yield* suspended
      const [line] = yield* Month.lines
      const net = Decimal.formatPlain(line!.net)
      assert.deepEqual(yield* check, [])
      yield* balance("st-1", net)
      assert.deepEqual(yield* check, [])
      yield* balance("st-2", "1.5", { corrects: "st-1" })
      assert.deepEqual(yield* check, [`warning ${apart} ${net} 1.5`])
      // A line that is cured since then is no difference of that day, and one of the next statement.
      yield* Restricting.lifts("r1")
      assert.deepEqual(yield* Month.states, ["1 due"])
      yield* TestClock.adjust("1 minute")
      assert.deepEqual(yield* check, [`warning ${apart} ${net} 1.5`])
      yield* Cycles.at("2026-08-04T12:00:00Z")
      yield* balance("st-3", net, { businessDate: Date.of("2026-08-03") })
      assert.deepEqual(yield* check, [`warning ${apart} 0 ${net}`])
      yield* balance("st-4", "0", { businessDate: Date.of("2026-08-03"), corrects: "st-3" })
      assert.deepEqual(yield* check, [])
    }).pipe(engine())
  )

  it.effect("that is off by a planted amount is found by itself among all checks, and clears", () =>
    Effect.gen(function* () {
      yield* suspended
      const [line] = yield* Month.lines
      const net = line!.net
      const states = (id: string, closing: Decimal.Decimal, changes: Partial<Bank.Stated> = {}) => {
        const stated = Decimal.formatPlain(closing)
        // Balanced in itself, so that the check of the balance finds nothing.
        return balance(id, stated, { opening: stated, ...changes })
      }
      yield* states("st-0", net)
      const others = yield* ran()
      const planted = fc.sample(
        fc.bigInt({ min: -(10n ** 14n), max: 10n ** 14n }).filter((atoms) => atoms !== 0n),
        6
      )
      for (const [nth, atoms] of planted.entries()) {
        const closing = Decimal.add(net, Decimal.fromAtoms(atoms))
        yield* states(`st-${2 * nth + 1}`, closing, { corrects: `st-${2 * nth}` })
        const [found, ...more] = (yield* ran()).filter((text) => !others.includes(text))
        const [expected, actual] = [net, closing].map(Decimal.formatPlain)
        assert.deepEqual([found, more], [`warning ${apart} ${expected} ${actual}`, []])
        yield* states(`st-${2 * nth + 2}`, net, { corrects: `st-${2 * nth + 1}` })
        assert.deepEqual(yield* ran(), others)
      }
    }).pipe(engine())
  )

  it.effect(
    "is for lines that pay cash alone: a suspended line that pays units asks for none",
    () =>
      Effect.gen(function* () {
        const { stage, holders, point } = yield* Month.founded(["h1"], "units")
        const line = { ...Month.lineOf(1, holders[0]!.party), payoutUnits: Decimal.of("44.05") }
        const payoutPrice = Decimal.of("1.0481")
        yield* Month.opened(stage, point, [line], { payout: "units", payoutPrice })
        yield* Restricting.restricts("h1", "r1")
        assert.deepEqual(yield* Month.states, ["1 suspended restriction"])
        yield* balance("st-1", "0")
        assert.deepEqual(yield* check, [])
      }).pipe(engine())
  )

  it.effect("is that of all accounts that are apart, summed", () =>
    Effect.gen(function* () {
      yield* suspended
      const [line] = yield* Month.lines
      const rest = Decimal.formatPlain(Decimal.subtract(line!.net, Decimal.one))
      yield* balance("st-1", rest)
      assert.deepEqual(yield* check, [`warning ${apart} ${Decimal.formatPlain(line!.net)} ${rest}`])
      yield* balance("st-2", "1", { at: "apart-too" })
      assert.deepEqual(yield* check, [])
    }).pipe(engine())
  )

  it.effect("is compared with lines of its own currency alone", () =>
    Effect.gen(function* () {
      yield* suspended
      yield* balance("st-1", "5", { currency: "EUR" })
      assert.deepEqual(yield* check, [`warning ${apart} 0 5`])
    }).pipe(engine())
  )

  it.effect("is that of the newest statement, whichever source of the account sent it", () =>
    Effect.gen(function* () {
      yield* suspended
      const [line] = yield* Month.lines
      const net = Decimal.formatPlain(line!.net)
      yield* Cycles.at("2026-08-04T12:00:00Z")
      for (const [newer, older] of [
        ["apart", "other"],
        ["other", "apart"]
      ] as const) {
        const date = newer === "apart" ? "2026-08-02" : "2026-08-04"
        yield* balance(`st-${newer}-1`, net, { source: newer, businessDate: Date.of(date) })
        const earlier = Date.previous(Date.of(date))
        yield* balance(`st-${older}-0`, "1", { source: older, businessDate: earlier })
        assert.deepEqual([newer, yield* check], [newer, []])
      }
    }).pipe(engine())
  )

  it.effect("stays found once its source ended, whatever another account's statement says", () =>
    Effect.gen(function* () {
      yield* suspended
      const [line] = yield* Month.lines
      const net = Decimal.formatPlain(line!.net)
      const warning = [`warning ${apart} ${net} 1.5`]
      yield* balance("st-1", "1.5")
      assert.deepEqual(yield* check, warning)
      yield* Bank.ends("fund-a", { at: "apart" })
      yield* balance("st-2", "0", { at: "apart-too", currency: "EUR" })
      assert.deepEqual(yield* check, warning)
      // Another source of the account compares it again.
      yield* balance("st-3", net, { source: "other" })
      assert.deepEqual(yield* check, [])
    }).pipe(engine())
  )

  it.effect("is not compared without a closing balance, which is no clear check", () =>
    Effect.gen(function* () {
      yield* suspended
      yield* balance("st-1", null)
      assert.deepEqual(yield* check, ["not run: closing-missing"])
    }).pipe(engine())
  )

  it.effect("is nothing to compare where there is no distribution, or no account is apart", () =>
    Effect.gen(function* () {
      yield* Fund.opened()
      yield* balance("st-1", "5")
      assert.deepEqual(yield* check, [])
    }).pipe(engine())
  )

  it.effect("is never taken of an account that is not apart", () =>
    Effect.gen(function* () {
      yield* suspended
      yield* states({ id: "st-1", entries: [], closing: "5" })
      assert.deepEqual(yield* check, [])
    }).pipe(engine())
  )
})
