/** The lists of what waits: open orders of every kind, and proposals, as they stood at any point. */
import { type Caller, Queries, Records } from "@bursar/engine-core"
import { Decimal, Instant, type Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as OpenOrderQueries from "#core/overviews/OpenOrderQueries.ts"
import * as ProposalQueries from "#core/overviews/ProposalQueries.ts"
import {
  redemptions,
  RedemptionMachine,
  RedemptionOrder
} from "#core/orders/redemption/Redemption.ts"
import * as RedemptionQueries from "#core/orders/redemption/RedemptionQueries.ts"
import {
  subscriptions,
  SubscriptionMachine,
  SubscriptionOrder
} from "#core/orders/subscription/Subscription.ts"
import * as SubscriptionQueries from "#core/orders/subscription/SubscriptionQueries.ts"
import { openStates } from "#core/orders/order/OpenOrder.ts"
import { contracts } from "#core/projection/Contract.ts"
import { ReserveOrderMachine } from "#core/reserves/reserve-order/ReserveOrder.ts"
import { OpenOrderState } from "#core/vocabulary/sets.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import { claims, ordered, type Play, playOf, price, valued, walk } from "./worklist.ts"

const engine = () => Effect.provide(world())
const auditor = Calls.person("aida", "auditor")
const ofFund = openStates.subscription
type Point = { readonly at?: Offset.Offset; readonly asOf?: Instant.Instant }
type Asked = Parameters<typeof OpenOrderQueries.list.where>[0]

/** The open orders at a point, by pages of two; the same as one stream. */
const open = (options: {
  readonly point?: Point
  readonly params?: object
  readonly caller?: Caller.Caller
  readonly limit?: number
}) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const { caller = auditor, point = {}, params = {}, limit = 2 } = options
    const request = { caller, point, params: params as Asked }
    const rows: Array<OpenOrderQueries.OpenOrderView> = []
    let after: string | null = null
    do {
      const page: Effect.Success<
        ReturnType<typeof queries.page<never, never, Asked, OpenOrderQueries.OpenOrderView>>
      > = yield* queries.page(OpenOrderQueries.list, {
        ...request,
        page: { limit, ...(after === null ? {} : { after }) }
      })
      assert.isAtMost(page.value.length, limit)
      rows.push(...page.value)
      after = page.next
    } while (after !== null)
    const { value } = yield* queries.all(OpenOrderQueries.list, { ...request, page: {} })
    assert.deepStrictEqual(yield* Stream.runCollect(value), rows)
    return rows
  })

const shown = (rows: ReadonlyArray<OpenOrderQueries.OpenOrderView>) =>
  rows.map(({ orderId, kind, state }) => `${kind} ${orderId} ${state}`)

/** The same from the lists of each kind, which have no filter of open orders. */
const expected = (point: Point) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const all = { caller: auditor, params: {}, point, page: { limit: 1000 } }
    const bought = yield* queries.page(SubscriptionQueries.list, all)
    const sold = yield* queries.page(RedemptionQueries.list, all)
    const rows = [
      ...bought.value.map((order) => ({
        ...order,
        kind: "subscription",
        id: order.subscriptionId,
        // A closed order is listed, and waits on a party or role, only while it owes a refund.
        orderState:
          order.state === "closed" && order.waitingOn.length > 0
            ? "awaiting-refund"
            : order.orderState
      })),
      ...sold.value.map((order) => ({ ...order, kind: "redemption", id: order.redemptionId }))
    ]
    return rows
      .filter(({ orderState }) => ofFund.has(orderState as OpenOrderState))
      .toSorted((a, b) => {
        if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? -1 : 1
        return a.id < b.id ? -1 : 1
      })
      .map(({ kind, id, orderState }) => `${kind} ${id} ${orderState}`)
  })

const everyOffset = Effect.gen(function* () {
  const queries = yield* Queries
  const { offset } = yield* queries.page(OpenOrderQueries.list, {
    caller: auditor,
    params: {},
    point: {},
    page: { limit: 1 }
  })
  return Array.from({ length: offset }, (_, index) => (index + 1) as Offset.Offset)
})

const walkAll = (play: Play) =>
  Effect.gen(function* () {
    const subscription = { collection: subscriptions, machine: SubscriptionMachine }
    const redemption = { collection: redemptions, machine: RedemptionMachine }
    for (const id of ["s-wire", "s-units", "s-alone"]) yield* walk(play, { ...subscription, id })
    for (const id of ["r-wire", "r-alone"]) yield* walk(play, { ...redemption, id })
    const until = "dealing-cycle.settle"
    yield* walk(play, { ...subscription, id: "s-cycle", until })
    yield* walk(play, { ...redemption, id: "r-cycle", until })
  })

