/** Selection of the holdings that pay for a fund's leg: enough, no more than needed, the same for the same input. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as HoldingSelection from "#core/orders/dealing-cycle/HoldingSelectionRules.ts"

const holdings = fc
  .array(fc.integer({ min: 1, max: 9 }), { maxLength: 12 })
  .map((all) =>
    all.map((units, nth) => ({ contractId: `c${nth}`, units, amount: Decimal.fromInteger(units) }))
  )
const sum = (all: ReadonlyArray<{ readonly units: number }>) =>
  all.reduce((total, { units }) => total + units, 0)

it("never brings too little, takes more than it needs, or depends on the order in which they are seen", () => {
  fc.assert(
    fc.property(
      holdings,
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 14 }),
      fc.integer({ min: 1, max: 5 }),
      fc.infiniteStream(fc.nat(100)),
      (all, units, most, size, chance) => {
        const order = all
          .map((one) => ({ one, at: chance.next().value ?? 0 }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ one }) => one)
        const seen = Array.from({ length: Math.ceil(all.length / size) }, (_, nth) =>
          order.slice(nth * size, (nth + 1) * size)
        ).reduce(
          (before, some) => HoldingSelection.withHoldings(before, some, most),
          HoldingSelection.none
        )
        const drawn = HoldingSelection.select(seen, Decimal.fromInteger(units))
        // The same choice done naively: the largest holdings, one after another, until they
        // suffice.
        const sorted = all.toSorted(
          (a, b) => b.units - a.units || (a.contractId < b.contractId ? -1 : 1)
        )
        const enough = sorted.findIndex((_, nth) => sum(sorted.slice(0, nth + 1)) >= units)
        const taken = enough === -1 ? null : sorted.slice(0, Math.min(enough + 1, most))
        expect(drawn).toEqual(taken?.map(({ contractId }) => contractId) ?? null)
      }
    )
  )
})
