/** Writes of a redemption: withdraw, settle, release. */
import { Effect, Schema } from "effect"
import { judge } from "../../kernel/Gates.ts"
import type { OperationAct } from "../../records/Act.ts"
import { Records } from "../../records/Records.ts"
import { PricedRedemption, RedemptionClaim } from "../../templates/Redemption.ts"
import { exercise } from "../../templates/Template.ts"
import * as Concerns from "../../writes/ConcernLookups.ts"
import * as Operation from "../../writes/Operation.ts"
import { concerning, sentence } from "../../writes/Summary.ts"
import * as Timely from "../../records/Timely.ts"
import {
  bankLines,
  contractOf,
  digestOf,
  paidBy,
  refuses,
  reload,
  shownAfter
} from "../order/OrderSteps.ts"
import type * as Cash from "../order/CashLine.ts"
import { consumeReserved, lockLines, releaseReserved, reserveCash } from "../order/CashSteps.ts"
import { type Redemption, RedemptionId, redemptions, decide } from "./Redemption.ts"
import { claim } from "./RedemptionClaimOperations.ts"
import { load, settling } from "./RedemptionGateLookups.ts"
import * as RedemptionView from "./RedemptionView.ts"

const ById = Schema.Struct({ redemptionId: RedemptionId })
const Paid = Schema.Struct({ redemptionId: RedemptionId, cash: bankLines })

type ById = typeof ById.Type

const resource = {
  kind: "redemption",
  id: ({ redemptionId }: ById) => redemptionId,
  href: ({ redemptionId }: ById) => `/v1/redemptions/${redemptionId}`,
  concerns: Concerns.ofRecord(redemptions, ({ redemptionId }: ById) => redemptionId)
} as const

const commonMembers = {
  approvers: 0,
  resource,
  result: RedemptionView.RedemptionView,
  refuses
} as const

const shown = shownAfter(redemptions, RedemptionView.of)

const withdraw = Operation.defineOnLedger("redemption.withdraw", {
  ...commonMembers,
  doc: "Withdraws a redemption before its units are burned; its allocations go back.",
  summary: (_, subject) =>
    sentence`Withdraws redemption ${subject.resource.id}${concerning(subject)}.`,
  route: "POST /v1/redemptions/{redemptionId}:withdraw",
  makers: ["operator", "app"],
  input: ById,
  plan: Effect.fn("redemption.withdraw.plan")(function* ({ redemptionId }) {
    const self = yield* load(redemptionId)
    yield* Effect.fromResult(decide(self, { on: "withdraw" }))
    return { commands: [releasing(self, { withdrawn: true })], last: true }
  }),
  finish: ({ redemptionId }, act) => shown(redemptionId, act)
})

const release = Operation.defineOnLedger("redemption.release", {
  ...commonMembers,
  doc: "Releases a priced redemption before its units are burned; its allocations go back.",
  summary: (_, subject) =>
    sentence`Releases redemption ${subject.resource.id}${concerning(subject)} before its units are burned.`,
  route: "POST /v1/redemptions/{redemptionId}:release",
  makers: ["operator"],
  input: ById,
  plan: Effect.fn("redemption.release.plan")(function* ({ redemptionId }) {
    const self = yield* load(redemptionId)
    yield* Effect.fromResult(decide(self, { on: "release" }))
    return { commands: [releasing(self, { withdrawn: false })], last: true }
  }),
  finish: ({ redemptionId }, act) => shown(redemptionId, act)
})

