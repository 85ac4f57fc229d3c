/** Tax statements: sums and whole units of payments, and which lots units came from, at what cost. */
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { idOf as lotIdOf, type Lot, type Part } from "#core/instruments/lot/Lot.ts"
import * as LotRules from "#core/instruments/lot/LotRules.ts"
import type { PartyMovement } from "#core/instruments/register/Movement.ts"
import { idOf } from "#core/instruments/register/RegisterEntry.ts"
import * as DisposalRules from "#core/overviews/tax-statement/DisposalRules.ts"
import * as TaxRules from "#core/overviews/tax-statement/TaxRules.ts"
import { funds, histories, parties } from "./lot-histories.ts"

let line = 0
const paid = (
  gross: string,
  withheld: string,
  changes: Partial<Omit<TaxRules.TaxedPayment, "payment">> = {}
): TaxRules.TaxedPayment => ({
  instrumentId: "fund-a",
  currency: "USD",
  incomeCode: null,
  exemptionCode: null,
  rate: Decimal.of("0.15"),
  ...changes,
  payment: {
    distributionId: "d",
    lineId: `d.${++line}`,
    holderId: "h1",
    paidOn: Date.of("2026-12-31"),
    gross: Decimal.of(gross),
    equalisation: Decimal.zero,
    withheld: Decimal.of(withheld),
    net: Decimal.subtract(Decimal.of(gross), Decimal.of(withheld))
  }
})

const plain = (members: object) =>
  Object.values(members).map((figure) => Decimal.formatPlain(figure as Decimal.Decimal))

describe("sums of a tax statement", () => {
  it.each([
    {
      name: "G48: 0.69/0.10 and 0.70/0.11 are rounded together, never apart",
      payments: [paid("0.69", "0.10"), paid("0.70", "0.11")],
      totals: ["1.39", "0", "0.21", "1.18", "0"],
      whole: ["1", "0", "0", "1"]
    },
    {
      name: "G48: whole units need not add up",
      payments: [paid("10.49", "2.50")],
      totals: ["10.49", "0", "2.5", "7.99", "0"],
      whole: ["10", "0", "3", "8"]
    },
    {
      name: "G23: 1.39",
      payments: [paid("1.39", "0")],
      totals: ["1.39", "0", "0", "1.39", "0"],
      whole: ["1", "0", "0", "1"]
    },
    {
      name: "G23: 2.50",
      payments: [paid("2.50", "0")],
      totals: ["2.5", "0", "0", "2.5", "0"],
      whole: ["3", "0", "0", "3"]
    }
  ])("$name", ({ payments, totals, whole }) => {
    const [first] = TaxRules.currenciesOf(payments)
    expect(plain(first!.totals)).toEqual(totals)
    expect(plain(first!.wholeUnits)).toEqual(whole)
  })

  it("never add across currencies, nor across what decides a row", () => {
    const different: ReadonlyArray<Partial<Omit<TaxRules.TaxedPayment, "payment">>> = [
      {},
      { instrumentId: "fund-b" },
      { incomeCode: "06" },
      { exemptionCode: "02" },
      { rate: Decimal.of("0.3") },
      { currency: "EUR" }
    ]
    const all = [...different, ...different].map((changes) => paid("1", "0", changes))
    const currencies = TaxRules.currenciesOf(all)
    expect(currencies.map(({ currency, rows }) => [currency, rows.length])).toEqual([
      ["EUR", 1],
      ["USD", 5]
    ])
    for (const { rows } of currencies) {
      for (const row of rows) {
        expect(row.payments).toHaveLength(2)
        expect(row.gross).toBe(Decimal.of("2"))
      }
    }
  })
})

/** Acts on the lots of a party, played on the ledger of lots itself. */
const booksOf = (steps: ReadonlyArray<LotRules.Step>, id: string) => {
  let books: LotRules.Books = new Map()
  const sides: Array<Side> = []
  for (const step of steps) {
    const { from, to } = step.movement
    const giver = from === null ? "" : idOf({ ...step.movement, party: from })
    const before = books.get(id) ?? []
    const changes = LotRules.changesOf(step.movement, {
      lots: books.get(giver) ?? [],
      acquisition: step.acquisition
    })
    books = LotRules.fold(books, [step])
    const parts = giver === id ? changes.parts : []
    const opened = changes.opened.filter((lot) => idOf(lot) === id)
    const isSide = from !== to && (giver === id || opened.length > 0)
    if (isSide) sides.push({ step, before, parts, opened })
  }
  return sides
}

