/**
 * Prechecks in a venue with a real history: pinned to the past they answer as they did then, and
 * under a new policy as the acts do once it is in force.
 */
import { type Caller, Catalogue, Queries, Records } from "@bursar/engine-core"
import { Decimal, Instant, type Offset } from "@bursar/engine-core/kernel"
import { Feed } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import fc from "fast-check"
import * as PrecheckQueries from "#core/overviews/precheck/PrecheckQueries.ts"
import { acts } from "#core/overviews/precheck/PrecheckRules.ts"
import { PrecheckAct } from "#core/vocabulary/sets.ts"
import * as Approval from "#core/writes/Approval.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import { runsOf } from "../long-run.ts"

const engine = () => Effect.provide(world())
const d = Decimal.of

type Params = Parameters<(typeof PrecheckQueries.get)["run"]>[0]
type Asked = Readonly<Record<string, unknown>>
type Point = { readonly at?: Offset.Offset; readonly asOf?: Instant.Instant }

const precheck = (
  act: Params["act"],
  given: Asked,
  as: { readonly caller?: Caller.Caller; readonly point?: Point } = {}
) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const { value } = yield* queries.one(PrecheckQueries.get, {
      caller: as.caller ?? Calls.operator,
      // A test names parameters as a query does, by their texts.
      params: { instrumentId: "fund-a", act, ...given } as unknown as Params,
      point: as.point ?? {}
    })
    return value
  })
type Here = Effect.Services<ReturnType<typeof Cycles.changes>>
type Told = Effect.Success<ReturnType<typeof precheck>>

const refusing = ({ gates }: Told) =>
  gates.filter(({ ok }) => !ok).map(({ gate, check }) => `${gate} ${check}`)

/** The answer, or the refusal in words: what must be the same of one moment, whenever it is asked. */
const precheckOrSlug = (act: Params["act"], given: Asked, point: Point = {}) =>
  precheck(act, given, { point }).pipe(
    Effect.map(({ asOf: _, ...answer }) => answer as unknown),
    Effect.catchTag("Refused", ({ slug }) => Effect.succeed(slug as unknown))
  )

// ---- of the past

/** Steps of a random history, an hour apart. */
const happenings = {
  freeze: Calls.write("holder.restrict", { holderId: "h1" }, { mode: "freeze", reason: "pledge" }),
  "freeze for a while": Effect.flatMap(Instant.now, (now) =>
    Calls.write(
      "holder.restrict",
      { holderId: "h1" },
      {
        mode: "redeem-only",
        reason: "holder-request",
        autoReleaseAt: Instant.format(Instant.fromNanos(now + 5_400_000_000_000n))
      }
    )
  ),
  pause: Calls.write(
    "instrument.pause",
    { instrumentId: "fund-a" },
    { reason: "audit" },
    Calls.person("rita", "risk")
  ),
  "smaller orders": sets({ limits: { maxSubscription: 500, maxRedemption: 10 } }),
  "larger orders": sets({ limits: { maxSubscription: 5000000 }, deliverBeforeCash: true }),
  "larger orders later": Effect.flatMap(Instant.now, (now) =>
    sets({
      limits: {},
      effectiveFrom: Instant.format(Instant.fromNanos(now + 5_400_000_000_000n))
    })
  ),
  claim: claims("s1"),
  "claim another": claims("s2"),
  withdraw: Calls.write("subscription.withdraw", { subscriptionId: "s1" }, {}),
  deliver: Calls.write(
    "subscription.deliver",
    { subscriptionId: "s2" },
    { cash: [{ statementId: "stmt-1", line: 1, amount: 1000 }] }
  ),
  revoke: Calls.write(
    "admission.withdraw",
    { holderId: "h1", instrumentId: "fund-a" },
    {},
    Calls.person("carl", "compliance")
  )
} as const
type Happening = keyof typeof happenings

