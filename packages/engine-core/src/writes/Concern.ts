/** Members of an operation and of a four-eyes action that state whom the write concerns. */

/** The instrument and the holders of the record that a write acts on. */
export interface RecordConcern {
  readonly instrumentId: string | null
  readonly holderIds: ReadonlyArray<string>
}

export interface StoredConcern {
  readonly instrumentId: string | null
  readonly holderId: string | null
  /** Every holder, where they are several; absent: `holderId` alone. */
  readonly holderIds?: ReadonlyArray<string>
}

/** Every holder that an operation or an action concerns: legal holds and the feed go by each. */
export const holderIdsOf = ({ holderId, holderIds }: StoredConcern): ReadonlyArray<string> =>
  holderIds ?? (holderId === null ? [] : [holderId])
