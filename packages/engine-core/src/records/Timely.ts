/** Declaration of a scheduled write: the engine opens it once a record has come to its instant. */
import { Context } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { Plain } from "../kernel/PlainJson.ts"
import type { Operation } from "../writes/Operation.ts"

/**
 * Declared as data beside the operation it opens, and listed in its context's `timely`. Whatever
 * instances look, it is opened once for a record and an instant, with no role and no name of an
 * actor. Where it ends refused the failed operation stands for all to see, and another is opened
 * later, ever more rarely, for as long as the record still asks for one.
 */
export interface Timely<R = unknown> {
  /** Unique and kept: part of the key under which it is opened. */
  readonly name: string
  /** One sentence: what it does to which record, and when. */
  readonly doc: string
  readonly collection: Pick<Collection<R>, "name">
  readonly operation: Operation
  /** When it is to be opened, as the record stands; undefined: it is not. */
  at(record: R): Instant.Instant | undefined
  /** The request, as a caller's path and body would say it. */
  request(record: R): Plain
}

/** Declares one; its record's type follows from the collection. */
export const define = <R, F>(
  of: Omit<Timely<R>, "collection"> & { readonly collection: Collection<R, F> }
): Timely<R> => of

/** Everything that is declared; whoever writes a record asks what it will come to. */
export const Declared = Context.Reference<ReadonlyArray<Timely>>(
  "@bursar/engine-core/writes/Timely",
  { defaultValue: () => [] }
)