function claims(subscriptionId: string) {
  return Calls.write(
    "subscription.claim",
    {},
    { subscriptionId, instrumentId: "fund-a", holderId: "h1", amount: 1000 }
  )
}

/** Replaces the last version of the policy, whichever it is by now. */
function sets(body: Readonly<Record<string, Calls.Json>>) {
  return Effect.gen(function* () {
    for (const version of ["1", "2", "3", "4", "5", "6", "7", "8"]) {
      const { why } = yield* Calls.write(
        "policy.set",
        { instrumentId: "fund-a" },
        body,
        Calls.operator,
        version
      )
      if (why === "") return
    }
  })
}

const questions: ReadonlyArray<readonly [act: Params["act"], given: Asked]> = [
  ["admission.offer", { holderId: "h1" }],
  ["subscription.claim", { holderId: "h1", amount: d("1000") }],
  ["subscription.deliver", { subscriptionId: "s1" }],
  ["subscription.deliver", { subscriptionId: "s2" }],
  ["subscription.settle", { subscriptionId: "s2" }],
  ["redemption.claim", { holderId: "h1", units: d("100") }],
  ["instrument.recover", { holderIds: ["h1"] }]
]

const priced = (stage: Fund.Parties) =>
  Effect.gen(function* () {
    yield* Fund.publishes(stage, "1.0437", "2026-07-31T11:00:00Z")
    yield* Fund.attests(stage.attestor, "958.12973").pipe(Effect.exit)
  })

const runs = runsOf(6)

describe("a precheck of a time that is over", () => {
  it("never tells otherwise than what was told then", async () => {
    const names = Object.keys(happenings) as ReadonlyArray<Happening>
    const history = fc.array(fc.constantFrom<Happening | "price">(...names, "price"), {
      minLength: 6,
      maxLength: 12,
      size: "max"
    })
    const walk = (steps: ReadonlyArray<Happening | "price">) =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened({ pricing: "historic" })
        yield* Fund.market(stage)
        yield* Fund.admitted(stage)
        const answersByTime: Array<
          readonly [at: Instant.Instant, answers: ReadonlyArray<unknown>]
        > = []
        for (const step of steps) {
          yield* TestClock.adjust("1 hour")
          yield* step === "price" ? priced(stage) : happenings[step]
          yield* TestClock.adjust("1 minute")
          const answers = yield* Effect.forEach(questions, ([act, given]) =>
            precheckOrSlug(act, given)
          )
          answersByTime.push([yield* Instant.now, answers])
        }
        yield* TestClock.adjust("1 day")
        for (const [asOf, answers] of answersByTime) {
          assert.deepStrictEqual(
            yield* Effect.forEach(questions, ([act, given]) =>
              precheckOrSlug(act, given, { asOf })
            ),
            answers
          )
        }
        return new Set(answersByTime.map(([, answers]) => JSON.stringify(answers, textOf))).size
      }).pipe(engine())
    let different = 0
    await fc.assert(
      fc.asyncProperty(history, async (steps) => {
        different = Math.max(different, await Calls.runCase(walk(steps)))
      }),
      { numRuns: runs }
    )
    // The history must have acts whose prechecks differ: otherwise the comparison shows nothing.
    assert.isAbove(different, 2)
  })
})

const textOf = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value)

// ---- as it would be

/** Terms by chance that are decided by what a precheck asks of them. */
const policies = fc.record(
  {
    limits: fc.record(
      {
        maxSubscription: fc.constantFrom(500, 999.99, 1000, 5000),
        maxRedemption: fc.constantFrom(10, 99.999999, 100)
      },
      { requiredKeys: [] }
    ),
    fees: fc.record({
      subscription: fc.constantFrom(0, 0.01, 0.5),
      redemption: fc.constantFrom(0, 0.005, 0.5)
    }),
    minimumSubscription: fc.constantFrom(0, 1000, 1000.01),
    minimumHolding: fc.constantFrom(0, 900, 858.12973),
    deliverBeforeCash: fc.boolean(),
    holderCap: fc.constantFrom(1, 2, 3)
  },
  { requiredKeys: [] }
)

