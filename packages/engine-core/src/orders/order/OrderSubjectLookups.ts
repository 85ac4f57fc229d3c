/** Look-up of the instrument, the holder, the controls and the market of an order. */
import { Effect } from "effect"
import { holders } from "../../holders/holder/Holder.ts"
import { instruments } from "../../instruments/instrument/Instrument.ts"
import { recorded } from "../../instruments/instrument/InstrumentGates.ts"
import type * as Instant from "../../kernel/Instant.ts"
import { Records } from "../../records/Records.ts"
import type { Asset } from "../../templates/Field.ts"
import { controlsOf } from "./ControlLookups.ts"
import type { PrimaryMarket } from "../primary-market/PrimaryMarket.ts"

/** Loads the instrument and the holder of an order, with the open holds and restrictions of both. */
export const subjectOf = Effect.fnUntraced(function* (
  { holderId, instrumentId }: { readonly holderId: string; readonly instrumentId: string },
  now: Instant.Instant
) {
  const records = yield* Records
  const instrument = yield* Effect.fromResult(
    recorded(yield* records.get(instruments, instrumentId))
  )
  const holder = yield* records.get(holders, holderId)
  const controls = yield* controlsOf({ instrumentId, holderIds: [holderId] })
  return { ...controls, instrument, holder, now }
})

/** Checks whether a market has the order's fund and payment asset. */
export const isPaidUnder = (
  { fund, paymentAsset }: { readonly fund: string | null; readonly paymentAsset: Asset | null },
  market: PrimaryMarket
): boolean =>
  market.fund === fund &&
  market.paymentAsset.admin === paymentAsset?.admin &&
  market.paymentAsset.id === paymentAsset.id
