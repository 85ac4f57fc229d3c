/** Walks of planted faults: days of statements with a fault that chance picks, beside books of the walk's own, over storage of any kind. */
import { Records } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Effect, type Layer } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { expect } from "vitest"
import { findings } from "#core/findings/Finding.ts"
import type { ExternalSource } from "#core/statements/external-source/ExternalSource.ts"
import * as Calls from "../engine/calls.ts"
import * as Executions from "./executions.ts"
import * as Powers from "./powers.ts"
import * as Reconciling from "./reconciling.ts"
import * as Stating from "./stating.ts"

const holderIds = ["h1", "h2", "h3"] as const

/** Books of the harness, in millionths: a day's statements of the outside parties, before a fault. */
interface Books {
  readonly held: Readonly<Record<string, bigint>>
  readonly opening: bigint
  readonly entries: ReadonlyArray<bigint>
}

/** The files of a day; null: it did not come. */
interface Day {
  readonly admin: { lines: Array<Stating.Line>; total: bigint; count: number } | null
  readonly nav: { total: bigint }
  readonly bank: { closing: bigint; entries: ReadonlyArray<bigint> }
}

interface Fault {
  /** Findings that are open after the run of the day, as `check subject severity unexplained`. */
  readonly finds: ReadonlyArray<string>
  readonly plant: (day: Day) => Day
}

const text = (micros: bigint): string => Decimal.formatPlain(Decimal.fromAtoms(micros * 10_000n))
const sum = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((a, b) => a + b, 0n)

const agreed = ({ held, opening, entries }: Books, order: ReadonlyArray<number>): Day => {
  const lines = order.map((n) => {
    const holderId = holderIds[n % holderIds.length]!
    return { account: holderId, quantity: text(held[holderId] ?? 0n) }
  })
  return {
    admin: { lines, total: sum(Object.values(held)), count: lines.length },
    nav: { total: sum(Object.values(held)) },
    bank: { closing: opening + sum(entries), entries }
  }
}

const ofAdmin = (
  day: Day,
  change: (admin: NonNullable<Day["admin"]>) => NonNullable<Day["admin"]>
): Day => (day.admin === null ? day : { ...day, admin: change(day.admin) })

const others = (lines: ReadonlyArray<Stating.Line>, holderId: string) =>
  lines.filter((line) => !("account" in line) || line.account !== holderId)

/** One fault of each kind, of a holder and by an amount that chance picks. */
const kinds = {
  none: () => ({ finds: [], plant: (day) => day }),
  "another quantity": ({ books, holderId, by }) => ({
    finds: [`register-line ${holderId} blocking ${text(by)}`],
    plant: (day) =>
      ofAdmin(day, (admin) => {
        const quantity = text((books.held[holderId] ?? 0n) + by)
        const lines = [...others(admin.lines, holderId), { account: holderId, quantity }]
        return { ...admin, lines, total: admin.total + by }
      })
  }),
  "a missing line": ({ books, holderId }) => ({
    finds: [`register-line ${holderId} blocking ${text(-(books.held[holderId] ?? 0n))}`],
    plant: (day) =>
      ofAdmin(day, (admin) => ({
        lines: others(admin.lines, holderId),
        total: admin.total - (books.held[holderId] ?? 0n),
        count: admin.count - 1
      }))
  }),
  "an account that nobody mapped": ({ by }) => ({
    finds: [`register-line admin:* blocking ${text(by)}`],
    plant: (day) =>
      ofAdmin(day, (admin) => ({
        lines: [{ account: "nobody", quantity: text(by) }, ...admin.lines],
        total: admin.total + by,
        count: admin.count + 1
      }))
  }),
  "a wrong total": ({ by }) => ({
    finds: [`statement-total admin:date blocking ${text(by)}`],
    plant: (day) => ofAdmin(day, (admin) => ({ ...admin, total: admin.total + by }))
  }),
  "a wrong count": () => ({
    finds: ["statement-total admin:date blocking -1"],
    plant: (day) => ofAdmin(day, (admin) => ({ ...admin, count: admin.count - 1 }))
  }),
  "other units outstanding": ({ by }) => ({
    finds: [`supply-outstanding nav:date blocking ${text(by)}`],
    plant: (day) => ({ ...day, nav: { total: day.nav.total + by } })
  }),
  "a wrong closing balance": ({ by }) => ({
    finds: [`cash-balance bank:date blocking ${text(by)}`],
    plant: (day) => ({ ...day, bank: { ...day.bank, closing: day.bank.closing + by } })
  }),
  // The harness expects the sum of every day's lines that no order takes, and so of this one.
  "a bank line too many": ({ by }) => ({
    finds: [],
    plant: (day) => ({
      ...day,
      bank: { closing: day.bank.closing + by, entries: [...day.bank.entries, by] }
    })
  }),
  "a statement that does not come": () => ({
    finds: ["statement-overdue admin warning -1"],
    plant: (day) => ({ ...day, admin: null })
  })
} as const satisfies Record<
  string,
  (place: { readonly books: Books; readonly holderId: string; readonly by: bigint }) => Fault
