/**
 * Table of the console's pages of lists and records: what each reads, which members a row shows, and where
 * it stands in the navigation. The reads decide who is offered a page.
 */

/** A list: its address, its read, and the members of a row in their order. */
export interface ListRow {
  readonly path: string
  readonly title: string
  readonly read: string
  /** Member that names the record, whose page a row opens. */
  readonly id: string
  readonly columns: ReadonlyArray<string>
  /** Kind of write that makes such a record. */
  readonly makes?: ReadonlyArray<string>
  /** Says what would be here, and why there may be nothing. */
  readonly empty: string
}

/** A record: its read with the parameter that its address gives, and what belongs to it. */
export interface RecordRow {
  readonly path: string
  readonly title: string
  readonly read: string
  readonly id: string
  /** Member of the answer that is the record; absent: the answer is. */
  readonly within?: string
  /** Members that stand at the head, in their order; the others follow as they come. */
  readonly head: ReadonlyArray<string>
  /** Lists of the record, by the parameter of their path or a filter. */
  readonly lists: ReadonlyArray<{
    readonly title: string
    readonly read: string
    readonly columns: ReadonlyArray<string>
    /** Filter that has the record's id; absent: the path of the read has it. */
    readonly filter?: string
    readonly idOf?: string
    readonly page?: string
    readonly empty: string
  }>
  /** Writes that act on the record. */
  readonly acts: ReadonlyArray<string>
}

export const lists: ReadonlyArray<ListRow> = [
  {
    path: "proposals",
    title: "Proposals",
    read: "proposals.list",
    id: "proposalId",
    columns: [
      "kind",
      "from",
      "awaiting",
      "instrumentId",
      "holderId",
      "at",
      "expiresAt",
      "waitingOn"
    ],
    empty: "A proposal waits for a party to agree on the ledger. None is open."
  }
]

export const records: ReadonlyArray<RecordRow> = []
