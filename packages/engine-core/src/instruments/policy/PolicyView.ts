/** View of a policy version, with its terms under the names of the write's body. */
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
  // Public because a reader of one version need not read the next one for its end.
  "until",
  "setBy",
  // Public because auditors compare it with the figures that approvers signed.
  "changes"
])

export const PolicyVersionView = Schema.Struct({
  ...shown,
  /** Direction of the changes; null without changes, as for the first version. */
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
