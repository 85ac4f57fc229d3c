/**
 * Property of booked entries: however statements of several sources overlap, are corrected and name
 * reversals, orders take of an entry of the bank's own ledger no more than it has.
 */
import { Date, Decimal } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Rules from "#core/statements/external-statement/EntryRules.ts"
import type { CashEntry } from "#core/statements/external-statement/StatementLine.ts"

/** An entry of the bank's own ledger, which no statement shows as a whole. */
interface LedgerEntry {
  readonly id: number
  readonly entry: Omit<CashEntry, "line">
  readonly counterparty: string
  /** Id of the entry that this one takes back. */
  readonly takesBack: number | null
}

const date = (day: number) => Date.of(`2026-07-${String(day + 1).padStart(2, "0")}`)

interface Made {
  readonly day: number
  readonly amount: number
  readonly payer: number
  readonly hasReference: boolean
  readonly isTakenBackAfter: number | null
}

/** The bank's ledger: entries day by day, true twins among them, and reversals of some. */
const ledgerOf = (made: ReadonlyArray<Made>): ReadonlyArray<LedgerEntry> => {
  const all: Array<LedgerEntry> = []
  for (const { amount, day, hasReference, isTakenBackAfter, payer } of made) {
    const id = all.length
    const bankReference = hasReference ? `B${id}` : null
    const entry = {
      kind: "cash" as const,
      bookingDate: date(day),
      valueDate: date(day),
      amount: Decimal.of(String(amount)),
      currency: "USD",
      direction: "credit" as const,
      bankReference,
      reference: `payer ${payer}`,
      counterparty: null
    }
    all.push({ id, entry, counterparty: `payer ${payer}`, takesBack: null })
    if (isTakenBackAfter === null || !hasReference) continue
    const bookingDate = date(day + isTakenBackAfter)
    const back = { ...entry, bookingDate, direction: "debit" as const, reversal: true as const }
    all.push({ id: all.length, entry: back, counterparty: `payer ${payer}`, takesBack: id })
  }
  return all
}

interface Statement {
  readonly source: number
  readonly from: number
  readonly through: number
  readonly cut: number
}

const made = fc.record({
  day: fc.nat({ max: 5 }),
  amount: fc.constantFrom(50, 100),
  payer: fc.nat({ max: 2 }),
  hasReference: fc.boolean(),
  isTakenBackAfter: fc.option(fc.nat({ max: 2 }), { nil: null })
})
const statement = fc.record({
  source: fc.nat({ max: 2 }),
  from: fc.nat({ max: 6 }),
  through: fc.nat({ max: 8 }),
  /** Number of lines after which the day goes on with a statement that follows. */
  cut: fc.nat({ max: 10 })
})

/**
 * Lines of a statement: every entry of its days, in the order of the source, in two statements that follow
 * one another where it is cut.
 */
const linesOf = (
  ledger: ReadonlyArray<LedgerEntry>,
  { cut, from, source, through }: Statement,
  index: number
): ReadonlyArray<Rules.BookedLine & { readonly id: number }> => {
  const own = ledger.filter(
    ({ entry }) => entry.bookingDate >= date(from) && entry.bookingDate <= date(through)
  )
  const ordered = source === 1 ? own.toReversed() : own
  return ordered.map(({ counterparty, entry, id }, place) => ({
    id,
    statementId: `st-${index}-${place < cut ? 1 : 2}`,
    dayKey: `day-${index}`,
    placeInDay: place < cut ? 1 : 2,
    isInForce: true,
    statementOrder: `${String(through).padStart(2, "0")} ${String(index).padStart(3, "0")} ${place < cut ? 1 : 2}`,
    entry: { ...entry, line: place < cut ? place + 1 : place - cut + 1 },
    counterparty: entry.bankReference === null ? counterparty : null
  }))
}

const cases = fc.record({
  ledger: fc.array(made, { minLength: 1, maxLength: 10 }),
  statements: fc.array(statement, { minLength: 1, maxLength: 6 })
})

