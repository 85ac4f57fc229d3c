/**
 * Look-ups of the holds that stop ready mints and reserve redemptions: such an order waits for the
 * release of a hold, not for the engine (docs/domain/reserves.md#mints-and-redemptions).
 */
import { Effect } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import type { Common, AwaitedAct } from "../../records/RecordView.ts"
import * as HoldRules from "../../restraints/hold/HoldRules.ts"
import { openOn } from "../../restraints/hold/OpenHoldLookups.ts"
import type { Members } from "./ReserveOrder.ts"

type Order = Pick<Members, "instrumentId" | "state" | "heldCid" | "lost" | "deadline">

/** Acts of gate `hold` by which the orders of each kind settle. */
export const settlementActs = { mint: "mint", "reserve-redemption": "deal" } as const

const isReady = ({ heldCid, lost, state }: Order): boolean =>
  state === "ready" && heldCid !== null && !lost

/** Role that releases the hold which stops an order, until the order's deadline. */
const released = ({ deadline }: Order): ReadonlyArray<AwaitedAct> =>
  (["operator", "risk"] as const).map((role) => ({
    ...{ party: null, role, action: "hold.release", by: deadline },
    actionKey: null,
    resource: null
  }))

/**
 * Returns whom ready orders of a kind wait for, by their instrument's open holds: `undefined` for an order
 * that no hold stops, which waits as its record says. No look-up where no order is ready.
 */
export const releasesFor = Effect.fnUntraced(function* (
  orders: ReadonlyArray<Order>,
  { act, pin }: { readonly act: HoldRules.Act; readonly pin: Pin.ResolvedPin }
) {
  const ready = orders.filter(isReady)
  const open = yield* openOn([...new Set(ready.map(({ instrumentId }) => instrumentId))], pin)
  const stopped = new Set<string>(
    open.filter((hold) => HoldRules.stops(hold, act)).map(({ instrumentId }) => instrumentId)
  )
  return (order: Order): Common["waitingOn"] | undefined =>
    isReady(order) && stopped.has(order.instrumentId) ? released(order) : undefined
})
