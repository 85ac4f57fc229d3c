/** Check that an instrument's terms are recorded, which precedes every check of its terms. */
import { Result } from "effect"
import { check, judge, type Objection } from "../../kernel/Gates.ts"
import { type Refused, refuse } from "../../kernel/Refusal.ts"
import { type Instrument, isOnRegistry, isRecorded, type Recorded } from "./Instrument.ts"

/** The check that fails for an instrument without terms; later checks need its terms. */
export const notRecorded = check("in-manifest", false, {
  detail: "The venue's manifest does not hold this instrument."
})

/**
 * The instrument with its terms, or the refusal that the manifest does not hold it. Without its
 * terms nothing more can be asked, so what the gates before the policy's say is reported first
 * (docs/domain/every-record.md#gate-order).
 */
export const recorded = <I extends Instrument>(
  instrument: I,
  before: ReadonlyArray<Objection> = []
): Result.Result<I & Recorded, Refused<"rule-refused">> =>
  isRecorded(instrument)
    ? Result.succeed(instrument)
    : Result.flatMap(judge(before), () => refuse("rule-refused", notRecorded.refusal))

/** The check that the instrument's registrar has configured it on the ledger. */
export const onRegistry = (instrument: Recorded): Objection =>
  check("on-registry", isOnRegistry(instrument), { party: instrument.registrar })
