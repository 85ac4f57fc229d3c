/** Loads the open holds of instruments. */
import { Effect, Stream } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import { Records, type Stored } from "../../records/Records.ts"
import { type Hold, holds } from "./Hold.ts"

/** Page size of the first query; more open holds are read as a stream. */
const firstPage = 1_000

/** Loads the open holds of these instruments at the pin, oldest first. */
export const openOn: (
  instrumentIds: ReadonlyArray<string>,
  pin?: Pin.ResolvedPin
) => Effect.Effect<ReadonlyArray<Stored<Hold>>, Unavailable, Records> = Effect.fnUntraced(
  function* (instrumentIds, pin) {
    if (instrumentIds.length === 0) return []
    const records = yield* Records
    const query = {
      where: { instrumentId: instrumentIds, state: ["open"] },
      ...(pin === undefined ? {} : { pin })
    }
    const found = yield* records.list(holds, { ...query, limit: firstPage })
    const rows =
      found.length < firstPage ? found : yield* Stream.runCollect(records.stream(holds, query))
    return rows.map(({ record }) => record)
  }
)
