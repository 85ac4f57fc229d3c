/** Checks whether an order may join a cycle, and whether it may settle apart from its cycle. */
import { condition, type Judgement } from "../../kernel/Gates.ts"
import type { Asset } from "../../templates/Field.ts"

/** Fund and payment asset of a market, of a cycle, or of an order; one paid by wire may have neither. */
export interface PayingMarket {
  readonly fund: string | null
  readonly paymentAsset: Asset | null
}

/**
 * Checks that both have the same fund and the same payment asset: a cycle settles the orders of one fund in
 * one asset, also where another market of the instrument is agreed before the cycle has ended.
 */
export const isOfMarket = (self: PayingMarket, other: PayingMarket): boolean =>
  self.fund !== null &&
  self.fund === other.fund &&
  self.paymentAsset !== null &&
  self.paymentAsset.admin === other.paymentAsset?.admin &&
  self.paymentAsset.id === other.paymentAsset.id

/** Checks that the cycle has room for another order; `fullCycleId` is the cycle if it has none. */
export const againstJoining = (fullCycleId: string | null, inputsMax: number): Judgement =>
  condition("transaction-size", fullCycleId === null, {
    detail:
      fullCycleId === null
        ? null
        : `The cycle ${fullCycleId} has as many orders as one transaction of ${inputsMax} contracts settles.`,
    recovery: "Claim the order after the cut-off, for the next one, or settle fewer at once."
  })

/** Checks that an order settles by itself only if it is in no open cycle; null: it is in none. */
export const againstLeaving = (openCycleId: string | null): Judgement =>
  condition("in-cycle", openCycleId === null, {
    detail: openCycleId === null ? null : `The order is in the open dealing cycle ${openCycleId}.`
  })