const feedOf = Effect.flatMap(Feed, (feed) => feed.head)

/** Judged by the terms in force, and not by those that an order kept from its claim. */
const decided: typeof questions = [
  ["admission.offer", { holderId: "h1" }],
  ["subscription.claim", { holderId: "h1", amount: d("1000") }],
  ["subscription.claim", { holderId: "h1", units: d("950") }],
  ["redemption.claim", { holderId: "h1", units: d("100") }],
  ["redemption.claim", { holderId: "h1", amount: d("50.5") }],
  ["instrument.recover", { holderIds: ["h1"] }]
]

describe("a precheck under another version of the policy", () => {
  it("never differs from what the venue tells once that version is in force", async () => {
    const walk = (terms: object) =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened({ pricing: "historic" })
        yield* Fund.market(stage)
        yield* Fund.admitted(stage)
        yield* Fund.publishes(stage, "1.0437", "2026-07-31T11:00:00Z")
        yield* claims("s1")
        yield* Fund.attests(stage.attestor, "958.12973")
        yield* Calls.write(
          "subscription.deliver",
          { subscriptionId: "s1" },
          { cash: [{ statementId: "stmt-1", line: 1, amount: 1000 }] }
        )
        yield* claims("s2")
        yield* Fund.attests(stage.attestor, "958.12973")
        const set = { ...terms, effectiveFrom: "2026-07-31T13:00:00Z" }
        const { why } = yield* Calls.write(
          "policy.set",
          { instrumentId: "fund-a" },
          set as never,
          Calls.operator,
          "1"
        )
        assert.strictEqual(why, "")
        const before = yield* feedOf
        const wouldBe = yield* Effect.forEach(decided, ([act, given]) =>
          precheckOrSlug(act, { ...given, policyVersion: 2 })
        )
        // Prechecks write nothing: the feed has no new event.
        assert.deepStrictEqual(yield* feedOf, before)
        yield* TestClock.adjust("1 hour")
        yield* TestClock.adjust("1 minute")
        const inFact = yield* Effect.forEach(decided, ([act, given]) => precheckOrSlug(act, given))
        assert.deepStrictEqual(wouldBe, inFact)
        return JSON.stringify(inFact, textOf)
      }).pipe(engine())
    const verdicts = new Set<string>()
    await fc.assert(
      fc.asyncProperty(policies, async (terms) => {
        verdicts.add(await Calls.runCase(walk(terms)))
      }),
      { numRuns: runs }
    )
    assert.isAbove(verdicts.size, 1)
  })

  /** A hundred units each, bought at 1; both are given back on the Monday, under what is set before. */
  const redeeming = (before: Effect.Effect<unknown, unknown, Here>) =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
      yield* Cycles.opens("c1")
      for (const [index, holder] of holders.entries()) {
        yield* Cycles.subscribes(stage, holder, { id: `s${index + 1}`, amount: "100" })
      }
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, "1", Cycles.friday)
      for (const index of holders.keys()) {
        yield* Cycles.attests(stage, { id: `s${index + 1}`, units: "100", price: "1" })
      }
      yield* Cycles.settles("c1")
      yield* before
      yield* Cycles.opens("c2")
      for (const [index, holder] of holders.entries()) {
        yield* Cycles.redeems(stage, holder, { id: `r${index + 1}`, units: "100" })
      }
      return stage
    })
  /** The point of the Monday, and the price that the orders deal at by the policy they were claimed under. */
  const priced = (
    stage: Fund.Parties,
    figures: { readonly point: string; readonly price: string; readonly proceeds: string }
  ) =>
    Effect.gen(function* () {
      yield* Cycles.at(Cycles.monday)
      yield* Fund.publishes(stage, figures.point, Cycles.monday)
      for (const id of ["r1", "r2"]) yield* Cycles.pays(stage, { id, units: "100", ...figures })
      const cash = { assetId: "USD", amount: "60", to: stage.fund, reference: "c2" }
      yield* Cycles.allocates(stage, stage.fund, cash)
    })
  const terms = {
    limits: { cycleCapacity: 30.000001 },
    fees: { subscription: 0, redemption: 0.01 },
    swing: { threshold: 0, up: 0.01, down: 0.01 }
  }
  const settling = (params: Asked = {}) =>
    Effect.map(
      precheck("dealing-cycle.settle", { cycleId: "c2", ...params }),
      ({ asOf: _, figures, figuresHash: __, ...answer }) => {
        // Two ledgers do not name a point alike.
        const { point, ...rest } = figures ?? {}
        assert.isDefined(point)
        return { ...answer, figures: rest }
      }
    )

  it.effect(
    "never settles a cycle otherwise than a venue that in fact had that version, and price",
    () =>
      Effect.gen(function* () {
        const whatIf = yield* Effect.gen(function* () {
          const laterTerms = { ...terms, effectiveFrom: "2027-01-01T00:00:00Z" }
          const stage = yield* redeeming(Cycles.changes(1, laterTerms))
          yield* priced(stage, { point: "1", price: "1", proceeds: "100" })
          const before = yield* feedOf
          const settlings = {
            asItIs: yield* settling(),
            under: yield* settling({ policyVersion: 2 }),
            both: yield* settling({ policyVersion: 2, price: d("2") })
          }
          assert.deepStrictEqual(yield* feedOf, before)
          return settlings
        }).pipe(engine())
        const inFact = (point: string, price: string, proceeds: string) =>
          Effect.gen(function* () {
            const stage = yield* redeeming(Cycles.changes(1, terms))
            yield* priced(stage, { point, price, proceeds })
            return yield* settling()
          }).pipe(engine())
        assert.deepStrictEqual(whatIf.under, yield* inFact("1", "0.99", "98.01"))
        assert.deepStrictEqual(whatIf.both, yield* inFact("2", "1.98", "196.02"))
        assert.strictEqual(whatIf.asItIs.figures["gateFactor"], undefined)
        assert.deepInclude(whatIf.under.figures, {
          gateFactor: "0.150000005",
          swungPrice: "0.99",
          policyVersion: "2"
        })
      })
  )
})

