/**
 * The figures of redemptions, dealing cycles and rebasing registers
 * (docs/domain/figures.md#formulas-of-orders).
 */
import * as Decimal from "../kernel/Decimal.ts"
import * as Formula from "../kernel/Formula.ts"
import * as Formulas from "./OrderFormulas.ts"

type GivenTo<F> = F extends Formula.Formula<infer I, infer _> ? Formula.Given<I> : never

/**
 * What so many units pay: ⌊U·p·(1 − f)⌋ at the currency's places. The fee is ⌈U·p·f⌉, as cash taken
 * is rounded up. Where the units' worth is no whole cent, fee and proceeds together may pass it by
 * less than one: the fund pays out the proceeds and keeps all else.
 */
export const redeemUnits = (given: GivenTo<typeof Formulas.redeemUnits>) =>
  Formula.compute(Formulas.redeemUnits, given)

/**
 * How many units have to go for exactly this amount: ⌈A/(p·(1 − f))⌉ at the instrument's places; the
 * caller refuses more than the holder has free. The fee is that of so many units, ⌈U·p·f⌉. A fee of
 * everything pays nothing whatever the units: a rate of 1 is a bug of the caller.
 */
export const redeemAmount = (given: GivenTo<typeof Formulas.redeemAmount>) => ({
  ...Formula.compute(Formulas.redeemAmount, given),
  proceeds: given.amount
})

/**
 * The price a day's orders deal at: p·(1 + up) on net inflow, p·(1 − down) on net outflow, where the
 * net flow of all its orders is above the threshold as a part of the net asset value.
 */
export const swing = (given: GivenTo<typeof Formulas.swing>) =>
  Formula.compute(Formulas.swing, given)

/** Base units at 10 places for shown units, half up; undefined where they come to none. */
export const rebaseTake = (
  given: GivenTo<typeof Formulas.rebaseTake>
): Decimal.Decimal | undefined => {
  const { baseUnits } = Formula.compute(Formulas.rebaseTake, given)
  return Decimal.isPositive(baseUnits) ? baseUnits : undefined
}

/** Shown units for base units, half up. Exact back and forth while index < 10^(10 − d_u). */
export const rebaseShow = (given: GivenTo<typeof Formulas.rebaseShow>): Decimal.Decimal =>
  Formula.compute(Formulas.rebaseShow, given).units

/**
 * How much of each order a cycle's capacity fills, pro rata, with no atom lost: largest remainder,
 * ties to the lower id. The factor is shown, rounded down; the fills come of the exact one.
 */
export const gateFill = (given: GivenTo<typeof Formulas.gateFill>) =>
  Formula.compute(Formulas.gateFill, given)

/** What each gets of a pot by its weight, with no atom lost: largest remainder, ties to the lower id. */
export const potSplit = (given: GivenTo<typeof Formulas.potSplit>) =>
  Formula.compute(Formulas.potSplit, given)

/** What a cycle moves on balance: cash above zero goes to the fund, units above zero are minted. */
export const fundNet = (given: GivenTo<typeof Formulas.fundNet>) =>
  Formula.compute(Formulas.fundNet, given)

/** One transfer of a batch that is settled net. */
export interface Leg {
  readonly from: string
  readonly to: string
  readonly asset: string
  readonly amount: Decimal.Decimal
}

/** What one account moves on balance in one asset: above zero it receives. */
export interface NetOf {
  readonly account: string
  readonly asset: string
  readonly net: Decimal.Decimal
}

/** Every account and asset the legs name, with what they come to (CIP-112, SettleBatch); by asset, then account. */
export const netLegs = (legs: ReadonlyArray<Leg>): ReadonlyArray<NetOf> =>
  [...standings(legs).values()]
    .map(({ account, asset, received, paid }) => ({
      account,
      asset,
      net: Formula.compute(Formulas.netLegs, { received, paid, places: Decimal.places }).net
    }))
    .toSorted((a, b) => compare(a.asset, b.asset) || compare(a.account, b.account))

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

/** What one account receives and pays in one asset, leg by leg. */
export interface Standing {
  readonly account: string
  readonly asset: string
  readonly received: ReadonlyArray<Formula.Item>
  readonly paid: ReadonlyArray<Formula.Item>
}

/** The legs as each account stands in them; an item's id is the account on its other side. */
export const standings = (legs: ReadonlyArray<Leg>): ReadonlyMap<string, Standing> => {
  const found = new Map<
    string,
    Standing & { readonly received: Array<Formula.Item>; readonly paid: Array<Formula.Item> }
  >()
  const standing = (account: string, asset: string) => {
    const key = JSON.stringify([asset, account])
    const known = found.get(key) ?? { account, asset, received: [], paid: [] }
    found.set(key, known)
    return known
  }
  for (const { from, to, asset, amount } of legs) {
    standing(from, asset).paid.push({ id: to, amount })
    standing(to, asset).received.push({ id: from, amount })
  }
  return found
}
