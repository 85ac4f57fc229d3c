/** Records of reserves and of prices as the projection keeps them, for tests that open them by themselves. */
import { Decimal, Duration, type Instant, Offset } from "@bursar/engine-core/kernel"
import { type AssetQuote, quoteIdOf } from "#core/instruments/price/AssetQuote.ts"
import type { Reserve } from "#core/reserves/reserve/Reserve.ts"
import { registrar } from "./instrumentBody.ts"

const party = registrar as Reserve["holder"]

/** The last price of an asset, which is of now. */
export const quoteOf = (quote: {
  readonly assetId: string
  readonly price: string
  readonly now: Instant.Instant
}): AssetQuote => ({
  quoteId: quoteIdOf({ source: party, asset: { admin: party, id: quote.assetId } }),
  ...{ contractId: "00aa" as AssetQuote["contractId"], price: Decimal.of(quote.price) },
  ...{ valuationTime: quote.now, isLive: true, ahead: [] }
})

/** A reserve at par in force, with units outstanding and amounts locked of its assets. */
export const reserveOf = (reserve: {
  readonly instrumentId: string
  readonly outstanding: string
  /** Amount that is locked of each asset, by its id. */
  readonly locked: Readonly<Record<string, string>>
  /** Part of each asset's worth that does not count, and the largest part of the requirement. */
  readonly haircut?: string
  readonly maxShare?: string
  readonly now: Instant.Instant
}): Reserve => {
  const { instrumentId, now, haircut = "0", maxShare = null } = reserve
  const locked = Object.entries(reserve.locked).map(([id, amount]) => ({
    asset: { admin: party, id },
    amount: Decimal.of(amount)
  }))
  const terms = {
    minCover: Decimal.one,
    assets: locked.map(({ asset }) => ({
      ...{ asset, priceSource: party, freshness: null, haircut: Decimal.of(haircut) },
      maxShare: maxShare === null ? null : Decimal.of(maxShare)
    }))
  }
  return {
    reserveId: `res-${instrumentId}` as Reserve["reserveId"],
    ...{ instrumentId, issuer: party, holder: party, unit: "USD", state: "active" },
    ...{ decimals: 6, priceDecimals: 6, parValue: Decimal.one, initialSharePrice: null },
    loosenDelay: Duration.hours(48),
    acceptedBy: [party],
    ...{ terms, openedWith: terms, pending: null, amendmentId: null },
    reserveCid: "00ab" as NonNullable<Reserve["reserveCid"]>,
    outstanding: Decimal.of(reserve.outstanding),
    locked,
    ...{ reportedAt: null, proposedAt: now, offset: Offset.of(1), activatedAt: now },
    ...{ endedAt: null, proposalCid: null }
  }
}
