/** A machine of your own, whose words begin with `x-`: an escrow that holds cash until both parties accept, or returns it. */
import { Machine, Refusal } from "@bursar/engine-core"
import { Decimal } from "@bursar/engine-core/kernel"
import { Result } from "effect"

// #region a machine
export const EscrowMachine = Machine.declare("EscrowState", {
  doc: "Cash in escrow, from the promise of it to its release or return.",
  states: {
    promised: "The buyer owes the cash; it is not here yet.",
    held: "The cash is here and belongs to neither side.",
    released: "The seller has the cash.",
    returned: "The buyer has the cash back."
  },
  triggers: {
    fund: { by: ["ledger"] },
    release: { by: ["x-escrow.release"] },
    return: { by: ["x-escrow.return", "clock"] }
  },
  initial: "promised",
  opens: { by: ["x-escrow.promise"] },
  moves: {
    promised: { fund: "held", return: "returned" },
    held: { release: "released", return: "returned" },
    released: {},
    returned: {}
  },
  forward: ["fund", "release"]
})
// #endregion

export type State = Machine.State<typeof EscrowMachine>
export type Trigger = Machine.TriggerOf<typeof EscrowMachine>

/** An escrow: cash of the buyer, in escrow and of the seller, whose sum never changes. */
export interface Escrow {
  readonly state: State
  readonly price: Decimal.Decimal
  readonly buyer: Decimal.Decimal
  readonly here: Decimal.Decimal
  readonly seller: Decimal.Decimal
}

export interface Command {
  readonly on: Trigger
  readonly amount: Decimal.Decimal
}
export type Fact = Command

// #region decide and evolve
/** Returns the fact that a command causes, or its refusal. */
export const decide = (self: Escrow, { on, amount }: Command) =>
  Result.gen(function* () {
    yield* Machine.admit(EscrowMachine, self, on)
    yield* Refusal.unless([
      on === "fund" && amount !== self.price,
      "rule-refused",
      { gate: "cash", check: "pays-the-price" }
    ])
    return { on, amount: on === "fund" ? amount : self.here } satisfies Fact
  })

/** Applies a fact to the escrow, without judging it. */
export const evolve = (self: Escrow, { on, amount }: Fact): Escrow => ({
  ...self,
  state: Machine.follow(EscrowMachine, self.state, on),
  buyer:
    on === "fund"
      ? less(self.buyer, amount)
      : on === "return"
        ? more(self.buyer, amount)
        : self.buyer,
  here: on === "fund" ? more(self.here, amount) : Decimal.zero,
  seller: on === "release" ? more(self.seller, amount) : self.seller
})
// #endregion

const less = Decimal.subtract
const more = Decimal.add
