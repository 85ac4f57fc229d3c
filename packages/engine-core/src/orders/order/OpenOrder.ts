/** Filter columns of the list of open orders. */
import type { IndexedWait, WaitingOn } from "../../kernel/Collection.ts"
import * as Instant from "../../kernel/Instant.ts"
import { OpenOrderState, type OpenOrderKind } from "../../vocabulary/sets.ts"

/** Entry of the list of open orders. */
export interface Entry {
  readonly kind: OpenOrderKind
  /** Its order state, judged at `untimed`, so that the clock has not expired it. */
  readonly state: string
  /** Instant at which it expires; null: it does not expire. */
  readonly until: Instant.Instant | null
}

/** Instant before every deadline: an order state judged at it has not expired. */
export const untimed = Instant.fromNanos(0n)

/** Sorts after every instant in a filter column. */
const never = "~"

/** Open states of an order with a reserve: also one past its deadline is open, until it is cancelled. */
const ofReserve = new Set<OpenOrderState>(["started", "ready", "expired"])

/** Open states of a subscription or a redemption, which is not open any more once it has expired. */
const ofFund = new Set(
  OpenOrderState.members.filter((state) => state === "ready" || !ofReserve.has(state))
)

/** Open states of each kind of order. */
export const openStates: Readonly<Record<OpenOrderKind, ReadonlySet<OpenOrderState>>> = {
  subscription: ofFund,
  redemption: ofFund,
  mint: ofReserve,
  "reserve-redemption": ofReserve
}

/** The state of an order as the list of open orders shows it; null for one that is not open. */
export const openState = ({ kind, state }: Pick<Entry, "kind" | "state">): OpenOrderState | null =>
  OpenOrderState.has(state) && openStates[kind].has(state) ? state : null

/** Filter value of an open order; null for one that is not open. */
export const open = ({ kind, state }: Pick<Entry, "kind" | "state">): string | null => {
  const shown = openState({ kind, state })
  return shown === null ? null : openAs({ kind, state: shown })
}

export const openAs = ({
  kind,
  state
}: {
  readonly kind: OpenOrderKind
  readonly state: OpenOrderState
}): string => `${kind}/${state}`

/** Filter values of the open orders of a kind, whatever their state. */
export const openTexts = (kind: OpenOrderKind): ReadonlyArray<string> =>
  [...openStates[kind]].map((state) => openAs({ kind, state }))

/** Filter value of the instant at which an open order expires: from that instant on it is not open. */
export const openUntil = (entry: Entry): string | null => {
  if (open(entry) === null) return null
  return entry.until === null ? never : Instant.sortable(entry.until)
}

/**
 * Waits of a fund's order in the index of waiting records: with its state in the list of open orders, or
 * that of its record where it is not open, and from its deadline on as expired.
 */
export const indexedWaits = (
  waits: ReadonlyArray<WaitingOn>,
  entry: Entry,
  recordState: string
): ReadonlyArray<IndexedWait> => {
  const state = openState(entry) ?? recordState
  const { until } = entry
  return until === null
    ? waits.map((wait) => ({ ...wait, state }))
    : waits.flatMap((wait) => [
        { ...wait, state, until },
        { ...wait, state: "expired", from: until }
      ])
}

/** Range of `openUntil` of the orders that are open at an instant. */
export const stillOpenAt = (now: Instant.Instant): { readonly from: string } => ({
  from: Instant.sortable(Instant.fromNanos(now + 1n))
})
