/** A holder's later life: its attributes, its registration's end, its successor, its own end. */
import { Records, type settingsDefaults } from "@bursar/engine-core"
import { Decimal, Instant, type Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Crypto } from "@bursar/engine-core/ports"
import * as AttributeRules from "#core/holders/attribute/AttributeRules.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import { externalAccounts } from "#core/holders/external-account/ExternalAccount.ts"
import { admissions } from "#core/admissions/Admission.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { actAs } from "../http/security/dealing-floor.ts"
import * as Fund from "./fund.ts"

const engine = (settings: Partial<typeof settingsDefaults> = {}) =>
  Effect.provide(world({ settings }))
const holder = (id = "h1") => Effect.flatMap(Records, (records) => records.get(holders, id))
const moves = (id = "h1") =>
  Effect.map(holder(id), (self) =>
    holders.waitingOn(self).map(({ action, party, role }) => `${role ?? party}: ${action}`)
  )
const clock = (at: string) => TestClock.setTime(Instant.toEpochMillis(Instant.of(at)))

const registering = (stage: Fund.Parties, members: Readonly<Record<string, Calls.Json>> = {}) =>
  Calls.write("holder.register", {}, { holderId: "h1", party: stage.holder.party, ...members })

/** Registered, its terms countersigned: active, and admitted to nothing. */
const active = (stage: Fund.Parties, members: Readonly<Record<string, Calls.Json>> = {}) =>
  Effect.gen(function* () {
    yield* registering(stage, members)
    yield* Fund.accepts(stage)
    yield* Fund.signs(stage)
    yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
  })

const evidenceHash = "ee".repeat(32)
const kyc = { name: "kyc", value: "passed", state: "valid", evidenceHash }
const setting = (members: Readonly<Record<string, Calls.Json>> = {}, holderId = "h1") =>
  Calls.write("holder.set-attributes", { holderId }, { attributes: [kyc], ...members })

const digestOf = Effect.gen(function* () {
  const { sha256 } = yield* Crypto
  return sha256(AttributeRules.digestText((yield* holder()).attributes))
}).pipe(Effect.provide(NodeCrypto.layerCrypto))

describe("holder.set-attributes", () => {
  it.effect("never leaves the record and the ledger's digest saying different things", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* active(stage)
      const done = yield* setting()
      assert.strictEqual(done.why, "")
      const { payload } = yield* Fund.newestContract(Templates.HolderRegistration)
      assert.strictEqual(payload.attributesDigest, yield* digestOf)
      const self = yield* holder()
      assert.deepStrictEqual(
        self.attributes.map(({ name, state, setBy }) => [name, state, setBy]),
        [["kyc", "valid", "olga"]]
      )
      assert.strictEqual(self.state, "active")
      const revoked = yield* setting({ attributes: [{ ...kyc, state: "revoked" }] })
      assert.strictEqual(revoked.why, "")
      const after = yield* Fund.newestContract(Templates.HolderRegistration)
      assert.strictEqual(after.payload.attributesDigest, yield* digestOf)
      assert.notStrictEqual(after.payload.attributesDigest, payload.attributesDigest)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never is refused for what cannot be, or taken for a holder that is not there", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* active(stage)
      const revoked = yield* setting({ attributes: [{ ...kyc, state: "revoked" }] })
      assert.strictEqual(revoked.why, "state-conflict AttributeState")
      const twice = yield* setting({ attributes: [kyc, kyc] })
      assert.strictEqual(twice.why, "rule-refused attribute attribute-repeated")
      const late = yield* setting({ validUntil: Fund.start })
      assert.strictEqual(late.why, "rule-refused policy valid-until")
      const none = yield* setting({ attributes: [] })
      assert.strictEqual(none.why, "invalid-request")
      const nobody = yield* setting({}, "h9")
      assert.strictEqual(nobody.why, "not-found")
      assert.deepStrictEqual((yield* holder()).attributes, [])
    }).pipe(engine())
  )

  it.effect("gives a holder that has not answered an invitation with the new digest", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      const before = yield* Fund.newestContract(Templates.HolderInvitation)
      yield* setting()
      const after = yield* Fund.newestContract(Templates.HolderInvitation)
      assert.notStrictEqual(after.cid, before.cid)
      assert.strictEqual(after.payload.attributesDigest, yield* digestOf)
      assert.strictEqual((yield* holder()).invitationCid, after.cid)
      assert.strictEqual(yield* Fund.countActive(Templates.HolderInvitation), 1)
      // A holder that declined is invited anew in the same way.
      yield* stage.holder.act(
        Templates.exercise(Templates.HolderInvitation, after.cid, "Decline", {})
      )
      assert.isNull((yield* holder()).invitationCid)
      yield* setting({ attributes: [{ ...kyc, name: "accredited" }] })
      yield* Fund.accepts(stage)
      assert.isNotNull((yield* holder()).registrationCid)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never makes whoever must verify what was stated anybody but compliance", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* active(stage)
      yield* setting({ attributes: [{ ...kyc, state: "pending" }] })
      assert.deepStrictEqual(yield* moves(), ["compliance: holder.set-attributes"])
      yield* setting()
      assert.deepStrictEqual(yield* moves(), [])
      assert.deepStrictEqual((yield* holder()).attributes.length, 1)
    }).pipe(engine())
  )

  it.effect("a verified attribute runs out by the clock", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* active(stage)
      yield* setting({ attributes: [{ ...kyc, validUntil: "2026-08-31T00:00:00Z" }] })
      yield* clock("2026-08-30T23:59:59Z")
      assert.strictEqual((yield* holder()).attributes[0]?.state, "valid")
      yield* clock("2026-08-31T00:00:00Z")
      assert.strictEqual((yield* holder()).attributes[0]?.state, "expired")
    }).pipe(engine())
  )
})

