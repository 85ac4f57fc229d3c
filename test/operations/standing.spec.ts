/** Standing settlements and provisions through their operations and the wallets of outside parties. */
import { Queries, Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { provisionSettlements } from "#core/orders/provision-settlement/ProvisionSettlement.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import { holdings } from "#core/instruments/register/Holding.ts"
import { redemptions } from "#core/orders/redemption/Redemption.ts"
import { standingSettlements } from "#core/orders/standing-settlement/StandingSettlement.ts"
import * as StandingSettlementQueries from "#core/orders/standing-settlement/StandingSettlementQueries.ts"
import { subscriptions } from "#core/orders/subscription/Subscription.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"
import * as Navs from "./navs.ts"

const engine = () => Effect.provide(world())
const valued = "2026-07-31T20:30:00Z"
const laterDeadline = Instant.of("2026-09-01T00:00:00Z")
const includes = (self: object, members: object) => assert.deepInclude(self, members)

const standingSettlement = Effect.flatMap(Records, (records) =>
  records.get(standingSettlements, "st1")
)
const acts = (verb: string, body: Calls.Json = {}) =>
  Calls.write(`standing-settlement.${verb}`, { standingSettlementId: "st1" }, body)
const usd = (stage: Fund.Parties) => ({ admin: stage.bank.party, id: "USD" })

const opens = (stage: Fund.Parties, members: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write(
    "standing-settlement.open",
    {},
    {
      standingSettlementId: "st1",
      instrumentId: "fund-a",
      funding: [
        { party: stage.holder.party, asset: usd(stage), amount: 3000 },
        { party: stage.holder.party, asset: stage.asset, amount: 500 },
        { party: stage.fund.party, asset: usd(stage), amount: 2000 }
      ],
      ...members
    }
  )

/** The bank's cash in a party's hands. */
const gives = (stage: Fund.Parties, to: Fund.Outsider, amount: string) =>
  Effect.gen(function* () {
    yield* stage.bank.act(
      Templates.createAndExercise(
        Templates.Holding,
        {
          registrar: stage.bank.party,
          owner: stage.bank.party,
          provider: stage.venue,
          instrument: usd(stage),
          amount: Decimal.of(amount),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        },
        "OfferTransfer",
        { receiver: to.party, amount: Decimal.of(amount), executeBefore: laterDeadline }
      )
    )
    const { cid } = yield* Fund.newestContract(Templates.TransferOffer)
    yield* to.act(
      Templates.exercise(Templates.TransferOffer, cid, "Accept", { credentialCid: null })
    )
    return (yield* Fund.newestContract(Templates.Holding)).cid
  })

const commits = (by: Fund.Outsider, holdingCid: string, amount: string) =>
  Effect.gen(function* () {
    const { cid } = yield* Fund.newestContract(Templates.StandingSettlement)
    yield* by.act(
      Templates.exercise(Templates.StandingSettlement, cid, "Commit", {
        party: by.party,
        holdingCid,
        amount: Decimal.of(amount)
      })
    )
  })

/** A market, an admitted holder with 1000 units, and a settlement to which nobody has committed. */
const proposedBy = Effect.fnUntraced(function* (change: Readonly<Record<string, Calls.Json>>) {
  const stage = yield* Fund.opened(change)
  yield* Fund.market(stage)
  yield* Fund.admitted(stage)
  const credential = yield* Fund.newestContract(Templates.Credential)
  yield* stage.registrar.act(
    Templates.exercise(Templates.Credential, credential.cid, "Receive", {
      amount: Decimal.of("1000"),
      reference: { kind: "opening", id: "o1" },
      configurationCid: null
    })
  )
  const units = (yield* Fund.newestContract(Templates.Holding)).cid
  const opening = yield* opens(stage)
  assert.strictEqual(opening.why, "")
  includes(yield* standingSettlement, {
    state: "proposed",
    iterations: 0,
    parties: [stage.holder.party, stage.fund.party]
  })
  return { stage, units }
})

/** The same, with all that was asked for committed. */
const openedBy = Effect.fnUntraced(function* (change: Readonly<Record<string, Calls.Json>>) {
  const { stage, units } = yield* proposedBy(change)
  yield* commits(stage.holder, units, "500")
  yield* commits(stage.holder, yield* gives(stage, stage.holder, "5000"), "3000")
  assert.strictEqual((yield* standingSettlement).state, "proposed")
  yield* commits(stage.fund, yield* gives(stage, stage.fund, "2000"), "2000")
  return stage
})

const opened = openedBy({})

/** A subscription and a redemption, signed by the holder, claimed and priced. */
const ordered = (
  stage: Fund.Parties,
  figures: { readonly amount: string; readonly bought: string }
) =>
  Effect.gen(function* () {
    const signed = {
      venue: stage.venue,
      fund: stage.fund.party,
      holder: stage.holder.party,
      instrument: stage.asset,
      paymentAsset: usd(stage),
      expiresAt: null
    }
    yield* stage.holder.act(
      Templates.create(Templates.SubscriptionOrder, {
        ...signed,
        orderId: "buy-1",
        amount: Decimal.of(figures.amount),
        units: null
      })
    )
    const order = { instrumentId: "fund-a", holderId: "h1", payment: "ledger" }
    const bought = { ...order, subscriptionId: "s1", orderId: "buy-1" }
    assert.strictEqual((yield* Calls.write("subscription.claim", {}, bought)).why, "")
    yield* stage.holder.act(
      Templates.create(Templates.RedemptionOrder, {
        ...signed,
        orderId: "sell-1",
        amount: null,
        units: Decimal.of("200"),
        custodian: null
      })
    )
    const sold = { ...order, redemptionId: "r1", orderId: "sell-1" }
    assert.strictEqual((yield* Calls.write("redemption.claim", {}, sold)).why, "")
    yield* Fund.publishesInTime(stage, "1", valued)
    yield* Fund.attests(stage.attestor, figures.bought)
    const claim = yield* Fund.newestContract(Templates.RedemptionClaim)
    const point = yield* Fund.newestContract(Templates.OraclePoint)
    yield* stage.oracle.act(
      Templates.exercise(Templates.RedemptionClaim, claim.cid, "Price", {
        pointCid: point.cid,
        price: Decimal.of("1"),
        units: Decimal.of("200"),
        proceeds: Decimal.of("200")
      })
    )
  })

const both = { subscriptions: ["s1"], redemptions: ["r1"] }

describe("a standing settlement", () => {
  it.effect("is opened, committed to, settled under, and closed with what is left given back", () =>
    Effect.gen(function* () {
      const stage = yield* opened
      includes(yield* standingSettlement, { state: "open" })
      yield* ordered(stage, { amount: "1000", bought: "1000" })
      const settled = yield* acts("settle", both)
      assert.strictEqual(settled.why, "")
      const after = yield* standingSettlement
      includes(after, { state: "open", iterations: 1 })
      assert.deepStrictEqual(
        after.committed.map(({ amount }) => Decimal.formatPlain(amount)).toSorted(),
        ["1800", "2000", "300"]
      )
      const records = yield* Records
      includes(yield* records.get(subscriptions, "s1"), { state: "closed" })
      includes(yield* records.get(redemptions, "r1"), { state: "settled" })
      assert.strictEqual((yield* acts("close")).why, "")
      includes(yield* standingSettlement, { state: "closed", committed: [], allocations: [] })
      // Nobody is asked any more for cash of an order that is closed.
      assert.strictEqual(yield* Fund.countActive(Templates.SettlementIntent), 0)
      assert.strictEqual(yield* Fund.countActive(Templates.StandingCommitment), 0)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("settles nothing while it is paused, and only two eyes more resume it", () =>
    Effect.gen(function* () {
      const stage = yield* opened
      yield* ordered(stage, { amount: "1000", bought: "1000" })
      assert.strictEqual((yield* acts("pause")).why, "")
      includes(yield* standingSettlement, { state: "paused" })
      assert.strictEqual(
        (yield* acts("settle", both)).why,
        "state-conflict StandingSettlementState"
      )
      const resuming = Calls.openAction(
        "standing-settlement.resume",
        { standingSettlementId: "st1" },
        {}
      )
      const awaiting = yield* resuming
      includes(yield* standingSettlement, { state: "paused" })
      assert.strictEqual((yield* Calls.approveAction(awaiting)).why, "")
      // Resuming an open standing settlement is refused before the ledger is called.
      const again = yield* Effect.flip(resuming)
      assert.deepInclude(again, { _tag: "Refused", slug: "state-conflict" })
      assert.strictEqual((yield* acts("settle", both)).why, "")
    }).pipe(engine())
  )

  it.effect("waits for a NAV that confirms the price of its orders, where a feed is mapped", () =>
    Effect.gen(function* () {
      const stage = yield* openedBy(Navs.fed)
      yield* ordered(stage, { amount: "1000", bought: "1000" })
      assert.strictEqual((yield* acts("settle", both)).why, "rule-refused nav-feed feed-usable")
      yield* Navs.states({ businessDate: "2026-07-31", official: "1" })
      assert.strictEqual((yield* acts("settle", both)).why, "")
    }).pipe(engine())
  )

  it.effect("settles no order at a price that its oracle has taken back", () =>
    Effect.gen(function* () {
      const stage = yield* opened
      yield* ordered(stage, { amount: "1000", bought: "1000" })
      yield* Fund.corrects(stage, "1.01", valued)
      assert.strictEqual((yield* acts("settle", both)).why, "rule-refused nav-feed feed-usable")
    }).pipe(engine())
  )

  it.effect("takes no more than its payers committed", () =>
    Effect.gen(function* () {
      const stage = yield* opened
      yield* ordered(stage, { amount: "3000.01", bought: "3000.01" })
      assert.strictEqual((yield* acts("settle", both)).why, "rule-refused cash committed")
      assert.strictEqual((yield* acts("settle", { redemptions: ["r1"] })).why, "")
    }).pipe(engine())
  )

  it.effect(
    "never gives units to a holder whose registration ran out, or keeps those it gives back",
    () =>
      Effect.gen(function* () {
        const stage = yield* opened
        yield* ordered(stage, { amount: "1000", bought: "1000" })
        yield* Calls.write(
          "holder.set-attributes",
          { holderId: "h1" },
          {
            attributes: [
              { name: "kyc", value: "passed", state: "valid", evidenceHash: "ee".repeat(32) }
            ],
            validUntil: "2026-08-01T00:00:00Z"
          }
        )
        yield* TestClock.setTime(Instant.toEpochMillis(Instant.of("2026-08-01T00:00:00Z")))
        const records = yield* Records
        includes(yield* records.get(holders, "h1"), { state: "lapsed" })
        const why = "rule-refused admission holder-active"
        assert.strictEqual((yield* acts("settle", both)).why, why)
        // The order alone is refused for the same reason.
        const alone = yield* Calls.write("subscription.settle", { subscriptionId: "s1" }, {})
        assert.strictEqual(alone.why, why)
        assert.strictEqual((yield* acts("settle", { redemptions: ["r1"] })).why, "")
      }).pipe(engine())
  )

  it.effect(
    "does not settle out of what is committed once its holder's own units ran out of time",
    () =>
      Effect.gen(function* () {
        const stage = yield* opened
        yield* ordered(stage, { amount: "1000", bought: "1000" })
        const records = yield* Records
        const found = yield* records.list(holdings, {
          where: { owner: [stage.holder.party] },
          limit: 100
        })
        const free = found.find(
          ({ record }) => record.lock === null && record.instrumentId === "fund-a"
        )
        const until = Instant.of("2026-08-02T00:00:00Z")
        yield* stage.holder.act(
          Templates.exercise(Templates.Holding, free?.record.contractId ?? "", "Allocate", {
            allocationId: "r1",
            executor: stage.venue,
            receiver: stage.fund.party,
            amount: Decimal.of("200"),
            settleBefore: until
          })
        )
        assert.isNotNull((yield* records.get(redemptions, "r1")).unitsAllocation)
        yield* TestClock.setTime(Instant.toEpochMillis(until))
        assert.strictEqual((yield* acts("settle", { redemptions: ["r1"] })).why, "")
        const { committed } = yield* standingSettlement
        assert.deepStrictEqual(
          committed.map(({ amount }) => Decimal.formatPlain(amount)).toSorted(),
          ["1800", "300", "3000"]
        )
      }).pipe(engine())
  )

  it.effect("never settles an order whose own time is past", () =>
    Effect.gen(function* () {
      const stage = yield* opened
      yield* ordered(stage, { amount: "1000", bought: "1000" })
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of("2026-08-05T20:00:00Z")))
      assert.strictEqual((yield* acts("settle", both)).why, "rule-refused window settle-by")
      yield* Calls.settle
    }).pipe(engine())
  )

  it.effect("takes no more orders than one ledger transaction settles", () =>
    Effect.gen(function* () {
      const stage = yield* opened
      yield* ordered(stage, { amount: "1000", bought: "1000" })
      const why = "rule-refused ledger transaction-size"
      assert.strictEqual((yield* acts("settle", both)).why, why)
      assert.strictEqual((yield* acts("settle", { redemptions: ["r1"] })).why, "")
    }).pipe(Effect.provide(world({ settings: { inputsMax: 60 } })))
  )

  it.effect("keeps units that are committed to it for orders paid on the ledger", () =>
    Effect.gen(function* () {
      const stage = yield* opened
      const order = { instrumentId: "fund-a", holderId: "h1" }
      // Of 1000 units 500 are committed, and locked.
      const byWire = yield* Calls.write("redemption.claim", {}, { ...order, units: 501 })
      assert.strictEqual(byWire.why, "rule-refused units units-free")
      const claims = (units: string) =>
        Effect.gen(function* () {
          yield* stage.holder.act(
            Templates.create(Templates.RedemptionOrder, {
              venue: stage.venue,
              fund: stage.fund.party,
              holder: stage.holder.party,
              orderId: `sell-${units}`,
              instrument: stage.asset,
              paymentAsset: usd(stage),
              amount: null,
              units: Decimal.of(units),
              custodian: null,
              expiresAt: null
            })
          )
          const signed = { ...order, payment: "ledger", orderId: `sell-${units}` }
          return (yield* Calls.write("redemption.claim", {}, signed)).why
        })
      assert.strictEqual(yield* claims("1000.5"), "rule-refused units units-free")
      assert.strictEqual(yield* claims("700"), "")
      assert.strictEqual(yield* claims("300.5"), "rule-refused units units-free")
      assert.strictEqual(yield* claims("300"), "")
    }).pipe(engine())
  )

  it.effect("runs out at its deadline, whatever is committed", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.market(stage)
      yield* Fund.admitted(stage)
      assert.strictEqual((yield* opens(stage, { deadline: "2026-08-03T00:00:00Z" })).why, "")
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of("2026-08-03T00:00:00Z")))
      includes(yield* standingSettlement, { state: "expired" })
      assert.strictEqual((yield* acts("close")).why, "state-conflict StandingSettlementState")
      // The fund may still put its own contract away.
      const { cid } = yield* Fund.newestContract(Templates.StandingSettlement)
      yield* stage.fund.act(
        Templates.exercise(Templates.StandingSettlement, cid, "End", { commitments: [] })
      )
      includes(yield* standingSettlement, { state: "expired" })
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("the fund's own end gives back what is committed, as a close does", () =>
    Effect.gen(function* () {
      const stage = yield* opened
      const records = yield* Records
      const locked = Effect.map(
        records.list(holdings, { limit: 100 }),
        (found) =>
          found.filter(({ record }) => record.endedOffset === null && record.lock !== null).length
      )
      const { committed } = yield* standingSettlement
      assert.strictEqual(yield* locked, 3)
      const { cid } = yield* Fund.newestContract(Templates.StandingSettlement)
      const commitments = committed.map(({ commitmentCid }) => commitmentCid)
      yield* stage.fund.act(
        Templates.exercise(Templates.StandingSettlement, cid, "End", { commitments })
      )
      includes(yield* standingSettlement, {
        state: "closed",
        committed: [],
        allocations: [],
        standingCid: null
      })
      assert.strictEqual(yield* locked, 0)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect(
    "a second commitment of the same asset is kept as a surprise, and counts for nothing",
    () =>
      Effect.gen(function* () {
        const stage = yield* opened
        yield* commits(stage.holder, yield* gives(stage, stage.holder, "10"), "10")
        assert.deepStrictEqual(yield* Fund.surprises, [
          "standing-settlement commit: The party has committed this asset already."
        ])
        assert.lengthOf((yield* standingSettlement).committed, 3)
      }).pipe(engine())
  )

  it.effect("counts for an investor what it is shown, and no commitment of another party", () =>
    Effect.gen(function* () {
      const { stage, units } = yield* proposedBy({})
      const queries = yield* Queries
      const shown = Effect.map(
        queries.one(StandingSettlementQueries.get, {
          caller: { ...Calls.person("ina", "investor"), holderId: "h1" },
          params: { standingSettlementId: "st1" as never },
          point: {}
        }),
        ({ value }) => value
      )
      const first = yield* shown
      yield* TestClock.adjust("1 minute")
      yield* commits(stage.fund, yield* gives(stage, stage.fund, "2000"), "2000")
      assert.strictEqual((yield* standingSettlement).version, first.version + 1)
      assert.deepStrictEqual(yield* shown, first)
      yield* TestClock.adjust("1 minute")
      yield* commits(stage.holder, units, "500")
      const second = yield* shown
      assert.strictEqual(second.version, first.version + 1)
      assert.isTrue(second.updatedAt > first.updatedAt)
      yield* commits(stage.holder, yield* gives(stage, stage.holder, "5000"), "3000")
      includes(yield* shown, { state: "open", version: first.version + 2 })
      const paused = yield* Calls.write(
        "standing-settlement.pause",
        { standingSettlementId: "st1" },
        {}
      )
      assert.strictEqual(paused.why, "")
      includes(yield* shown, { state: "paused", version: first.version + 3 })
      // The clock ends it: no fact of the ledger says so.
      const before = yield* shown
      yield* TestClock.setTime(Instant.toEpochMillis(before.expiresAt) + 1)
      includes(yield* shown, {
        state: "expired",
        version: before.version + 1,
        updatedAt: before.expiresAt
      })
    }).pipe(engine())
  )

  it.effect("shows an investor its own funding, and a stranger nothing", () =>
    Effect.gen(function* () {
      yield* opened
      const queries = yield* Queries
      const investor = (holderId: string) => ({ ...Calls.person("ina", "investor"), holderId })
      const listed = (holderId: string) =>
        Effect.map(
          queries.page(StandingSettlementQueries.list, {
            caller: investor(holderId),
            params: {},
            point: {},
            page: { limit: 10 }
          }),
          ({ value }) => value.length
        )
      assert.strictEqual(yield* listed("h1"), 1)
      assert.strictEqual(yield* listed("h2"), 0)
      const one = yield* queries.one(StandingSettlementQueries.get, {
        caller: investor("h1"),
        params: { standingSettlementId: "st1" as never },
        point: {}
      })
      assert.lengthOf(one.value.parties, 1)
      assert.lengthOf(one.value.funding, 2)
      assert.lengthOf(one.value.allocations, 2)
      const hidden = yield* Effect.flip(
        queries.one(StandingSettlementQueries.get, {
          caller: investor("h2"),
          params: { standingSettlementId: "st1" as never },
          point: {}
        })
      )
      includes(hidden, { slug: "not-found" })
    }).pipe(engine())
  )
})

/** Checks that refuse an opening, one row each. */
const refusals: ReadonlyArray<
  readonly [why: string, changesOf: (stage: Fund.Parties) => Readonly<Record<string, Calls.Json>>]
> = [
  ["window deadline-ahead", () => ({ deadline: "2026-07-31T12:00:00Z" })],
  [
    "cash funding-asset",
    ({ holder, bank }) => ({
      funding: [{ party: holder.party, asset: { admin: bank.party, id: "EUR" }, amount: 1 }]
    })
  ],
  [
    "cash currency-decimals",
    (stage) => ({ funding: [{ party: stage.holder.party, asset: usd(stage), amount: 1.001 }] })
  ],
  [
    "units unit-decimals",
    (stage) => ({
      funding: [{ party: stage.holder.party, asset: stage.asset, amount: 1.1234567 }]
    })
  ],
  [
    "admission holder-active",
    (stage) => ({ funding: [{ party: stage.bank.party, asset: usd(stage), amount: 1 }] })
  ]
]

describe("opening a standing settlement", () => {
  for (const [why, changesOf] of refusals) {
    it.effect(`is refused at ${why}`, () =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* Fund.market(stage)
        yield* Fund.admitted(stage)
        assert.strictEqual((yield* opens(stage, changesOf(stage))).why, `rule-refused ${why}`)
      }).pipe(engine())
    )
  }

  it.effect("is refused without an agreed market", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.admitted(stage)
      assert.strictEqual((yield* opens(stage)).why, "rule-refused policy primary-market")
    }).pipe(engine())
  )
})

describe("a provision settlement", () => {
  const provision = Effect.gen(function* () {
    const records = yield* Records
    const found = yield* records.list(provisionSettlements, { direction: "desc", limit: 1 })
    const [last] = found
    if (last === undefined) throw new Error("none was proposed")
    return last.record
  })
  const proposes = (stage: Fund.Parties, members: Readonly<Record<string, Calls.Json>> = {}) =>
    Calls.write(
      "provision-settlement.propose",
      { instrumentId: "fund-a" },
      { fund: stage.fund.party, paymentAsset: usd(stage), ...members }
    )
  const answers = (stage: Fund.Parties, choice: "Accept" | "Decline") =>
    Effect.flatMap(Fund.newestContract(Templates.ProvisionSettlementProposal), ({ cid }) =>
      stage.fund.act(Templates.exercise(Templates.ProvisionSettlementProposal, cid, choice, {}))
    )

  it.effect("is proposed, replaced, agreed, and ended by the fund", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      assert.strictEqual((yield* proposes(stage)).why, "")
      const first = yield* provision
      includes(first, { state: "proposed" })
      assert.strictEqual((yield* proposes(stage, { limit: 1000 })).why, "")
      const records = yield* Records
      includes(yield* records.get(provisionSettlements, first.provisionSettlementId), {
        state: "withdrawn"
      })
      yield* answers(stage, "Accept")
      includes(yield* provision, { state: "agreed", limit: Decimal.of("1000") })
      assert.strictEqual((yield* proposes(stage)).why, "state-conflict ProvisionSettlementState")
      const { cid } = yield* Fund.newestContract(Templates.ProvisionSettlement)
      yield* stage.fund.act(Templates.exercise(Templates.ProvisionSettlement, cid, "End", {}))
      includes(yield* provision, { state: "ended" })
    }).pipe(engine())
  )

  it.effect("is declined, or runs out at its date", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* proposes(stage)
      yield* answers(stage, "Decline")
      includes(yield* provision, { state: "declined" })
      yield* proposes(stage, { until: "2026-08-03T00:00:00Z" })
      yield* answers(stage, "Accept")
      includes(yield* provision, { state: "agreed" })
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of("2026-08-03T00:00:00Z")))
      includes(yield* provision, { state: "ended" })
      // The fund may still put its own contract away.
      const { cid } = yield* Fund.newestContract(Templates.ProvisionSettlement)
      yield* stage.fund.act(Templates.exercise(Templates.ProvisionSettlement, cid, "End", {}))
      includes(yield* provision, { state: "ended" })
      assert.deepStrictEqual(yield* Fund.surprises, [])
      const past = yield* proposes(stage, { until: "2026-08-03T00:00:00Z" })
      assert.strictEqual(past.why, "rule-refused window provision-in-time")
    }).pipe(engine())
  )
})
