/**
 * Reconciliation run of several instruments that has begun and not ended: whoever continues it after a
 * crash finds here what it covers and who called for it (docs/domain/reconciliation.md#runs-in-parts).
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Offset from "../../kernel/Offset.ts"
import { Role } from "../../vocabulary/Role.ts"
import * as sets from "../../vocabulary/sets.ts"
import { RunId, RunScope } from "./Run.ts"

const { Literal, NullOr, String: Text, Struct } = Schema

/** The call that a run answers: members of its audit record. */
const StartingCall = Struct({
  actor: Text,
  role: NullOr(Role.schema),
  requestId: Text,
  traceId: NullOr(Text),
  traceFlags: NullOr(Integer.schema),
  keyId: NullOr(Text),
  fingerprint: Text
})
export type StartingCall = typeof StartingCall.Type

/** Progress of a run when it began, or was last continued. */
const progressFields = { continuedAt: Instant.schema, doneBefore: Integer.schema } as const

export const RunUnderWay = Struct({
  runId: RunId,
  trigger: sets.RunTrigger.schema,
  scope: RunScope,
  startedAt: Instant.schema,
  /** Pin of its beginning: the offset, and the instant by which everything written was read. */
  asOf: Offset.schema,
  readBy: Instant.schema,
  /** Item of the queue that ends with the run. */
  itemId: Text,
  /** Null: the run started by itself. */
  call: NullOr(StartingCall),
  /** Number of instruments that it covers. */
  instruments: Integer.schema,
  /** Number of times that it was continued after a crash. */
  continued: Integer.schema,
  ...progressFields
})
export type RunUnderWay = typeof RunUnderWay.Type

/** Another worker goes on with the run. */
const Continue = Struct({ on: Literal("continue"), ...progressFields })

export const runsUnderWay = Collection.define<RunUnderWay, typeof Continue.Type>("run-under-way", {
  doc: "A reconciliation run of several instruments that has not ended.",
  id: (self) => self.runId,
  record: RunUnderWay,
  fact: Continue,
  evolve: (self, { on: _, ...progress }) => ({
    ...self,
    ...progress,
    continued: self.continued + 1
  }),
  keptBy: "engine",
  ids: "made",
  filters: { itemId: (self) => self.itemId }
})