describe("an invitation that the venue's own party made out of turn", () => {
  it.effect("never takes the place of one that stands, or makes another party the holder", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      const invitation = (party: Party.Party) =>
        Templates.create(Templates.HolderInvitation, {
          venue: stage.venue,
          holderId: "h1",
          holder: party,
          custodian: null,
          predecessor: null,
          attributesDigest: "00".repeat(32),
          validUntil: null
        })
      const before = yield* holder()
      yield* actAs(stage.venue, invitation(stage.holder.party))
      yield* Calls.settle
      assert.strictEqual((yield* holder()).invitationCid, before.invitationCid)
      yield* stage.holder.act(
        Templates.exercise(Templates.HolderInvitation, before.invitationCid ?? "", "Decline", {})
      )
      yield* actAs(stage.venue, invitation(stage.bank.party))
      yield* Calls.settle
      assert.deepInclude(yield* holder(), { invitationCid: null, party: stage.holder.party })
      assert.deepStrictEqual(yield* Fund.surprises, [
        "holder register: A holder of this id exists.",
        "holder register: A holder of this id exists."
      ])
    }).pipe(engine())
  )

  it.effect("changes nothing of a holder that has accepted and waits for its attributes", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      yield* Fund.accepts(stage)
      const accepted = yield* holder()
      assert.deepInclude(accepted, { state: "pending", invitationCid: null })
      assert.isNotNull(accepted.registrationCid)
      yield* actAs(
        stage.venue,
        Templates.create(Templates.HolderInvitation, {
          venue: stage.venue,
          holderId: "h1",
          holder: stage.holder.party,
          custodian: null,
          predecessor: null,
          attributesDigest: "00".repeat(32),
          validUntil: null
        })
      )
      yield* Calls.settle
      assert.deepStrictEqual(yield* holder(), accepted)
      assert.deepStrictEqual(yield* Fund.surprises, [
        "holder register: A holder of this id exists."
      ])
    }).pipe(engine())
  )
})

describe("a registration that ran out", () => {
  it.effect("is renewed by naming its end, and by nothing less", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* active(stage, { validUntil: "2026-08-31T00:00:00Z" })
      yield* clock("2026-09-01T00:00:00Z")
      assert.strictEqual((yield* holder()).state, "lapsed")
      assert.deepStrictEqual(yield* moves(), ["compliance: holder.set-attributes"])
      yield* setting()
      assert.strictEqual((yield* holder()).state, "lapsed")
      const renewed = yield* setting({ validUntil: "2027-08-31T00:00:00Z" })
      assert.strictEqual(renewed.result.state, "active")
      assert.strictEqual((yield* holder()).validUntil, Instant.of("2027-08-31T00:00:00Z"))
      yield* clock("2027-08-31T00:00:00Z")
      assert.strictEqual((yield* holder()).state, "lapsed")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )
})

