/** Checks of closing a holder, by gate. */
import { check, judge as judgeGates, type Objection } from "../../kernel/Gates.ts"

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
export const against = ({ restriction, holds, openOrder }: Closing): ReadonlyArray<Objection> => [
  check("no-restriction", restriction === null, {
    detail: `The restriction ${restriction ?? ""} of the holder is in force.`
  }),
  check("no-open-order", openOrder === null, {
    detail: `The order ${openOrder ?? ""} of the holder is not ended.`
  }),
  check("zero-units", holds === null, { detail: `The holder holds units of ${holds ?? ""}.` })
]

/** The first gate that refuses to close a holder (docs/domain/holders.md#closing). */
export const judge = (closing: Closing) => judgeGates(against(closing))
