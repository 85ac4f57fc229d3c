/** Units moved without their holder's own act, under a cited order: by holder and by instrument. */
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import { polled, world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import * as Rebasing from "./rebasing.ts"

const engine = (inputsMax?: number) =>
  Effect.provide(world(inputsMax === undefined ? {} : { settings: { inputsMax } }))
/** An engine whose operations of several steps let a test act between two of them. */
const between = Effect.provide(world({ settings: { inputsMax: 16 }, storage: polled }))

const named = (...all: ReadonlyArray<Cycles.Holder>) =>
  Object.fromEntries(all.map(({ holderId, party }) => [party, holderId]))

interface Move {
  readonly units: { readonly text: string }
  readonly released: ReadonlyArray<{
    readonly lockedBy: string
    readonly units: { readonly text: string }
  }>
  readonly updateIds: ReadonlyArray<string>
}
const movesOf = ({ result }: Calls.Ended) => result["moves"] as ReadonlyArray<Move>
const unitsOf = (done: Calls.Ended) =>
  movesOf(done).map(({ units }) => Decimal.formatPlain(Decimal.of(units.text)))

describe("a forced transfer", () => {
  it.effect(
    "never refuses or rounds base units of a rebasing instrument by the places of its shown units",
    () =>
      Effect.gen(function* () {
        const { stage, holders } = yield* Rebasing.opened({}, ["h1", "h2"])
        const [h1, h2] = holders
        yield* Rebasing.indexed({ stage }, "1.7", "2026-07-31T11:00:00Z")
        yield* Powers.mints(stage, h1!, "294.1176470588")
        yield* Powers.agrees(stage)
        yield* Powers.consents(h1!)
        const force = (units: number) =>
          Powers.forces("h1", "h2", { instruments: [{ instrumentId: "fund-a", units }] })
        // 500 units are shown, of fewer base units.
        assert.strictEqual((yield* force(500)).why, "rule-refused units enough-units")
        const done = yield* force(117.6470588235)
        assert.strictEqual(done.why, "")
        assert.deepEqual(unitsOf(done), ["117.6470588235"])
        assert.deepEqual(
          [yield* Cycles.holds(h1!, "fund-a"), yield* Cycles.holds(h2!, "fund-a")],
          ["176.4705882353", "117.6470588235"]
        )
      }).pipe(engine())
  )

  it.effect(
    "never moves another amount than was named, or no event, movement or register tells of it",
    () =>
      Effect.gen(function* () {
        const { stage, h1, h2 } = yield* Powers.founded()
        const done = yield* Powers.forces("h1", "h2", {
          instruments: [{ instrumentId: "fund-a", units: 40 }]
        })
        assert.strictEqual(done.why, "")
        assert.deepEqual(unitsOf(done), ["40"])
        assert.deepEqual(
          [yield* Cycles.holds(h1, "fund-a"), yield* Cycles.holds(h2, "fund-a")],
          ["60", "40"]
        )
        assert.deepEqual(yield* Powers.moved(named(h1, h2)), ["forced-transfer h1 h2 40"])
        assert.deepEqual(yield* Powers.summed, ["holder.forced-transfer h1 fund-a to h2 40"])
        const [event] = yield* Powers.forcedEvents
        assert.deepInclude(event?.payload ?? {}, { orderCited: true })
        assert.notInclude(JSON.stringify(event), Powers.documentHash)
        assert.deepEqual(yield* Powers.books(stage), {
          register: "100",
          locked: "0",
          supply: "100"
        })
        assert.strictEqual((yield* Powers.holder("h1")).state, "active")
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(engine())
  )

  it.effect(
    "never is kept from frozen units: the sender's restriction stops it (T-REX, freeze)",
    () =>
      Effect.gen(function* () {
        const { h1, h2 } = yield* Powers.founded()
        yield* Powers.restricts("h1")
        const done = yield* Powers.forces("h1", "h2")
        assert.strictEqual(done.why, "")
        assert.deepEqual(
          [yield* Cycles.holds(h1, "fund-a"), yield* Cycles.holds(h2, "fund-a")],
          ["0", "100"]
        )
        // A forced transfer carries no restriction to whoever receives.
        assert.deepEqual(yield* Powers.restricted, ["h1 freeze compliance-review active"])
      }).pipe(engine())
  )

  it.effect.each(["freeze", "receive-only", "redeem-only"])(
    "never reaches a receiver with a restriction of the instrument: %s (T-REX, freeze)",
    (mode) =>
      Effect.gen(function* () {
        const { stage, h1, h2 } = yield* Powers.founded()
        yield* Powers.restricts("h2", { mode })
        const refused = yield* Powers.forces("h1", "h2")
        assert.strictEqual(refused.why, "rule-refused restriction may-receive")
        assert.strictEqual(yield* Cycles.holds(h2, "fund-a"), "0")
        yield* Powers.another(stage, "fund-b")
        yield* Powers.restricts("h3", { mode, instrumentId: "fund-b" })
        assert.strictEqual((yield* Powers.forces("h1", "h3")).why, "")
        assert.strictEqual(yield* Cycles.holds(h1, "fund-a"), "0")
      }).pipe(engine())
  )

  it.effect(
    "to the holder itself is refused and unlocks nothing (ERC-7943 and CMTAT, self-transfer)",
    () =>
      Effect.gen(function* () {
        const { stage, h1 } = yield* Powers.founded()
        yield* Cycles.redeems(stage, h1, { id: "r1", units: "30" })
        const before = yield* Powers.books(stage)
        assert.strictEqual(before.locked, "30")
        const byHolder = yield* Powers.forces("h1", "h1")
        assert.strictEqual(byHolder.why, "rule-refused policy another-receiver")
        const byInstrument = yield* Calls.write(
          "instrument.force-transfer",
          { instrumentId: "fund-a" },
          { moves: [{ holderId: "h1", toHolderId: "h1" }], order: Powers.order }
        )
        assert.strictEqual(byInstrument.why, "rule-refused policy another-receiver")
        const successor = yield* Calls.write(
          "holder.register-successor",
          { holderId: "h1" },
          { party: h1.party, successorId: "h1-again" }
        )
        assert.strictEqual(successor.state, "refused")
        assert.deepEqual(yield* Powers.books(stage), before)
        assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 1)
      }).pipe(engine())
  )

  it.effect(
    "never leaves locks in place that its units were under, or ends more than it needs",
    () =>
      Effect.gen(function* () {
        const { stage, h1, h2 } = yield* Powers.founded()
        yield* Cycles.redeems(stage, h1, { id: "r1", units: "30" })
        // Free units go first, and the lock of the others stays.
        const free = yield* Powers.forces("h1", "h2", {
          instruments: [{ instrumentId: "fund-a", units: 50 }]
        })
        assert.deepEqual([unitsOf(free), movesOf(free)[0]?.released], [["50"], []])
        assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 1)
        const all = yield* Powers.forces("h1", "h2")
        assert.strictEqual(all.why, "")
        assert.deepEqual(
          movesOf(all)[0]?.released.map(({ lockedBy, units }) => [
            lockedBy,
            Decimal.formatPlain(Decimal.of(units.text))
          ]),
          [["allocation", "30"]]
        )
        assert.strictEqual(yield* Fund.countActive(Templates.Allocation), 0)
        assert.deepEqual(all.result["openOrders"], [
          { orderId: "r1", kind: "redemption", holderId: "h1" }
        ])
        assert.deepEqual(yield* Powers.moved(named(h1, h2, { ...stage.fund, holderId: "fund" })), [
          "lock h1 h1 30",
          "forced-transfer h1 h2 50",
          "unlock h1 h1 30",
          "forced-transfer h1 h2 50"
        ])
        assert.deepEqual(yield* Powers.books(stage), {
          register: "100",
          locked: "0",
          supply: "100"
        })
        // The order has lost its funding, and the venue withdraws it.
        const gone = yield* Calls.write("redemption.withdraw", { redemptionId: "r1" }, {})
        assert.strictEqual(gone.why, "")
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(engine())
  )

  it.effect(
    "never does not know what locks a holding, or moves one whose lock nobody may end",
    () =>
      Effect.gen(function* () {
        const { stage, h1, h2 } = yield* Powers.founded("10")
        for (let nth = 1; nth < 4; nth++) yield* Powers.mints(stage, h1, "10")
        const whole = () => Effect.map(Fund.freeHolding(h1.party), ({ cid }) => cid)
        const ten = { amount: Decimal.of("10"), executeBefore: Instant.of("2026-08-30T00:00:00Z") }
        yield* h1.act(
          Templates.exercise(Templates.Holding, yield* whole(), "OfferTransfer", {
            ...ten,
            receiver: h2.party
          })
        )
        yield* h1.act(
          Templates.exercise(Templates.Holding, yield* whole(), "RequestBurn", {
            ...ten,
            reference: { kind: "redemption", id: "none" },
            custodian: null
          })
        )
        const opened = yield* Calls.write(
          "standing-settlement.open",
          {},
          {
            standingSettlementId: "st1",
            instrumentId: "fund-a",
            funding: [
              { party: h1.party, asset: stage.asset, amount: 10 },
              { party: stage.fund.party, asset: Cycles.cash(stage), amount: 1 }
            ]
          }
        )
        assert.strictEqual(opened.why, "")
        const { cid } = yield* Powers.saying(Templates.StandingSettlement, {})
        yield* h1.act(
          Templates.exercise(Templates.StandingSettlement, cid, "Commit", {
            party: h1.party,
            holdingCid: yield* whole(),
            amount: Decimal.of("10")
          })
        )
        yield* h1.act(
          Templates.exercise(Templates.Holding, yield* whole(), "Lock", {
            holders: [h1.party],
            observers: [],
            context: "a pledge",
            amount: Decimal.of("10"),
            expiresAt: Instant.of("2026-07-31T13:00:00Z")
          })
        )
        assert.deepEqual(yield* Powers.books(stage), { register: "40", locked: "40", supply: "40" })
        // No forced act ends a lock in force that no contract of the registry's stands behind.
        const stuck = yield* Powers.forces("h1", "h2")
        assert.strictEqual(stuck.why, "rule-refused units locks-releasable")
        const most = yield* Powers.forces("h1", "h2", {
          instruments: [{ instrumentId: "fund-a", units: 31 }]
        })
        assert.strictEqual(most.why, "rule-refused units locks-releasable")
        yield* TestClock.adjust("1 hour")
        const done = yield* Powers.forces("h1", "h2")
        assert.strictEqual(done.why, "")
        assert.deepEqual(
          movesOf(done)[0]
            ?.released.map(({ lockedBy }) => lockedBy)
            .toSorted(),
          ["burn-request", "lapsed", "standing-commitment", "transfer-offer"]
        )
        for (const template of [
          Templates.Allocation,
          Templates.BurnRequest,
          Templates.TransferOffer,
          Templates.StandingCommitment
        ]) {
          assert.strictEqual(yield* Fund.countActive(template), 0)
        }
        assert.deepEqual(yield* Powers.books(stage), { register: "40", locked: "0", supply: "40" })
        assert.strictEqual(yield* Cycles.holds(h2, "fund-a"), "40")
      }).pipe(engine())
  )

  it.effect("of several holders announces every move it made", () =>
    Effect.gen(function* () {
      const { stage, h1, h2, h3 } = yield* Powers.founded()
      yield* Powers.mints(stage, h2, "7")
      yield* Powers.consents(h2, {})
      const done = yield* Calls.write(
        "instrument.force-transfer",
        { instrumentId: "fund-a" },
        {
          moves: [
            { holderId: "h1", toHolderId: "h3", units: 1.5 },
            { holderId: "h2", toHolderId: "h3" }
          ],
          order: Powers.order
        }
      )
      assert.strictEqual(done.why, "")
      assert.deepEqual(yield* Powers.summed, [
        "holder.forced-transfer h1 fund-a to h3 1.5",
        "holder.forced-transfer h2 fund-a to h3 7"
      ])
      assert.deepEqual(yield* Powers.moved(named(h1, h2, h3)), [
        "forced-transfer h1 h3 1.5",
        "forced-transfer h2 h3 7"
      ])
      assert.strictEqual(new Set(movesOf(done).flatMap(({ updateIds }) => updateIds)).size, 1)
      const twice = yield* Calls.write(
        "instrument.force-transfer",
        { instrumentId: "fund-a" },
        {
          moves: [
            { holderId: "h1", toHolderId: "h2", units: 1 },
            { holderId: "h1", toHolderId: "h3", units: 1 }
          ],
          order: Powers.order
        }
      )
      assert.strictEqual(twice.why, "invalid-request")
      const through = yield* Calls.write(
        "instrument.force-transfer",
        { instrumentId: "fund-a" },
        {
          moves: [
            { holderId: "h1", toHolderId: "h3", units: 1 },
            { holderId: "h3", toHolderId: "h2", units: 1 }
          ],
          order: Powers.order
        }
      )
      assert.strictEqual(through.why, "rule-refused consent issuer-powers-consent")
      yield* Powers.consents(h3)
      assert.strictEqual(
        (yield* Calls.write(
          "instrument.force-transfer",
          { instrumentId: "fund-a" },
          {
            moves: [
              { holderId: "h1", toHolderId: "h3", units: 1 },
              { holderId: "h3", toHolderId: "h2", units: 1 }
            ],
            order: Powers.order
          }
        )).why,
        "rule-refused policy one-way"
      )
    }).pipe(engine())
  )

  it.effect("never moves units of an instrument nobody named, or leaves one of all behind", () =>
    Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded()
      yield* Powers.another(stage, "fund-b")
      for (const one of [h1, h2]) yield* Powers.admits(one, "fund-b")
      yield* Powers.mints(stage, h1, "5", "fund-b")
      yield* Powers.agrees(stage, { instrumentId: "fund-b" })
      const lacking = yield* Powers.forces("h1", "h2")
      // All or nothing: what may not move of fund-b keeps fund-a where it is.
      assert.strictEqual(lacking.why, "rule-refused consent issuer-powers-consent")
      assert.strictEqual(yield* Cycles.holds(h2, "fund-a"), "0")
      yield* Powers.consents(h1, {})
      assert.strictEqual(
        (yield* Powers.forces("h1", "h2", { instruments: [{ instrumentId: "fund-b" }] })).why,
        ""
      )
      assert.deepEqual(
        [yield* Cycles.holds(h2, "fund-a"), yield* Cycles.holds(h2, "fund-b")],
        ["0", "5"]
      )
      yield* Powers.mints(stage, h1, "2", "fund-b")
      const all = yield* Powers.forces("h1", "h2")
      assert.deepEqual(unitsOf(all).toSorted(), ["100", "2"])
      assert.strictEqual((yield* Powers.holder("h1")).state, "active")
    }).pipe(engine())
  )

  it.effect("of a holding in very many parts is made as a whole, and once", () =>
    Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded("1")
      for (let nth = 1; nth < 25; nth++) yield* Powers.mints(stage, h1, "1")
      const started = yield* Powers.forces("h1", "h2")
      const done = yield* Powers.ran(started, "holder.force-transfer")
      assert.strictEqual(done.why, "")
      assert.deepEqual(unitsOf(done), ["25"])
      assert.strictEqual(movesOf(done)[0]?.updateIds.length, 3)
      assert.deepEqual(yield* Powers.moved(named(h1, h2)), [
        "forced-transfer h1 h2 10",
        "forced-transfer h1 h2 10",
        "forced-transfer h1 h2 5"
      ])
      assert.deepEqual(yield* Powers.books(stage), { register: "25", locked: "0", supply: "25" })
    }).pipe(engine(16))
  )

  it.effect("never goes on with its next step though the consent has ended in between", () =>
    Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded("1")
      for (let nth = 1; nth < 25; nth++) yield* Powers.mints(stage, h1, "1")
      const started = yield* Powers.forces("h1", "h2")
      assert.strictEqual(started.state, "running")
      yield* Fund.revokesPowers(h1)
      const done = yield* Powers.ran(started, "holder.force-transfer")
      assert.strictEqual(done.why, "rule-refused consent issuer-powers-consent")
      // The moves made before are recorded, and no further units move.
      assert.deepEqual(yield* Powers.moved(named(h1, h2)), ["forced-transfer h1 h2 10"])
      assert.deepEqual(yield* Powers.summed, ["holder.forced-transfer h1 fund-a to h2 10"])
      yield* Powers.consents(h1)
      const again = yield* Powers.forces("h1", "h2")
      assert.strictEqual((yield* Powers.ran(again, "holder.force-transfer")).why, "")
      assert.deepEqual(yield* Powers.books(stage), { register: "25", locked: "0", supply: "25" })
      assert.strictEqual(yield* Cycles.holds(h2, "fund-a"), "25")
    }).pipe(between)
  )

  it.effect("never moves more, or of another instrument, than was signed for all its steps", () =>
    Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded("1")
      for (let nth = 1; nth < 12; nth++) yield* Powers.mints(stage, h1, "1")
      for (const instrumentId of ["fund-b", "fund-c"]) {
        yield* Powers.another(stage, instrumentId)
        yield* Powers.admits(h1, instrumentId)
      }
      yield* Powers.admits(h2, "fund-b")
      yield* Powers.agrees(stage, { instrumentId: "fund-b" })
      yield* Powers.consents(h1, {})
      const started = yield* Powers.forces("h1", "h2")
      assert.strictEqual(started.state, "running")
      // All of these reach h1 between two steps. Of fund-c nothing may move at all.
      yield* Powers.mints(stage, h1, "3")
      yield* Powers.mints(stage, h1, "5", "fund-b")
      yield* Powers.mints(stage, h1, "7", "fund-c")
      const done = yield* Powers.ran(started, "holder.force-transfer")
      assert.strictEqual(done.why, "")
      assert.deepEqual(unitsOf(done), ["12"])
      const held = Effect.forEach(["fund-a", "fund-b", "fund-c"], (id) => Cycles.holds(h1, id))
      assert.deepEqual(yield* held, ["3", "5", "7"])
      assert.deepEqual(yield* Powers.summed, [
        "holder.forced-transfer h1 fund-a to h2 10",
        "holder.forced-transfer h1 fund-a to h2 2"
      ])
    }).pipe(between)
  )

  it.effect("of which signed units go elsewhere between its steps moves the rest, and fails", () =>
    Effect.gen(function* () {
      const { stage, h1, h3 } = yield* Powers.founded("1")
      for (let nth = 1; nth < 12; nth++) yield* Powers.mints(stage, h1, "1")
      const started = yield* Powers.forces("h1", "h2")
      assert.strictEqual(started.state, "running")
      yield* Powers.gives(h1, h3, "1")
      const done = yield* Powers.ran(started, "holder.force-transfer")
      assert.strictEqual(done.why, "rule-refused units enough-units")
      assert.deepEqual(yield* Powers.summed, [
        "holder.forced-transfer h1 fund-a to h2 10",
        "holder.forced-transfer h1 fund-a to h2 1"
      ])
      assert.strictEqual(yield* Cycles.holds(h1, "fund-a"), "0")
    }).pipe(between)
  )

  it.effect("never runs on a consent that was signed over and has ended since", () =>
    Effect.gen(function* () {
      const { h1, h2 } = yield* Powers.founded()
      const key = yield* Calls.openAction(
        "holder.force-transfer",
        { holderId: "h1" },
        { toHolderId: "h2", order: Powers.order }
      )
      yield* Fund.revokesPowers(h1)
      const done = yield* Calls.approveAction(key)
      assert.strictEqual(done.why, "rule-refused consent issuer-powers-consent")
      assert.deepEqual(yield* Powers.moved(named(h1, h2)), [])
    }).pipe(engine())
  )

  it.effect("never is judged by what was there when it was signed and not when it runs", () =>
    Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded()
      const key = yield* Calls.openAction(
        "holder.force-transfer",
        { holderId: "h1" },
        { toHolderId: "h2", order: Powers.order }
      )
      yield* Powers.mints(stage, h1, "1")
      const moved = yield* Calls.approveAction(key)
      assert.strictEqual(moved.why, "rule-refused four-eyes figures-moved")
      assert.strictEqual((yield* Calls.approveAction(key)).why, "")
      assert.deepEqual(yield* Powers.moved(named(h1, h2)), ["forced-transfer h1 h2 101"])
    }).pipe(engine())
  )
})

