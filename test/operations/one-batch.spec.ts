/**
 * Batches of ledger updates: updates that the engine reads together have the effects of updates
 * read one by one.
 */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"

/** Acts on the ledger without a projection; returns the created contracts. */
const acts = Effect.fnUntraced(function* (
  by: Pick<Fund.Outsider, "party">,
  command: Ledger.Command
) {
  const participant = yield* SimulatedLedger.Participant
  const user = {
    userId: by.party,
    tokenHash: null,
    rights: [{ kind: "CanActAs" as const, party: by.party }],
    expiresAt: null,
    active: true
  }
  const { nodes } = yield* participant.submit(user, {
    commandId: `unread-${JSON.stringify(command).length}`,
    actAs: [by.party],
    readAs: [],
    commands: [command],
    dedup: null,
    submissionId: "unread",
    workflowId: null,
    disclosed: [],
    minLedgerTime: null,
    traceparent: null
  })
  return nodes.find(({ _tag }) => _tag === "Create")?.contractId ?? ""
})

describe("a price that is corrected", () => {
  it.effect(
    "never is held against an order that was priced at the correction, read in the same batch",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* Cycles.opened(["h1"])
        const order = { subscriptionId: "s1", instrumentId: "fund-a", holderId: "h1", amount: 1000 }
        yield* Calls.write("subscription.claim", {}, order)
        yield* Cycles.at(Cycles.friday)
        yield* Fund.publishes(stage, "1.05", Cycles.friday)
        const claim = yield* Fund.newestContract(Templates.SubscriptionClaim)
        const point = yield* Fund.newestContract(Templates.OraclePoint)
        const pointCid = yield* acts(
          stage.oracle,
          Templates.exercise(Templates.OraclePoint, point.cid, "Correct", {
            value: Decimal.of("1"),
            valuationTime: Instant.of(Cycles.friday),
            period: null,
            withholdingRate: null,
            statementRef: null
          })
        )
        yield* acts(
          stage.attestor,
          Templates.exercise(Templates.SubscriptionClaim, claim.cid, "Attest", {
            attestor: stage.attestor.party,
            pointCid,
            price: Decimal.of("1"),
            units: Decimal.of("1000")
          })
        )
        yield* Calls.settle
        assert.strictEqual((yield* Cycles.subscription("s1")).state, "priced")
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(world()))
  )
})

const venue = ({ venue: party }: Fund.Parties) => ({ party })

/** The holder signs an order of 100; returns the command that claims it as subscription `s1`. */
const claimOf = (
  stage: Fund.Parties,
  holder: Cycles.Holder,
  { cycleCid }: { readonly cycleCid: string | null }
) =>
  Effect.gen(function* () {
    yield* holder.act(
      Templates.create(Templates.SubscriptionOrder, {
        venue: stage.venue,
        fund: stage.fund.party,
        holder: holder.party,
        orderId: "order-1",
        instrument: stage.asset,
        paymentAsset: Cycles.cash(stage),
        amount: Decimal.of("100"),
        units: null,
        expiresAt: null
      })
    )
    const order = yield* Fund.newestContract(Templates.SubscriptionOrder)
    const market = yield* Fund.newestContract(Templates.PrimaryMarket)
    return Templates.exercise(Templates.PrimaryMarket, market.cid, "ClaimSubscription", {
      orderCid: order.cid,
      subscriptionId: "s1",
      custodian: null,
      currency: "USD",
      cycleCid,
      feeRate: null,
      cashDecimals: null
    })
  })

describe("a claim that the ledger takes after it was planned", () => {
  it.effect("deals at the cut-off of its cycle, whatever the policy says by then", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [holder] = holders
      if (holder === undefined) throw new Error("a holder")
      yield* Cycles.opens("c1")
      const { cycleCid, cutOffAt, settleBy } = yield* Cycles.cycle("c1")
      const earlier = { time: "15:00", days: ["monday", "friday"], zone: "America/New_York" }
      assert.strictEqual((yield* Cycles.changes(1, { cutOff: earlier })).why, "")
      yield* acts(venue(stage), yield* claimOf(stage, holder, { cycleCid }))
      yield* Calls.settle
      assert.deepInclude(yield* Cycles.subscription("s1"), {
        cycleId: "c1",
        policyVersion: 2,
        cutOffAt,
        settleBy
      })
    }).pipe(Effect.provide(world()))
  )
})

describe("a claim whose cut-off passes before the ledger takes it", () => {
  it.effect(
    "settles by the deadline of its cash's request, which was planned for that cut-off",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* Cycles.opened(["h1"])
        const [holder] = holders
        if (holder === undefined) throw new Error("a holder")
        yield* Cycles.at(Cycles.friday)
        yield* acts(venue(stage), yield* claimOf(stage, holder, { cycleCid: null }))
        const planned = Instant.of("2026-08-05T20:00:00Z")
        yield* acts(
          venue(stage),
          Templates.create(Templates.SettlementIntent, {
            venue: stage.venue,
            settlementId: "s1",
            reference: { kind: "subscription", id: "s1" },
            legs: [
              {
                legId: "cash",
                sender: holder.party,
                receiver: stage.fund.party,
                instrument: Cycles.cash(stage),
                amount: Decimal.of("100")
              }
            ],
            requestedAt: Instant.of(Cycles.friday),
            allocateBefore: planned,
            settleBefore: planned
          })
        )
        yield* Calls.settle
        assert.deepInclude(yield* Cycles.subscription("s1"), {
          cutOffAt: Instant.of(Cycles.monday),
          settleBy: planned
        })
      }).pipe(Effect.provide(world()))
  )
})

describe("a dealing cycle that is released", () => {
  it.effect("leaves a claim behind that the ledger took just before, read in the same batch", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [holder] = holders
      if (holder === undefined) throw new Error("a holder")
      yield* Cycles.opens("c1")
      const cycle = yield* Fund.newestContract(Templates.DealingCycle)
      yield* acts(venue(stage), yield* claimOf(stage, holder, { cycleCid: cycle.cid }))
      yield* acts(
        venue(stage),
        Templates.exercise(Templates.DealingCycle, cycle.cid, "Release", {
          allocations: [],
          intents: []
        })
      )
      yield* Calls.settle
      assert.deepInclude(yield* Cycles.subscription("s1"), {
        state: "claimed",
        cycleId: null,
        formerCycle: { cycleId: "c1", endedAs: "released" }
      })
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(Effect.provide(world()))
  )
})
