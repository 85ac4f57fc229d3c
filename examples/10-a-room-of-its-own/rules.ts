/** Rules by which the simulated ledger runs the room's template; another ledger has them in its own language. */
import { Decimal } from "@bursar/engine-core/kernel"
import { Entity } from "@bursar/storage-adapters/simulated-ledger"
import { Result } from "effect"
import { LoanContract } from "./loans.ts"

export const loanRules = Entity.define(LoanContract, {
  signatories: ["venue"],
  observers: ["borrower"],
  ensure: [["the principal is above zero", ({ principal }) => Decimal.isPositive(principal)]],
  choices: {
    Repay: { controllers: ["borrower"], body: () => Result.succeed({}) },
    WriteOff: { controllers: ["venue"], body: () => Result.succeed({}) }
  }
})
