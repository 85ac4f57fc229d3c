/** Checks of closing a holder, by gate. */
import { condition, judge as judgeGates, type Judgement } from "../../kernel/Gates.ts"

/** Input of the conditions of closing a holder. */
interface ClosingContext {
  /** Id of a restriction of the holder in force, of any mode and on any instrument; null: none. */
  readonly restriction: string | null
  /** Id of an instrument that the holder has units of, locked units included; null: none. */
  readonly holds: string | null
  /** Id of an order of the holder that has not ended; null: none. */
  readonly openOrder: string | null
  /** Id of a distribution line of the holder that is due, suspended or delivered; null: none. */
  readonly openLine: string | null
  /** Id of an instrument that left the holder a carry that pays something; null: none. */
  readonly carry: string | null
  /** Id of an instrument whose income of the holder is not distributed yet; null: none. */
  readonly accrual: string | null
}

/** Checks of closing a holder. */
const against = ({
  restriction,
  holds,
  openOrder,
  openLine,
  carry,
  accrual
}: ClosingContext): ReadonlyArray<Judgement> => [
  condition("no-restriction", restriction === null, {
    detail: `The restriction ${restriction ?? ""} of the holder is in force.`
  }),
  condition("no-open-order", openOrder === null, {
    detail: `The order ${openOrder ?? ""} of the holder is not ended.`
  }),
  condition("no-open-line", openLine === null, {
    detail: `The distribution line ${openLine ?? ""} of the holder is not rolled.`
  }),
  condition("no-carry", carry === null, {
    detail: `The last distribution of ${carry ?? ""} left the holder a carry.`
  }),
  condition("no-accrued-income", accrual === null, {
    detail: `The holder's income of ${accrual ?? ""} is not distributed.`
  }),
  condition("zero-units", holds === null, { detail: `The holder holds units of ${holds ?? ""}.` })
]

/** Refuses `rule-refused` by the first condition that does not hold (docs/domain/holders.md#closing). */
export const judge = (closing: ClosingContext) => judgeGates(against(closing))
