/** Checks of closing a holder, by gate. */
import * as Gates from "../../kernel/Gates.ts"

/** Input of the checks of closing a holder. */
export interface Closing {
  /** A restriction of its that is in force, of any mode and on anything; null: there is none. */
  readonly restriction: string | null
  /** An instrument it holds units of, locked ones too; null: it holds none. */
  readonly holds: string | null
  /** An order of its that is not ended; null: there is none. */
  readonly openOrder: string | null
}

/** One row a check. Distribution lines come with their records, as one row more. */
export const against = ({
  restriction,
  holds,
  openOrder
}: Closing): ReadonlyArray<Gates.Objection> => [
  [
    restriction !== null,
    "rule-refused",
    {
      gate: "restriction",
      check: "no-restriction",
      detail: `The restriction ${restriction ?? ""} of the holder is in force.`,
      recovery: "Have the restriction lifted, or wait until it lapses."
    }
  ],
  [
    openOrder !== null,
    "rule-refused",
    {
      gate: "policy",
      check: "no-open-order",
      detail: `The order ${openOrder ?? ""} of the holder is not ended.`,
      recovery: "Settle, withdraw or release the holder's orders."
    }
  ],
  [
    holds !== null,
    "rule-refused",
    {
      gate: "units",
      check: "zero-units",
      detail: `The holder holds units of ${holds ?? ""}.`,
      recovery: "Have the holder redeem or transfer its units."
    }
  ]
]

/** The first gate that refuses to close a holder (docs/domain/holders.md#closing). */
export const judge = (closing: Closing) => Gates.judge(against(closing))
