/** Scope of reads of instruments: a registrar reads those it keeps the register of. */
import { Effect } from "effect"
import { refused } from "../../kernel/Refusal.ts"
import type { Asking } from "../../reads/Read.ts"
import type { Instrument } from "./Instrument.ts"

/** One that is out of sight is answered as one that does not exist. */
export const demand = (instrument: Pick<Instrument, "registrar">, { sight, caller }: Asking) =>
  sight === "near" && caller.party !== instrument.registrar
    ? Effect.fail(refused("not-found", { detail: "There is no such instrument." }))
    : Effect.void
