/** Steps of the writes of a standing settlement: its record, its contract, the view of the result. */
import { Effect } from "effect"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type StandingSettlement, standingSettlements } from "./StandingSettlement.ts"
import * as Reads from "./StandingSettlementReads.ts"

/** Loads a standing settlement; refuses one that does not exist. */
export const load = (standingSettlementId: string) =>
  Effect.flatMap(Records, (records) => records.get(standingSettlements, standingSettlementId))

/** Contract of a standing settlement that has not ended. */
export const contractOf = ({ standingCid }: StandingSettlement): string => {
  if (standingCid === null)
    throw new Error("a standing settlement that has not ended has a contract")
  return standingCid
}

/** View of a standing settlement after its operation. */
export const shown = (standingSettlementId: string) =>
  Effect.map(read(standingSettlementId), Reads.of)

const read = (id: string): Effect.Effect<Stored<StandingSettlement>, Unavailable, Records> =>
  Effect.catchTag(load(id), "Refused", () =>
    Effect.die(new Error(`standing settlement ${id} vanished`))
  )
