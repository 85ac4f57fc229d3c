/** Suppositions of a precheck: terms and prices as its parameters name them (docs/domain/figures.md#what-if-reads). */
import { Effect, Struct } from "effect"
import { type AssetQuote, assetQuotes, quoteIdOf } from "../../instruments/price/AssetQuote.ts"
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import { refused } from "../../kernel/Refusal.ts"
import { suppositionsOf } from "../../orders/order/SuppositionLookups.ts"
import * as PinnedRecords from "../../records/PinnedRecords.ts"
import { backingOf } from "../../reserves/reserve/ReserveLookups.ts"
import { keyOf } from "../../reserves/reserve/ReserveTerms.ts"
import { inForceAt } from "../../reserves/reserve/TermsRules.ts"
import type { ActSubject } from "./PrecheckActLookups.ts"
import { type PrecheckedAct, acts, type ActParameters } from "./PrecheckRules.ts"

/**
 * Loads the suppositions of a precheck at a pin. The price of a mint or a reserve redemption is that of
 * its asset; of every other act it is the instrument's. Refuses `not-found` for a policy version that the
 * instrument does not have, and `invalid-request` for the price of an asset that no point prices.
 */
export const supposedBy = Effect.fnUntraced(function* (
  act: PrecheckedAct,
  parameters: ActParameters,
  { pin, subject }: { readonly subject: ActSubject; readonly pin: Pin.ResolvedPin }
) {
  if (acts[act].about !== "reserve")
    return yield* suppositionsOf({ ...subject, supposition: parameters, pin })
  const underTerms = yield* suppositionsOf({
    ...subject,
    supposition: Struct.omit(parameters, ["price"]),
    pin
  })
  const { asset, price } = parameters
  const reserve = yield* backingOf(subject.instrumentId, pin)
  if (price === undefined || asset === undefined || reserve === null) return underTerms
  const { assets } = inForceAt(reserve, pin.judgedAt)
  const source = assets.find((one) => keyOf(one.asset) === keyOf(asset))?.priceSource ?? null
  if (source !== null) {
    return [...underTerms, atPrice(quoteIdOf({ source, asset }), price, pin.judgedAt)]
  }
  const detail = "The terms of the reserve price no such asset by points."
  return yield* Effect.fail(
    refused("invalid-request", { detail, errors: [{ pointer: "/query/price", detail }] })
  )
})

/** Supposes that the source published the price at the instant of the read, also where it has published none. */
const atPrice = (quoteId: string, price: Decimal.Decimal, at: Instant.Instant) => {
  const quoted = { price, valuationTime: at, isLive: true, ahead: [] } satisfies Partial<AssetQuote>
  return PinnedRecords.suppose(assetQuotes, {
    become: (self) => (self.quoteId === quoteId ? { ...self, ...quoted } : self),
    absent: (absentId) =>
      absentId === quoteId
        ? { quoteId, contractId: "00", ...quoted, version: 0, createdAt: at, updatedAt: at }
        : undefined
  })
}
