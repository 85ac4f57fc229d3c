/**
 * Look-ups of the holds that stop ready mints and reserve redemptions: such an order waits for the
 * release of a hold, not for the engine (docs/domain/reserves.md#mints-and-redemptions).
 */
import { Effect } from "effect"
import type * as Pin from "../../kernel/Pin.ts"
import * as RecordView from "../../records/RecordView.ts"
import * as HoldRules from "../../restraints/hold/HoldRules.ts"
import { openOn } from "../../restraints/hold/OpenHoldLookups.ts"
import * as ReserveOrder from "./ReserveOrder.ts"

type Order = Pick<ReserveOrder.Members, "instrumentId" | "state" | "heldCid" | "lost" | "deadline">

/**
 * Returns whom ready orders of a kind wait for, by their instrument's open holds: `undefined` for an order
 * that no hold stops, which waits as its record says. No look-up where no order is ready.
 */
export const releasesFor = Effect.fnUntraced(function* (
  orders: ReadonlyArray<Order>,
  { act, pin }: { readonly act: HoldRules.Act; readonly pin: Pin.ResolvedPin }
) {
  const ready = orders.filter(ReserveOrder.isReady)
  const open = yield* openOn([...new Set(ready.map(({ instrumentId }) => instrumentId))], pin)
  const stopped = new Set<string>(
    open.filter((hold) => HoldRules.stops(hold, act)).map(({ instrumentId }) => instrumentId)
  )
  return (order: Order): RecordView.Common["waitingOn"] | undefined =>
    ReserveOrder.isReady(order) && stopped.has(order.instrumentId)
      ? ReserveOrder.releases(order).map(RecordView.shown)
      : undefined
})
