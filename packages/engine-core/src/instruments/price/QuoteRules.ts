/** Pure rule of an instrument's latest price, by which portfolios are valued. */
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { Instrument } from "../instrument/Instrument.ts"
import { type Quote, quoteIdOf } from "./PricePoint.ts"

/** Ids of the quotes of an instrument's own oracle; empty while it names none. */
export const quoteIdsOf = ({ instrumentId, manifest }: Instrument): ReadonlyArray<string> =>
  manifest === null || manifest.oracle === null
    ? []
    : [quoteIdOf({ source: manifest.oracle, instrumentId })]

/** Its oracle's last price, or its par value; no price where it has neither. */
export const priceOf = (
  instrument: Instrument,
  quote: Quote | undefined
): { readonly price: Decimal.Decimal | null; readonly priceAt: Instant.Instant | null } => {
  if (quote?.isLive === true) return { price: quote.price, priceAt: quote.valuationTime }
  return { price: instrument.manifest?.parValue ?? null, priceAt: null }
}
