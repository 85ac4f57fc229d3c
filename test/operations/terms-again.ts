/** The venue records the terms of an instrument again, each policy version as it was in force. */
import { Records } from "@bursar/engine-core"
import { Effect, Option } from "effect"
import {
  type Instrument,
  instruments,
  isRecorded
} from "#core/instruments/instrument/Instrument.ts"
import { type PolicyVersion, policyVersions } from "#core/instruments/policy/PolicyVersion.ts"

export interface Terms {
  readonly instrument: Instrument
  readonly versions: ReadonlyArray<PolicyVersion>
}

/** The venue records its terms again, each version as it was in force. */
export const recordsTerms = ({ instrument, versions }: Terms) =>
  Effect.gen(function* () {
    const records = yield* Records
    const act = {
      cause: { by: "request", requestId: "again" },
      now: versions[0]!.effectiveFrom
    } as const
    yield* records.transact(
      Effect.forEach(versions, (version) => records.open(policyVersions, version, act))
    )
    yield* records.transact(
      Effect.gen(function* () {
        if (!isRecorded(instrument)) throw new Error("the instrument is recorded")
        const { instrumentId, manifest, policyVersion, registrar, termsSince } = instrument
        const found = Option.getOrNull(yield* records.find(instruments, instrumentId))
        const before =
          found ??
          (yield* records.open(
            instruments,
            {
              ...instrument,
              configurations: [],
              manifest: null,
              policyVersion: null,
              termsSince: null,
              next: null
            },
            act
          ))
        const { configurations } = before
        const fact = {
          on: "record",
          registrar,
          configurations,
          manifest,
          policyVersion,
          termsSince
        } as const
        yield* records.append(instruments, before, fact, act)
      })
    )
  })