describe("holder.register-successor", () => {
  const naming = (stage: Fund.Parties, members: Readonly<Record<string, Calls.Json>> = {}) =>
    Calls.write(
      "holder.register-successor",
      { holderId: "h1" },
      { party: stage.bank.party, successorId: "h2", ...members }
    )

  it.effect(
    "never leaves two holders that know nothing of each other, or a successor usable at once",
    () =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* active(stage, { legalName: "A Fund", taxResidences: [{ country: "CH" }] })
        yield* setting()
        const done = yield* naming(stage)
        assert.strictEqual(done.why, "")
        const successor = yield* holder("h2")
        assert.deepInclude(successor, {
          predecessor: "h1",
          party: stage.bank.party,
          state: "pending",
          legalName: "A Fund"
        })
        assert.deepStrictEqual(
          successor.attributes.map(({ name, state }) => [name, state]),
          [["kyc", "valid"]]
        )
        const named = (yield* holder()).successor
        assert.deepStrictEqual(named, {
          party: stage.bank.party,
          registeredAt: successor.registeredAt,
          usableFrom: Instant.fromNanos(successor.registeredAt + 86_400_000_000_000n)
        })
        const { payload } = yield* Fund.newestContract(Templates.HolderInvitation)
        assert.deepInclude(payload, { holderId: "h2", predecessor: "h1" })
        assert.deepStrictEqual(yield* Fund.surprises, [])
      }).pipe(engine())
  )

  it.effect(
    "refuses a second one, the holder itself, the venue, and a party that is a holder",
    () =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* registering(stage)
        assert.strictEqual((yield* naming(stage)).why, "state-conflict HolderState")
        yield* Fund.accepts(stage)
        yield* Fund.signs(stage)
        yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
        const own = yield* naming(stage, { party: stage.holder.party })
        assert.strictEqual(own.why, "already-exists party")
        const venue = yield* naming(stage, { party: stage.venue })
        assert.strictEqual(venue.why, "rule-refused policy holder-is-venue")
        const taken = yield* naming(stage, { successorId: "h1" })
        assert.strictEqual(taken.why, "already-exists holder-id")
        yield* naming(stage)
        const second = yield* naming(stage, { party: stage.fund.party, successorId: "h3" })
        assert.strictEqual(second.why, "state-conflict successor-named")
        yield* Calls.write("holder.close", { holderId: "h2" }, {})
        const after = yield* naming(stage, { party: stage.fund.party, successorId: null })
        assert.strictEqual(after.why, "")
        assert.strictEqual((yield* holder()).successor?.party, stage.fund.party)
      }).pipe(engine())
  )
})

describe("holder.close", () => {
  const closing = (members: Readonly<Record<string, Calls.Json>> = {}, holderId = "h1") =>
    Calls.write("holder.close", { holderId }, members)
  const states = Effect.flatMap(Records, (records) =>
    Effect.map(records.list(admissions, { limit: 10 }), (found) =>
      found.map(({ record }) => `${record.state} ${record.endedBy ?? ""}`)
    )
  )

  it.effect("never leaves a registration, a credential or a place behind", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened({ holderCap: 1 })
      yield* Fund.admitted(stage)
      const done = yield* closing({ closedAs: "CLIN" })
      assert.strictEqual(done.why, "")
      assert.deepInclude(done.result, { state: "closed", closedAs: "CLIN" })
      assert.deepStrictEqual(yield* states, ["revoked venue"])
      assert.strictEqual(yield* Fund.countActive(Templates.HolderRegistration), 0)
      assert.strictEqual(yield* Fund.countActive(Templates.Credential), 0)
      assert.strictEqual((yield* closing()).why, "state-conflict HolderState")
      assert.strictEqual((yield* setting()).why, "state-conflict HolderState")
      const next = yield* Calls.write(
        "holder.onboard",
        {},
        { party: stage.bank.party, admissions: [{ instrumentId: "fund-a" }] }
      )
      assert.strictEqual(next.why, "")
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never leaves a holder open that was only invited, or declined", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* registering(stage)
      assert.strictEqual((yield* closing()).result.state, "closed")
      assert.strictEqual(yield* Fund.countActive(Templates.HolderInvitation), 0)
      yield* registering(stage, { holderId: "h2", party: stage.bank.party })
      const { cid } = yield* Fund.newestContract(Templates.HolderInvitation)
      yield* stage.bank.act(Templates.exercise(Templates.HolderInvitation, cid, "Decline", {}))
      const done = yield* closing({ closedAs: "ASIN" }, "h2")
      assert.deepInclude(done.result, { state: "closed", closedAs: "ASIN" })
      assert.strictEqual(yield* Fund.countActive(Templates.HolderInvitation), 0)
      assert.deepStrictEqual(yield* Fund.surprises, [])
    }).pipe(engine())
  )

  it.effect("never takes away an order that is not ended, or units", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.admitted(stage)
      yield* Calls.write(
        "subscription.claim",
        {},
        {
          subscriptionId: "s1",
          instrumentId: "fund-a",
          holderId: "h1",
          payment: "wire",
          amount: 100
        }
      )
      assert.strictEqual((yield* closing()).why, "rule-refused policy no-open-order")
      yield* Calls.write("subscription.withdraw", { subscriptionId: "s1" }, {})
      yield* stage.registrar.act(
        Templates.create(Templates.Holding, {
          registrar: stage.registrar.party,
          owner: stage.registrar.party,
          provider: stage.venue,
          instrument: stage.asset,
          amount: Decimal.of("5"),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        })
      )
      const units = yield* Fund.newestContract(Templates.Holding)
      yield* stage.registrar.act(
        Templates.exercise(Templates.Holding, units.cid, "OfferTransfer", {
          receiver: stage.holder.party,
          amount: Decimal.of("5"),
          executeBefore: Instant.of("2027-01-01T00:00:00Z")
        })
      )
      const offered = yield* Fund.newestContract(Templates.TransferOffer)
      yield* stage.holder.act(
        Templates.exercise(Templates.TransferOffer, offered.cid, "Accept", { credentialCid: null })
      )
      assert.strictEqual((yield* closing()).why, "rule-refused units zero-units")
      const sold = yield* Calls.write(
        "redemption.claim",
        {},
        {
          redemptionId: "r1",
          instrumentId: "fund-a",
          holderId: "h1",
          payment: "wire",
          units: 5
        }
      )
      assert.strictEqual(sold.why, "")
      assert.strictEqual((yield* closing()).why, "rule-refused policy no-open-order")
      assert.strictEqual((yield* holder()).state, "active")
      assert.deepStrictEqual(yield* states, ["admitted "])
    }).pipe(engine())
  )
})

