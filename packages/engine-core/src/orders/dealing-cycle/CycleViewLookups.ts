/** View of a dealing cycle as the results of its operations show it. */
import { Effect } from "effect"
import { Records } from "../../records/Records.ts"
import { ordersLeft } from "./CycleOrderLookups.ts"
import { type CycleId, dealingCycles } from "./DealingCycle.ts"
import { idsOf } from "./DealingCycleOrders.ts"
import * as DealingCycleView from "./DealingCycleView.ts"

/** Makes the view of a cycle after its operation, with the ids of its orders. */
export const viewOf = (cycleId: CycleId) =>
  Effect.flatMap(Records, (records) => records.get(dealingCycles, cycleId)).pipe(
    Effect.catchTag("Refused", () => Effect.die(new Error(`dealing cycle ${cycleId} vanished`))),
    Effect.flatMap((record) =>
      Effect.map(ordersLeft(record), (orders) => DealingCycleView.of(record, idsOf(orders)))
    )
  )
