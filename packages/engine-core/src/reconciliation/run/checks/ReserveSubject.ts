/** Pure subject of a blocking difference of a reserve. */

/** The members of a difference that say that it is of a reserve, and blocks its instrument. */
export const blockingOn = ({
  instrumentId,
  reserveId
}: {
  readonly instrumentId: string
  readonly reserveId: string
}) =>
  ({
    instrumentId,
    subject: { resourceKind: "reserve", id: reserveId },
    holderId: null,
    severity: "blocking"
  }) as const
