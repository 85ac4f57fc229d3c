/** What an act asks of its instrument before anything else: that its terms are recorded. */
import { Result } from "effect"
import { type Refused, refuse } from "../../kernel/Refusal.ts"
import { type Instrument, isRecorded, type Recorded } from "./Instrument.ts"

/** The instrument with its terms, or the refusal that the manifest does not hold it. */
export const recorded = <I extends Instrument>(
  instrument: I
): Result.Result<I & Recorded, Refused<"rule-refused">> =>
  isRecorded(instrument)
    ? Result.succeed(instrument)
    : refuse("rule-refused", {
        gate: "policy",
        check: "in-manifest",
        detail: "The venue's manifest does not hold this instrument.",
        recovery: "Record the instrument first."
      })
