/**
 * After a recovery: debts to the old wallet, units that still arrive there, and the loss of the
 * next key.
 */
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Calls from "../engine/calls.ts"
import { polled, world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const engine = () => Effect.provide(world())
const state = (id: string) => Effect.map(Powers.holder(id), (holder) => holder.state)

/** 30 of h1's 100 units are burned and not paid yet. */
const burned = Effect.gen(function* () {
  const founded = yield* Powers.founded()
  const { stage } = founded
  yield* Powers.requestsBurn(founded, Cycles.friday)
  const request = yield* Fund.newestContract(Templates.BurnRequest)
  yield* stage.registrar.act(Templates.exercise(Templates.BurnRequest, request.cid, "Accept", {}))
  assert.strictEqual((yield* Cycles.redemption("r1")).state, "burned")
  return founded
})

const pays = Calls.write(
  "redemption.settle",
  { redemptionId: "r1" },
  { cash: [{ statementId: "stmt-2", line: 1, amount: 45 }] }
)

describe("what a frozen holder is owed for burned units", () => {
  it.effect("never is paid to it once a recovery has carried its freeze to the successor", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* burned
      const frozen = yield* Powers.restricts("h1", { reason: "sanctions" })
      assert.strictEqual(frozen.why, "")
      assert.strictEqual((yield* pays).why, "rule-refused restriction may-be-paid")
      yield* Powers.succeeds(stage, h1)
      const done = yield* Powers.recovers("h1")
      assert.strictEqual(done.why, "")
      assert.strictEqual(yield* state("h1"), "succeeded")
      assert.strictEqual((yield* pays).why, "rule-refused restriction may-be-paid")
      const [carried] = yield* Powers.carriedTo("h1-next")
      const lifted = yield* Calls.write(
        "restriction.lift",
        { restrictionId: String(carried) },
        { reason: "cleared" }
      )
      assert.strictEqual(lifted.why, "")
      // A holder that is succeeded is restricted no more: its successor is, and is the same person.
      const later = yield* Powers.restricts("h1-next", { reason: "other" })
      assert.strictEqual((yield* pays).why, "rule-refused restriction may-be-paid")
      const restrictionId = String(later.result["restrictionId"])
      yield* Calls.write("restriction.lift", { restrictionId }, { reason: "cleared" })
      assert.strictEqual((yield* pays).why, "")
    }).pipe(engine())
  )

  it.effect(
    "never is paid once that one instrument was recovered, or not for its successor's own",
    () =>
      Effect.gen(function* () {
        const { stage, h1 } = yield* burned
        yield* Powers.another(stage, "fund-b")
        yield* Powers.admits(h1, "fund-b")
        yield* Powers.mints(stage, h1, "5", "fund-b")
        const first = yield* Powers.restricts("h1", { instrumentId: "fund-a" })
        yield* Powers.succeeds(stage, h1)
        const own = yield* Powers.restricts("h1-next", { reason: "other" })
        const lift = (restrictionId: string) =>
          Calls.write("restriction.lift", { restrictionId }, { reason: "cleared" })
        yield* lift(String(own.result["restrictionId"]))
        assert.strictEqual((yield* Powers.recovers("h1", { instruments: ["fund-a"] })).why, "")
        assert.strictEqual(yield* state("h1"), "active")
        assert.strictEqual((yield* pays).why, "rule-refused restriction may-be-paid")
        const [carried] = yield* Powers.carriedTo("h1-next")
        // The restriction stays on the first holder too, until a recovery leaves that holder no
        // units.
        assert.strictEqual((yield* lift(String(first.result["restrictionId"]))).why, "")
        assert.strictEqual((yield* pays).why, "rule-refused restriction may-be-paid")
        assert.strictEqual((yield* lift(String(carried))).why, "")
        // The successor follows nobody yet whom this one restricts.
        yield* Powers.restricts("h1-next", { reason: "other" })
        assert.strictEqual((yield* pays).why, "")
      }).pipe(engine())
  )
})