describe("entries of statements that overlap", () => {
  it("are those of the bank's ledger that some statement states, each once, less reversals", () => {
    fc.assert(
      fc.property(cases, ({ ledger: payments, statements }) => {
        const ledger = ledgerOf(payments)
        const lines = statements.flatMap((each, index) => linesOf(ledger, each, index))
        const entries = Rules.entriesOf(lines)
        const stated = new Set(lines.map(({ id }) => id))
        // Twins without a reference are told apart by nothing: their number and sums are compared.
        const figures = (all: ReadonlyArray<CashEntry | LedgerEntry["entry"]>) =>
          all
            .map(
              (entry) =>
                `${entry.bookingDate} ${entry.direction} ${Decimal.formatPlain(entry.amount)} ${entry.bankReference} ${entry.reference}`
            )
            .toSorted()
        expect(figures(entries.map(({ copies }) => copies[0].entry))).toEqual(
          figures(ledger.filter(({ id }) => stated.has(id)).map(({ entry }) => entry))
        )
        const places = entries.flatMap(({ copies }) =>
          copies.map(Rules.placeOf).map(Rules.placeNameOf)
        )
        expect(new Set(places).size).toBe(lines.length)
        expect(places).toHaveLength(lines.length)
        const reversed = [...Rules.reversalsOf(entries).keys()].map(({ copies }) => copies[0].entry)
        const takenBack = ledger.flatMap(({ id, takesBack }) =>
          takesBack !== null && stated.has(id) && stated.has(takesBack) ? [ledger[takesBack]] : []
        )
        const byBank = reversed.filter(({ bankReference }) => bankReference !== null)
        expect(figures(byBank)).toEqual(
          expect.arrayContaining(figures(takenBack.flatMap((each) => each?.entry ?? [])))
        )
        expect(Rules.contradictionsOf(lines)).toEqual([])
      }),
      { seed: 3301, numRuns: 500 }
    )
  })

  it("give no more than the entry has, whichever copies orders name in whichever order", () => {
    fc.assert(
      fc.property(
        cases,
        fc.array(fc.record({ at: fc.nat(), amount: fc.constantFrom(30, 50, 100) }), {
          maxLength: 30
        }),
        ({ ledger: payments, statements }, takings) => {
          const ledger = ledgerOf(payments)
          const lines = statements.flatMap((each, index) => linesOf(ledger, each, index))
          if (lines.length === 0) return
          const entries = Rules.entriesOf(lines)
          const reversals = Rules.reversalsOf(entries)
          const taken = new Map<Rules.BookedEntry, number>()
          for (const { amount, at } of takings) {
            const line = lines[at % lines.length]
            const name = line === undefined ? "" : Rules.placeNameOf(Rules.placeOf(line))
            const entry = entries.find(({ copies }) =>
              copies.some((copy) => Rules.placeNameOf(Rules.placeOf(copy)) === name)
            )
            if (entry === undefined || entry.isReversal || reversals.has(entry)) continue
            const before = taken.get(entry) ?? 0
            const left = Decimal.subtract(entry.copies[0].entry.amount, Decimal.of(String(before)))
            if (Decimal.atMost(Decimal.of(String(amount)), left)) taken.set(entry, before + amount)
          }
          const net = ledger
            .filter(({ entry }) => entry.direction === "credit")
            .reduce((sum, { entry }) => Decimal.add(sum, entry.amount), Decimal.zero)
          const all = [...taken.values()].reduce((sum, amount) => sum + amount, 0)
          expect(Decimal.atMost(Decimal.of(String(all)), net)).toBe(true)
        }
      ),
      { seed: 3302, numRuns: 300 }
    )
  })

  it("pair a replaced statement's lines with those of the one in force at its place in the day", () => {
    fc.assert(
      fc.property(cases, fc.nat(), ({ ledger: payments, statements }, at) => {
        const ledger = ledgerOf(payments)
        const lines = statements.flatMap((each, index) => linesOf(ledger, each, index))
        if (lines.length === 0) return
        const { statementId } = lines[at % lines.length] as Rules.BookedLine
        // The bank had sent the same statement before: it was replaced by one that says the same.
        const replaced = lines
          .filter((line) => line.statementId === statementId)
          .map((line) => ({ ...line, statementId: "replaced", isInForce: false }))
        const namesOf = (entry: Rules.BookedEntry) =>
          entry.copies.map(Rules.placeOf).map(Rules.placeNameOf).toSorted()
        const expected = Rules.entriesOf(lines).map((entry) =>
          namesOf(entry)
            .flatMap((name) =>
              name.startsWith(`${statementId}:`)
                ? [name, name.replace(`${statementId}:`, "replaced:")]
                : [name]
            )
            .toSorted()
        )
        expect(
          Rules.entriesOf([...lines, ...replaced])
            .map(namesOf)
            .toSorted()
        ).toEqual(expected.toSorted())
      }),
      { seed: 3303, numRuns: 300 }
    )
  })
})