describe("open orders", () => {
  it("never are other states than the open ones of the two kinds", () => {
    const first = (states: object, count: number) => Object.keys(states).slice(0, count)
    const members = [...first(SubscriptionOrder.states, 3), ...first(RedemptionOrder.states, 5)]
    // A closed order that owes its refund is listed for that alone.
    members.push("awaiting-refund")
    assert.sameMembers([...new Set(members)], [...ofFund])
    assert.deepStrictEqual(openStates.redemption, openStates.subscription)
  })

  it("of a reserve are those that have not ended, past their deadline too", () => {
    const { moves, states } = ReserveOrderMachine
    const left = Object.keys(states).filter(
      (state) => Object.keys(moves[state as keyof typeof moves]).length > 0
    )
    for (const kind of ["mint", "reserve-redemption"] as const) {
      assert.sameMembers([...openStates[kind]], left)
    }
    const all = Object.values(openStates).flatMap((states) => [...states])
    assert.sameMembers([...new Set(all)], [...OpenOrderState.members])
  })

  it.effect("are those of the orders at every offset of a history, in pages and in one", () =>
    Effect.gen(function* () {
      const play = yield* ordered
      yield* walkAll(play)
      const states = new Set<string>()
      for (const at of yield* everyOffset) {
        const rows = shown(yield* open({ point: { at } }))
        assert.deepStrictEqual(rows, yield* expected({ at }))
        for (const row of rows) states.add(row.split(" ").slice(2).join(" "))
      }
      assert.sameMembers([...states], [...ofFund])
      // Two of the cycle are left, both ready.
      assert.deepStrictEqual(shown(yield* open({})), [
        "subscription s-cycle ready",
        "redemption r-cycle ready"
      ])
    }).pipe(engine())
  )

  it.effect(
    "never do not say whose move it is, by when, for how much, or what a filter asks for",
    () =>
      Effect.gen(function* () {
        const play = yield* ordered
        yield* walk(play, {
          collection: subscriptions,
          machine: SubscriptionMachine,
          id: "s-alone",
          until: "subscription.settle"
        })
        const rows = yield* open({})
        assert.lengthOf(rows, 7)
        const ids = (params: object) =>
          Effect.map(open({ params }), (all) => all.map((one) => one.orderId))
        assert.deepStrictEqual(yield* ids({ state: ["ready"] }), ["s-alone"])
        assert.deepStrictEqual(yield* ids({ kind: ["redemption"] }), [
          "r-wire",
          "r-alone",
          "r-cycle"
        ])
        assert.deepStrictEqual(
          yield* ids({ kind: ["subscription"], state: ["awaiting-units"] }),
          []
        )
        assert.deepStrictEqual(yield* ids({ kind: ["mint"] }), [])
        assert.deepStrictEqual(yield* ids({ instrumentId: "fund-b" }), [])
        assert.deepStrictEqual(yield* ids({ holderId: "h2" }), ["r-alone", "s-cycle"])
        const alone = rows.find(({ orderId }) => orderId === "s-alone")
        assert.deepStrictEqual(
          alone?.waitingOn.map(({ role, action }) => `${role} ${action}`),
          ["operator subscription.settle"]
        )
        assert.strictEqual(alone?.by, alone?.waitingOn[0]?.by)
        assert.isNotNull(alone?.by)
        const cycle = rows.find(({ orderId }) => orderId === "s-cycle")
        assert.strictEqual(cycle?.cycleId, "c1")
      }).pipe(engine())
  )

  it.effect(
    "never count one whose time to settle has come, or no more one a nanosecond before",
    () =>
      Effect.gen(function* () {
        const play = yield* ordered
        const subscription = { collection: subscriptions, machine: SubscriptionMachine }
        yield* walk(play, { ...subscription, id: "s-alone", until: "subscription.settle" })
        const { settleBy } = yield* Cycles.subscription("s-alone")
        if (settleBy === null) throw new Error("a ledger-paid order has a time to settle")
        const has = (point: Point) =>
          Effect.map(open({ point }), (rows) => rows.some(({ orderId }) => orderId === "s-alone"))
        yield* TestClock.setTime(Instant.toEpochMillis(settleBy) + 1_000)
        const before = Instant.fromNanos((settleBy - 1n) as bigint)
        assert.isTrue(yield* has({ asOf: before }))
        assert.isFalse(yield* has({ asOf: settleBy }))
        assert.isFalse(yield* has({}))
        assert.deepStrictEqual(shown(yield* open({})), yield* expected({}))
        // An order without a price waits on: it has no time to settle yet.
        assert.isTrue((yield* open({})).some(({ orderId }) => orderId === "s-wire"))
      }).pipe(engine())
  )

  it.effect("never show an investor another's, or a registrar another's instrument", () =>
    Effect.gen(function* () {
      const play = yield* ordered
      const investor = (holderId: string) => ({ ...Calls.person("ines", "investor"), holderId })
      const holdersListedTo = (caller: Caller.Caller) =>
        Effect.map(open({ caller }), (rows) => rows.map(({ holderId }) => holderId))
      assert.deepStrictEqual([...new Set(yield* holdersListedTo(investor("h2")))], ["h2"])
      assert.lengthOf(yield* holdersListedTo(investor("h3")), 0)
      const near = (party: string) => ({ ...Calls.person("rita", "registrar"), party })
      assert.lengthOf(yield* holdersListedTo(near(play.stage.registrar.party)), 7)
      assert.lengthOf(yield* holdersListedTo(near(play.stage.bank.party)), 0)
      const answer = yield* Effect.result(
        open({ caller: investor("h2"), params: { holderId: "h1" } })
      )
      assert.isTrue(Result.isFailure(answer))
    }).pipe(engine())
  )
})

