/** Loads the issuer powers agreements in force. */
import { Effect } from "effect"
import { Records } from "../records/Records.ts"
import { issuerPowersAgreements } from "./IssuerPowersAgreement.ts"

/** Loads the agreements in force of these instruments, by instrument id, with one query. */
export const agreementsInForceOf = Effect.fnUntraced(function* (
  instrumentIds: ReadonlyArray<string>
) {
  const records = yield* Records
  const found = yield* records.list(issuerPowersAgreements, {
    where: { instrumentId: [...new Set(instrumentIds)], state: ["agreed"] },
    limit: instrumentIds.length
  })
  return new Map(found.map(({ record }) => [record.instrumentId, record]))
})
