/** Index of the terms by which records are searched: its pages, and its filling. */
import type { Effect } from "effect"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { TermRow, Terms } from "../ports/storage/Terms.ts"
import type { SearchedKinds } from "./SearchTerms.ts"

/** The part of `Records` that searches, and fills the index of terms. */
export interface SearchIndex {
  readonly kinds: SearchedKinds
  readonly page: (
    query: Parameters<Terms["Service"]["page"]>[0]
  ) => Effect.Effect<ReadonlyArray<TermRow>, Unavailable>
  /** Adds terms that no record has, such as those of the lines of a file, in a transaction of their own. */
  readonly put: (rows: ReadonlyArray<TermRow>) => Effect.Effect<void, Unavailable>
  /** Deletes such terms, at most so many; answers how many. */
  readonly forget: (
    deletion: Parameters<Terms["Service"]["forget"]>[0]
  ) => Effect.Effect<number, Unavailable>
  /**
   * Fails with `not-ready` while terms of earlier records are still being added: a search that lacks some
   * of them would say that there is nothing to be found.
   */
  readonly checkFilled: (collections: ReadonlyArray<string>) => Effect.Effect<void, Unavailable>
  /**
   * Marks every part of this program as filled in a store that was made with the terms, at its first start:
   * a part that a later program has is filled then.
   */
  readonly claim: Effect.Effect<void, Unavailable>
  /** The parts that are not filled, by their names. */
  readonly unfilled: Effect.Effect<ReadonlyArray<string>, Unavailable>
  /** Marks a part as filled. */
  readonly markFilled: (part: string) => Effect.Effect<void, Unavailable>
  /** Adds the terms of the records of a collection, in turns during which no other writer adds a version. */
  readonly fill: (collection: string) => Effect.Effect<void, Unavailable>
}
