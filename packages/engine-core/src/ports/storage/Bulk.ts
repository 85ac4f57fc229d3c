/**
 * Port: bulk rows. Lines that come in millions, such as those of a statement or a distribution: kept
 * under an owner, seen once the owner is sealed, summed and compared inside the store.
 */
import { Context, type Effect, type Option, type Stream } from "effect"
import type { StoredPin } from "./Documents.ts"
import type { StorageUnavailable } from "./StorageError.ts"
import type { StoreIdentity } from "./StoreIdentity.ts"

/** Row of a comparison by the storage. */
export interface BulkRow {
  /** Plain text, unique under its owner: the order of reads, compared by code unit. */
  readonly key: string
  /** By which rows of two owners are compared, such as an account; rows of one owner may share it. */
  readonly match: string
  /** By which rows are summed, such as a state or a direction. */
  readonly group: string
  /**
   * Decimals as plain text, without an exponent or a zero at the end after the point; at most 28
   * digits before the point and 10 after. Rows of one owner have the same number of them.
   */
  readonly amounts: ReadonlyArray<string>
  /** JSON text of the rest. */
  readonly body: string
}

/** Names of what rows are matched by: a member of records that are found by the match. */
export interface BulkNames {
  readonly collection: string
  readonly pin: StoredPin
  /** Filter column that has the match; null: the match is the record's id. */
  readonly column: string | null
  /**
   * Member of the record's body with the name, a text; a record without it gives no name, and of
   * several records of one match the first name counts, compared by code unit.
   */
  readonly member: string
  /** Names of that name, which are the names then: an account's number names an account, and that a holder. */
  readonly then?: BulkNames
}

/** Rows of one owner on one side of a comparison. */
export interface BulkRows {
  readonly owner: string
  /** Index of the amount that is compared, from 0. */
  readonly amount: number
  /** Only rows of these groups; all where it is left out. */
  readonly groups?: ReadonlyArray<string>
  readonly names?: BulkNames
}

/** Versions of records at a pin, on one side of a comparison in the place of rows. */
export interface BulkRecords {
  readonly collection: string
  readonly pin: StoredPin
  /** Filter column and the value that it must have. */
  readonly where: { readonly column: string; readonly is: string }
  /** Filter column by which the records are compared; a record without it is left out. */
  readonly match: string
  /** Member of the record's body with the amount that is compared. */
  readonly member: string
  /** Multiplies each amount and rounds it half up, away from zero; absent: as it is. */
  readonly times?: { readonly factor: string; readonly places: number }
  readonly names?: BulkNames
}

/** Side of a comparison: rows that are given, or records of the storage. */
export type BulkSide = BulkRows | BulkRecords

/**
 * Rows of booked entries that are looked for over all sealed owners: those whose group has the form
 * `credit/…`, `debit/…`, `credit-reversal/…` or `debit-reversal/…`, whose first amount is that of the
 * entry, and whose body has the members `bookingDate` and `reference`.
 */
export type BulkEntries =
  /** Entries of one `match`; where it is given, of this amount, and then of this `bookingDate`. */
  | { readonly match: string; readonly amount?: string; readonly day?: string }
  /** Reversals alone, of this amount. */
  | { readonly reversalOf: string }
  /** Reversals alone, of this owner. */
  | { readonly reversalsIn: string }
  /** Entries of these owners with this amount and this `reference`: every row of them is read. */
  | {
      readonly owners: ReadonlyArray<string>
      readonly amount: string
      readonly reference: string
    }

/** A row with its owner. */
export interface OwnedRow extends BulkRow {
  readonly owner: string
}

/** Difference between both sides of a comparison. */
export interface BulkDifference {
  /** The match, or its name where the names of its side have one. */
  readonly match: string
  /** True where `match` is a name: a name is compared with names alone. */
  readonly isNamed: boolean
  /** Sum of the side's rows with this `match`; null where it has none. */
  readonly left: string | null
  readonly right: string | null
  /** Right less left, a side without rows counting as 0. */
  readonly difference: string
}

/** Sums over the rows of one group. */
export interface BulkSum {
  readonly group: string
  readonly rows: number
  readonly amounts: ReadonlyArray<string>
}

/**
 * Reads answer nothing for an owner that is not sealed. Sums are exact, and their texts have neither
 * an exponent nor a trailing zero after the point. No call of `append`, `sum` or `differences` takes
 * the feed's head or waits for whoever has it.
 */
export class Bulk extends Context.Service<
  Bulk,
  {
    /** The opening of the store that the port is of: MUST be one object in all of its ports. */
    readonly store: StoreIdentity
    /**
     * Appends rows, durable when it answers, apart from any open transaction. A row whose key the
     * owner has already is left as it is, so that a call may be repeated after a crash. For a sealed
     * owner it is a defect, and nothing is written.
     */
    readonly append: (
      owner: string,
      rows: ReadonlyArray<BulkRow>
    ) => Effect.Effect<void, StorageUnavailable>
    /**
     * Makes an owner's rows visible, for good, within the caller's transaction. An owner that has
     * another number of rows than this, and one sealed before, are defects.
     */
    readonly seal: (rowSet: {
      readonly owner: string
      readonly rows: number
    }) => Effect.Effect<void, StorageUnavailable>
    /** The number of rows of a sealed owner. */
    readonly count: (owner: string) => Effect.Effect<Option.Option<number>, StorageUnavailable>
    /** At most `limit` rows in the order of their keys, after a key if one is given. */
    readonly read: (page: {
      readonly owner: string
      readonly after?: string
      readonly limit: number
    }) => Effect.Effect<ReadonlyArray<BulkRow>, StorageUnavailable>
    /** The rows of these keys, in the order of their keys; of a key that is not there none. */
    readonly find: (rows: {
      readonly owner: string
      readonly keys: ReadonlyArray<string>
    }) => Effect.Effect<ReadonlyArray<BulkRow>, StorageUnavailable>
    /**
     * The rows of entries that match any of these, each once, in the order of their owners and keys:
     * by an index, in time that grows with the rows found, but for the form that names owners.
     */
    readonly entries: (
      wanted: ReadonlyArray<BulkEntries>
    ) => Effect.Effect<ReadonlyArray<OwnedRow>, StorageUnavailable>
    /** The sums of every group that occurs, in the order of the groups. */
    readonly sum: (owner: string) => Effect.Effect<ReadonlyArray<BulkSum>, StorageUnavailable>
    /**
     * Compares two sides, sealed owners or records: for every `match`, or name of it, that either
     * has, the sums of both, where they are further apart than the tolerance (a decimal, at least 0)
     * or one side has no row. In the order of `match`, what has a name after what has none, in
     * constant memory and from one snapshot.
     */
    readonly differences: (comparison: {
      readonly left: BulkSide
      readonly right: BulkSide
      readonly tolerance: string
      /** Names that are answered whatever their sums, where either side has them. */
      readonly always?: ReadonlyArray<string>
    }) => Stream.Stream<BulkDifference, StorageUnavailable>
    /**
     * Hides an owner and deletes at most `limit` of its rows, with the last of them the owner
     * itself; answers how many. Where `sparesSealed` is true it MUST delete nothing of an owner that
     * is sealed. Apart from any open transaction.
     */
    readonly discard: (deletion: {
      readonly owner: string
      readonly limit: number
      readonly sparesSealed?: boolean
    }) => Effect.Effect<number, StorageUnavailable>
  }
>()("@bursar/engine-core/ports/storage/Bulk") {}