>

const kind = fc.constantFrom(...(Object.keys(kinds) as ReadonlyArray<keyof typeof kinds>))
const step = fc.record({
  kind,
  holderId: fc.constantFrom(...holderIds),
  /** Units by which the fault is off: more than an atom for each holder. */
  by: fc.bigInt({ min: 4n, max: 10n ** 9n }),
  order: fc.shuffledSubarray([0, 1, 2], { minLength: 3 }),
  entries: fc.array(fc.bigInt({ min: -(10n ** 9n), max: 10n ** 9n }), { maxLength: 4 })
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

const open = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(findings, { where: { state: ["open"] }, limit: 100 })
  return rows
    .map(({ record: { check, severity, subject, unexplained } }) => {
      const id = subject.id
        .replace(/:\w{16}$/u, ":*")
        // Every fault is of the day of the walk; lines without a reference have a date of their own.
        .replace(/^(admin|nav|bank):[0-9-]{10}$/u, "$1:date")
      return `${check} ${id} ${severity} ${Decimal.formatPlain(unexplained)}`
    })
    .toSorted()
})

interface Sources {
  readonly admin: ExternalSource
  readonly nav: ExternalSource
  readonly bank: ExternalSource
}

/** Sends the files of a day, each in the place of an earlier one of the same date. */
const sendsOf = (
  sources: Sources,
  { date, opening }: { readonly date: Date.Date; readonly opening: bigint }
) =>
  Effect.fnUntraced(function* ({ admin, nav, bank }: Day) {
    if (admin !== null) {
      yield* Stating.states(sources.admin, {
        businessDate: date,
        lines: admin.lines,
        totalQuantity: Decimal.of(text(admin.total)),
        statedLines: admin.count
      })
    }
    yield* Stating.states(sources.nav, {
      businessDate: date,
      totalQuantity: Decimal.of(text(nav.total))
    })
    yield* Stating.states(sources.bank, {
      businessDate: date,
      opening: Decimal.of(text(opening)),
      closing: Decimal.of(text(bank.closing)),
      lines: bank.entries.map((amount) => ({
        amount: text(amount < 0n ? -amount : amount),
        direction: amount < 0n ? ("debit" as const) : ("credit" as const)
      }))
    })
  })

