/**
 * Results of operations: that of every kind is the record it is about, read as of its writing:
 * every member, the instants and the version too. The town by chance holds the same against
 * whatever its people do.
 */
import { Catalogue, Engine, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import { WebhookSender } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Webhooks from "../feeds/webhooks.ts"
import * as Backed from "./backed.ts"
import * as Cycles from "./cycles.ts"
import * as Executions from "./executions.ts"
import * as Fund from "./fund.ts"
import * as Minting from "./minting.ts"
import * as Powers from "./powers.ts"
import * as Restricting from "./restricting.ts"
import * as Results from "./results.ts"

/** Kinds whose result is a record that no read shows, each with its reason. */
const unread: Readonly<Record<string, string>> = {
  "provision-settlement.propose": "no read shows a provision but as a proposal to be answered",
  "holder.force-transfer": "tells what one act has moved; its holder is another record",
  "instrument.force-transfer": "tells what one act has moved; its instrument is another record",
  "holder.recover": "tells what one act has moved; its holder is another record",
  "instrument.recover": "tells what one act has moved; its instrument is another record",
  "distribution.roll": "tells how many lines one act touched; their distribution is another record",
  "webhook.test": "tells what a receiver answered once, which is kept nowhere else"
}

/**
 * Comparisons that end otherwise: the webhook is removed, or the instant is before the ledger's
 * first update.
 */
const instead: Readonly<Record<string, string>> = {
  "webhook.register": "not read again: not-found",
  "webhook.remove": "not read again: not-found",
  "instrument.record": "not read again: before-horizon"
}

/** An engine whose clock moves on whenever it has come to rest: no two writes are of one instant. */
const engine = () => {
  const moving = Layer.effect(
    Engine.Engine,
    Effect.map(Engine.Engine, (self) =>
      Engine.Engine.of({ ...self, settle: Effect.tap(self.settle, () => TestClock.adjust(1)) })
    )
  )
  const sender = new Webhooks.Receivers().sender
  return Effect.provide(
    moving.pipe(
      Layer.provideMerge(world({ settings: Webhooks.settings })),
      Layer.provideMerge(Layer.succeed(WebhookSender.WebhookSender, sender))
    )
  )
}

/** Outcomes of comparisons by kind, over all stories. */
const outcomesByKind = new Map<string, Set<string>>()

/** Compares whatever the story has done. */
const compares = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(operations, { where: { state: ["succeeded"] }, limit: 1_000 })
  const wrong: Array<unknown> = []
  for (const { record } of rows) {
    const { kind, operationId } = record
    if (kind in unread) continue
    const { differences, how } = yield* Results.again(record)
    outcomesByKind.set(kind, (outcomesByKind.get(kind) ?? new Set()).add(how))
    for (const difference of differences) wrong.push([kind, operationId, ...difference])
  }
  assert.deepStrictEqual(wrong, [])
})

/** A write that succeeds. */
const writes = (...of: Parameters<typeof Calls.write>) =>
  Effect.map(Calls.write(...of), (done) => {
    assert.strictEqual(`${of[0]} ${done.state} ${done.why}`, `${of[0]} succeeded `)
    return done
  })

const fundA = { instrumentId: "fund-a" }
const wire = { ...fundA, holderId: "h1", payment: "wire" }
const paid = (amount: number, line: number, statementId = "stmt-1") => ({
  cash: [{ statementId, line, amount }]
})

