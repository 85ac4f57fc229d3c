/** Which controls stand before an act of orders, as the records say it now. */
import { Effect } from "effect"
import { openOn } from "../controls/hold/OpenHoldsReads.ts"
import { inForce } from "../controls/restriction/InForceReads.ts"
import type { Objection } from "../kernel/Gates.ts"
import { judge } from "../kernel/Gates.ts"
import type { Instrument } from "../instruments/instrument/Instrument.ts"
import { recorded } from "../instruments/instrument/InstrumentGates.ts"

/** The holds open on the instrument, and the restrictions of these holders; two look-ups in all. */
export const controlsOf = Effect.fnUntraced(function* (of: {
  readonly instrumentId: string
  readonly holderIds: ReadonlyArray<string>
}) {
  const { instrumentId, holderIds } = of
  const holds = yield* openOn([instrumentId])
  const restrictions = holderIds.length === 0 ? [] : yield* inForce({ holderIds, instrumentId })
  return { holds, restrictions }
})

/**
 * The instrument with its terms. Without them nothing more can be asked, so what the gates before the
 * policy's say is told first (domain.md section 1, rule 7).
 */
export const recordedBehind = Effect.fnUntraced(function* <I extends Instrument>(
  instrument: I,
  before: ReadonlyArray<Objection>
) {
  const found = recorded(instrument)
  if (found._tag === "Failure") yield* Effect.fromResult(judge(before))
  return yield* Effect.fromResult(found)
})