// ---- of any size

describe("an order that its holder signed for more than anything is worth", () => {
  it.effect("never brings the venue down instead of being refused", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      yield* Fund.publishes(stage, "1.0437", "2026-07-31T11:00:00Z")
      const most = "9".repeat(28)
      const order = {
        venue: stage.venue,
        fund: stage.fund.party,
        holder: h1.party,
        instrument: stage.asset,
        paymentAsset: Cycles.cash(stage),
        amount: null,
        units: d(most),
        expiresAt: null
      }
      yield* h1.act(
        Templates.create(Templates.SubscriptionOrder, { ...order, orderId: "o1" }),
        Templates.create(Templates.RedemptionOrder, { ...order, orderId: "o1", custodian: null })
      )
      for (const act of ["subscription.claim", "redemption.claim"] as const) {
        const claim = { holderId: "h1", payment: "ledger", orderId: "o1" }
        const judged = yield* precheck(act, claim)
        assert.deepStrictEqual(refusing(judged), ["consent order-fits"])
        assert.isNull(judged.figures)
        const { why } = yield* Calls.write(act, {}, { ...claim, instrumentId: "fund-a" })
        assert.strictEqual(why, "rule-refused consent order-fits")
      }
    }).pipe(engine())
  )
})

// ---- of what no manifest holds