describe("external-account.map", () => {
  const iban = "CH93 0076 2011 6238 5295 7"
  const sealed = { sealingKeys: [{ keyId: "k1", secret: new Uint8Array(32).fill(7) }] }
  const mapping = (members: Readonly<Record<string, Calls.Json>> = {}) =>
    Calls.write(
      "external-account.map",
      {},
      { externalAccountId: "a1", kind: "cash", holderId: "h1", number: iban, ...members }
    )

  it.effect("never shows or keeps the number, or leaves the holder without its account", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* active(stage)
      const done = yield* mapping()
      assert.strictEqual(done.why, "")
      assert.deepInclude(done.result, {
        externalAccountId: "a1",
        masked: "****2957",
        mappedBy: "olga"
      })
      assert.notProperty(done.result, "sealed")
      assert.deepStrictEqual((yield* holder()).externalAccounts, ["a1"])
      const records = yield* Records
      const { record } = (yield* records.list(externalAccounts, { limit: 1 }))[0] ?? {}
      assert.match(record?.sealed ?? "", /^k1\./)
      assert.notInclude(JSON.stringify(done), "0076")
    }).pipe(engine(sealed))
  )

  it.effect(
    "never takes an account that is nobody's, a second of one id, or one of nobody known",
    () =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* active(stage)
        const nobody = yield* mapping({ holderId: null })
        assert.strictEqual(nobody.why, "rule-refused policy account-owner")
        assert.strictEqual((yield* mapping({ holderId: "h9" })).why, "not-found")
        assert.strictEqual((yield* mapping({ instrumentId: "none" })).why, "not-found")
        assert.strictEqual((yield* mapping({ number: "12" })).why, "invalid-request")
        const fund = yield* mapping({ holderId: null, instrumentId: "fund-a", kind: "custody" })
        assert.strictEqual(fund.why, "")
        assert.strictEqual((yield* mapping()).why, "already-exists")
        yield* Calls.write("holder.close", { holderId: "h1" }, {})
        const late = yield* mapping({ externalAccountId: "a2" })
        assert.strictEqual(late.why, "state-conflict HolderState")
      }).pipe(engine(sealed))
  )

  it.effect("never maps a number twice in one currency, however it is written", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* active(stage)
      const accountOf = (externalAccountId: string, more: Readonly<Record<string, Calls.Json>>) =>
        Effect.map(mapping({ externalAccountId, ...more }), ({ why }) => why)
      assert.strictEqual(yield* accountOf("a1", { currency: "CHF" }), "")
      const grouped = { number: "ch93-0076.2011/623852957", currency: "CHF" }
      assert.strictEqual(yield* accountOf("a2", grouped), "rule-refused policy account-mapped")
      assert.strictEqual(yield* accountOf("a3", { currency: "EUR" }), "")
      assert.strictEqual(yield* accountOf("a4", {}), "")
      const kept = { kind: "custody", currency: "CHF", number: "CUSTODY1" }
      assert.strictEqual(yield* accountOf("a5", kept), "rule-refused policy account-cash")
      assert.strictEqual((yield* holder()).externalAccounts.length, 3)
    }).pipe(engine(sealed))
  )

  it.effect("never gives a holder more accounts than there may be", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* active(stage)
      for (let n = 0; n < 32; n++) {
        yield* mapping({ externalAccountId: `a${n}`, number: `CH93 0076 2011 ${1_000 + n}` })
      }
      const more = yield* mapping({ externalAccountId: "a32" })
      assert.strictEqual(more.why, "rule-refused policy external-accounts-max")
      assert.strictEqual((yield* holder()).externalAccounts.length, 32)
    }).pipe(engine(sealed))
  )
})
