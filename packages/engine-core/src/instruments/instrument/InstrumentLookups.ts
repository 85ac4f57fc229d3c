/** Loads an instrument that the caller may read: a registrar reads only its own. */
import { Effect } from "effect"
import { refused } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import type { ReadContext } from "../../reads/Read.ts"
import { type Instrument, instruments } from "./Instrument.ts"

/**
 * Loads the instrument at the pin of the read. Refuses `not-found` where there is none, and the
 * same where the caller may not read it.
 */
export const instrumentInSight = Effect.fnUntraced(function* (
  instrumentId: string,
  asking: ReadContext
) {
  const records = yield* Records
  const instrument = yield* records.get(instruments, instrumentId, asking.pin)
  yield* demandSight(instrument, asking)
  return instrument
})

/** A sight of everything reads nothing of the caller, so that an answer can be cached for all of the role. */
const demandSight = (instrument: Pick<Instrument, "registrar">, asking: ReadContext) =>
  asking.sight === "near" && asking.caller.party !== instrument.registrar
    ? Effect.fail(refused("not-found", { detail: "There is no such instrument." }))
    : Effect.void