describe("a precheck of a claim to what the registrar configured and the venue never recorded", () => {
  it.effect("never tells one refusal where there are three, or more of it than there is", () =>
    Effect.gen(function* () {
      const { stage } = yield* Cycles.opened(["h1"])
      yield* stage.registrar.act(
        Templates.create(Templates.InstrumentConfiguration, {
          registrar: stage.registrar.party,
          provider: stage.venue,
          issuer: stage.fund.party,
          instrument: { admin: stage.registrar.party, id: "fund-z" },
          defaultIdentifier: { source: "venue", id: "fund-z", scheme: "internal" },
          additionalIdentifiers: [],
          holderRequirements: [],
          issuerRequirements: []
        })
      )
      const instrumentId = "fund-z"
      for (const act of ["subscription.claim", "redemption.claim"] as const) {
        const claim = { instrumentId, holderId: "h1", units: d("1") }
        const judged = yield* precheck(act, claim)
        assert.deepStrictEqual(refusing(judged), ["policy in-manifest"])
        assert.deepStrictEqual(
          judged.gates.map(({ gate }) => gate),
          ["hold", "restriction", "policy"]
        )
      }
      const risk = Calls.person("rita", "risk")
      const paused = yield* Calls.write(
        "instrument.pause",
        { instrumentId },
        { reason: "audit" },
        risk
      )
      assert.strictEqual(paused.why, "")
      yield* Powers.restricts("h1")
      for (const [act, check] of [
        ["subscription.claim", "may-subscribe"],
        ["redemption.claim", "may-redeem"]
      ] as const) {
        const claim = { instrumentId, holderId: "h1" }
        const judged = yield* precheck(act, { ...claim, units: d("1") })
        assert.deepStrictEqual(refusing(judged), [
          "hold not-held",
          `restriction ${check}`,
          "policy in-manifest"
        ])
        const { why } = yield* Calls.write(act, {}, { ...claim, units: 1 })
        assert.strictEqual(why, "rule-refused hold not-held")
      }
    }).pipe(engine())
  )
})

// ---- the acts

describe("the acts of the API", () => {
  it("never lack a precheck though their operation is there, or their operation its checks", () => {
    for (const act of PrecheckAct.members) {
      const operation = Catalogue.operations.find(({ kind }) => kind === act)
      assert.strictEqual(Object.hasOwn(acts, act), operation !== undefined, act)
      if (operation !== undefined) assert.isDefined(operation.gates, act)
    }
  })
})

// ---- what approvers sign, and what moves by force

describe("a precheck of what approvers sign", () => {
  it.effect("never shows other figures than they sign", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1"])
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      yield* Cycles.opens("c1")
      yield* Cycles.subscribes(stage, h1, { id: "s1", amount: "100" })
      const cycle = { cycleId: "c1" }
      const early = yield* precheck("dealing-cycle.settle", cycle)
      assert.deepStrictEqual(refusing(early), ["window cut-off-passed", "nav-feed orders-priced"])
      yield* Cycles.at(Cycles.friday)
      yield* Fund.publishes(stage, "1", Cycles.friday)
      yield* Cycles.attests(stage, { id: "s1", units: "100", price: "1" })
      const judged = yield* precheck("dealing-cycle.settle", cycle)
      assert.deepStrictEqual([judged.allowed, refusing(judged)], [true, []])
      yield* signedAs(judged, yield* Calls.openAction("dealing-cycle.settle", cycle, {}))
    }).pipe(engine())
  )

  it.effect(
    "never lets units be moved by force that stay, or shows other figures than are signed",
    () =>
      Effect.gen(function* () {
        const { h2 } = yield* Powers.founded()
        const { documentHash } = Powers.order
        const moveOf = (toHolderId: string, units: string | null) => ({
          moves: [{ holderId: "h1", toHolderId, units: units === null ? null : d(units) }],
          documentHash
        })
        const act = "instrument.force-transfer"
        const judged = yield* precheck(act, moveOf("h2", "40"))
        assert.deepStrictEqual([judged.allowed, refusing(judged)], [true, []])
        const body = {
          moves: [{ holderId: "h1", toHolderId: h2.holderId, units: 40 }],
          order: Powers.order
        }
        yield* signedAs(judged, yield* Calls.openAction(act, { instrumentId: "fund-a" }, body))
        yield* Powers.restricts("h2")
        assert.deepStrictEqual(refusing(yield* precheck(act, moveOf("h2", "100.0000001"))), [
          "restriction may-receive",
          "units enough-units",
          "units unit-decimals"
        ])
        assert.include(
          refusing(yield* precheck(act, moveOf("h1", null))),
          "policy another-receiver"
        )
        const recover = yield* precheck("instrument.recover", { holderIds: ["h1"] })
        assert.include(refusing(recover), "policy successor-registered")
      }).pipe(engine())
  )

  it.effect("never lets a holder be recovered that has nobody to follow it", () =>
    Effect.gen(function* () {
      const { h1, stage } = yield* Powers.founded()
      yield* Powers.succeeds(stage, h1)
      const judged = yield* precheck("instrument.recover", { holderIds: ["h1"] })
      assert.deepStrictEqual([judged.allowed, refusing(judged)], [true, []])
      const body = { holderIds: ["h1"] }
      yield* signedAs(
        judged,
        yield* Calls.openAction("instrument.recover", { instrumentId: "fund-a" }, body)
      )
    }).pipe(engine())
  )
})

