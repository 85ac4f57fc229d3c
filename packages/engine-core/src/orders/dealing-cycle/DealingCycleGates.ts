/** What outside a cycle itself stands in the way of opening and of settling it, gate by gate. */
import { isOnRegistry, type Recorded } from "../../instruments/instrument/Instrument.ts"
import { gates, unless } from "../../kernel/Refusal.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"
import type { Objection } from "./DealingCycleMachine.ts"
import { inputsOf } from "./TransactionSize.ts"

/** Opening a cycle takes a market whose orders are paid on the ledger (domain.md section 2.16). */
export const againstMarket = (
  { policyVersion }: Recorded,
  market: Pick<PrimaryMarket, "state"> | null
): ReadonlyArray<Objection> => [
  [
    market?.state !== "agreed",
    "rule-refused",
    {
      gate: "policy",
      check: "primary-market",
      policyVersion,
      recovery: "Propose a primary market and have it agreed."
    }
  ]
]

/** And a ledger that can settle it: its instrument configured, two orders in one transaction. */
export const againstLedger = (
  instrument: Recorded,
  inputsMax: number
): ReadonlyArray<Objection> => [
  [
    !isOnRegistry(instrument),
    "rule-refused",
    {
      gate: "ledger",
      check: "on-registry",
      party: instrument.registrar,
      recovery: "Have the registrar configure the instrument."
    }
  ],
  [
    inputsOf({ subscriptions: 1, redemptions: 1 }) > inputsMax,
    "rule-refused",
    {
      gate: "ledger",
      check: "transaction-size",
      detail: `One transaction of ${inputsMax} contracts settles no two orders.`,
      recovery: "Raise ledger.maxInputs to what the ledger allows."
    }
  ]
]

export const inOrder = (objections: ReadonlyArray<Objection>): ReadonlyArray<Objection> =>
  objections.toSorted((a, b) => gates.indexOf(a[2].gate) - gates.indexOf(b[2].gate))

/** The first gate that refuses. */
export const judge = (objections: ReadonlyArray<Objection>) => unless(...objections)
