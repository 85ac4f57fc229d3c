/** The two kinds of event: control (acts of the engine) and journal (facts of the ledger). */
import * as ValueSet from "./ValueSet.ts"

export const EventKind = ValueSet.extensible(
  "EventKind",
  "A journal event is a fact of the ledger; a control event is an act of the engine.",
  ["journal", "control"]
)
export type EventKind = ValueSet.Member<typeof EventKind>
