/** Look-up of the price of a dealing day's orders: that of the point, or the swung price. */
import { Effect, Option } from "effect"
import type { RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import { assetKeyOf } from "../../instruments/register/Holding.ts"
import { supplies } from "../../instruments/register/Supply.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import { Records } from "../../records/Records.ts"
import { swungOf } from "../dealing-cycle/DealingCycleRules.ts"
import { isRebasing } from "./RebasingRules.ts"
import { type DealingDay, dealingDays, idOf } from "../dealing-cycle/DealingDay.ts"

/**
 * Computes the price of an order of a dealing day from the price of its point. The first priced order
 * fixes the sums and the policy by which the price of all orders of the day is swung
 * (docs/domain/orders.md#day-price), so that a policy change within the day cannot give its orders
 * different prices. The index of a rebasing instrument is not swung: a shown unit is worth 1.
 */
export const dayPriceOf = Effect.fnUntraced(function* (
  dealingDay: Pick<DealingDay, "instrumentId" | "cutOffAt"> & { readonly registrar: Party.Party },
  price: Decimal.Decimal,
  pricing: { readonly instrument: RecordedInstrument; readonly now: Instant.Instant }
) {
  if (isRebasing(pricing.instrument.manifest)) return price
  const records = yield* Records
  const day = Option.getOrNull(yield* records.find(dealingDays, idOf(dealingDay)))
  if (day === null) return price
  const { swing } = yield* inForce(pricing.instrument, day.dealt?.at ?? pricing.now)
  if (swing === null) return price
  const dealt = day.dealt ?? {
    ordered: day.ordered,
    outstanding: Option.match(yield* records.find(supplies, assetKeyOf(dealingDay)), {
      onNone: () => Decimal.zero,
      onSome: ({ units }) => units
    })
  }
  return swungOf({ price, ...dealt, swing }) ?? price
})
