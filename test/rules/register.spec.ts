/** Sums of a register: units and cents are conserved. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { evolve, type Fact, type RegisterEntry } from "#core/instruments/register/RegisterEntry.ts"
import {
  freeUnits,
  headOf,
  shareOf,
  shownUnits,
  valueOf
} from "#core/instruments/register/RegisterRules.ts"
import * as Decimal from "#core/kernel/Decimal.ts"
import * as Instant from "#core/kernel/Instant.ts"
import * as Offset from "#core/kernel/Offset.ts"
import * as Party from "#core/kernel/Party.ts"

const units = fc.bigInt({ min: 1n, max: 10n ** 24n }).map(Decimal.fromAtoms)

describe("head", () => {
  it("totals are the lines' sum, and the difference is what the ledger does not know", () => {
    fc.assert(
      fc.property(
        fc.array(units, { maxLength: 20 }),
        fc.bigInt({ min: -5n, max: 5n }),
        (held, off) => {
          const sum = Decimal.sum(held)
          const supply = Decimal.fromAtoms(held.reduce((a, b) => a + b, 0n) + off)
          const head = headOf({
            holders: held.length,
            units: sum,
            totalUnits: sum,
            supply,
            show: (units) => units
          })
          expect(Decimal.atoms(head.difference)).toBe(-off)
          expect(head.holders).toBe(held.length)
          expect(head.totalUnits).toBe(Decimal.add(supply, head.difference))
        }
      )
    )
  })
})

describe("shares", () => {
  it("they never add up to more than the whole, and fall short by less than an atom a line", () => {
    fc.assert(
      fc.property(fc.array(units, { minLength: 1, maxLength: 20 }), (held) => {
        const total = Decimal.sum(held)
        const sum = Decimal.sum(held.map((one) => shareOf(one, total)))
        expect(Decimal.atMost(sum, Decimal.one)).toBe(true)
        expect(Decimal.one - sum).toBeLessThan(BigInt(held.length))
      })
    )
  })
  it("nobody has a share of nothing", () => {
    expect(shareOf(Decimal.zero, Decimal.zero)).toBe(Decimal.zero)
  })
})

describe("free units", () => {
  it.each([
    ["100", "0", "0", "100"],
    ["100", "30", "20", "50"],
    ["100", "30", "70", "0"],
    ["100", "30", "70.0000000001", "0"],
    ["0", "0", "5", "0"]
  ])("of %s, %s locked and %s pledged are %s", (held, locked, pledged, free) => {
    const position = {
      units: Decimal.of(held),
      locked: Decimal.of(locked),
      pledged: Decimal.of(pledged)
    }
    expect(freeUnits(position)).toBe(Decimal.of(free))
  })
})

describe("what units are worth", () => {
  it.each([
    ["95812.973076", "1.0437", 2, "99999.99"],
    ["1", "0.999", 2, "0.99"],
    ["1000", "151.25", 0, "151250"],
    ["0.000001", "1", 2, "0"]
  ])(
    "%s units at %s with %i places are worth %s, never more",
    (held, price, cashDecimals, worth) => {
      const value = valueOf({ units: Decimal.of(held), price: Decimal.of(price), cashDecimals })
      expect(value === null ? value : Decimal.formatPlain(value)).toBe(worth)
    }
  )

  it.each([
    ["100", "99999999999999999999999999", Decimal.of("9999999999999999999999999900")],
    ["100", "100000000000000000000000000", null]
  ])("of %s units at %s is told where a decimal holds it", (held, price, value) => {
    const position = { units: Decimal.of(held), price: Decimal.of(price), cashDecimals: 2 }
    expect(valueOf(position)).toEqual(value)
  })
})

describe("a rebasing register", () => {
  const show = (base: string) =>
    Decimal.format(
      shownUnits({
        units: Decimal.of(base),
        valuation: "rebasing",
        index: Decimal.of("1.7"),
        unitDecimals: 6
      })
    )
  it("shows base units at the index, half up: G7", () => {
    expect(show("294.1176470588")).toBe("500.0000000000")
    expect(show("176.4705882353")).toBe("300.0000000000")
  })
  it("other instruments show the units that the ledger holds", () => {
    const held = Decimal.of("5.5")
    expect(
      shownUnits({ units: held, valuation: "par", index: Decimal.of("1.7"), unitDecimals: 6 })
    ).toBe(held)
  })
})

describe("an entry", () => {
  const at = (hour: number) => Instant.of(`2026-07-30T${String(hour).padStart(2, "0")}:00:00Z`)
  const empty: RegisterEntry = {
    registrar: Party.of("registrar::1220aa"),
    instrumentId: "fund-a",
    party: Party.of("holder::1220dd"),
    units: Decimal.of("10"),
    locked: Decimal.zero,
    since: at(0),
    emptySince: null
  }
  const move = (on: Fact["on"], held: string, hour: number, locked = "0"): Fact => ({
    on,
    units: Decimal.of(held),
    locked: Decimal.of(locked),
    at: at(hour),
    offset: Offset.of(hour)
  })

  it("units that only changed their contract in one transaction are held as long as before", () => {
    const after = [move("remove", "10", 5), move("add", "4", 5, "4"), move("add", "6", 5)].reduce(
      evolve,
      empty
    )
    expect(after).toMatchObject({
      units: Decimal.of("10"),
      locked: Decimal.of("4"),
      since: at(0),
      emptySince: null
    })
  })
  it("who sold all and bought again holds since the second purchase", () => {
    const after = [move("remove", "10", 5), move("add", "1", 7)].reduce(evolve, empty)
    expect(after).toMatchObject({ units: Decimal.of("1"), since: at(7), emptySince: null })
  })
  it("who holds nothing is known to be empty", () => {
    expect(evolve(empty, move("remove", "10", 5))).toMatchObject({
      units: Decimal.zero,
      emptySince: Offset.of(5)
    })
  })
})
