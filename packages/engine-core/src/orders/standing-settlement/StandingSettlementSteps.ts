/**
 * Steps of the writes of a standing settlement: its record, its contract, whom it concerns, the view
 * of the result.
 */
import { Effect, Option } from "effect"
import { holderParties } from "../../holders/holder/Holder.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import type { RecordConcern } from "../../writes/Concern.ts"
import { type StandingSettlement, standingSettlements } from "./StandingSettlement.ts"
import * as Queries from "./StandingSettlementQueries.ts"

/** Loads a standing settlement; refuses one that does not exist. */
export const load = (standingSettlementId: string) =>
  Effect.flatMap(Records, (records) => records.get(standingSettlements, standingSettlementId))

/** Contract of a standing settlement that has not ended. */
export const contractOf = ({ standingCid }: StandingSettlement): string => {
  if (standingCid === null)
    throw new Error("a standing settlement that has not ended has a contract")
  return standingCid
}

/** Finds the ids of the holders among these parties. */
export const holderIdsOf = (parties: ReadonlyArray<string>) =>
  Effect.flatMap(Records, (records) => records.many(holderParties, [...new Set(parties)])).pipe(
    Effect.map((found) => found.map(({ holderId }) => holderId).toSorted())
  )

/** Looks up the instrument of a standing settlement, and the holders among its parties. */
export const concernsOf = (
  standingSettlementId: string
): Effect.Effect<RecordConcern, Unavailable, Records> =>
  Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.find(standingSettlements, standingSettlementId)
    if (Option.isNone(found)) return { instrumentId: null, holderIds: [] }
    const { instrumentId, parties } = found.value
    return { instrumentId, holderIds: yield* holderIdsOf(parties) }
  })

/** View of a standing settlement after its operation. */
export const shown = (standingSettlementId: string) =>
  Effect.map(read(standingSettlementId), Queries.of)

const read = (id: string): Effect.Effect<Stored<StandingSettlement>, Unavailable, Records> =>
  Effect.catchTag(load(id), "Refused", () =>
    Effect.die(new Error(`standing settlement ${id} vanished`))
  )
