/**
 * A machine of your own, under the laws of every machine of the engine and under a property test of
 * its own.
 */
import { Decimal } from "@bursar/engine-core/kernel"
import { given, machineLaws } from "@bursar/engine-core/testing"
import { Result } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type Command, decide, type Escrow, EscrowMachine, evolve } from "./Escrow.ts"

// Laws: every state reachable, every trigger used, every state can end, refusals where the table
// has no move.
machineLaws(EscrowMachine)

const price = Decimal.of("250.00")
const opened: Escrow = {
  state: "promised",
  price,
  buyer: Decimal.of("1000.00"),
  here: Decimal.zero,
  seller: Decimal.zero
}
const escrow = given({ decide, evolve })

describe("an escrow", () => {
  it("takes another amount than the price", () => {
    escrow(opened)
      .when({ on: "fund", amount: Decimal.of("249.99") })
      .thenRefused("rule-refused", { gate: "cash", check: "pays-the-price" })
  })

  it("pays the seller twice", () => {
    escrow(opened, { on: "fund", amount: price }, { on: "release", amount: price })
      .when({ on: "release", amount: price })
      .thenRefused("state-conflict")
  })

  it("loses or makes cash under some sequence of commands", () => {
    fc.assert(
      fc.property(fc.array(commands, { maxLength: 20 }), (steps) => {
        const last = steps.reduce((self, command) => {
          const decided = decide(self, command)
          return Result.isSuccess(decided) ? evolve(self, decided.success) : self
        }, opened)
        expect(Decimal.sum([last.buyer, last.here, last.seller])).toBe(opened.buyer)
      })
    )
  })
})

/** Usually the right amount, so that most runs make progress. */
const commands: fc.Arbitrary<Command> = fc.record({
  on: fc.constantFrom("fund", "release", "return"),
  amount: fc.oneof(
    { weight: 3, arbitrary: fc.constant(price) },
    { weight: 1, arbitrary: fc.constantFrom("0", "0.01", "251").map(Decimal.of) }
  )
})
