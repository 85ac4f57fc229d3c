/** Filter columns of the list of open orders. */
import * as Instant from "../kernel/Instant.ts"
import { OpenOrderState, type OpenOrderKind } from "../vocabulary/sets.ts"

/** An order as it stands before the clock has its say, and when the clock ends its wait. */
export interface Standing {
  readonly kind: OpenOrderKind
  /** Its order state, judged as if no time had passed. */
  readonly state: string
  /** From which instant it is expired and open no more; null: the clock does not end it. */
  readonly until: Instant.Instant | null
}

/** The instant an order state is judged at so that the clock does not matter. */
export const untimed = Instant.fromNanos(0n)

/** Later than any instant, as columns sort. */
const never = "~"

/** Filter value of an open order; null for one that is not open. */
export const open = ({ kind, state }: Standing): string | null =>
  OpenOrderState.has(state) ? openAs({ kind, state }) : null

export const openAs = (of: {
  readonly kind: OpenOrderKind
  readonly state: OpenOrderState
}): string => `${of.kind}/${of.state}`

/** Until when it is open; an order that has expired at an instant is not open at it. */
export const openUntil = (standing: Standing): string | null => {
  if (open(standing) === null) return null
  return standing.until === null ? never : Instant.sortable(standing.until)
}

/** The values of `openUntil` that orders open at this instant have: an order expires at its instant. */
export const stillOpenAt = (now: Instant.Instant): { readonly from: string } => ({
  from: Instant.sortable(Instant.fromNanos(now + 1n))
})
