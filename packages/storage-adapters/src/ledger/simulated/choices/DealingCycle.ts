/** Choice bodies of dealing cycles: every order and the fund's net settle in one transaction. */
import { Decimal } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result } from "effect"
import { abort, define, demand, type Scope } from "../Entity.ts"
import { fitting, giveBack, type Order, takeBack, fittingGuards } from "./Order.ts"
import { sameAsset } from "./Registry.ts"

type Cycle = Templates.Payload<typeof Templates.DealingCycle>
type CycleSettlement = Templates.Argument<typeof Templates.DealingCycle, "Settle">

/** The fund's net cash of a cycle as an order: it allocates to itself, and the venue executes. */
const netOf = (self: Cycle): Order => ({
  ids: [self.cycleId],
  venue: self.venue,
  sender: self.fund,
  receiver: self.fund,
  asset: self.cash
})

export const dealingCycle = define(Templates.DealingCycle, {
  signatories: ["venue", "fund"],
  observers: ["registrar"],
  ensure: [
    ["it settles no earlier than its cut-off", (self) => self.cutOffAt <= self.settleBy],
    ["the registrar is the instrument's own", (self) => self.instrument.admin === self.registrar]
  ],
  choices: {
    Settle: {
      controllers: ["venue"],
      guards: [
        "a cycle settles something",
        "an order is of another cycle",
        "an order is another fund's",
        "an order is of another instrument",
        "an order pays in another asset",
        "two orders have different prices",
        "the provision is another fund's",
        "the provision is for another instrument",
        "the provision is of another asset",
        ...fittingGuards,
        "the cycle has too little cash to pay with"
      ],
      body: ({ self, argument }, scope) =>
        Result.gen(function* () {
          const { lots, redemptions } = argument
          yield* demand([lots.length + redemptions.length > 0, "a cycle settles something"])
          yield* ofOnePrice(scope, self, argument)
          const cash: Array<string> = []
          for (const lot of lots) cash.push(yield* settleLot(scope, argument.marketCid, lot))
          cash.push(...(yield* fromFund(scope, self, argument)))
          return yield* payOut(scope, self, argument, yield* gathered(scope, cash))
        })
    },
    Release: {
      controllers: ["venue"],
      guards: [...fittingGuards, "the settlement is of another order"],
      body: ({ self, argument: { allocations, intents } }, scope) =>
        Result.gen(function* () {
          for (const allocationCid of allocations) {
            yield* giveBack(scope, netOf(self), allocationCid)
          }
          for (const intentCid of intents) yield* takeBack(scope, netOf(self), intentCid)
          return {}
        })
    }
  }
})

/** Checks that every member belongs to this cycle and that one point has priced them all. */
const ofOnePrice = (scope: Scope, self: Cycle, { lots, redemptions }: CycleSettlement) =>
  Result.gen(function* () {
    let first: string | null = null
    const members: Array<Member> = []
    for (const { lotCid } of lots) members.push(yield* scope.fetch(Templates.Lot, lotCid))
    for (const { redemptionCid } of redemptions) {
      members.push(yield* scope.fetch(Templates.PricedRedemption, redemptionCid))
    }
    for (const member of members) {
      first ??= member.pointCid
      yield* demand(
        [member.cycleId === self.cycleId, "an order is of another cycle"],
        [member.venue === self.venue && member.fund === self.fund, "an order is another fund's"],
        [sameAsset(member.instrument, self.instrument), "an order is of another instrument"],
        [
          member.paymentAsset !== null && sameAsset(member.paymentAsset, self.cash),
          "an order pays in another asset"
        ],
        [member.pointCid === first, "two orders have different prices"]
      )
    }
  })

type Member = Pick<
  Templates.Payload<typeof Templates.Lot>,
  "cycleId" | "venue" | "fund" | "instrument" | "paymentAsset" | "pointCid"
>

const settleLot = (scope: Scope, marketCid: string, lot: CycleSettlement["lots"][number]) => {
  const { lotCid, ...handed } = lot
  return Result.map(
    scope.exercise(Templates.Lot, lotCid, "Settle", { marketCid, ...handed }),
    ({ cash }) => cash
  )
}

/** The fund's own cash: its allocation to the cycle, and the provisions it permits to be used. */
const fromFund = (scope: Scope, self: Cycle, { allocations, provision }: CycleSettlement) =>
  Result.gen(function* () {
    const allocationCids = [...allocations]
    if (provision !== null) allocationCids.push(yield* draw(scope, self, provision))
    const cash: Array<string> = []
    for (const allocationCid of allocationCids) {
      yield* fitting(scope, netOf(self), allocationCid)
      const execute = "Allocation_ExecuteTransfer"
      const { received } = yield* scope.exercise(Templates.Allocation, allocationCid, execute, {
        credentialCid: null
      })
      cash.push(received)
    }
    return cash
  })

