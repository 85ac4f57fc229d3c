/**
 * Issuer powers: agreed by issuer and registrar, consented to by holders, proposed, answered,
 * ended.
 */
import { Queries, Records } from "@bursar/engine-core"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { issuerPowersAgreements } from "#core/powers/IssuerPowersAgreement.ts"
import { issuerPowersConsents } from "#core/holders/issuer-powers-consent/IssuerPowersConsent.ts"
import * as HolderQueries from "#core/holders/holder/HolderQueries.ts"
import * as InstrumentQueries from "#core/overviews/instrument/InstrumentQueries.ts"
import * as ProposalQueries from "#core/overviews/ProposalQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"

const engine = Effect.provide(world())
const includes = (self: object, members: object) => assert.deepInclude(self, members)

const agreements = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* Stream.runCollect(records.stream(issuerPowersAgreements, {}))
  return found.map(({ record }) => record)
})
const consents = Effect.gen(function* () {
  const records = yield* Records
  const found = yield* Stream.runCollect(records.stream(issuerPowersConsents, {}))
  return found.map(({ record }) => record)
})
const states = <E, R>(records: Effect.Effect<ReadonlyArray<{ readonly state: string }>, E, R>) =>
  Effect.map(records, (found) => found.map(({ state }) => state))

const instrument = Effect.gen(function* () {
  const queries = yield* Queries
  const { value } = yield* queries.one(InstrumentQueries.get, {
    caller: Calls.operator,
    params: { instrumentId: "fund-a" as never },
    point: {}
  })
  return value
})
const shownHolder = Effect.gen(function* () {
  const queries = yield* Queries
  const { value } = yield* queries.one(HolderQueries.get, {
    caller: Calls.operator,
    params: { holderId: "h1" as never },
    point: {}
  })
  return value
})
const proposals = Effect.gen(function* () {
  const queries = yield* Queries
  const { value } = yield* queries.page(ProposalQueries.list, {
    caller: Calls.operator,
    params: {},
    point: {},
    page: { limit: 100 }
  })
  return value.map(({ kind, awaiting }) => `${kind} ${awaiting.length}`)
})

const opened = Effect.gen(function* () {
  const { stage, holders } = yield* Cycles.opened(["h1"])
  const [h1] = holders
  if (h1 === undefined) throw new Error("no holder")
  return { stage, h1 }
})

