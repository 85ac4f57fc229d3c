/** What stands in the way of closing a holder, gate by gate. */
import { objections, type Told, unless } from "../../kernel/Refusal.ts"

/** A holder's end as its gates see it. */
export interface Closing {
  /** An instrument it holds units of, locked ones too; null: it holds none. */
  readonly holds: string | null
  /** An order of its that is not ended; null: there is none. */
  readonly openOrder: string | null
}

type Row = readonly [holds: boolean, slug: "rule-refused", told: Told]

/** One row a check. Restrictions and distribution lines come with their records, each as one row more. */
const rows = ({ holds, openOrder }: Closing): ReadonlyArray<Row> => [
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

/** The first gate that refuses to close a holder (domain.md section 2.3). */
export const judge = (closing: Closing) => unless(...rows(closing))

/** Every gate that refuses, in order. */
export const against = (closing: Closing) => objections(...rows(closing))
