/**
 * Port: terms by which records are searched. A term is a folded text of a record, such as an id or a word
 * of a name; a page is read by the prefix of its text.
 */
import { Context, type Effect } from "effect"
import type { StorageUnavailable } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** Rank of a term: a whole id, code or reference; or a name from one of its words on. */
export type TermRank = "whole" | "word"

/** Terms of one rank and collection: what a page reads is the union of several of these. */
export interface TermRange {
  readonly rank: TermRank
  readonly collection: string
}

/** Place of a term in the order of pages: by rank, whole ones first, then by text, collection and record. */
export interface TermPlace extends TermRange {
  /** At least one character, well formed and without NUL; compared by code point. */
  readonly text: string
  readonly recordId: string
}

/** A term of a record. */
export interface TermRow extends TermPlace {
  /** The text as it was written, where the record does not have it; null: the record has it. */
  readonly shown: string | null
}

/** Port of the terms by which records are searched. */
export class Terms extends Context.Service<
  Terms,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    /** Adds terms within the caller's transaction; one whose place has a term already is left as it is. */
    readonly put: (rows: ReadonlyArray<TermRow>) => Effect.Effect<void, StorageUnavailable>
    /** Deletes the terms of these places within the caller's transaction; a place may have none. */
    readonly delete: (places: ReadonlyArray<TermPlace>) => Effect.Effect<void, StorageUnavailable>
    /**
     * Deletes at most `limit` terms of a record that have a `shown` text, whatever they are, within the
     * caller's transaction; answers how many.
     */
    readonly forget: (deletion: {
      readonly collection: string
      readonly recordId: string
      readonly limit: number
    }) => Effect.Effect<number, StorageUnavailable>
    /** At most `limit` terms of these ranges whose texts begin with `prefix`, in the order of their places. */
    readonly page: (query: {
      readonly ranges: ReadonlyArray<TermRange>
      readonly prefix: string
      /** Only terms after this place. */
      readonly after?: TermPlace
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<TermRow>, StorageUnavailable>
    /** Marks of what the terms have been filled with; a new store has `everyTerm`. */
    readonly marks: Effect.Effect<ReadonlyArray<string>, StorageUnavailable>
    /** Adds a mark, within the caller's transaction. */
    readonly mark: (mark: string) => Effect.Effect<void, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/Terms") {}

/** Mark of a store that has had the terms of every record from its first one on. */
export const everyTerm = "*:1"