const kinds: Readonly<Record<string, { readonly typeRef: Templates.TypeRef }>> = {
  "admission-consent": Templates.AdmissionConsentProposal,
  "admission-offer": Templates.AdmissionOffer,
  "accepted-terms": Templates.SignedTerms,
  "primary-market": Templates.PrimaryMarketProposal,
  "provision-settlement": Templates.ProvisionSettlementProposal,
  "burn-request": Templates.BurnRequest,
  "mint-request": Templates.MintRequest
}

const proposed = (point: Point, params: object = {}, caller: Caller.Caller = auditor) =>
  Effect.flatMap(Queries, (queries) =>
    Effect.map(
      queries.page(ProposalQueries.list, {
        caller,
        params: params as Parameters<typeof ProposalQueries.list.where>[0],
        point,
        page: { limit: 1000 }
      }),
      ({ value }) => value
    )
  )

/** The contracts of each proposal's template that are active at an offset. */
const active = (offset: Offset.Offset) =>
  Effect.gen(function* () {
    const records = yield* Records
    const judgedAt = Instant.of(Fund.start)
    const pin = { offset, ledgerTime: null, select: { by: "offset" }, judgedAt } as const
    const found: Array<string> = []
    for (const [kind, { typeRef }] of Object.entries(kinds)) {
      const where = { template: [Templates.key(typeRef)], active: ["true"] }
      for (const { record } of yield* records.list(contracts, { where, pin, limit: 100 })) {
        found.push(`${kind} ${record.contractId}`)
      }
    }
    return found.toSorted()
  })

