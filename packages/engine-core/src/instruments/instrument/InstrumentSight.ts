/** Which instruments a caller may see: a registrar only those it keeps the register of. */
import { Effect } from "effect"
import { refused } from "../../kernel/Refusal.ts"
import type { Asking } from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import { type Instrument, instruments } from "./Instrument.ts"

/** One that is out of sight is answered as one that does not exist. */
export const demand = (instrument: Pick<Instrument, "registrar">, { sight, caller }: Asking) =>
  sight === "near" && caller.party !== instrument.registrar
    ? Effect.fail(refused("not-found", { detail: "There is no such instrument." }))
    : Effect.void

/** Refuses unless the instrument is there at the read's point and in the caller's sight. */
export const inSight = Effect.fnUntraced(function* (instrumentId: string, asking: Asking) {
  const records = yield* Records
  const instrument = yield* records.get(instruments, instrumentId, asking.pin)
  yield* demand(instrument, asking)
})