describe("a successor that loses its key too", () => {
  it.effect(
    "never keeps the first wallet from ever being recovered, or free of what it carried",
    () =>
      Effect.gen(function* () {
        const { stage, h1 } = yield* Powers.founded()
        yield* Powers.another(stage, "fund-b")
        yield* Powers.admits(h1, "fund-b")
        yield* Powers.mints(stage, h1, "5", "fund-b")
        yield* Powers.agrees(stage, { instrumentId: "fund-b" })
        yield* Powers.consents(h1, { instrumentId: "fund-b" })
        yield* Powers.restricts("h1", { reason: "lost-key" })
        const both = { admitted: ["fund-a", "fund-b"] }
        const second = yield* Powers.succeeds(stage, h1, both)
        assert.strictEqual((yield* Powers.recovers("h1", { instruments: ["fund-a"] })).why, "")
        yield* Powers.consents(second)
        const third = yield* Powers.succeeds(stage, second, { ...both, id: "h1-third" })
        assert.strictEqual((yield* Powers.recovers("h1-next")).why, "")
        assert.strictEqual(yield* state("h1-next"), "succeeded")
        // The units left at the first holder have no receiver: its successor is succeeded already.
        assert.strictEqual(
          (yield* Powers.recovers("h1")).why,
          "rule-refused admission holder-active"
        )
        const fourth = yield* Powers.succeeds(stage, h1, { ...both, id: "h1-fourth" })
        assert.strictEqual((yield* Powers.recovers("h1")).why, "")
        assert.strictEqual(yield* state("h1"), "succeeded")
        assert.deepEqual(
          [yield* Cycles.holds(third, "fund-a"), yield* Cycles.holds(fourth, "fund-b")],
          ["100", "5"]
        )
        assert.deepEqual(
          (yield* Powers.restricted).filter((one) => one.includes(" active")).toSorted(),
          [
            "h1-fourth freeze lost-key active carried-from",
            "h1-third freeze lost-key active carried-from"
          ]
        )
        assert.deepEqual(yield* Powers.books(stage), {
          register: "100",
          locked: "0",
          supply: "100"
        })
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(engine())
  )
})

describe("units that land on the old wallet when its holder is succeeded", () => {
  it.effect("are recovered by the same act again, though its admission has ended", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1)
      assert.strictEqual((yield* Powers.recovers("h1")).why, "")
      yield* Powers.sends(stage, h1, "7")
      const again = yield* Powers.recovers("h1")
      assert.strictEqual(again.why, "")
      assert.deepEqual(again.result["succeeded"], ["h1"])
      assert.deepEqual(
        [yield* Cycles.holds(h1, "fund-a"), yield* Cycles.holds(next, "fund-a")],
        ["0", "107"]
      )
      assert.deepEqual(yield* Powers.summed, [
        "holder.recovered h1 fund-a to h1-next 100",
        "holder.recovered h1 fund-a to h1-next 7"
      ])
      assert.deepEqual(yield* Powers.books(stage), { register: "107", locked: "0", supply: "107" })
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("a consent to an issuer whose agreement has ended", () => {
  it.effect("never counts for another issuer until the ledger refuses the move", () =>
    Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded()
      const { cid } = yield* Powers.saying(Templates.IssuerPowersAgreement, {})
      yield* stage.fund.act(
        Templates.exercise(Templates.IssuerPowersAgreement, cid, "End", {
          party: stage.fund.party
        })
      )
      yield* Powers.proposes(stage, { issuer: stage.registrar.party })
      const proposal = yield* Powers.saying(Templates.IssuerPowersAgreementProposal, {})
      yield* stage.registrar.act(
        Templates.exercise(Templates.IssuerPowersAgreementProposal, proposal.cid, "Accept", {
          party: stage.registrar.party
        })
      )
      assert.strictEqual(
        (yield* Powers.forces("h1", "h2")).why,
        "rule-refused consent issuer-powers-consent"
      )
      // The consent to the former agreement does not prevent a request for a new one.
      yield* Powers.consents(h1)
      assert.strictEqual(
        (yield* Powers.offers("h1")).why,
        "state-conflict IssuerPowersConsentState"
      )
      assert.strictEqual((yield* Powers.forces("h1", "h2")).why, "")
      assert.strictEqual(yield* Cycles.holds(h2, "fund-a"), "100")
    }).pipe(engine())
  )
})

describe("a holder that takes its consent back", () => {
  const byInstrument = (holderId: string) =>
    Calls.openAction(
      "instrument.force-transfer",
      { instrumentId: "fund-a" },
      { moves: [{ holderId, toHolderId: "h3" }], order: Powers.order }
    )
  const breach =
    "issuer-powers-consent revoke: The holder revoked its consent while an order against it is open."

  it.effect("while an order against it is open is recorded as unexpected", () =>
    Effect.gen(function* () {
      const { h1 } = yield* Powers.founded()
      yield* byInstrument("h1")
      yield* Fund.revokesPowers(h1)
      assert.deepEqual(yield* Fund.surprises, [breach])
    }).pipe(engine())
  )

  it.effect("between two steps of a forced transfer is recorded as unexpected", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded("1")
      for (let nth = 1; nth < 25; nth++) yield* Powers.mints(stage, h1, "1")
      const started = yield* Powers.forces("h1", "h2")
      assert.strictEqual(started.state, "running")
      yield* Fund.revokesPowers(h1)
      assert.deepEqual(yield* Fund.surprises, [breach])
    }).pipe(Effect.provide(world({ settings: { inputsMax: 16 }, storage: polled })))
  )

  it.effect("never surprises somebody for another holder's order, or once its own is done", () =>
    Effect.gen(function* () {
      const { stage, h1, h2 } = yield* Powers.founded()
      yield* Powers.mints(stage, h2, "1")
      yield* Powers.consents(h2)
      yield* Powers.forces("h1", "h3", { instruments: [{ instrumentId: "fund-a", units: 1 }] })
      yield* byInstrument("h2")
      const { cid } = yield* Powers.saying(Templates.IssuerPowersConsent, { holder: h1.party })
      yield* h1.act(Templates.exercise(Templates.IssuerPowersConsent, cid, "Withdraw", {}))
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("a registration that ran out", () => {
  const kyc = { name: "kyc", value: "passed", state: "valid", evidenceHash: "ee".repeat(32) }
  const until = (holderId: string, validUntil: string) =>
    Calls.write("holder.set-attributes", { holderId }, { attributes: [kyc], validUntil })

  it.effect("of the holder lets its units go to its successor", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1, { waits: "no" })
      assert.strictEqual((yield* until("h1", "2026-08-01T12:00:00Z")).why, "")
      yield* Cycles.at("2026-08-02T12:00:00Z")
      assert.strictEqual(yield* state("h1"), "lapsed")
      assert.strictEqual((yield* Powers.recovers("h1")).why, "")
      assert.strictEqual(yield* state("h1"), "succeeded")
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "100")
    }).pipe(engine())
  )

  it.effect("of the successor stops it from receiving, at the very instant and after", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1, { waits: "no" })
      assert.strictEqual((yield* until("h1-next", "2026-08-02T12:00:00Z")).why, "")
      yield* Cycles.at("2026-08-02T12:00:00Z")
      assert.strictEqual((yield* Powers.recovers("h1")).why, "rule-refused admission holder-active")
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "0")
      assert.strictEqual((yield* until("h1-next", "2026-09-02T12:00:00Z")).why, "")
      assert.strictEqual((yield* Powers.recovers("h1")).why, "")
    }).pipe(engine())
  )
})