/** The figures that are kept with an action are those that were shown before it was made. */
function signedAs({ figures, figuresHash }: Told, actionKey: unknown) {
  return Effect.gen(function* () {
    const records = yield* Records
    const action = yield* records.get(Approval.approvals, String(actionKey))
    assert.deepStrictEqual(action.figures, figures ?? undefined)
    assert.strictEqual(action.figuresHash, figuresHash ?? undefined)
  })
}

describe("an act on a record that does not answer to it", () => {
  const only = (answer: Told) =>
    answer.gates.map(({ gate, check, ok }) => `${gate} ${check} ${ok ? "passes" : "refuses"}`)

  /** The acts that are about an order or a cycle, by the record that each names. */
  const ended = [
    ["subscription.deliver", { subscriptionId: "s1" }, "SubscriptionState"],
    ["subscription.settle", { subscriptionId: "s1" }, "SubscriptionState"],
    ["redemption.settle", { redemptionId: "r1" }, "RedemptionState"],
    ["dealing-cycle.settle", { cycleId: "c1" }, "DealingCycleState"]
  ] as const

  it.effect(
    "is answered that it is not let, with the one row that says why, whatever the record is",
    () =>
      Effect.gen(function* () {
        const { stage, h1 } = yield* Powers.founded()
        yield* Cycles.opens("c1", { cutOffAt: Cycles.monday })
        yield* Cycles.subscribes(stage, h1, { id: "s1", amount: "9" })
        yield* Cycles.redeems(stage, h1, { id: "r1", units: "3" })
        yield* Calls.write("subscription.withdraw", { subscriptionId: "s1" }, {})
        yield* Calls.write("redemption.withdraw", { redemptionId: "r1" }, {})
        yield* Cycles.at(Cycles.monday)
        assert.strictEqual((yield* Cycles.releases("c1")).why, "")
        yield* Calls.write(
          "holder.register",
          {},
          { holderId: "h9", party: h1.party, taxResidences: [] }
        )
        for (const [act, given, check] of ended) {
          const judged = yield* precheck(act, given)
          assert.deepEqual(
            [judged.allowed, only(judged)],
            [false, [`policy ${check} refuses`]],
            act
          )
        }
        // A holder that is succeeded is admitted to nothing, and recovered no more than it holds.
        yield* Powers.succeeds(stage, h1, { admitted: ["fund-a"] })
        assert.strictEqual((yield* Powers.recovers("h1")).why, "")
        const offered = yield* precheck("admission.offer", { holderId: "h1" })
        assert.deepEqual([offered.allowed, only(offered)], [false, ["policy HolderState refuses"]])
      }).pipe(engine())
  )
})