export const settle = Operation.defineOnLedger("redemption.settle", {
  ...commonMembers,
  figuresFor: "every-role",
  doc: "Closes a burned redemption whose cash was paid; a ledger-paid one is burned and paid in one transaction.",
  summary: ({ cash = [] }, subject) =>
    sentence`Settles redemption ${subject.resource.id}${concerning(subject)}${paidBy(cash)}.`,
  route: "POST /v1/redemptions/{redemptionId}:settle",
  makers: ["operator"],
  input: Paid,
  gates: (input, act) => Effect.map(settling(input, act), ({ rows }) => rows),
  plan: Effect.fn("redemption.settle.plan")(function* (input, act) {
    yield* lockLines(orderOf(input.redemptionId), input.cash)
    const acting = yield* settling(input, act)
    yield* Effect.fromResult(judge(acting.rows))
    const { self, lines } = acting
    if (lines !== null) yield* reserveCash(lines, act)
    const argument =
      acting.on === "exchange" ? exchanged(self, acting.market) : yield* paid(self, input.cash)
    return {
      commands: [exercise(PricedRedemption, pricedOf(self), "Settle", argument)],
      last: true
    }
  }),
  finish: ({ redemptionId, cash }, act) => matched(redemptionId, cash, act)
})

export const operations = [claim, withdraw, settle, release] as const

/** Scheduled release of a ledger-paid order past its `settleBy`, which frees its allocations. */
const expired = Timely.define({
  name: "redemption.expired",
  doc: "Releases a priced redemption that is not settled by its time.",
  collection: redemptions,
  operation: release,
  at: (self) =>
    self.settleBy !== null &&
    self.cycleId === null &&
    !self.lost &&
    (self.state === "priced" || self.state === "funded")
      ? self.settleBy
      : undefined,
  request: ({ redemptionId }) => ({ redemptionId })
})

export const timely = [expired] as const

const pricedOf = (self: Redemption): string => contractOf(self.pricedCid, "priced redemption")

const releasing = (self: Redemption, how: { readonly withdrawn: boolean }) => {
  const argument = {
    unitsAllocationCid: self.unitsAllocation?.cid ?? null,
    allocationCid: self.allocation?.cid ?? null,
    intentCid: self.intentCid
  }
  if (self.mispricedCid !== null) {
    const ending = { ...argument, withdrawn: true }
    return exercise(PricedRedemption, self.mispricedCid, "Release", ending)
  }
  return self.state === "claimed"
    ? exercise(RedemptionClaim, contractOf(self.claimCid, "claim"), "Withdraw", argument)
    : exercise(PricedRedemption, pricedOf(self), "Release", { ...argument, ...how })
}

const unpaid = { fill: null, evidence: null, holdingCids: [] } as const

/** Argument that burns the units and pays the cash in one transaction. */
const exchanged = (self: Redemption, market: { readonly marketCid: string } | null) => ({
  ...unpaid,
  marketCid: contractOf(market?.marketCid ?? null, "market"),
  unitsAllocationCid: contractOf(self.unitsAllocation?.cid ?? null, "units allocation"),
  allocationCid: contractOf(self.allocation?.cid ?? null, "cash allocation"),
  intentCid: self.intentCid
})

/** Argument that pays a burned order: by the fund's allocation, or with a digest of the bank lines. */
const paid = Effect.fnUntraced(function* (self: Redemption, cash: ReadonlyArray<Cash.CashLine>) {
  return {
    ...unpaid,
    marketCid: null,
    unitsAllocationCid: null,
    allocationCid: self.allocation?.cid ?? null,
    intentCid: self.intentCid,
    evidence: self.payment === "wire" ? yield* digestOf([...self.cash.lines, ...cash]) : null
  }
})

/** The order, as bank lines are taken for it. */
const orderOf = (orderId: string) => ({ kind: "redemption", orderId }) as const

/** Records the bank lines of an act after the ledger has committed it, and returns the view. */
const matched = Effect.fnUntraced(function* (
  redemptionId: string,
  lines: ReadonlyArray<Cash.CashLine>,
  act: OperationAct
) {
  const records = yield* Records
  const self = yield* reload(redemptions, redemptionId)
  if (lines.length === 0) return RedemptionView.of(self, act.now)
  const order = orderOf(redemptionId)
  const { cash } = yield* consumeReserved(order, { cash: lines, refunds: [] }, act)
  const after = yield* records.append(redemptions, self, { on: "match", lines: cash }, act)
  yield* releaseReserved(order, ["reserved"], act)
  return RedemptionView.of(after, act.now)
})