/** Walks one working day after another: each day's files with a fault, the run, and its release. */
const walk = (steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const { stage, holders } = yield* Executions.founded(holderIds)
    const held: Record<string, bigint> = {}
    for (const [n, holder] of holders.entries()) {
      yield* Powers.mints(stage, holder, String(100 * (n + 1)))
      held[holder.holderId] = BigInt(100 * (n + 1)) * 1_000_000n
    }
    yield* Calls.catchUp
    yield* Stating.alone
    const sources = {
      admin: yield* Stating.source("admin"),
      nav: yield* Stating.source("nav", { kind: "nav" }),
      bank: yield* Stating.source("bank", { kind: "cash", account: "acc-1" })
    }
    let date = yield* Stating.today
    // Dates between two statements are a gap; those before the first one are none.
    let skipped = 0
    let isFirst = true
    let pending = 0
    // Each day opens with the closing balance of the day before.
    let opening = 0n
    // Lines have no reference of the bank, so that those of a booking date are one finding.
    const unmatched = new Map<string, bigint>()
    for (const { kind: name, holderId, by, order, entries } of steps) {
      const books: Books = { held, opening, entries }
      const fault = kinds[name]({ books, holderId, by })
      const day = fault.plant(agreed(books, order))
      const isMissing = day.admin === null
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(`${date}T20:00:00Z`)))
      if (isMissing) pending += 1
      else {
        skipped += isFirst ? 0 : pending
        isFirst = false
        pending = 0
      }
      const sends = sendsOf(sources, { date, opening })
      yield* sends(day)
      unmatched.set(date, sum(day.bank.entries))
      const due = Date.next(date)
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(`${due}T08:00:01Z`)))
      const { value } = yield* Reconciling.run('{"scope":{"instrumentIds":["fund-a"]}}')
      const expected = [
        ...(isMissing
          ? [`statement-overdue admin ${pending > 1 ? "blocking" : "warning"} -${pending}`]
          : fault.finds),
        ...[...unmatched].flatMap(([booked, left]) =>
          left === 0n ? [] : [`cash-unmatched acc-1::${booked} warning ${text(left)}`]
        ),
        ...(skipped === 0 ? [] : [`statement-gap admin warning -${skipped}`])
      ].toSorted()
      expect([name, yield* open]).toEqual([name, expected])
      const isBlocked = expected.some((text) => text.includes(" blocking "))
      expect([name, value.verdict]).toEqual([
        name,
        isBlocked ? "blocked" : expected.length > 0 ? "findings" : "clear"
      ])
      const holds = yield* Reconciling.openHolds
      expect([name, holds.length]).toEqual([name, isBlocked ? 1 : 0])
      // Corrected files clear what was planted; a statement that is still missing is accepted by people.
      const cured = agreed(books, order)
      yield* sends(isMissing ? { ...cured, admin: null } : cured)
      yield* TestClock.adjust("1 minute")
      yield* Reconciling.run('{"scope":{"instrumentIds":["fund-a"]}}')
      unmatched.set(date, sum(cured.bank.entries))
      opening = cured.bank.closing
      const missing = yield* open
      const lasting = /statement-(overdue|gap)|cash-unmatched/u
      expect([name, missing.filter((text) => !lasting.test(text))]).toEqual([name, []])
      for (const { holdId, findings: behind } of holds) {
        const { state } = yield* Calls.write(
          "hold.release",
          { holdId },
          { accept: isMissing ? [...behind] : [], reason: "seen" }
        )
        expect(state).toBe("succeeded")
      }
      do date = Date.next(date)
      while (["saturday", "sunday"].includes(Date.weekday(date)))
    }
  })

/** Every kind once in an order by chance, and some again. */
const histories = fc.tuple(
  fc.shuffledSubarray(Object.keys(kinds) as Array<keyof typeof kinds>, {
    minLength: Object.keys(kinds).length
  }),
  fc.array(step, { minLength: 12, maxLength: 12 })
)

/** Walks so many histories, each in an engine over the ports that `over` makes. */
export const walked = (options: {
  readonly count: number
  readonly over: () => Layer.Layer<Effect.Services<ReturnType<typeof walk>>>
}) =>
  fc.assert(
    fc.asyncProperty(histories, ([first, steps]) =>
      Calls.runCase(
        walk(steps.map((step, n) => ({ ...step, kind: first[n] ?? step.kind }))).pipe(
          Effect.provide(options.over())
        )
      )
    ),
    { numRuns: options.count, endOnFailure: true }
  )
