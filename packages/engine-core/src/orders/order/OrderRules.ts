/**
 * Pure figures of redemptions, dealing cycles and rebasing registers
 * (docs/domain/figures.md#formulas-of-orders).
 */
import * as Decimal from "../../kernel/Decimal.ts"
import * as Formula from "../../kernel/Formula.ts"
import * as Formulas from "./OrderFormulas.ts"

type GivenTo<F> = F extends Formula.Formula<infer I, infer _> ? Formula.GivenValues<I> : never

/**
 * Computes the proceeds of a number of units: ⌊U·p·(1 − f)⌋ at the currency's places. The fee is ⌈U·p·f⌉.
 * If U·p is no multiple of the smallest currency unit, fee and proceeds together may exceed it by less
 * than that unit: the fund pays the proceeds and keeps the rest.
 */
export const redeemUnits = (values: GivenTo<typeof Formulas.redeemUnits>) =>
  Formula.compute(Formulas.redeemUnits, values)

/**
 * Computes the units for exactly this amount of cash: ⌈A/(p·(1 − f))⌉ at the instrument's places; the
 * caller refuses more than the holder has free. The fee is that of these units, ⌈U·p·f⌉. A fee rate of 1
 * is a defect of the caller, since no number of units would pay the amount.
 */
export const redeemAmount = (values: GivenTo<typeof Formulas.redeemAmount>) => ({
  ...Formula.compute(Formulas.redeemAmount, values),
  proceeds: values.amount
})

/**
 * Computes the price at which a day's orders deal: p·(1 + up) on net inflow, p·(1 − down) on net outflow,
 * if the net flow of all its orders exceeds the threshold, a fraction of the net asset value; else p.
 */
export const swing = (values: GivenTo<typeof Formulas.swing>) =>
  Formula.compute(Formulas.swing, values)

/** Computes the base units of shown units at 10 places, half up; undefined if they round to zero. */
export const rebaseTake = (
  values: GivenTo<typeof Formulas.rebaseTake>
): Decimal.Decimal | undefined => {
  const { baseUnits } = Formula.compute(Formulas.rebaseTake, values)
  return Decimal.isPositive(baseUnits) ? baseUnits : undefined
}

/** Computes the shown units of base units, half up. The two conversions are inverse while index < 10^(10 − d_u). */
export const rebaseShow = (values: GivenTo<typeof Formulas.rebaseShow>): Decimal.Decimal =>
  Formula.compute(Formulas.rebaseShow, values).units

/**
 * Computes the fill of each order when a cycle's capacity is less than the ordered units: pro rata by the
 * largest remainder, ties to the lower id, so that the fills sum to the capacity. The factor is rounded
 * down for display; the fills are computed from the exact factor.
 */
export const gateFill = (values: GivenTo<typeof Formulas.gateFill>) =>
  Formula.compute(Formulas.gateFill, values)

/** Splits a pot by weights: largest remainder, ties to the lower id, so that the shares sum to the pot. */
export const potSplit = (values: GivenTo<typeof Formulas.potSplit>) =>
  Formula.compute(Formulas.potSplit, values)

/** Computes the fund's net of a cycle: positive cash is paid to the fund, positive units are minted. */
export const fundNet = (values: GivenTo<typeof Formulas.fundNet>) =>
  Formula.compute(Formulas.fundNet, values)

/** Transfer in a batch that is settled net. */
export interface Leg {
  readonly from: string
  readonly to: string
  readonly asset: string
  readonly amount: Decimal.Decimal
}

/** Net of an account in one asset: positive if it receives. */
interface AccountNet {
  readonly account: string
  readonly asset: string
  readonly net: Decimal.Decimal
}

/** Computes the net of every account and asset of the legs (CIP-112, SettleBatch), sorted by asset, then account. */
export const netLegs = (legs: ReadonlyArray<Leg>): ReadonlyArray<AccountNet> =>
  [...legsByAccount(legs).values()]
    .map(({ account, asset, receivedItems, paidItems }) => ({
      account,
      asset,
      net: Formula.compute(Formulas.netLegs, {
        received: receivedItems,
        paid: paidItems,
        places: Decimal.places
      }).net
    }))
    .toSorted((a, b) => compare(a.asset, b.asset) || compare(a.account, b.account))

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** Legs of an account in one asset: what it receives, and what it pays. */
interface AccountLegs {
  readonly account: string
  readonly asset: string
  readonly receivedItems: ReadonlyArray<Formula.Item>
  readonly paidItems: ReadonlyArray<Formula.Item>
}

/** Groups the legs by account and asset; the id of an item is the other account of its leg. */
export const legsByAccount = (legs: ReadonlyArray<Leg>): ReadonlyMap<string, AccountLegs> => {
  const found = new Map<
    string,
    AccountLegs & {
      readonly receivedItems: Array<Formula.Item>
      readonly paidItems: Array<Formula.Item>
    }
  >()
  const legsOf = (account: string, asset: string) => {
    const key = JSON.stringify([asset, account])
    const legsOfAccount = found.get(key) ?? { account, asset, receivedItems: [], paidItems: [] }
    found.set(key, legsOfAccount)
    return legsOfAccount
  }
  for (const { from, to, asset, amount } of legs) {
    legsOf(from, asset).paidItems.push({ id: to, amount })
    legsOf(to, asset).receivedItems.push({ id: from, amount })
  }
  return found
}