/** A movement on one party's side: its open lots before it, what left them, and what came in. */
interface Side {
  readonly step: LotRules.Step
  readonly before: ReadonlyArray<Lot>
  readonly parts: ReadonlyArray<Part>
  readonly opened: ReadonlyArray<Lot>
}

const textOf = ({ lot, units, cost }: Part) =>
  `${lot.lotId} ${lot.remaining} ${lot.costLeft} ${units} ${cost}`

describe("disposals", () => {
  it("come from the lots that the ledger of lots took them from, at the same cost, from any movement on", () => {
    let seen = 0
    fc.assert(
      fc.property(histories, fc.nat(), (steps, start) => {
        for (const asset of funds) {
          for (const party of parties) {
            const id = idOf({ ...asset, party })
            const sides = booksOf(steps, id)
            if (sides.length === 0) continue
            // A year begins anywhere: of the lots of before, those that are open are enough.
            const since = sides.slice(start % sides.length)
            const books: LotRules.OpenBooks = new Map([[id, [...since[0]!.before]]])
            for (const { opened, parts, step } of since) {
              const reference = step.acquisition?.lotId == null ? null : step.acquisition.origin
              const movement = { ...step.movement, party, reference } as unknown as PartyMovement
              // Lots are read as they are now: what has left them since is no matter.
              const stored = opened.map((lot) => ({
                ...lot,
                remaining: Decimal.zero,
                costLeft: null
              }))
              const ids = DisposalRules.openedIdsOf(movement, { from: 0, count: opened.length })
              const found = stored.filter((lot) => ids.includes(lotIdOf(lot)))
              expect(DisposalRules.openedOf(movement, found)).toHaveLength(opened.length)
              const taken = DisposalRules.enter(books, movement, found)
              expect(taken.map(textOf)).toEqual(parts.map(textOf))
              seen += parts.length
            }
          }
        }
      }),
      { numRuns: 60 }
    )
    expect(seen).toBeGreaterThan(0)
  })

  it("never take a second mint in the name of a subscription for the order's lot", () => {
    const at = Instant.of("2026-07-01T00:00:00Z")
    const holding = { registrar: funds[0]!.registrar, instrumentId: "fund", party: parties[0]! }
    const movement = {
      ...holding,
      ...{ seq: 2, from: null, to: holding.party, units: Decimal.one, ledgerTime: at },
      reference: { resourceKind: "subscription", id: "s1" }
    } as unknown as PartyMovement
    const lot = { ...holding, acquiredAt: at, units: Decimal.one } as Lot
    const order = { ...lot, lotId: "s1" }
    const second = { ...lot, lotId: LotRules.numbered(movement, 0) }
    expect(DisposalRules.openedOf(movement, [order, second])).toEqual([second])
    expect(DisposalRules.openedOf(movement, [order])).toEqual([order])
    const others = [
      { ...order, units: Decimal.of("2") },
      { ...order, acquiredAt: Instant.of("2026-06-01T00:00:00Z") },
      { ...order, party: parties[1]! }
    ]
    for (const other of others) expect(DisposalRules.openedOf(movement, [other])).toEqual([])
  })

  it("share the proceeds of an act so that the shares add up to it, to the last cent", () => {
    fc.assert(
      fc.property(
        fc.array(fc.bigInt({ min: 1n, max: 10n ** 14n }), { minLength: 1, maxLength: 6 }),
        fc.bigInt({ min: 0n, max: 10n ** 8n }),
        (units, cents) => {
          const movement = { reference: { resourceKind: "redemption", id: "r1" } }
          const parts = units.map((part) => ({
            movement: movement as PartyMovement,
            part: { lot: {} as Lot, units: Decimal.fromAtoms(part), cost: null }
          }))
          const proceeds = Decimal.fromAtoms(cents * 10n ** 8n)
          const shared = DisposalRules.withProceeds(parts, () => ({ proceeds, currency: "USD" }))
          expect(Decimal.sum(shared.map((disposedUnits) => disposedUnits.proceeds!))).toBe(proceeds)
        }
      )
    )
  })
})