describe("an issuer powers agreement", () => {
  it.effect(
    "never is in force once issuer and registrar have both accepted, or one of them decides",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* opened
        const proposal = yield* Powers.proposes(stage)
        includes(proposal.result, { state: "proposed", powers: ["force-transfer", "recover"] })
        assert.deepEqual(yield* proposals, ["issuer-powers-agreement 2"])
        const [waiting] = yield* agreements
        const first = yield* Powers.saying(Templates.IssuerPowersAgreementProposal, {})
        yield* stage.fund.act(
          Templates.exercise(Templates.IssuerPowersAgreementProposal, first.cid, "Accept", {
            party: stage.fund.party
          })
        )
        includes((yield* agreements)[0] ?? {}, {
          state: "proposed",
          acceptedBy: [stage.fund.party]
        })
        assert.deepEqual(yield* proposals, ["issuer-powers-agreement 1"])
        const second = yield* Powers.saying(Templates.IssuerPowersAgreementProposal, {})
        yield* stage.registrar.act(
          Templates.exercise(Templates.IssuerPowersAgreementProposal, second.cid, "Accept", {
            party: stage.registrar.party
          })
        )
        const { cid } = yield* Powers.saying(Templates.IssuerPowersAgreement, {})
        assert.deepEqual(yield* proposals, [])
        includes((yield* instrument).issuerPowersAgreement ?? {}, {
          issuerPowersAgreementId: waiting?.issuerPowersAgreementId,
          issuer: stage.fund.party,
          registrar: stage.registrar.party,
          powers: ["force-transfer", "recover"],
          state: "agreed",
          cid
        })
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(engine)
  )

  it.effect("never is asked for twice, or the one that waits stays beside the newer one", () =>
    Effect.gen(function* () {
      const { stage } = yield* opened
      yield* Powers.proposes(stage)
      yield* Powers.proposes(stage, { powers: ["recover"] })
      assert.strictEqual(yield* Fund.countActive(Templates.IssuerPowersAgreementProposal), 1)
      assert.deepEqual(yield* states(agreements), ["withdrawn", "proposed"])
      // In one transaction: there is no instant without either.
      const [first, second] = yield* agreements
      assert.deepEqual(first?.endedAt, second?.proposedAt)
      yield* Fund.agreesToPowers(stage)
      const again = yield* Powers.proposes(stage)
      assert.strictEqual(again.why, "state-conflict IssuerPowersAgreementState")
      assert.deepEqual((yield* instrument).issuerPowersAgreement?.powers, ["recover"])
    }).pipe(engine)
  )

  it.effect("never is declined, ended or past its date, and cannot be asked for anew", () =>
    Effect.gen(function* () {
      const { stage } = yield* opened
      yield* Powers.proposes(stage)
      const { cid } = yield* Powers.saying(Templates.IssuerPowersAgreementProposal, {})
      yield* stage.fund.act(
        Templates.exercise(Templates.IssuerPowersAgreementProposal, cid, "Decline", {
          party: stage.fund.party
        })
      )
      assert.deepEqual(yield* states(agreements), ["declined"])
      yield* Powers.agrees(stage)
      const agreed = yield* Powers.saying(Templates.IssuerPowersAgreement, {})
      yield* stage.registrar.act(
        Templates.exercise(Templates.IssuerPowersAgreement, agreed.cid, "End", {
          party: stage.registrar.party
        })
      )
      assert.deepEqual(yield* states(agreements), ["declined", "ended"])
      const past = yield* Powers.proposes(stage, { until: Fund.start })
      assert.strictEqual(past.why, "rule-refused window agreement-in-time")
      yield* Powers.agrees(stage, { until: "2026-08-01T12:00:00Z" })
      yield* TestClock.adjust("24 hours")
      assert.deepEqual(yield* states(agreements), ["declined", "ended", "ended"])
      assert.strictEqual((yield* Powers.proposes(stage)).why, "")
      // Archived past its date: no breach.
      const late = yield* Powers.saying(Templates.IssuerPowersAgreement, {})
      yield* stage.fund.act(
        Templates.exercise(Templates.IssuerPowersAgreement, late.cid, "End", {
          party: stage.fund.party
        })
      )
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine)
  )
})

describe("a consent to issuer powers", () => {
  it.effect(
    "never is offered before anybody has agreed the powers, or to powers nobody agreed",
    () =>
      Effect.gen(function* () {
        const { stage } = yield* opened
        assert.strictEqual(
          (yield* Powers.offers("h1")).why,
          "rule-refused consent issuer-powers-agreement"
        )
        yield* Powers.proposes(stage)
        assert.strictEqual(
          (yield* Powers.offers("h1", {})).why,
          "rule-refused consent issuer-powers-agreement"
        )
        yield* Powers.agrees(stage, { powers: ["recover"] })
        const wider = yield* Powers.offers("h1", {
          instrumentId: "fund-a",
          powers: ["force-transfer"]
        })
        assert.strictEqual(wider.why, "rule-refused consent powers-agreed")
        const past = yield* Powers.offers("h1", { validUntil: Fund.start })
        assert.strictEqual(past.why, "rule-refused window consent-in-time")
        assert.strictEqual((yield* Powers.offers("nobody")).why, "not-found")
        assert.strictEqual(
          (yield* Powers.offers("h1", { instrumentId: "fund-x" })).why,
          "not-found"
        )
        includes((yield* Powers.offers("h1")).result, { state: "offered", powers: ["recover"] })
      }).pipe(engine)
  )

  it.effect("never is granted, and the holder is not shown with it, or another is asked for", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* opened
      yield* Powers.agrees(stage)
      yield* Powers.offers("h1")
      assert.deepEqual(yield* proposals, ["issuer-powers-consent 1"])
      const offer = yield* Powers.saying(Templates.IssuerPowersConsentOffer, {})
      includes((yield* shownHolder).consents[0] ?? {}, {
        instrumentId: "fund-a",
        state: "offered",
        cid: offer.cid
      })
      yield* Fund.answersPowers(h1)
      const { cid } = yield* Powers.saying(Templates.IssuerPowersConsent, {})
      includes((yield* shownHolder).consents[0] ?? {}, {
        instrumentId: "fund-a",
        state: "granted",
        cid
      })
      assert.deepEqual(yield* proposals, [])
      const again = yield* Powers.offers("h1")
      assert.strictEqual(again.why, "state-conflict IssuerPowersConsentState")
      // On all instruments it is another consent.
      yield* Powers.consents(h1, {})
      assert.deepEqual(
        (yield* shownHolder).consents.map(({ instrumentId, state }) => [instrumentId, state]),
        [
          ["fund-a", "granted"],
          [null, "granted"]
        ]
      )
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine)
  )

  it.effect("never is declined, replaced or out of time, and still waits for the holder", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* opened
      yield* Powers.agrees(stage)
      yield* Powers.offers("h1")
      yield* Powers.offers("h1", { instrumentId: "fund-a", expiresAt: "2026-08-01T12:00:00Z" })
      assert.strictEqual(yield* Fund.countActive(Templates.IssuerPowersConsentOffer), 1)
      assert.deepEqual(yield* states(consents), ["withdrawn", "offered"])
      yield* TestClock.adjust("24 hours")
      assert.deepEqual(yield* states(consents), ["withdrawn", "expired"])
      includes((yield* shownHolder).consents[0] ?? {}, { state: "expired" })
      yield* Powers.offers("h1")
      yield* Fund.answersPowers(h1, "Decline")
      assert.deepEqual(
        (yield* consents).map(({ state }) => state),
        ["withdrawn", "expired", "declined"]
      )
      includes((yield* shownHolder).consents[0] ?? {}, { state: "declined" })
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine)
  )

  it.effect("never surprises somebody when its holder declines an offer that had run out", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* opened
      yield* Powers.agrees(stage)
      yield* Powers.offers("h1", { expiresAt: "2026-08-01T12:00:00Z" })
      yield* TestClock.adjust("24 hours")
      yield* Fund.answersPowers(h1, "Decline")
      assert.deepEqual(yield* states(consents), ["expired"])
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine)
  )

  it.effect("never counts past its own time", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* opened
      yield* Powers.agrees(stage)
      yield* Powers.consents(h1, { instrumentId: "fund-a", validUntil: "2026-08-01T12:00:00Z" })
      yield* TestClock.adjust("24 hours")
      assert.deepEqual(yield* states(consents), ["expired"])
      includes((yield* shownHolder).consents[0] ?? {}, { state: "expired", endsAt: null })
      // Taken back when it has ended already: no breach.
      yield* Fund.revokesPowers(h1)
      assert.deepEqual(yield* Fund.surprises, [])
    }).pipe(engine)
  )

  it.effect("never is taken back by its holder, and nobody notices that it is restricted", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* opened
      yield* Powers.agrees(stage)
      yield* Powers.consents(h1)
      yield* Fund.revokesPowers(h1)
      assert.deepEqual(yield* states(consents), ["revoked"])
      assert.deepEqual(yield* Fund.surprises, [])
      yield* Powers.consents(h1)
      yield* Powers.restricts("h1")
      yield* Fund.revokesPowers(h1)
      // The ledger decides: it is revoked, and recorded as a breach.
      assert.deepEqual(yield* states(consents), ["revoked", "revoked"])
      assert.deepEqual(yield* Fund.surprises, [
        "issuer-powers-consent revoke: The holder revoked its consent while it is restricted."
      ])
    }).pipe(engine)
  )

  it.effect("never is the holder's to take back where the agreement does not let it", () =>
    Effect.gen(function* () {
      const { stage, h1 } = yield* opened
      yield* Powers.agrees(stage, { consentRevocable: false })
      yield* Powers.consents(h1)
      const refused = yield* Effect.exit(Fund.revokesPowers(h1))
      assert.strictEqual(refused._tag, "Failure")
      assert.deepEqual(yield* states(consents), ["granted"])
      assert.deepEqual(
        Option.fromNullishOr((yield* consents)[0]?.revocable).pipe(Option.getOrNull),
        false
      )
    }).pipe(engine)
  )
})
