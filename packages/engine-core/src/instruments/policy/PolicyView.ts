/** A version of an instrument's policy as the API shows it: its whole body, by the names of its writes. */
import { Schema, Struct } from "effect"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as RecordView from "../../records/RecordView.ts"
import type { Stored } from "../../records/Records.ts"
import * as sets from "../../vocabulary/sets.ts"
import * as TermChange from "../../writes/TermChange.ts"
import { terms } from "../instrument/InstrumentView.ts"
import { InstrumentId, type Manifest } from "../instrument/Manifest.ts"
import * as PolicyTerms from "./PolicyTerms.ts"
import { type PolicyVersion, policyVersions } from "./PolicyVersion.ts"
import { PolicyVersionMachine } from "./PolicyVersionMachine.ts"

const { navGuardrail: guardrail, ...recorded } = terms

const Body = Schema.Struct({ ...PolicyTerms.fields, ...recorded, guardrail })

export const PolicyVersionView = Schema.Struct({
  instrumentId: InstrumentId,
  policyVersion: Integer.schema,
  state: PolicyVersionMachine.schema,
  effectiveFrom: Instant.schema,
  /** When the next version takes its place, or took it; null while none is accepted. */
  until: Schema.NullOr(Instant.schema),
  setBy: Schema.String,
  /** Whether it loosens anything; null where it changes nothing that can happen, as the first one. */
  direction: Schema.NullOr(sets.ChangeDirection.schema),
  changes: Schema.Array(TermChange.TermChange),
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
  const { manifest, ...shown } = RecordView.of(policyVersions, version)
  return { ...shown, direction: TermChange.directionOf(version.changes), body: bodyOf(manifest) }
}