const draw = (scope: Scope, self: Cycle, provision: NonNullable<CycleSettlement["provision"]>) =>
  Result.gen(function* () {
    const { provisionCid, holdingCids, amount } = provision
    const consent = yield* scope.fetch(Templates.ProvisionSettlement, provisionCid)
    yield* demand(
      [
        consent.venue === self.venue && consent.fund === self.fund,
        "the provision is another fund's"
      ],
      [consent.instrumentId === self.instrument.id, "the provision is for another instrument"],
      [sameAsset(consent.cash, self.cash), "the provision is of another asset"]
    )
    const { allocation } = yield* scope.exercise(
      Templates.ProvisionSettlement,
      provisionCid,
      "Draw",
      {
        holdingCids,
        receiver: self.fund,
        amount,
        reference: self.cycleId,
        settleBefore: self.settleBy
      }
    )
    return allocation
  })

/** Cash of the fund at one provider; only such cash can be merged into one holding. */
interface Purse {
  readonly contractId: string
  readonly amount: Decimal.Decimal
}

/** Merges all incoming cash into one holding for each provider. */
const gathered = (scope: Scope, cash: ReadonlyArray<string>) =>
  Result.gen(function* () {
    const kinds = new Map<string, Array<Purse>>()
    for (const contractId of cash) {
      const { amount, provider, restricted } = yield* scope.fetch(Templates.Holding, contractId)
      const kind = JSON.stringify([provider, restricted])
      const sameKind = kinds.get(kind)
      if (sameKind === undefined) kinds.set(kind, [{ contractId, amount }])
      else sameKind.push({ contractId, amount })
    }
    const purses: Array<Purse> = []
    for (const kind of kinds.values()) purses.push(yield* merged(scope, kind))
    return purses
  })

const merged = (scope: Scope, parts: ReadonlyArray<Purse>) =>
  Result.gen(function* () {
    const [first, ...others] = parts
    if (first === undefined) throw new Error("a provider that keeps nothing")
    if (others.length === 0) return first
    const { contractId } = yield* scope.exercise(Templates.Holding, first.contractId, "Merge", {
      holdingCids: others.map((holding) => holding.contractId)
    })
    return { contractId, amount: Decimal.sum(parts.map(({ amount }) => amount)) }
  })

/**
 * Pays every redemption, out of the fund's own allocation to its holder or else out of a purse. The
 * fund allocates each part separately, so that no holder sees the purse's rest.
 */
const payOut = (scope: Scope, self: Cycle, argument: CycleSettlement, full: ReadonlyArray<Purse>) =>
  Result.gen(function* () {
    let purses = full
    const remainders: Array<{ redemptionId: string; contractId: string }> = []
    for (const { redemptionCid, unitsAllocationCid, ...leg } of argument.redemptions) {
      const redemption = yield* scope.fetch(Templates.PricedRedemption, redemptionCid)
      let { allocationCid } = leg
      const { proceeds } = leg.fill ?? redemption
      if (allocationCid === null && Decimal.isPositive(proceeds)) {
        const taken = yield* take(scope, self, purses, { ...redemption, proceeds })
        allocationCid = taken.allocation
        purses = taken.purses
      }
      const { remainder } = yield* scope.exercise(
        Templates.PricedRedemption,
        redemptionCid,
        "Settle",
        {
          marketCid: argument.marketCid,
          unitsAllocationCid,
          allocationCid,
          holdingCids: [],
          intentCid: leg.intentCid,
          evidence: null,
          fill: leg.fill
        }
      )
      if (leg.fill !== null && remainder !== null) {
        remainders.push({ redemptionId: leg.fill.remainderId, contractId: remainder })
      }
    }
    return { fund: purses.map(({ contractId }) => contractId), remainders }
  })

/** Takes an amount out of the fullest purse. */
const take = (
  scope: Scope,
  self: Cycle,
  purses: ReadonlyArray<Purse>,
  {
    proceeds,
    redemptionId,
    holder
  }: Pick<Templates.Payload<typeof Templates.PricedRedemption>, "redemptionId" | "holder"> & {
    readonly proceeds: Decimal.Decimal
  }
) =>
  Result.gen(function* () {
    const [fullest] = purses.toSorted((a, b) => Decimal.compare(b.amount, a.amount))
    if (fullest === undefined || Decimal.lessThan(fullest.amount, proceeds)) {
      return yield* abort("the cycle has too little cash to pay with")
    }
    const { allocation, change } = yield* scope.exercise(
      Templates.Holding,
      fullest.contractId,
      "Allocate",
      {
        allocationId: redemptionId,
        executor: self.venue,
        receiver: holder,
        amount: proceeds,
        settleBefore: self.settleBy
      }
    )
    const rest = purses.filter(({ contractId }) => contractId !== fullest.contractId)
    const amount = Decimal.subtract(fullest.amount, proceeds)
    return {
      allocation,
      purses: change === null ? rest : [...rest, { contractId: change, amount }]
    }
  })