describe("what operations answer is their records", () => {
  it.effect("in the life of an instrument and of its holders", () =>
    Effect.gen(function* () {
      const { holders, stage } = yield* Cycles.opened(["h1", "h2"])
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      yield* writes("policy.set", fundA, { minimumSubscription: 10 }, Calls.operator, "1")
      const third = yield* Fund.outsider("h3")
      yield* writes("holder.register", {}, { holderId: "h3", party: third.party })
      const kyc = { name: "kyc", value: "passed", state: "valid", evidenceHash: "ee".repeat(32) }
      yield* writes("holder.set-attributes", { holderId: "h1" }, { attributes: [kyc] })
      yield* Powers.another(stage, "fund-b")
      yield* Powers.admits(h1, "fund-b")
      yield* writes("admission.withdraw", { holderId: "h1", instrumentId: "fund-b" }, {})
      const account = { kind: "cash", holderId: "h1", number: "CH93 0076 2011 6238 5295 7" }
      yield* writes("external-account.map", {}, { externalAccountId: "a1", ...account })
      yield* Powers.agrees(stage)
      yield* Powers.consents(h1)
      yield* Powers.succeeds(stage, h1)
      yield* writes("holder.close", { holderId: "h2" }, {})
      yield* compares
    }).pipe(engine())
  )

  it.effect("where holders are restricted and an instrument is paused", () =>
    Effect.gen(function* () {
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
      yield* writes("instrument.pause", fundA, { holdId: "p1", reason: "to see" })
      yield* writes("hold.release", { holdId: "p1" }, {})
      yield* compares
    }).pipe(engine())
  )

  it.effect("of orders that are paid by wire, let go, or withdrawn", () =>
    Effect.gen(function* () {
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
      yield* stage.registrar.act(
        Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {})
      )
      yield* writes("redemption.settle", { redemptionId: "r2" }, paid(100, 2, "stmt-2"))
      yield* writes("redemption.release", { redemptionId: "r3" }, {})
      yield* compares
    }).pipe(engine())
  )

  it.effect("of dealing cycles, and of the orders in them", () =>
    Effect.gen(function* () {
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
      yield* compares
    }).pipe(engine())
  )

  it.effect("of a standing settlement", () =>
    Effect.gen(function* () {
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
      yield* compares
    }).pipe(engine())
  )

  it.effect("of a distribution", () =>
    Effect.gen(function* () {
      const { holders, stage } = yield* Executions.founded(["h1", "h2"])
      for (const holder of holders) yield* Powers.mints(stage, holder, "1000")
      yield* Executions.publishes(stage, "0.001", "2026-07-15T11:00:00Z")
      yield* Cycles.at("2026-08-01T00:02:00Z")
      yield* writes("distribution.execute", {}, { ...fundA, month: "2026-07" })
      const approval = { standingApprovalId: "sa1" }
      const granted = { ...fundA, action: "distribution.execute", until: "2026-12-31T00:00:00Z" }
      yield* writes("standing-approval.grant", {}, { ...approval, ...granted })
      yield* writes("standing-approval.revoke", approval, {})
      yield* compares
    }).pipe(engine())
  )

  it.effect("of a reserve", () =>
    Effect.gen(function* () {
      const scene = yield* Backed.opened()
      const of = { reserveId: "res-1" }
      yield* writes("reserve.propose", {}, Backed.bodyOf(scene))
      for (const by of [scene.registrar, scene.custodian]) yield* Backed.answers(by)
      const lock = { lockAgreementId: "lock-1" }
      yield* writes("lock-agreement.propose", of, { ...lock, asset: { ...scene.usd } })
      yield* Backed.agrees(scene, "lock-1")
      yield* writes("lock-agreement.release", { ...of, ...lock }, {})
      const terms = Backed.termsOf(scene, { haircut: 0.1 })
      yield* writes("amendment.propose", of, { amendmentId: "am-1", terms })
      yield* writes("amendment.withdraw", { ...of, amendmentId: "am-1" }, {})
      yield* writes("reserve-report.create", of, {})
      yield* writes("reserve.close", of, {})
      yield* compares
    }).pipe(engine())
  )

  it.effect("of mints and of redemptions from a reserve", () =>
    Effect.gen(function* () {
      const scene = yield* Minting.opened()
      const { usd: asset } = scene
      const of = { reserveId: "res-1" }
      const { holderId } = scene.h1
      yield* Minting.mintsFor(scene, { mintId: "m-0", asset, deposit: 100 })
      yield* writes("mint.start", of, { mintId: "m-1", holderId, asset: { ...asset }, deposit: 10 })
      yield* writes("mint.cancel", { ...of, mintId: "m-1" }, {})
      const id = { reserveRedemptionId: "r-1" }
      yield* writes("reserve-redemption.start", of, {
        ...id,
        holderId,
        asset: { ...asset },
        units: 5
      })
      yield* writes("reserve-redemption.cancel", { ...of, ...id }, {})
      yield* compares
    }).pipe(engine())
  )

  it.effect("of webhooks", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(Fund.start)))
      const body = { url: "https://receiver.example/", secret: null }
      yield* writes("webhook.register", {}, { webhookId: "w1", ...body })
      yield* writes("webhook.register", {}, { webhookId: "w2", ...body })
      yield* writes("webhook.remove", { webhookId: "w2" }, {})
      yield* compares
    }).pipe(engine())
  )
})

describe("every kind of the table", () => {
  const kinds = Catalogue.operations.map(({ kind }) => kind)

  it.each(kinds.filter((kind) => !(kind in unread)))("%s has been compared", (kind) => {
    const hows = [...(outcomesByKind.get(kind) ?? [])]
    const others = hows.filter((how) => how !== "compared" && how !== instead[kind])
    assert.deepStrictEqual(others, [])
    assert.include(hows, kind === "webhook.remove" ? instead[kind] : "compared")
  })

  it.each(Object.entries(unread))("%s is the record of no read: %s", (kind) => {
    const operation = Catalogue.operations.find((one) => one.kind === kind)
    if (operation === undefined) throw new Error(`no operation ${kind}`)
    assert.deepStrictEqual(Results.showing(operation), [])
  })

  it.each(Object.keys(Results.places))("%s has no read of one record", (kind) => {
    const operation = Catalogue.operations.find((one) => one.kind === kind)
    if (operation === undefined) throw new Error(`no operation ${kind}`)
    const shapes = Catalogue.queries.filter(({ name }) => Results.showing(operation).includes(name))
    assert.deepStrictEqual(
      [...new Set(shapes.map(({ shape }) => shape))].filter((one) => one === "one"),
      []
    )
  })

  it("tells all that its record's read does, but for what the read adds of other records", () => {
    const less = Catalogue.operations.flatMap((operation) => {
      const beyond = Results.beyond(operation)
      return beyond.length === 0 ? [] : [[operation.kind, beyond.join(" ")]]
    })
    // Members that other records give of the instrument, and members that the read computes at its
    // own point.
    const around = "holderCount navFeedState paused holds primaryMarket admissionConsent"
    const computed = "fills legs basis"
    assert.deepStrictEqual(less, [
      ["instrument.record", `${around} issuerPowersAgreement`],
      ["dealing-cycle.open", computed],
      ["dealing-cycle.settle", computed],
      ["dealing-cycle.release", computed]
    ])
  })
})
