/** Holders through their operations: invited, accepting, signing, countersigned, admitted. */
import { type Caller, Queries, Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { holders } from "#core/holders/holder/Holder.ts"
import * as HolderQueries from "#core/holders/holder/HolderQueries.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"

const engine = () => Effect.provide(world())
const holder = (id = "h1") => Effect.flatMap(Records, (records) => records.get(holders, id))

const registering = (stage: Fund.Parties, members: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write(
    "holder.register",
    {},
    {
      holderId: "h1",
      party: stage.holder.party,
      legalName: "A Fund",
      classification: "fund",
      taxResidences: [{ country: "CH" }],
      ...members
    }
  )

describe("holder.register", () => {
  it.effect("leaves a pending holder with what the caller told, waiting on its party", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      const done = yield* registering(stage)
      assert.strictEqual(done.state, "succeeded")
      assert.strictEqual(done.result.state, "pending")
      const self = yield* holder()
      assert.strictEqual(self.legalName, "A Fund")
      assert.strictEqual(self.party, stage.holder.party)
      assert.deepStrictEqual(
        holders.waitingOn(self).map(({ party, action }) => [party, action]),
        [
          [stage.holder.party, "HolderInvitation.Accept"],
          [stage.holder.party, "SignedTerms"]
        ]
      )
    }).pipe(engine())
  )

  it.effect("makes an id where the caller names none", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      const done = yield* registering(stage, { holderId: null })
      assert.strictEqual(done.state, "succeeded")
      assert.match(String(done.result.holderId), /^[A-Za-z0-9._~-]{8,}$/)
    }).pipe(engine())
  )

  it.effect(
    "never takes an id or a party a second time, the venue itself, or a date that has passed",
    () =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* registering(stage)
        assert.strictEqual((yield* registering(stage)).why, "already-exists holder-id")
        const again = yield* registering(stage, { holderId: "h2" })
        assert.strictEqual(again.why, "already-exists party")
        const venue = yield* registering(stage, { holderId: "h2", party: stage.venue })
        assert.strictEqual(venue.why, "rule-refused policy holder-is-venue")
        const past = yield* registering(stage, {
          holderId: "h2",
          party: stage.bank.party,
          validUntil: Fund.start
        })
        assert.strictEqual(past.why, "rule-refused policy valid-until")
      }).pipe(engine())
  )

  it.effect("refuses a tax number that is not masked", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      const whole = yield* registering(stage, {
        taxResidences: [{ country: "US", tin: "123456789" }]
      })
      assert.strictEqual(whole.why, "invalid-request")
      const masked = yield* registering(stage, {
        taxResidences: [{ country: "US", tin: "*****6789" }]
      })
      assert.strictEqual(masked.state, "succeeded")
    }).pipe(engine())
  )
})

describe("a pending holder becomes active", () => {
  it.effect("only when it accepted its registration and its terms are countersigned", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      yield* Fund.accepts(stage)
      assert.strictEqual((yield* holder()).state, "pending")
      const early = yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
      assert.strictEqual(early.why, "rule-refused consent terms-signed")
      yield* Fund.signs(stage)
      assert.strictEqual((yield* holder()).state, "pending")
      const done = yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
      assert.strictEqual(done.result.state, "active")
      const self = yield* holder()
      assert.strictEqual(self.terms?.documentHash, Fund.documentHash)
      assert.deepStrictEqual(holders.waitingOn(self), [])
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("also when the terms come first", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      yield* Fund.signs(stage)
      yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
      assert.strictEqual((yield* holder()).state, "pending")
      yield* Fund.accepts(stage)
      assert.strictEqual((yield* holder()).state, "active")
    }).pipe(engine())
  )

  it.effect("never by terms that somebody else signed in its name", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      yield* Fund.accepts(stage)
      yield* Fund.signs(stage, stage.bank)
      const done = yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
      assert.strictEqual(done.why, "rule-refused consent terms-signed")
      assert.deepStrictEqual(yield* Fund.surprises, ["holder sign: Another party signed terms."])
    }).pipe(engine())
  )

  it.effect("never once it has ended: its terms are not countersigned any more", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      yield* Fund.accepts(stage)
      yield* Fund.signs(stage)
      const records = yield* Records
      const now = Instant.of(Fund.start)
      yield* records.transact(
        Effect.flatMap(holder(), (self) =>
          records.append(holders, self, { on: "close", at: now }, { cause: { by: "clock" }, now })
        )
      )
      const done = yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
      assert.strictEqual(done.why, "state-conflict HolderState")
    }).pipe(engine())
  )

  it.effect("never by terms that it took back, and by the document that is named", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      yield* Fund.accepts(stage)
      yield* Fund.signs(stage)
      const { cid } = yield* Fund.newestContract(Templates.SignedTerms)
      yield* stage.holder.act(Templates.exercise(Templates.SignedTerms, cid, "Withdraw", {}))
      const gone = yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
      assert.strictEqual(gone.why, "rule-refused consent terms-signed")
      assert.isNull((yield* holder()).signedTermsCid)
      yield* Fund.signs(stage)
      const other = yield* Calls.write(
        "accepted-terms.accept",
        { holderId: "h1" },
        { documentHash: "cd".repeat(32) }
      )
      assert.strictEqual(other.why, "rule-refused consent terms-signed")
      const named = yield* Calls.write(
        "accepted-terms.accept",
        { holderId: "h1" },
        { documentHash: Fund.documentHash }
      )
      assert.strictEqual(named.result.state, "active")
    }).pipe(engine())
  )

  it.effect("and lapses by the clock when its registration runs out", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage, { validUntil: "2026-08-31T00:00:00Z" })
      yield* Fund.accepts(stage)
      yield* Fund.signs(stage)
      yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
      assert.strictEqual((yield* holder()).state, "active")
      yield* TestClock.setTime(Instant.toEpochMillis(Instant.of("2026-08-31T00:00:00Z")))
      assert.strictEqual((yield* holder()).state, "lapsed")
    }).pipe(engine())
  )

  it.effect("not while its invitation is declined: the venue has to close it", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      const { cid } = yield* Fund.newestContract(Templates.HolderInvitation)
      yield* stage.holder.act(Templates.exercise(Templates.HolderInvitation, cid, "Decline", {}))
      const self = yield* holder()
      assert.strictEqual(self.state, "pending")
      assert.strictEqual(holders.waitingOn(self)[0]?.action, "holder.close")
    }).pipe(engine())
  )

  it.effect("never one that another venue calls its own", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* stage.bank.act(
        Templates.create(Templates.HolderInvitation, {
          venue: stage.bank.party,
          holderId: "fake",
          holder: stage.venue,
          custodian: null,
          predecessor: null,
          attributesDigest: "00".repeat(32),
          validUntil: null
        })
      )
      const found = yield* Effect.result(holder("fake"))
      assert.isTrue(Result.isFailure(found))
      assert.match((yield* Fund.surprises).join(), /another venue's/)
    }).pipe(engine())
  )
})

