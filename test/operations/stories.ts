/** Stories in which a write of every kind that a caller can make succeeds, each in a world of its own. */
import type { Engine } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import type { Bulk, Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import type * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import * as Backed from "./backed.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Month from "./distributions.ts"
import * as Minting from "./minting.ts"
import * as Powers from "./powers.ts"
import * as Restricting from "./restricting.ts"

/** A write that succeeds. */
const writes = (...args: Parameters<typeof Calls.write>) =>
  Effect.map(Calls.write(...args), (done) => {
    assert.strictEqual(`${args[0]} ${done.state} ${done.why}`, `${args[0]} succeeded `)
    return done
  })

const fundA = { instrumentId: "fund-a" }
const wire = { ...fundA, holderId: "h1", payment: "wire" }
const paid = (amount: number, line: number, statementId = "stmt-1") => ({
  cash: [{ statementId, line, amount }]
})

/** Services of an engine in memory. */
type Needs = Engine.Services | Bulk | Ledger.Ledger | SimulatedLedger.Participant

/** Each story by what it is about. */
export const stories: Readonly<Record<string, Effect.Effect<unknown, unknown, Needs>>> = {
  "in the life of an instrument and of its holders": Effect.gen(function* () {
    const { holders, stage } = yield* Cycles.opened(["h1", "h2"])
    const [h1] = holders
    if (h1 === undefined) throw new Error("no holder")
    yield* writes("policy.set", fundA, { minimumSubscription: 10 }, Calls.operator, "1")
    yield* writes("policy.set", fundA, { minimumSubscription: 20 }, Calls.operator, "2")
    const third = yield* Fund.outsider("h3")
    yield* writes("holder.register", {}, { holderId: "h3", party: third.party })
    const kyc = { name: "kyc", value: "passed", state: "valid", evidenceHash: "ee".repeat(32) }
    yield* writes("holder.set-attributes", { holderId: "h1" }, { attributes: [kyc] })
    yield* Powers.another(stage, "fund-b")
    yield* Powers.admits(h1, "fund-b")
    yield* writes("admission.withdraw", { holderId: "h1", instrumentId: "fund-b" }, {})
    yield* Powers.admits(h1, "fund-b")
    yield* Fund.signs(stage, h1)
    const account = { kind: "cash", holderId: "h1", number: "CH93 0076 2011 6238 5295 7" }
    yield* writes("external-account.map", {}, { externalAccountId: "a1", ...account })
    yield* Powers.agrees(stage)
    yield* Powers.consents(h1)
    yield* Fund.revokesPowers(h1)
    yield* Powers.succeeds(stage, h1)
    const revoked = { attributes: [{ ...kyc, state: "revoked" }] }
    yield* writes("holder.set-attributes", { holderId: "h1" }, revoked)
    yield* writes("holder.close", { holderId: "h2" }, {})
  }),
  "where holders are restricted and an instrument is paused": Effect.gen(function* () {
    yield* Restricting.founded(3)
    yield* Restricting.restricts("h1", "z1")
    yield* writes("restriction.lift", { restrictionId: "z1" }, { reason: "it is over" })
    yield* writes(
      "holder.restrict-batch",
      {},
      {
        entries: [
          { holderId: "h2", ...Restricting.frozen },
          { holderId: "h3", ...Restricting.frozen }
        ]
      }
    )
    for (const { restrictionId, state } of yield* Restricting.all) {
      if (state === "active") yield* Restricting.lifts(restrictionId)
    }
    yield* writes("instrument.pause", fundA, { holdId: "p1", reason: "to see" })
    yield* writes("hold.release", { holdId: "p1" }, {})
  }),
  "of orders that are paid by wire, let go, or withdrawn": Effect.gen(function* () {
    const { holders, stage } = yield* Cycles.opened(["h1"])
    const [h1] = holders
    if (h1 === undefined) throw new Error("no holder")
    const buys = (subscriptionId: string) =>
      writes("subscription.claim", {}, { ...wire, subscriptionId, amount: 1000 })
    for (const id of ["s1", "s2", "s3"]) yield* buys(id)
    yield* writes("subscription.withdraw", { subscriptionId: "s1" }, {})
    yield* Cycles.at(Cycles.friday)
    yield* Fund.publishes(stage, "1", Cycles.friday)
    for (const id of ["s2", "s3"]) yield* Cycles.attests(stage, { id, units: "1000", price: "1" })
    yield* writes("subscription.deliver", { subscriptionId: "s2" }, paid(1000, 1))
    yield* writes("subscription.settle", { subscriptionId: "s2" }, {})
    yield* writes("subscription.release", { subscriptionId: "s3" }, {})

    const sells = (redemptionId: string) =>
      writes("redemption.claim", {}, { ...wire, redemptionId, units: 100 })
    for (const id of ["r1", "r2", "r3"]) yield* sells(id)
    yield* writes("redemption.withdraw", { redemptionId: "r1" }, {})
    yield* Cycles.at(Cycles.monday)
    yield* Fund.publishes(stage, "1", Cycles.monday)
    for (const id of ["r2", "r3"]) {
      yield* Cycles.pays(stage, { id, units: "100", price: "1", proceeds: "100" })
    }
    const { cid } = yield* Fund.freeHolding(h1.party)
    yield* h1.act(
      Templates.exercise(Templates.Holding, cid, "RequestBurn", {
        amount: Decimal.of("100"),
        reference: { kind: "redemption", id: "r2" },
        custodian: null,
        executeBefore: Instant.of("2026-09-01T00:00:00Z")
      })
    )
    const request = yield* Fund.newestContract(Templates.BurnRequest)
    yield* stage.registrar.act(Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {}))
    yield* writes("redemption.settle", { redemptionId: "r2" }, paid(100, 2, "stmt-2"))
    yield* writes("redemption.release", { redemptionId: "r3" }, {})
  }),
  "of dealing cycles, and of the orders in them": Effect.gen(function* () {
    const { holders, stage } = yield* Cycles.opened(["h1"])
    const [h1] = holders
    if (h1 === undefined) throw new Error("no holder")
    yield* Cycles.opens("c1")
    yield* Cycles.opens("c2", { cutOffAt: Cycles.monday })
    yield* Cycles.subscribes(stage, h1, { id: "s1", amount: "1000" })
    yield* Cycles.at(Cycles.friday)
    yield* Fund.publishes(stage, "1", Cycles.friday)
    yield* Cycles.attests(stage, { id: "s1", units: "1000", price: "1" })
    yield* writes("dealing-cycle.settle", { cycleId: "c1" }, {})
    yield* writes("dealing-cycle.release", { cycleId: "c2" }, {})
  }),
  "of a standing settlement": Effect.gen(function* () {
    const { holders, stage } = yield* Cycles.opened(["h1"])
    const [h1] = holders
    if (h1 === undefined) throw new Error("no holder")
    const settlementParams = { standingSettlementId: "st1" }
    yield* writes(
      "standing-settlement.open",
      {},
      {
        ...settlementParams,
        ...fundA,
        funding: [{ party: h1.party, asset: Cycles.cash(stage), amount: 1000 }]
      }
    )
    yield* Cycles.paysIn(stage, h1, "1000")
    const held = yield* Fund.freeHolding(h1.party)
    const { cid } = yield* Fund.newestContract(Templates.StandingSettlement)
    yield* h1.act(
      Templates.exercise(Templates.StandingSettlement, cid, "Commit", {
        party: h1.party,
        holdingCid: held.cid,
        amount: Decimal.of("1000")
      })
    )
    yield* writes("standing-settlement.pause", settlementParams, {})
    yield* writes("standing-settlement.resume", settlementParams, {})
    yield* h1.act(
      Templates.create(Templates.SubscriptionOrder, {
        venue: stage.venue,
        fund: stage.fund.party,
        holder: h1.party,
        orderId: "buy-1",
        instrument: stage.asset,
        paymentAsset: Cycles.cash(stage),
        amount: Decimal.of("1000"),
        units: null,
        expiresAt: null
      })
    )
    const order = { ...wire, payment: "ledger", subscriptionId: "s1", orderId: "buy-1" }
    yield* writes("subscription.claim", {}, order)
    yield* Cycles.at(Cycles.friday)
    yield* Fund.publishes(stage, "1", Cycles.friday)
    yield* Cycles.attests(stage, { id: "s1", units: "1000", price: "1" })
    yield* writes("standing-settlement.settle", settlementParams, {
      subscriptions: ["s1"],
      redemptions: []
    })
    yield* writes("standing-settlement.close", settlementParams, {})
  }),
  "of a distribution": Effect.gen(function* () {
    const { holders, stage } = yield* Executions.founded(["h1", "h2"])
    for (const holder of holders) yield* Powers.mints(stage, holder, "1000")
    yield* Executions.publishes(stage, "0.001", "2026-07-15T11:00:00Z")
    yield* Cycles.at("2026-08-01T00:02:00Z")
    yield* writes("distribution.execute", {}, { ...fundA, month: "2026-07" })
    const approval = { standingApprovalId: "sa1" }
    const granted = { ...fundA, action: "distribution.execute", until: "2026-12-31T00:00:00Z" }
    yield* writes("standing-approval.grant", {}, { ...approval, ...granted })
    yield* writes("standing-approval.revoke", approval, {})
  }),
  "of a reserve": Effect.gen(function* () {
    const scene = yield* Backed.opened()
    const params = { reserveId: "res-1" }
    yield* writes("reserve.propose", {}, Backed.bodyOf(scene))
    for (const by of [scene.registrar, scene.custodian]) yield* Backed.answers(by)
    const lock = { lockAgreementId: "lock-1" }
    yield* writes("lock-agreement.propose", params, { ...lock, asset: { ...scene.usd } })
    yield* Backed.agrees(scene, "lock-1")
    yield* writes("lock-agreement.release", { ...params, ...lock }, {})
    const terms = Backed.termsOf(scene, { haircut: 0.1 })
    yield* writes("amendment.propose", params, { amendmentId: "am-1", terms })
    yield* writes("amendment.withdraw", { ...params, amendmentId: "am-1" }, {})
    yield* writes("reserve-report.create", params, {})
    yield* writes("reserve.close", params, {})
  }),
  "of mints and of redemptions from a reserve": Effect.gen(function* () {
    const scene = yield* Minting.opened()
    const { usd: asset } = scene
    const params = { reserveId: "res-1" }
    const { holderId } = scene.h1
    yield* writes("reserve-report.create", params, {})
    yield* Minting.mintsFor(scene, { mintId: "m-0", asset, deposit: 100 })
    yield* writes("mint.start", params, {
      mintId: "m-1",
      holderId,
      asset: { ...asset },
      deposit: 10
    })
    yield* writes("mint.cancel", { ...params, mintId: "m-1" }, {})
    const id = { reserveRedemptionId: "r-1" }
    yield* writes("reserve-redemption.start", params, {
      ...id,
      holderId,
      asset: { ...asset },
      units: 5
    })
    yield* writes("reserve-redemption.cancel", { ...params, ...id }, {})
  }),
  "of webhooks": Effect.gen(function* () {
    yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(Fund.start)))
    const body = { url: "https://receiver.example/", secret: null }
    yield* writes("webhook.register", {}, { webhookId: "w1", ...body })
    yield* writes("webhook.register", {}, { webhookId: "w2", ...body })
    yield* writes("webhook.test", { webhookId: "w1" }, {})
    yield* writes("webhook.remove", { webhookId: "w2" }, {})
  }),

  "of units that are moved without their holder": Effect.gen(function* () {
    const { stage, h1 } = yield* Powers.founded()
    const { order } = Powers
    const moves = [{ holderId: "h1", toHolderId: "h3", units: 10 }]
    const instruments = [{ ...fundA, units: 10 }]
    const h1Alone = { holderId: "h1" }
    yield* writes("holder.force-transfer", h1Alone, { toHolderId: "h2", order, instruments })
    yield* writes("instrument.force-transfer", fundA, { moves, order })
    yield* Powers.succeeds(stage, h1)
    yield* writes("holder.recover", h1Alone, {})
  }),

  "of the recovery of an instrument's holders": Effect.gen(function* () {
    const { stage, h1 } = yield* Powers.founded()
    yield* Powers.succeeds(stage, h1)
    yield* writes("instrument.recover", fundA, { holderIds: ["h1"] })
  }),

  "of lines that are rolled": Effect.gen(function* () {
    const { stage, holders, point } = yield* Month.founded(["h1", "h2"])
    const lines = holders.map(({ party }, nth) => Month.lineOf(nth + 1, party))
    yield* Month.opened(stage, point, lines)
    yield* Month.delivers(stage, "d-july", "d-july.1")
    yield* writes("distribution.roll", { distributionId: "d-july" }, {})
    yield* Month.delivers(stage, "d-july", "d-july.2")
  }),

  "of proposals that are declined, and of a consent that is revoked": Effect.gen(function* () {
    const stage = yield* Fund.opened()
    const { fund, registrar } = stage
    const asset = { paymentAsset: Cycles.cash(stage), fund: fund.party }
    const party = { party: fund.party }
    const market = { ...asset, terms: { attestors: [stage.attestor.party], required: 1 } }
    yield* writes("primary-market.propose", fundA, market)
    const offered = yield* Fund.newestContract(Templates.PrimaryMarketProposal)
    yield* fund.act(
      Templates.exercise(Templates.PrimaryMarketProposal, offered.cid, "Decline", party)
    )
    const provision = { ...asset, limit: 1000, until: "2027-07-31T12:00:00Z" }
    yield* writes("provision-settlement.propose", fundA, provision)
    const provided = yield* Fund.newestContract(Templates.ProvisionSettlementProposal)
    yield* fund.act(
      Templates.exercise(Templates.ProvisionSettlementProposal, provided.cid, "Decline", {})
    )
    yield* Powers.proposes(stage)
    const powers = yield* Fund.newestContract(Templates.IssuerPowersAgreementProposal)
    yield* fund.act(
      Templates.exercise(Templates.IssuerPowersAgreementProposal, powers.cid, "Decline", party)
    )
    const consent = yield* Fund.newestContract(Templates.AdmissionConsent)
    yield* registrar.act(Templates.exercise(Templates.AdmissionConsent, consent.cid, "Revoke", {}))
  })
}