describe("a forced transfer is refused", () => {
  it.effect("by each gate of its own: agreement, consent, receiver, units", () =>
    Effect.gen(function* () {
      const { stage, h1, h2, h3 } = yield* Powers.founded()
      const why = (members: Readonly<Record<string, Calls.Json>>, to = "h2", from = "h1") =>
        Effect.map(Powers.forces(from, to, members), (ended) => ended.why)
      const ofA = (units: number) => ({ instruments: [{ instrumentId: "fund-a", units }] })
      assert.strictEqual(yield* why(ofA(101)), "rule-refused units enough-units")
      assert.strictEqual(yield* why(ofA(1.0000001)), "rule-refused units unit-decimals")
      assert.strictEqual(yield* why({}, "h2", "h3"), "rule-refused units units-held")
      assert.strictEqual(yield* why({}, "nobody"), "not-found")
      assert.strictEqual(yield* why({}, "h2", "nobody"), "not-found")
      assert.strictEqual(yield* why({ instruments: [{ instrumentId: "fund-x" }] }), "not-found")
      assert.strictEqual(yield* why({ order: null }), "invalid-request")
      assert.strictEqual(yield* why(ofA(0)), "invalid-request")
      const { party } = yield* Fund.outsider("h4")
      yield* Calls.write("holder.register", {}, { holderId: "h4", party })
      assert.strictEqual(yield* why({}, "h4"), "rule-refused admission holder-active")
      yield* Calls.write("admission.withdraw", { holderId: "h3", instrumentId: "fund-a" }, {})
      yield* Powers.admits(h3, "fund-a", { validFrom: "2026-08-05T12:00:00Z" })
      assert.strictEqual(yield* why({}, "h3"), "rule-refused admission credential-in-force")
      yield* Calls.write("admission.withdraw", { holderId: "h3", instrumentId: "fund-a" }, {})
      yield* Powers.admits(h3, "fund-a")
      yield* Powers.mints(stage, h3, "1")
      assert.strictEqual(yield* why({}, "h2", "h3"), "rule-refused consent issuer-powers-consent")
      yield* Calls.write("admission.withdraw", { holderId: "h2", instrumentId: "fund-a" }, {})
      assert.strictEqual(yield* why({}), "rule-refused admission admitted")
      yield* Calls.write("instrument.pause", { instrumentId: "fund-a" }, { reason: "halt" })
      assert.strictEqual(yield* why({}, "h3"), "rule-refused hold not-held")
      assert.deepEqual(yield* Powers.moved(named(h1, h2, h3)), [])
    }).pipe(engine())
  )

  it.effect("for want of a power that the agreement, or the holder's consent, does not give", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      yield* Powers.mints(stage, h1, "10")
      yield* Powers.agrees(stage, { powers: ["recover"], until: "2026-08-01T12:00:00Z" })
      yield* Powers.consents(h1)
      assert.strictEqual(
        (yield* Powers.forces("h1", "h2")).why,
        "rule-refused consent issuer-powers-agreement"
      )
      yield* TestClock.adjust("24 hours")
      yield* Powers.agrees(stage)
      // The new agreement allows a transfer, but the holder's consent names a recovery alone.
      assert.strictEqual(
        (yield* Powers.forces("h1", "h2")).why,
        "rule-refused consent issuer-powers-consent"
      )
    }).pipe(engine())
  )

  it.effect("by each limit of its request: units, lists, ids, members", () =>
    Effect.gen(function* () {
      const { h1 } = yield* Powers.founded()
      const why = (members: Readonly<Record<string, Calls.Json>>) =>
        Effect.map(Powers.forces("h1", "h2", members), (ended) => ended.why)
      const named = (...units: ReadonlyArray<Calls.Json>) => ({
        instruments: units.map((one) => ({ instrumentId: "fund-a", units: one }))
      })
      for (const units of [0, -1, "1.00000000001", "1e3", "", "ten", true]) {
        assert.strictEqual(yield* why(named(units)), "invalid-request", String(units))
      }
      assert.strictEqual(yield* why({ instruments: [] }), "invalid-request")
      assert.strictEqual(yield* why(named(1, 2)), "invalid-request")
      const many = Array.from({ length: 101 }, (_, nth) => ({ instrumentId: `i-${nth}` }))
      assert.strictEqual(yield* why({ instruments: many }), "invalid-request")
      assert.strictEqual(yield* why({ instruments: many.slice(1) }), "not-found")
      for (const instrumentId of ["", "*", "fund a", "fund-a/..", "x".repeat(300)]) {
        assert.strictEqual(yield* why({ instruments: [{ instrumentId }] }), "invalid-request")
      }
      for (const documentHash of ["", "CD".repeat(32), "cd".repeat(31), "zz".repeat(32)]) {
        const order = { ...Powers.order, documentHash }
        assert.strictEqual(yield* why({ order }), "invalid-request", documentHash)
      }
      assert.strictEqual(yield* why({ nobodyKnows: 1 }), "invalid-request")
      const byInstrument = (moves: Calls.Json) =>
        Effect.map(
          Calls.write(
            "instrument.force-transfer",
            { instrumentId: "fund-a" },
            { moves, order: Powers.order }
          ),
          (ended) => ended.why
        )
      assert.strictEqual(yield* byInstrument([]), "invalid-request")
      const all = Array.from({ length: 101 }, (_, nth) => ({
        holderId: `h-${nth}`,
        toHolderId: "h2"
      }))
      assert.strictEqual(yield* byInstrument(all), "invalid-request")
      assert.strictEqual(yield* byInstrument(all.slice(1)), "not-found")
      assert.strictEqual(yield* Cycles.holds(h1, "fund-a"), "100")
    }).pipe(engine())
  )
})

describe("a forced transfer of the units of", () => {
  const forced = (holderId: string, who: (stage: Fund.Parties) => Fund.Outsider) =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const side = yield* Cycles.joinsAs(stage, holderId, who(stage))
      yield* Powers.mints(stage, side, "5")
      yield* Powers.consents(side)
      assert.strictEqual((yield* Powers.forces(holderId, "h2")).why, "")
      // The reverse: units taken from a holder are given to one of the two parties of the
      // agreement.
      assert.strictEqual((yield* Powers.forces("h1", holderId)).why, "")
      assert.deepEqual(
        [yield* Cycles.holds(side, "fund-a"), yield* Cycles.holds(h1, "fund-a")],
        ["100", "0"]
      )
      assert.deepEqual(yield* Powers.books(stage), { register: "105", locked: "0", supply: "105" })
      assert.deepEqual(yield* Fund.surprises, [])
    })

  it.effect("the issuer itself succeeds, although it signs twice", () =>
    forced("h-fund", ({ fund }) => fund).pipe(engine())
  )

  it.effect("the registrar itself succeeds, although it signs twice", () =>
    forced("h-registrar", ({ registrar }) => registrar).pipe(engine())
  )
})
