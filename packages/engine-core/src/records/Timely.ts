/** Declaration of a scheduled write: the engine opens it once a record has come to its instant. */
import { Context } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { AnyOperation } from "../writes/Operation.ts"

/**
 * Declared as data beside the operation it opens, and listed in its room's `timely`. The engine
 * opens it once for a record and an instant, whichever instances run, without a role or a named
 * actor. Where it is refused the failed operation is kept, and another is opened with growing
 * delays for as long as the record asks for one.
 */
export interface Timely<R = unknown> {
  /** Unique and stable: part of the key under which it is opened. */
  readonly name: string
  /** One sentence: what it does to which record, and when. */
  readonly doc: string
  readonly collection: Pick<Collection<R>, "name">
  readonly operation: AnyOperation
  /** The instant at which the write is due for this record; undefined: it is not. */
  at(record: R): Instant.Instant | undefined
  /** The request, in the members of a caller's path and body. */
  request(record: R): Plain
}

/** Declares a scheduled write; the type of its record follows from the collection. */
export const define = <R, F>(
  declaration: Omit<Timely<R>, "collection"> & { readonly collection: Collection<R, F> }
): Timely<R> => declaration

/** All scheduled writes; every write of a record looks up the next one of the record. */
export const Declared = Context.Reference<ReadonlyArray<Timely>>(
  "@bursar/engine-core/records/Timely",
  { defaultValue: () => [] }
)
