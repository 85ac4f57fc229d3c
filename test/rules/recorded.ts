/** Kit of gates of orders: an instrument as it is recorded, and its terms in force. */
import { PlainJson } from "@bursar/engine-core/kernel"
import { Result, Schema } from "effect"
import { Body } from "#core/instruments/instrument/Manifest.ts"
import { termsOf } from "#core/instruments/policy/Policy.ts"
import { defaults } from "#core/instruments/policy/PolicyTerms.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

/** The instrument that a body with these changes records, before any policy. */
export const instrument = (change: object = {}) => {
  const plain = Result.getOrThrow(PlainJson.parse(JSON.stringify({ ...bodyOf(), ...change })))
  const { instrumentId, registrar, ...manifest } = Schema.decodeUnknownSync(Body)(plain)
  return {
    instrumentId,
    registrar,
    manifest: { ...manifest, ...defaults },
    policyVersion: 1,
    termsSince: null,
    next: null,
    backedBy: null,
    configurations: ["00aa"]
  }
}

/** The terms of that instrument, with these members of a policy. */
export const terms = (change: object = {}, policy: Partial<typeof defaults> = {}) => {
  const { manifest, policyVersion } = instrument(change)
  return termsOf({ policyVersion, manifest: { ...manifest, ...policy } })
}
