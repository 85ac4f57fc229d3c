/** Members that every view adds to its record: versions, times, who must act next. */
import { Schema } from "effect"
import type { Collection, WaitingOn } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import type { Stored } from "./Records.ts"
import { WaitingAction } from "../vocabulary/WaitingAction.ts"

export const Waiting = Schema.Struct({
  party: Schema.NullOr(Schema.String),
  role: Schema.NullOr(Schema.String),
  action: WaitingAction.schema,
  by: Schema.NullOr(Instant.schema),
  /** The four-eyes action that awaits it; shown to those who may read it, and where the read names no offset. */
  actionKey: Schema.NullOr(Schema.String)
}).annotate({ identifier: "WaitingOn", description: "Whose move it is, which, and by when." })
export type Waiting = typeof Waiting.Type

/** The fields that stand beside a record's own in every view. */
export const fields = {
  createdAt: Instant.schema,
  updatedAt: Instant.schema,
  version: Integer.schema,
  waitingOn: Schema.Array(Waiting)
} as const

/**
 * The schema of a record as every answer shows it, an operation's result among them: the record's own
 * fields and those that stand beside them.
 */
export const schemaOf = <F extends Schema.Struct.Fields>(
  record: Schema.Struct<F>,
  of: { readonly identifier: string; readonly description: string }
) => Schema.Struct({ ...record.fields, ...fields }).annotate(of)

/** A record with what the store keeps beside it and the moves it waits for. */
export const of = <R, F>(collection: Collection<R, F>, record: Stored<R>) => ({
  ...record,
  waitingOn: collection.waitingOn(record).map(shown)
})

export const shown = ({ party, role, action, by }: WaitingOn): Waiting => ({
  party: party ?? null,
  role: role ?? null,
  action,
  by,
  actionKey: null
})

/** Cached records, whose views may be memoised. */
const kept = new WeakSet<object>()

/**
 * Marks a record as cached, so that its view may be memoised by identity. Records of a streamed
 * list pass once and are not marked: their views would only fill the memory.
 */
export const keep = (record: object): void => void kept.add(record)

/**
 * Memoises a record's view by the record's identity: a version never changes, so neither does its
 * view. `parts` are the view's other inputs; the view is made again when one of them changes.
 */
export const remembered = <R extends object, P extends ReadonlyArray<unknown>, V>(
  view: (record: R, ...parts: P) => V
): ((record: R, ...parts: P) => V) => {
  const known = new WeakMap<R, { readonly parts: P; readonly view: V }>()
  return (record, ...parts) => {
    const before = known.get(record)
    if (before?.parts.every((part, index) => part === parts[index]) === true) return before.view
    const made = view(record, ...parts)
    if (kept.has(record)) known.set(record, { parts, view: made })
    return made
  }
}