describe("the very instant at which", () => {
  it.effect("a consent or an agreement ends lets no units move", () =>
    Effect.gen(function* () {
      const { stage, holders } = yield* Cycles.opened(["h1", "h2"])
      const [h1] = holders
      if (h1 === undefined) throw new Error("no holder")
      const one = [{ instrumentId: "fund-a", units: 1 }]
      const why = Effect.map(Powers.forces("h1", "h2", { instruments: one }), (ended) => ended.why)
      yield* Powers.mints(stage, h1, "10")
      yield* Powers.agrees(stage, { until: "2026-08-05T12:00:00Z" })
      yield* Powers.consents(h1, { instrumentId: "fund-a", validUntil: "2026-08-04T12:00:00Z" })
      yield* Cycles.at("2026-08-04T11:59:59.999Z")
      assert.strictEqual(yield* why, "")
      yield* Cycles.at("2026-08-04T12:00:00Z")
      assert.strictEqual(yield* why, "rule-refused consent issuer-powers-consent")
      yield* Powers.consents(h1)
      yield* Cycles.at("2026-08-05T11:59:59.999Z")
      assert.strictEqual(yield* why, "")
      yield* Cycles.at("2026-08-05T12:00:00Z")
      assert.strictEqual(yield* why, "rule-refused consent issuer-powers-agreement")
    }).pipe(engine())
  )

  it.effect("a restriction ends by its own date neither stops nor follows units", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* Powers.founded()
      const next = yield* Powers.succeeds(stage, h1, { waits: "no" })
      const autoReleaseAt = "2026-08-05T12:00:00Z"
      yield* Powers.restricts("h1", { autoReleaseAt })
      yield* Powers.restricts("h1-next", { autoReleaseAt })
      yield* Cycles.at("2026-08-05T11:59:59.999Z")
      assert.strictEqual(
        (yield* Powers.recovers("h1")).why,
        "rule-refused restriction successor-unrestricted"
      )
      yield* Cycles.at(autoReleaseAt)
      assert.strictEqual((yield* Powers.recovers("h1")).why, "")
      assert.strictEqual(yield* Cycles.holds(next, "fund-a"), "100")
      assert.deepEqual((yield* Powers.restricted).toSorted(), [
        "h1 freeze compliance-review lapsed",
        "h1-next freeze compliance-review lapsed"
      ])
    }).pipe(engine())
  )
})
