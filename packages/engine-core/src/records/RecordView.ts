/** Views of records: their public members, and the versions, times and next moves each view adds. */
import { Schema, Struct } from "effect"
import type { Collection, Kept, WaitingOn } from "../kernel/Collection.ts"
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
}).annotate({
  identifier: "WaitingOn",
  description: "Who must act next, by which action, and by when."
})
export type Waiting = typeof Waiting.Type

/** The fields that stand beside a record's own in every view. */
export const fields = {
  createdAt: Instant.schema,
  updatedAt: Instant.schema,
  version: Integer.schema,
  waitingOn: Schema.Array(Waiting)
} as const

/**
 * The schema of a view, as reads and the results of operations answer it. `shown` lists the record's
 * public members. Stored members that it does not list are withheld: within `/v1` a view can only grow.
 */
export const schemaOf = <F extends Schema.Struct.Fields>(
  shown: F,
  of: { readonly identifier: string; readonly description: string }
) => Schema.Struct({ ...shown, ...fields }).annotate(of)

/** The moves that a record waits for, as every view shows them. */
export const waitingOn = <R, F>(
  collection: Collection<R, F>,
  record: Stored<R>
): ReadonlyArray<Waiting> => collection.waitingOn(record).map(shown)

interface Beside extends Kept {
  readonly waitingOn: ReadonlyArray<Waiting>
}

/** The values of `fields`, which stand beside a record's own in every view. */
export const beside = <R, F>(collection: Collection<R, F>, record: Stored<R>): Beside => ({
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
  version: record.version,
  waitingOn: waitingOn(collection, record)
})

/** The view of a record: the members that `shown` lists, and those that stand beside them. */
export const of = <R extends object, F, K extends keyof R & string>(
  collection: Collection<R, F>,
  shown: Readonly<Record<K, unknown>>,
  record: Stored<R>
): Pick<Stored<R>, K> & Beside => ({
  ...Struct.pick(record, Struct.keys(shown)),
  ...beside(collection, record)
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
