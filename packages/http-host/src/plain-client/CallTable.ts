/** Form of the call table, which both clients call by: generated from a catalogue, plain data at run time. */

export interface CallTable {
  /**
   * Method and path of each write by its kind, with the member that is sent as If-Match where it has
   * one, separated by spaces.
   */
  readonly writes: Readonly<Record<string, string>>
  /** Path of each read by its name. */
  readonly reads: Readonly<Record<string, string>>
  /**
   * Names of the members that are whole numbers; `counts.carried` is the member `carried` of a member
   * `counts`, and `counts.*` each of its members. Every other number is a decimal.
   */
  readonly wholeNumbers: ReadonlyArray<string>
  /** Names of the members of requests that are decimals, in the same form. */
  readonly decimals: ReadonlyArray<string>
}

/** Call table with the types of a venue's own writes and reads; at run time it is a call table. */
export interface OwnTable<W, R> extends CallTable {
  /** Absent: it is there for its type. */
  readonly own?: { readonly write: W; readonly read: R }
}