describe("holder.onboard", () => {
  const attribute = { name: "kyc", value: "passed", evidenceHash: "ee".repeat(32) }
  const onboarding = (stage: Fund.Parties, members: Readonly<Record<string, Calls.Json>> = {}) =>
    Calls.write(
      "holder.onboard",
      {},
      {
        holderId: "h1",
        party: stage.holder.party,
        taxResidences: [],
        attributes: [attribute],
        admissions: [{ instrumentId: "fund-a" }],
        ...members
      }
    )

  it.effect("registers, keeps attributes as pending and offers, in one transaction", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      const done = yield* onboarding(stage)
      assert.strictEqual(done.why, "")
      const self = yield* holder()
      assert.deepStrictEqual(
        self.attributes.map(({ name, state, setBy }) => [name, state, setBy]),
        [["kyc", "pending", "olga"]]
      )
      const { payload } = yield* Fund.newestContract(Templates.AdmissionOffer)
      assert.strictEqual(payload.holder, stage.holder.party)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never shows the attributes themselves on the ledger, or none of them", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* onboarding(stage)
      const { payload } = yield* Fund.newestContract(Templates.HolderInvitation)
      assert.match(String(payload.attributesDigest), /^[0-9a-f]{64}$/)
      assert.notInclude(JSON.stringify(payload), "passed")
      yield* onboarding(stage, { holderId: "h2", party: stage.bank.party, attributes: [] })
      const other = yield* Fund.newestContract(Templates.HolderInvitation)
      assert.notStrictEqual(other.payload.attributesDigest, payload.attributesDigest)
    }).pipe(engine())
  )

  it.effect("is refused beyond the holder cap, and without the registrar's consent", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened({ holderCap: 1 })
      yield* onboarding(stage)
      const full = yield* onboarding(stage, { holderId: "h2", party: stage.bank.party })
      assert.strictEqual(full.why, "rule-refused policy holder-cap")
      const { cid } = yield* Fund.newestContract(Templates.AdmissionConsent)
      yield* stage.registrar.act(Templates.exercise(Templates.AdmissionConsent, cid, "Revoke", {}))
      const unasked = yield* onboarding(stage, { holderId: "h2", party: stage.bank.party })
      assert.strictEqual(unasked.why, "rule-refused consent admission-consent")
    }).pipe(engine())
  )

  it.effect("refuses an instrument that is not there, or named twice, and registers nothing", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      const unknown = yield* onboarding(stage, { admissions: [{ instrumentId: "none" }] })
      assert.strictEqual(unknown.why, "not-found")
      const twice = yield* onboarding(stage, {
        admissions: [{ instrumentId: "fund-a" }, { instrumentId: "fund-a" }]
      })
      assert.strictEqual(twice.why, "rule-refused admission instrument-repeated")
      assert.isTrue(Result.isFailure(yield* Effect.result(holder())))
    }).pipe(engine())
  )
})

describe("what is shown of holders", () => {
  const investor = (holderId: string | null): Caller.Caller => ({
    ...Calls.person("ivy", "investor"),
    holderId
  })
  const listed = (caller: Caller.Caller) =>
    Effect.gen(function* () {
      const queries = yield* Queries
      const page = yield* queries.page(HolderQueries.list, {
        caller,
        params: {},
        point: {},
        page: { limit: 10 }
      })
      return page.value.map(({ holderId }) => holderId)
    })

  it.effect("is its own holder to an investor, and every holder to other roles", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      yield* registering(stage, { holderId: "h2", party: stage.bank.party })
      assert.deepStrictEqual(yield* listed(Calls.operator), ["h1", "h2"])
      assert.deepStrictEqual(yield* listed(investor("h2")), ["h2"])
      const nobody = yield* Effect.result(listed(investor(null)))
      assert.strictEqual(Result.isFailure(nobody) && nobody.failure._tag, "Refused")
      const queries = yield* Queries
      const one = (caller: Caller.Caller, holderId: string) =>
        Effect.result(
          queries.one(HolderQueries.get, {
            caller,
            params: { holderId: holderId as never },
            point: {}
          })
        )
      assert.isTrue(Result.isSuccess(yield* one(investor("h2"), "h2")))
      const other = yield* one(investor("h2"), "h1")
      const absent = yield* one(investor("h2"), "h9")
      assert.deepStrictEqual(other, absent)
    }).pipe(engine())
  )
})
