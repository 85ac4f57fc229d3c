/** What a redemption's acts are judged by, as the records say it now. */
import { Effect, Option, Stream } from "effect"
import { holders } from "../../holders/holder/Holder.ts"
import { instruments, type Recorded } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import { quoteIdOf, quotes } from "../../instruments/price/PricePoint.ts"
import { heldBy } from "../../instruments/register/HeldReads.ts"
import { freeUnits } from "../../instruments/register/RegisterRules.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Party from "../../kernel/Party.ts"
import { Records } from "../../records/Records.ts"
import { liveMarket } from "../subscription/SubscriptionStandingReads.ts"
import { pairOf, pledgedOf, type Redemption, redemptions } from "./Redemption.ts"

export const standingOf = Effect.fnUntraced(function* (self: Redemption, now: Instant.Instant) {
  const records = yield* Records
  const found = yield* records.get(instruments, self.instrumentId)
  const instrument = yield* Effect.fromResult(recorded(found))
  const holder = yield* records.get(holders, self.holderId)
  return { instrument, holder, now }
})

/**
 * The market under which its units are burned: agreed or past its date, for what opened while it was
 * agreed settles under it. Null: only a burn request does.
 */
export const marketOf = (self: Redemption) =>
  liveMarket(
    self.instrumentId,
    (market) =>
      market.fund === self.fund &&
      market.paymentAsset.admin === self.paymentAsset?.admin &&
      market.paymentAsset.id === self.paymentAsset.id
  )

/** What a holder holds of an instrument, and what of it no other order takes. */
export const unitsOf = Effect.fnUntraced(function* (
  of: Pick<Redemption, "holderId" | "instrumentId" | "registrar" | "party">
) {
  const records = yield* Records
  const { units, locked } = yield* heldBy(of)
  const pledged = yield* records.stream(redemptions, { where: { pledging: [pairOf(of)] } }).pipe(
    Stream.runFold(
      () => Decimal.zero,
      (sum, { record }) => Decimal.add(sum, pledgedOf(record))
    )
  )
  return { held: units, free: freeUnits({ units, locked, pledged }) }
})

/** The last official price of the instrument's own oracle; null while there is none. */
export const lastPriceOf = Effect.fnUntraced(function* (
  { instrumentId }: Pick<Recorded, "instrumentId">,
  oracle: Party.Party | null
) {
  if (oracle === null) return null
  const records = yield* Records
  const quote = yield* records.find(quotes, quoteIdOf({ source: oracle, instrumentId }))
  return Option.isSome(quote) && quote.value.isLive ? quote.value.price : null
})
