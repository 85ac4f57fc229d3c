/** Loads the policy version in force at an instant. */
import { Effect, Option, Stream } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records } from "../../records/Records.ts"
import type { RecordedInstrument } from "../instrument/Instrument.ts"
import { type VersionTerms, termsOf } from "./Policy.ts"
import { policyVersions } from "./PolicyVersion.ts"

/**
 * Loads the terms in force at `now`, which may lie before the terms of the record: a claim is
 * judged by the terms at its ledger time, however late it is read. Before the first version its own
 * terms count.
 */
export const inForce: (
  instrument: RecordedInstrument,
  now: Instant.Instant
) => Effect.Effect<VersionTerms, Unavailable, Records> = Effect.fnUntraced(
  function* (instrument, now) {
    const { next, policyVersion, termsSince } = instrument
    if (next !== null && Instant.atOrAfter(now, next.effectiveFrom)) return termsOf(next)
    if (policyVersion === 1 || termsSince === null || Instant.atOrAfter(now, termsSince)) {
      return termsOf(instrument)
    }
    const records = yield* Records
    // Newest first, so that recent orders read few versions; a withdrawn version was never in force.
    const then = yield* records
      .stream(policyVersions, {
        where: { instrumentId: [instrument.instrumentId], state: ["current", "superseded"] },
        direction: "desc"
      })
      .pipe(
        Stream.filter(
          ({ record }) => record.policyVersion === 1 || Instant.atOrAfter(now, record.effectiveFrom)
        ),
        Stream.runHead
      )
    return termsOf(Option.match(then, { onNone: () => instrument, onSome: ({ record }) => record }))
  }
)
