/** Pure rules of an instrument's latest price, by which portfolios are valued. */
import type * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type { Instrument } from "../instrument/Instrument.ts"
import { type Quote, quoteIdOf } from "./PricePoint.ts"
import { latestAt } from "./QuoteOrder.ts"

/** Id of the quote of an instrument's oracle, as a list; empty where it names no oracle. */
export const quoteIdsOf = ({ instrumentId, manifest }: Instrument): ReadonlyArray<string> =>
  manifest === null || manifest.oracle === null
    ? []
    : [quoteIdOf({ source: manifest.oracle, instrumentId })]

/** The oracle's latest price at an instant, else the par value; null without either. */
export const priceOf = (
  instrument: Instrument,
  quote: Quote | undefined,
  at: Instant.Instant
): { readonly price: Decimal.Decimal | null; readonly priceAt: Instant.Instant | null } => {
  const latest = quote === undefined ? undefined : latestAt(quote, at)
  if (latest !== undefined) return { price: latest.price, priceAt: latest.valuationTime }
  return { price: instrument.manifest?.parValue ?? null, priceAt: null }
}
