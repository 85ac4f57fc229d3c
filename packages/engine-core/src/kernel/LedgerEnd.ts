/** End of the ledger at a reading of it: a watermark that the projection has to reach. */
import { Schema } from "effect"
import * as Instant from "./Instant.ts"
import * as Offset from "./Offset.ts"

/** Offset of the ledger's end, and an instant at or before the one at which it was read. */
export const LedgerEnd = Schema.Struct({ offset: Offset.schema, readAt: Instant.schema })
export type LedgerEnd = typeof LedgerEnd.Type
