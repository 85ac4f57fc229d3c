/** Look-ups of everything that settling a redemption is judged by. */
import { Effect } from "effect"
import { followed } from "../../restraints/restriction/SuccessorRestrictionLookups.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { controlsOf } from "../ControlLookups.ts"
import { againstSettleBy, asServed } from "../AllocationRules.ts"
import { againstApart } from "../dealing-cycle/OpenCycleLookups.ts"
import { isPaidUnder, subjectOf } from "../order/OrderSubjectLookups.ts"
import { liveMarket } from "../primary-market/PrimaryMarketLookups.ts"
import type * as Cash from "../order/CashLine.ts"
import { named } from "../order/CashSteps.ts"
import { type Redemption, redemptions } from "./Redemption.ts"
import * as Gates from "./RedemptionGates.ts"
import { objections, RedemptionMachine } from "./RedemptionMachine.ts"

/** An order, and the bank lines that are named as its cash. */
interface Paying {
  readonly redemptionId: string
  readonly cash: ReadonlyArray<Cash.CashLine>
}

export const load = (redemptionId: string) =>
  Effect.flatMap(Records, (records) => records.get(redemptions, redemptionId))

/**
 * The market under which its units are burned: agreed or past its date, for what opened while it was
 * agreed settles under it. Null: only a burn request does.
 */
const marketOf = (self: Redemption) =>
  liveMarket(self.instrumentId, (market) => isPaidUnder(self, market))

/**
 * Settling: what is burned is paid, a ledger-paid order before that is burned and paid in one. The
 * order's state is no gate and comes first.
 */
export const settling = Effect.fnUntraced(function* (paying: Paying, { now }: OperationAct) {
  const self = yield* load(paying.redemptionId)
  const on = self.payment === "ledger" && self.state !== "burned" ? "exchange" : "settle"
  yield* Effect.fromResult(Machine.admit(RedemptionMachine, self, on))
  return yield* on === "exchange" ? exchanging(self, paying, now) : payment(self, paying, now)
})

const exchanging = Effect.fnUntraced(function* (
  self: Redemption,
  { cash }: Paying,
  now: OperationAct["now"]
) {
  const standing = yield* subjectOf(self, now)
  const market = yield* marketOf(self)
  const rows = Gates.againstExchange(standing, [
    ...objections(asServed(self, now), { on: "exchange", cash }),
    againstSettleBy(self, now),
    yield* againstApart(self),
    Gates.againstMarketEnd(market)
  ])
  return { on: "exchange" as const, self, lines: null, market, rows }
})

/**
 * Bank lines pay a wire-paid order alone; on the ledger the fund's own allocation does. What a
 * recovery has carried from its holder stops it still: nobody is paid for having lost a key.
 */
const payment = Effect.fnUntraced(function* (
  self: Redemption,
  { redemptionId, cash }: Paying,
  now: OperationAct["now"]
) {
  const { instrumentId } = self
  const { holds } = yield* controlsOf({ instrumentId, holderIds: [] })
  const controls = { holds, restrictions: yield* followed(self) }
  const lines =
    self.payment === "wire"
      ? yield* named({ kind: "redemption", orderId: redemptionId }, cash)
      : null
  const own = objections(asServed(self, now), { on: "settle", cash })
  const rows = Gates.againstPayment(self, controls, [
    ...own,
    ...(lines === null ? [] : [lines.against])
  ])
  return { on: "settle" as const, self, lines, rows }
})
