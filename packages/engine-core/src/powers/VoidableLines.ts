/** Look-up of distribution lines that a cited order voids, which the room of distributions contributes. */
import type { Effect } from "effect"
import type * as Decimal from "../kernel/Decimal.ts"
import type { Unavailable } from "../kernel/Refusal.ts"
import type { Command } from "../ports/Ledger.ts"
import type { Records } from "../records/Records.ts"

/** A distribution line as an order against its holder concerns it. */
export interface VoidableLine {
  readonly lineId: string
  /** Null while the line's party is no holder. */
  readonly holderId: string | null
  readonly isSuspended: boolean
  readonly isVoid: boolean
  /** In the currency of its distribution. */
  readonly net: Decimal.Decimal
  /** Command that voids a suspended line on the ledger. */
  readonly voiding: (order: {
    /** SHA-256 of the order's document. */
    readonly orderRef: string
  }) => Command
}

export interface VoidableLines {
  /** Finds the distribution lines of these ids; one that does not exist is left out. */
  readonly linesById: (
    lineIds: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<VoidableLine>, Unavailable, Records>
}
