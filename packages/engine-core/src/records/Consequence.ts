/**
 * Declaration of a consequence: a judgement of a room above, made in the transaction of a record's
 * change by any write, clock move or ledger update.
 */
import { Context, type Effect } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Crypto } from "../ports/Crypto.ts"
import type { Bulk } from "../ports/storage/Bulk.ts"
import type { Act } from "./Act.ts"
import type { Records } from "./Records.ts"

/** A record before and after a fact; `before` is undefined where the fact opened it. */
export interface Change<R = unknown> {
  readonly before: R | undefined
  readonly after: R
}

/** Judgement that is made again in the transaction which changed a record of a collection. */
export interface Consequence<R = unknown, C = unknown> {
  /** One sentence: the judgement, and the change after which it is made. */
  readonly doc: string
  readonly collection: Pick<Collection<R>, "name">
  /** Subject of the change, as text that is equal where one judgement is enough; null: none. */
  concerns(change: Change<R>): { readonly key: string; readonly subject: C } | null
  /** Judges what changes of one act concern, each once. Runs inside their transaction. */
  follow(
    concerned: ReadonlyArray<C>,
    act: Act
  ): Effect.Effect<void, Unavailable, Records | Bulk | Crypto>
}

/** Declares a consequence; the type of its record follows from the collection. */
export const define = <R, F, C>(
  declaration: Omit<Consequence<R, C>, "collection"> & { readonly collection: Collection<R, F> }
): Consequence<R, C> => declaration

/** All consequences; every write of a record looks up those of its collection. */
export const Declared = Context.Reference<ReadonlyArray<Consequence>>(
  "@bursar/engine-core/records/Consequence",
  { defaultValue: () => [] }
)
