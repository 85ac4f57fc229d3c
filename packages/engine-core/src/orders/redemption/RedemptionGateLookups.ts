/** Look-ups of the records that settling a redemption is checked against. */
import { Effect } from "effect"
import { followed } from "../../restraints/restriction/SuccessorRestrictionLookups.ts"
import * as Machine from "../../kernel/Machine.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { inForce } from "../../instruments/policy/PolicyLookups.ts"
import * as NavFeedLookups from "../../statements/nav-feed/NavFeedLookups.ts"
import { controlsOf } from "../order/ControlLookups.ts"
import { againstSettleBy, asServed } from "../order/AllocationRules.ts"
import { againstApart } from "../dealing-cycle/OpenCycleLookups.ts"
import { isPaidUnder, subjectOf } from "../order/OrderSubjectLookups.ts"
import { liveMarket } from "../primary-market/PrimaryMarketLookups.ts"
import type * as Cash from "../order/CashLine.ts"
import { named } from "../order/CashSteps.ts"
import { type Redemption, redemptions, objections, RedemptionMachine } from "./Redemption.ts"
import * as Gates from "./RedemptionGates.ts"

/** Input of a settlement: the order, and the bank lines named as its cash. */
interface SettlementInput {
  readonly redemptionId: string
  readonly cash: ReadonlyArray<Cash.CashLine>
}

export const load = (redemptionId: string) =>
  Effect.flatMap(Records, (records) => records.get(redemptions, redemptionId))

/**
 * Finds the live market that burns an order's units, also past its date, since orders claimed while it
 * was agreed settle under it. Null: only a burn request can burn them.
 */
const marketOf = (self: Redemption) =>
  liveMarket(self.instrumentId, (market) => isPaidUnder(self, market))

/**
 * Loads and checks a settlement: it pays a burned order, and burns and pays any other ledger-paid order
 * in one transaction. The order's state, which is no gate, is checked first.
 */
export const settling = Effect.fnUntraced(function* (
  paying: SettlementInput,
  { now }: OperationAct
) {
  const self = yield* load(paying.redemptionId)
  const on = self.payment === "ledger" && self.state !== "burned" ? "exchange" : "settle"
  yield* Effect.fromResult(Machine.admit(RedemptionMachine, self, on))
  return yield* on === "exchange" ? exchanging(self, paying, now) : payment(self, paying, now)
})

const exchanging = Effect.fnUntraced(function* (
  self: Redemption,
  { cash }: SettlementInput,
  now: OperationAct["now"]
) {
  const context = yield* subjectOf(self, now)
  const market = yield* marketOf(self)
  const terms = yield* inForce(context.instrument, now)
  const rows = Gates.againstExchange(context, [
    ...objections(asServed(self, now), { on: "exchange", cash }),
    againstSettleBy(self, now),
    yield* againstApart(self),
    yield* NavFeedLookups.againstOrder({ ...context, terms }, self, now),
    Gates.againstMarketEnd(market)
  ])
  return { on: "exchange" as const, self, lines: null, market, rows }
})

/**
 * Loads and checks the payment of a burned order: by bank lines if it is paid by wire, by the fund's
 * allocation if it is paid on the ledger. Restrictions that a recovery carried from the holder to its
 * successor still stop the payment.
 */
const payment = Effect.fnUntraced(function* (
  self: Redemption,
  { redemptionId, cash }: SettlementInput,
  now: OperationAct["now"]
) {
  const { instrumentId } = self
  const { holds } = yield* controlsOf({ instrumentId, holderIds: [] })
  const controls = { holds, restrictions: yield* followed(self) }
  const lines =
    self.payment === "wire"
      ? yield* named({ ...self, kind: "redemption", orderId: redemptionId }, { cash, refunds: [] })
      : null
  const ofOrder = objections(asServed(self, now), { on: "settle", cash })
  const rows = Gates.againstPayment(self, controls, [...ofOrder, ...(lines?.rows ?? [])])
  return { on: "settle" as const, self, lines, rows }
})