describe("proposals", () => {
  it.effect("are those of the active contracts at every offset of a history", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.admitted(stage)
      // Without a market its units are minted by request.
      yield* claims("subscription", { subscriptionId: "s1", holderId: "h1", amount: 1000 })
      yield* Cycles.at(valued)
      yield* Fund.publishes(stage, price, valued, [])
      const play = playOf(stage)
      yield* walk(play, { collection: subscriptions, machine: SubscriptionMachine, id: "s1" })
      yield* claims("redemption", { redemptionId: "r1", holderId: "h1", units: 100 })
      yield* Cycles.at("2026-08-03T20:30:00Z")
      yield* Fund.publishes(stage, price, "2026-08-03T20:30:00Z", [])
      yield* walk(play, { collection: redemptions, machine: RedemptionMachine, id: "r1" })
      yield* Fund.market(stage)
      yield* Calls.write(
        "provision-settlement.propose",
        { instrumentId: "fund-a" },
        {
          fund: stage.fund.party,
          paymentAsset: { admin: stage.bank.party, id: "USD" },
          limit: 1000
        }
      )
      yield* Fund.signs(stage)
      const seen = new Set<string>()
      for (const at of yield* everyOffset) {
        const rows = yield* proposed({ at })
        const found = rows.map(({ kind, cid }) => `${kind} ${cid}`).toSorted()
        assert.deepStrictEqual(found, yield* active(at))
        for (const { kind, awaiting, waitingOn } of rows) {
          seen.add(kind)
          assert.isNotEmpty(awaiting)
          assert.isNotEmpty(waitingOn)
        }
      }
      assert.sameMembers([...seen], Object.keys(kinds))
      const left = yield* proposed({})
      assert.sameDeepMembers(
        left.map(({ kind, awaiting }) => [kind, ...awaiting]),
        [
          ["provision-settlement", stage.fund.party],
          ["accepted-terms", stage.venue]
        ]
      )
      const only = yield* proposed({}, { kind: ["accepted-terms", "mint-request"] })
      assert.deepStrictEqual(
        only.map(({ kind, holderId }) => [kind, String(holderId)]),
        [["accepted-terms", "h1"]]
      )
      assert.deepStrictEqual(
        only[0]?.waitingOn.map(({ role, action }) => [role, action]),
        [["operator", "accepted-terms.accept"]]
      )
      const ines = { ...Calls.person("ines", "investor"), holderId: "h1" }
      assert.deepStrictEqual(
        (yield* proposed({}, {}, ines)).map(({ kind }) => kind),
        ["accepted-terms"]
      )
      const rita = { ...Calls.person("rita", "registrar"), party: stage.registrar.party }
      assert.deepStrictEqual(
        (yield* proposed({}, {}, rita)).map(({ kind }) => kind),
        ["provision-settlement"]
      )
    }).pipe(engine())
  )

  it.effect(
    "never lose the proposal when the first of two signs, or still await who has signed",
    () =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* Calls.write(
          "primary-market.propose",
          { instrumentId: "fund-a" },
          {
            fund: stage.fund.party,
            paymentAsset: { admin: stage.bank.party, id: "USD" },
            terms: { attestors: [stage.attestor.party], required: 1 },
            until: "2026-08-20T00:00:00Z"
          }
        )
        const [before] = yield* proposed({})
        assert.deepStrictEqual(before?.awaiting, [stage.fund.party, stage.registrar.party])
        const { cid } = yield* Fund.newestContract(Templates.PrimaryMarketProposal)
        yield* stage.fund.act(
          Templates.exercise(Templates.PrimaryMarketProposal, cid, "Accept", {
            party: stage.fund.party
          })
        )
        const [after] = yield* proposed({})
        assert.strictEqual(after?.proposalId, before?.proposalId)
        assert.notStrictEqual(after?.cid, before?.cid)
        assert.deepStrictEqual(after?.awaiting, [stage.registrar.party])
        // Past its date it can no longer be accepted.
        assert.isNotNull(after?.expiresAt)
        yield* TestClock.setTime(Instant.toEpochMillis(Instant.of("2026-08-20T00:00:00Z")))
        assert.deepStrictEqual(yield* proposed({}), [])
      }).pipe(engine())
  )

  it.effect(
    "list nothing that a stranger shows: terms in another's name, mints and burns that nobody asked for",
    () =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* Fund.admitted(stage)
        yield* Fund.signs(stage, stage.bank)
        const other = yield* Cycles.joins(stage, "h2")
        yield* Fund.signs(stage, other)
        yield* stage.bank.act(
          Templates.create(Templates.MintRequest, {
            requester: stage.bank.party,
            holder: stage.venue,
            instrument: stage.asset,
            amount: Decimal.one,
            reference: { kind: "subscription", id: "s1" },
            executeBefore: null
          })
        )
        // Units that no holder of ours has, to be burned by whoever has them.
        yield* stage.registrar.act(
          Templates.createAndExercise(
            Templates.Holding,
            {
              registrar: stage.registrar.party,
              owner: stage.registrar.party,
              provider: stage.venue,
              instrument: stage.asset,
              amount: Decimal.one,
              restricted: false,
              lock: null,
              label: "",
              meta: {}
            },
            "RequestBurn",
            {
              amount: Decimal.one,
              reference: { kind: "redemption", id: "r1" },
              custodian: null,
              executeBefore: Instant.of("2026-09-01T00:00:00Z")
            }
          )
        )
        assert.strictEqual(yield* Fund.countActive(Templates.MintRequest), 1)
        assert.strictEqual(yield* Fund.countActive(Templates.BurnRequest), 1)
        assert.deepStrictEqual(yield* proposed({}), [])
      }).pipe(engine())
  )
})
