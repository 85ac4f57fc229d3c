/** A version of an instrument's policy as the API shows it: its whole body, by the names of its writes. */
import { Schema, Struct } from "effect"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as sets from "../../vocabulary/sets.ts"
import * as TermChange from "../../writes/TermChange.ts"
import { terms } from "../instrument/InstrumentView.ts"
import type { Manifest } from "../instrument/Manifest.ts"
import * as PolicyTerms from "./PolicyTerms.ts"
import { PolicyVersion, policyVersions } from "./PolicyVersion.ts"

const { navGuardrail: guardrail, ...recorded } = terms

const Body = Schema.Struct({ ...PolicyTerms.fields, ...recorded, guardrail })

const shown = Struct.pick(PolicyVersion.fields, [
  "instrumentId",
  "policyVersion",
  "state",
  "effectiveFrom",
  // Without its end a reader of one version would have to read the next one.
  "until",
  "setBy",
  // Auditors see what an approver was shown: each term that the version loosened or tightened.
  "changes"
])

export const PolicyVersionView = Schema.Struct({
  ...shown,
  /** Whether it loosens anything; null where it changes nothing that can happen, as the first one. */
  direction: Schema.NullOr(sets.ChangeDirection.schema),
  body: Body,
  ...RecordView.fields
}).annotate({
  identifier: "PolicyVersion",
  description: "One version of an instrument's policy."
})
export type PolicyVersionView = typeof PolicyVersionView.Type

const bodyOf = (manifest: Manifest) => ({
  ...Struct.omit(manifest, ["navGuardrail"]),
  guardrail: manifest.navGuardrail
})

export const of = (version: Stored<PolicyVersion>): PolicyVersionView => {
  const { changes, manifest } = version
  const view = RecordView.of(policyVersions, shown, version)
  return { ...view, direction: TermChange.directionOf(changes), body: bodyOf(manifest) }
}
