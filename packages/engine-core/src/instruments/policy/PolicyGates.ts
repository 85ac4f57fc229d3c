/** Gates of a change of policy. */
import { Result } from "effect"
import { condition, judge as judgeRows, type Judgement } from "../../kernel/Gates.ts"
import * as Instant from "../../kernel/Instant.ts"
import { type Refused, refuse } from "../../kernel/Refusal.ts"
import { lastVersion, type RecordedInstrument } from "../instrument/Instrument.ts"
import { payable, swungForward } from "../instrument/InstrumentGates.ts"
import type { Manifest } from "../instrument/Manifest.ts"
import { PolicyVersionMachine } from "./PolicyVersion.ts"

export interface PolicyFacts {
  readonly instrument: RecordedInstrument
  /** Version that the caller's If-Match names; null: it sent none. */
  readonly replaces: string | null
  /** Start of the new version; null: at once. */
  readonly effectiveFrom: Instant.Instant | null
  /** Names of the changed terms that must not change after the first mint. */
  readonly unfixed: ReadonlyArray<string>
  /** All terms of the new version. */
  readonly manifest: Manifest
  readonly isMinted: boolean
  readonly now: Instant.Instant
}

const header = "/header/if-match"

/**
 * Check that If-Match names the latest version, so that the maker has read the terms to be
 * replaced.
 */
const named = ({
  instrument,
  replaces
}: PolicyFacts): Result.Result<void, Refused<"invalid-request" | "state-conflict">> => {
  const latest = lastVersion(instrument)
  if (replaces === null) {
    return refuse("invalid-request", {
      detail: "If-Match names the policyVersion that is replaced.",
      errors: [{ pointer: header, detail: "the policyVersion that is replaced" }]
    })
  }
  return replaces === String(latest)
    ? Result.void
    : refuse("state-conflict", {
        check: PolicyVersionMachine.name,
        policyVersion: latest,
        detail: `The version to replace is ${latest}.`,
        recovery: "Read the policy's versions, and set the policy on the last one."
      })
}

/** Checks of the new terms. */
const against = (setting: PolicyFacts): ReadonlyArray<Judgement> => {
  const { effectiveFrom, instrument, isMinted, manifest, now, unfixed } = setting
  const { policyVersion } = instrument
  return [
    condition("effective-ahead", effectiveFrom === null || Instant.isAfter(effectiveFrom, now), {
      policyVersion,
      detail: "The policy is to take effect at an instant that has passed."
    }),
    condition("fixed-after-mint", !isMinted || unfixed.length === 0, {
      policyVersion,
      detail: `Units were minted, so what they are counted by stays: ${unfixed.join(", ")}.`
    }),
    // Units may be minted before the version starts, after which these terms must not change.
    condition("fixed-at-once", effectiveFrom === null || unfixed.length === 0, {
      policyVersion,
      detail: `What units are counted by changes at once or not at all: ${unfixed.join(", ")}.`
    }),
    ...payable(manifest, { policyVersion }),
    swungForward(manifest, { policyVersion, replaced: instrument.manifest })
  ]
}

/** All conditions of setting a policy: the version first, then its terms. */
export const judge = (
  setting: PolicyFacts
): Result.Result<void, Refused<"invalid-request" | "state-conflict" | "rule-refused">> =>
  Result.flatMap(named(setting), () => judgeRows(against(setting)))
