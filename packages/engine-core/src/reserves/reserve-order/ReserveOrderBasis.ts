/** Basis of the figures of mints and reserve redemptions: the formula and the inputs of each. */
import * as Basis from "../../kernel/Basis.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Formula from "../../kernel/Formula.ts"
import type * as Offset from "../../kernel/Offset.ts"
import * as Formulas from "../ReserveFormulas.ts"
import type { Mint } from "./Mint.ts"
import type { Members } from "./ReserveOrder.ts"
import type { ReserveRedemption } from "./ReserveRedemption.ts"

/**
 * Source of an input: the point for the price, the order for all others
 * (docs/domain/figures.md#basis).
 */
const sourceOf =
  (
    { pointCid }: Pick<Members, "pointCid">,
    resource: { readonly resourceKind: "mint" | "reserve-redemption"; readonly id: string },
    offset: Offset.Offset | null
  ) =>
  (name: string): Basis.Source =>
    name === "price" && pointCid !== null
      ? { resourceKind: "contract", id: pointCid, offset }
      : { ...resource, offset }

/** Basis of the units of a mint; none where its prices are unknown, as after a snapshot. */
export const ofMint = (self: Mint, offset: Offset.Offset | null): ReadonlyArray<Basis.Basis> => {
  const { deposit, price, sharePrice, decimals, mintId: id, units } = self
  if (price === null || sharePrice === null) return []
  const inputs = { deposit, price, sharePrice, decimals }
  if (!Decimal.equals(Formula.compute(Formulas.mintUnits, inputs).units, units)) return []
  const source = sourceOf(self, { resourceKind: "mint", id }, offset)
  return Basis.of(Formulas.mintUnits, { values: inputs, fields: { units: "units" }, source })
}

/** Basis of the payout of a redemption; none where its prices are unknown. */
export const ofRedemption = (
  self: ReserveRedemption,
  offset: Offset.Offset | null
): ReadonlyArray<Basis.Basis> => {
  const { units, price, sharePrice, decimals, payout, reserveRedemptionId: id } = self
  if (price === null || sharePrice === null) return []
  const inputs = { units, price, sharePrice, decimals }
  if (!Decimal.equals(Formula.compute(Formulas.redeemPayout, inputs).payout, payout)) return []
  const source = sourceOf(self, { resourceKind: "reserve-redemption", id }, offset)
  return Basis.of(Formulas.redeemPayout, { values: inputs, fields: { payout: "payout" }, source })
}
