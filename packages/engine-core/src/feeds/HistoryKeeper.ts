/**
 * Guard of retention: interface by which a room names the history that it still has to read, which
 * stays although the ledger has pruned it (docs/contract/retention.md#kept-history).
 */
import { Context, type Effect, type Option } from "effect"
import type * as Offset from "../kernel/Offset.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { LedgerReach } from "../records/LedgerReach.ts"
import type { Records } from "../records/Records.ts"

export interface HistoryKeeper {
  readonly name: string
  /** One sentence: the records that need the history, and until when. */
  readonly doc: string
  /** Finds the lowest offset that has to stay readable; none where the room needs no history. */
  readonly lowest: Effect.Effect<Option.Option<Offset.Offset>, Unavailable, Records | LedgerReach>
}

/** Keepers of all rooms; a run of retention asks each of them once. */
export const Declared = Context.Reference<ReadonlyArray<HistoryKeeper>>(
  "@bursar/engine-core/feeds/HistoryKeeper",
  { defaultValue: () => [] }
)
