/** Look-up of the latest official price of an instrument. */
import { Effect, Option } from "effect"
import type { RecordedInstrument } from "../../instruments/instrument/Instrument.ts"
import { quoteIdOf, quotes } from "../../instruments/price/PricePoint.ts"
import { latestAt } from "../../instruments/price/QuoteOrder.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import { Records } from "../../records/Records.ts"

/**
 * Finds the latest official price of the instrument's oracle at an instant, as an estimate; null where no
 * point of it has come.
 */
export const lastPriceOf = Effect.fnUntraced(function* (
  { instrumentId }: Pick<RecordedInstrument, "instrumentId">,
  oracle: Party.Party | null,
  at: Instant.Instant
) {
  if (oracle === null) return null
  const records = yield* Records
  const quote = yield* records.find(quotes, quoteIdOf({ source: oracle, instrumentId }))
  return Option.isNone(quote) ? null : (latestAt(quote.value, at)?.price ?? null)
})
