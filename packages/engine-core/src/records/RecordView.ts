/** Views of records: their public members, and the versions, times and next moves each view adds. */
import { Schema } from "effect"
import type { Collection, StoreColumns, WaitingOn } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import * as LazyStruct from "../kernel/LazyStruct.ts"
import type { Stored } from "./Records.ts"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"
import { WaitingAction } from "../vocabulary/WaitingAction.ts"

const awaitedAct = Schema.Struct({
  party: Schema.NullOr(Schema.String),
  role: Schema.NullOr(Schema.String),
  action: WaitingAction.schema,
  by: Schema.NullOr(Instant.schema),
  /** The four-eyes action that awaits it; shown to those who may read it, and where the read names no offset. */
  actionKey: Schema.NullOr(Schema.String),
  /** The record that the act is about, where it is another one; null: the record itself. */
  resource: Schema.NullOr(Schema.Struct({ resourceKind: ResourceKind.schema, id: Schema.String }))
}).annotate({
  identifier: "WaitingOn",
  description: "Who must act next, by which action, and by when."
})
/** An act that a record waits for, as its views show it. */
export interface AwaitedAct extends Schema.Schema.Type<typeof awaitedAct> {}

export const AwaitedAct: Schema.Codec<AwaitedAct, typeof awaitedAct.Encoded> = awaitedAct

/** Columns that the store adds to a record, in the order in which views print them. */
export const columns = {
  createdAt: Instant.schema,
  updatedAt: Instant.schema,
  version: Integer.schema
} as const

/** Members that every view has besides the public members of its record. */
export const fields = {
  ...columns,
  waitingOn: Schema.Array(AwaitedAct)
} as const

/**
 * Schema of a view, as reads and the results of operations answer it. `members` lists the record's
 * public members; stored members that it does not list are withheld, since `/v1` can only grow.
 */
export const schemaOf = <F extends Schema.Struct.Fields>(
  members: F,
  annotation: { readonly identifier: string; readonly description: string }
) => Schema.Struct({ ...members, ...fields }).annotate(annotation)

/** The parties and roles that must act next on a record, as every view shows them. */
export const waitingOn = <R, F>(
  collection: Collection<R, F>,
  record: Stored<R>
): ReadonlyArray<AwaitedAct> => collection.waitingOn(record).map(shown)

/** Members that every record has on the wire. */
export interface Common extends StoreColumns {
  readonly waitingOn: ReadonlyArray<AwaitedAct>
}

/** Values of `fields`: the members that every view has. */
export const commonOf = <R, F>(collection: Collection<R, F>, record: Stored<R>): Common => ({
  createdAt: record.createdAt,
  updatedAt: record.updatedAt,
  version: record.version,
  waitingOn: waitingOn(collection, record)
})

/** Cached records, whose views may be memoised. */
const cachedRecords = new WeakSet<object>()

/**
 * Marks records as cached, so that their views may be memoised by identity. Records of a streamed
 * list pass once and are not marked: their views would only fill the memory.
 */
export const keep = (records: ReadonlyArray<object>): void => {
  for (const record of records) cachedRecords.add(record)
}

/** Memo of the members of views with the columns that the store adds to each. */
const stored = new WeakMap<object, object>()

const withColumns = <M extends object>(members: M): M & typeof columns => {
  const memo = stored.get(members) ?? { ...members, ...columns }
  stored.set(members, memo)
  return memo as M & typeof columns
}

/** Memo of the plain views of cached records. */
const plain = new WeakMap<object, { readonly members: object; readonly view: unknown }>()

/**
 * View of a record: the public members that `members` lists, and those that every view has. The view
 * of a cached record is memoised, so that every page that shows the record prints the same value.
 */
export const of = <R extends object, F, K extends keyof R & string>(
  collection: Collection<R, F>,
  members: Readonly<Record<K, unknown>>,
  record: Stored<R>
): Pick<Stored<R>, K> & Common => {
  const memo = plain.get(record)
  if (memo?.members === members) return memo.view as Pick<Stored<R>, K> & Common
  const view = LazyStruct.extend(LazyStruct.pick(record, withColumns(members)), {
    waitingOn: waitingOn(collection, record)
  })
  if (cachedRecords.has(record)) plain.set(record, { members, view })
  return view
}

/** View of an act that a record waits for. */
export const shown = ({ party, role, action, by }: WaitingOn): AwaitedAct => ({
  party: party ?? null,
  role: role ?? null,
  action,
  by,
  actionKey: null,
  resource: null
})

/**
 * Memoises a record's view by the record's identity: a version never changes, so neither does its
 * view. `parts` are the view's other inputs; the view is made again when one of them changes.
 */
export const remembered = <R extends object, P extends ReadonlyArray<unknown>, V>(
  view: (record: R, ...parts: P) => V
): ((record: R, ...parts: P) => V) => {
  const memos = new WeakMap<R, { readonly parts: P; readonly view: V }>()
  return (record, ...parts) => {
    const memo = memos.get(record)
    if (memo?.parts.every((part, index) => part === parts[index]) === true) return memo.view
    const made = view(record, ...parts)
    if (cachedRecords.has(record)) memos.set(record, { parts, view: made })
    return made
  }
}
