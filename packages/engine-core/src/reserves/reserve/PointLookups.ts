/** Look-ups of the points that the venue named in an act on the ledger, by the key of their asset. */
import { Effect, Result } from "effect"
import { countedPriceOf } from "../../instruments/price/PointRules.ts"
import { contracts } from "../../projection/Contract.ts"
import type { LfRecord } from "../../ports/Ledger.ts"
import { Records } from "../../records/Records.ts"
import { OraclePoint } from "../../templates/Price.ts"
import { decodePayload } from "../../templates/Template.ts"
import type { LoadedPoint } from "./ReserveLookups.ts"
import { keyOf } from "./ReserveTerms.ts"

/** Loads points by their contracts; a contract that is no point is left out. */
export const pointsOf = Effect.fnUntraced(function* (pointCids: ReadonlyArray<string>) {
  const records = yield* Records
  const found = yield* records.many(contracts, pointCids)
  return new Map<string, LoadedPoint>(
    found.flatMap(({ contractId, payload }) =>
      Result.match(decodePayload(OraclePoint, payload as LfRecord), {
        onFailure: () => [],
        onSuccess: ({ registrar, instrumentId, value, valuationTime }) => [
          [
            keyOf({ admin: registrar, id: instrumentId }),
            { price: countedPriceOf(value), valuationTime, contractId }
          ]
        ]
      })
    )
  )
})
