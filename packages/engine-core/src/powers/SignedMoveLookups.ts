/** Look-ups of the moves that the approvers of a forced act have signed: the bound of its later steps. */
import { Effect, Option } from "effect"
import * as Decimal from "../kernel/Decimal.ts"
import { Records } from "../records/Records.ts"
import type { Figures } from "../writes/Figures.ts"
import { operations } from "../writes/OperationRecord.ts"
import type { MoveRequest } from "./ForcedMoveLookups.ts"

/** Names of the figures that approvers sign of one holder's units of one instrument. */
export const figureNamesOf = ({
  holderId,
  instrumentId
}: Pick<MoveRequest, "holderId" | "instrumentId">) => {
  const name = `${instrumentId} ${holderId}`
  return {
    receiver: `${name} to`,
    units: `${name} units`,
    releasedUnits: `${name} released`,
    locks: `${name} locks`
  }
}

/** Ids of records have no blanks (`RecordId`). */
const unitsName = /^(?<instrumentId>\S+) (?<holderId>\S+) units$/u

const movesIn = (figures: Figures): ReadonlyArray<MoveRequest> =>
  Object.keys(figures)
    .toSorted()
    .flatMap((name) => {
      const { holderId, instrumentId } = unitsName.exec(name)?.groups ?? {}
      if (holderId === undefined || instrumentId === undefined) return []
      const { receiver, units } = figureNamesOf({ holderId, instrumentId })
      return [
        {
          holderId,
          instrumentId,
          toHolderId: figures[receiver] ?? missing(receiver),
          units: Decimal.of(figures[units] ?? missing(units))
        }
      ]
    })

/**
 * Looks up the moves that were signed for an operation, each with its receiver and all its units, those
 * that earlier steps have moved included. A step after the first moves these and no others: units that
 * reached a holder since then were signed by nobody (docs/domain/powers.md#steps-of-a-forced-act).
 */
export const signedMovesOf = Effect.fnUntraced(function* (operationId: string) {
  const records = yield* Records
  const operation = Option.getOrNull(yield* records.find(operations, operationId))
  return movesIn(operation?.figures ?? missing(`figures of ${operationId}`))
})

const missing = (what: string): never => {
  throw new Error(`a forced act that has begun was signed without: ${what}`)
}
