/** An instrument's way into the venue: configured, recorded, consented to, priced, held. */
import { Catalogue, EventQueries, Records } from "@bursar/engine-core"
import { Decimal, Duration, Instant, type Offset } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as AdmissionConsentOperations from "#core/admissions/AdmissionConsentOperations.ts"
import * as AdmissionOperations from "#core/admissions/AdmissionOperations.ts"
import * as AdmissionQueries from "#core/admissions/AdmissionQueries.ts"
import * as InstrumentQueries from "#core/overviews/instrument/InstrumentQueries.ts"
import { assetQuotes, quoteIdOf } from "#core/instruments/price/AssetQuote.ts"
import * as PriceQueries from "#core/instruments/price/PriceQueries.ts"
import * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import * as PrimaryMarketOperations from "#core/orders/primary-market/PrimaryMarketOperations.ts"
import {
  admitted,
  cast,
  configuration,
  consented,
  holderIdOf,
  id,
  instrument,
  instrumentId,
  minted,
  published,
  recorded,
  registered,
  unexpected
} from "./story.ts"
import {
  act,
  actUnseen,
  auditor,
  contractOf,
  engine,
  join,
  list,
  offsetNow,
  type Outsider,
  person,
  read,
  register,
  refusal,
  settle,
  start,
  write
} from "./venue.ts"

describe("an instrument", () => {
  it.effect("is listed once its registrar configures it, and has terms once it is recorded", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* act(parties.registrar, configuration(parties.registrar, parties))
      const configured = yield* instrument()
      assert.deepInclude(configured, {
        onRegistry: true,
        inManifest: false,
        registrar: parties.registrar.party,
        valuation: null,
        policyVersion: null,
        paused: null,
        holderCount: 0
      })
      assert.deepEqual(configured.waitingOn, [
        {
          party: null,
          role: "operator",
          action: "instrument.record",
          by: null,
          actionKey: null,
          resource: null
        }
      ])
      yield* recorded(parties)
      const recordedInstrument = yield* instrument()
      assert.deepInclude(recordedInstrument, {
        onRegistry: true,
        inManifest: true,
        valuation: "accumulating",
        policyVersion: 1,
        holderCap: 2
      })
      assert.deepEqual(recordedInstrument.waitingOn, [])
      assert.strictEqual(yield* refusal(recorded(parties)), "already-exists")
    }).pipe(engine())
  )

  it.effect("recorded first, it waits for its registrar's configuration", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      const waiting = yield* instrument()
      assert.isFalse(waiting.onRegistry)
      assert.strictEqual(waiting.waitingOn[0]?.party, parties.registrar.party)
      yield* act(parties.registrar, configuration(parties.registrar, parties))
      assert.isTrue((yield* instrument()).onRegistry)
    }).pipe(engine())
  )

  it.effect(
    "another party's configuration of the same id says nothing about it, before or after",
    () =>
      Effect.gen(function* () {
        const parties = yield* cast
        yield* act(parties.bob, configuration(parties.bob, parties))
        yield* act(parties.registrar, configuration(parties.registrar, parties))
        assert.strictEqual((yield* instrument()).registrar, parties.bob.party)
        yield* recorded(parties)
        assert.deepInclude(yield* instrument(), {
          registrar: parties.registrar.party,
          onRegistry: true
        })
        const cid = yield* contractOf(parties.registrar, Templates.InstrumentConfiguration)
        yield* act(
          parties.registrar,
          Templates.exercise(Templates.InstrumentConfiguration, cid, "Retire", {})
        )
        assert.isFalse((yield* instrument()).onRegistry)
      }).pipe(engine())
  )

  it.effect(
    "stays on the registry when its configuration changes, and leaves the list when dropped",
    () =>
      Effect.gen(function* () {
        const parties = yield* cast
        yield* act(parties.registrar, configuration(parties.registrar, parties))
        const before = yield* contractOf(parties.registrar, Templates.InstrumentConfiguration)
        yield* act(
          parties.registrar,
          Templates.exercise(Templates.InstrumentConfiguration, before, "Update", {
            defaultIdentifier: { source: "venue", id: "new", scheme: "id" },
            additionalIdentifiers: [],
            holderRequirements: [],
            issuerRequirements: []
          })
        )
        assert.isTrue((yield* instrument()).onRegistry)
        const at = yield* offsetNow
        const after = yield* contractOf(parties.registrar, Templates.InstrumentConfiguration)
        yield* act(parties.registrar, {
          _tag: "Exercise",
          target: Templates.InstrumentConfiguration.typeRef,
          contractId: after,
          choice: "Archive",
          arg: {}
        })
        assert.deepEqual((yield* list(InstrumentQueries.list, {})).value, [])
        const then = yield* list(InstrumentQueries.list, {}, { point: { at } })
        assert.strictEqual(then.value.length, 1)
        assert.deepEqual(yield* unexpected, [])
      }).pipe(engine())
  )

  it.effect("an id that cannot name a record is kept aside and stops nothing", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* act(parties.registrar, configuration(parties.registrar, parties, "a:b"))
      assert.deepEqual(yield* unexpected, ["instrument configure"])
      assert.deepEqual((yield* list(InstrumentQueries.list, {})).value, [])
    }).pipe(engine())
  )

  it.effect("terms that contradict each other are refused before anybody is asked to approve", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      assert.strictEqual(yield* refusal(recorded(parties, { parValue: 1 })), "invalid-request")
    }).pipe(engine())
  )

  it.effect("of another registrar is answered as one that does not exist", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      const seenBy = (party: string) =>
        refusal(
          read(
            InstrumentQueries.get,
            { instrumentId },
            { caller: person("r", ["registrar"], { party }) }
          )
        )
      assert.strictEqual(yield* seenBy(parties.registrar.party), "no refusal")
      assert.strictEqual(yield* seenBy(parties.bob.party), "not-found")
    }).pipe(engine())
  )
})

describe("admissions", () => {
  it.effect(
    "are offered under the registrar's consent, taken by the holder, and ended by the venue",
    () =>
      Effect.gen(function* () {
        const parties = yield* cast
        yield* recorded(parties)
        yield* registered(parties.alice, "alice", parties)
        const offer = write(AdmissionOperations.offerAdmission, { holderId: "alice" }, id)
        assert.strictEqual(yield* refusal(offer), "rule-refused admission-consent")
        yield* consented(parties)
        assert.deepInclude((yield* instrument()).admissionConsent, { state: "agreed" })
        yield* admitted(parties.alice, "alice")
        const at = yield* offsetNow
        const holderId = "alice" as Parameters<
          (typeof PortfolioQueries.portfolio)["run"]
        >[0]["holderId"]
        const admissionsAt = (point: object) =>
          Effect.map(list(AdmissionQueries.list, { holderId }, { point }), ({ value }) => value)
        const before = yield* admissionsAt({ at })
        assert.deepInclude(before[0], { state: "admitted", offerCid: null, holderId })
        assert.strictEqual(
          yield* refusal(write(AdmissionOperations.offerAdmission, { holderId: "alice" }, id)),
          "rule-refused not-admitted-yet"
        )
        yield* write(AdmissionOperations.withdraw, { holderId: "alice", ...id }, {})
        const after = yield* admissionsAt({})
        assert.deepInclude(after[0], { state: "revoked", endedBy: "venue", credentialCid: null })
        assert.deepEqual(yield* admissionsAt({ at }), before)
        assert.strictEqual(
          yield* refusal(write(AdmissionOperations.withdraw, { holderId: "alice", ...id }, {})),
          "state-conflict AdmissionState"
        )
        assert.deepEqual(yield* unexpected, [])
      }).pipe(engine())
  )

  it.effect("hold a place while the offer stands, and free it when the offer ran out", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties, { holderCap: 1 })
      yield* consented(parties)
      yield* registered(parties.alice, "alice", parties)
      yield* registered(parties.bob, "bob", parties)
      yield* write(
        AdmissionOperations.offerAdmission,
        { holderId: "alice" },
        {
          ...id,
          expiresAt: "2026-07-30T11:00:00Z"
        }
      )
      const toBob = write(AdmissionOperations.offerAdmission, { holderId: "bob" }, id)
      assert.strictEqual(yield* refusal(toBob), "rule-refused holder-cap")
      yield* TestClock.adjust("61 minutes")
      assert.strictEqual(yield* refusal(toBob), "no refusal")
    }).pipe(engine())
  )

  it.effect("an offer that is declined or taken back leaves the holder outside", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* consented(parties)
      yield* registered(parties.alice, "alice", parties)
      const offer = write(AdmissionOperations.offerAdmission, { holderId: "alice" }, id)
      yield* offer
      const cid = yield* contractOf(parties.alice, Templates.AdmissionOffer)
      yield* act(parties.alice, Templates.exercise(Templates.AdmissionOffer, cid, "Decline", {}))
      yield* write(AdmissionOperations.offerAdmission, { holderId: "alice" }, id)
      yield* write(AdmissionOperations.withdraw, { holderId: "alice", ...id }, {})
      const holderId = holderIdOf("alice")
      const { value } = yield* list(AdmissionQueries.list, { holderId })
      assert.deepEqual(
        value.map(({ state, endedBy }) => `${state} by ${endedBy}`),
        ["declined by holder", "withdrawn by venue"]
      )
    }).pipe(engine())
  )

  it.effect("another holder's are answered to an investor as if it did not exist", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* registered(parties.alice, "alice", parties)
      const holderId = holderIdOf("alice")
      const as = (own: string | null) =>
        refusal(
          list(
            AdmissionQueries.list,
            { holderId },
            { caller: person("i", ["investor"], { holderId: own }) }
          )
        )
      assert.strictEqual(yield* as("alice"), "no refusal")
      assert.strictEqual(yield* as("bob"), "not-found")
      assert.strictEqual(yield* as(null), "permission-denied")
    }).pipe(engine())
  )
})

describe("consents", () => {
  it.effect(
    "a newer proposal replaces one that nobody answered; an agreed one is not asked for again",
    () =>
      Effect.gen(function* () {
        const parties = yield* cast
        yield* recorded(parties)
        const propose = () =>
          write(AdmissionConsentOperations.propose, id, { fund: parties.fund.party, terms: "any" })
        yield* propose()
        const first = (yield* instrument()).admissionConsent
        assert.deepInclude(first, { state: "proposed" })
        assert.strictEqual(first?.waitingOn[0]?.party, parties.registrar.party)
        yield* consented(parties)
        assert.deepInclude((yield* instrument()).admissionConsent, { state: "agreed" })
        assert.strictEqual(yield* refusal(propose()), "state-conflict AdmissionConsentState")
        const cid = yield* contractOf(parties.registrar, Templates.AdmissionConsent)
        yield* act(
          parties.registrar,
          Templates.exercise(Templates.AdmissionConsent, cid, "Revoke", {})
        )
        assert.deepInclude((yield* instrument()).admissionConsent, { state: "ended" })
        assert.deepEqual(yield* unexpected, [])
      }).pipe(engine())
  )
})

describe("a primary market", () => {
  it.effect("is agreed when fund and registrar have both accepted, and ends at its date", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      const bank = yield* join("bank")
      const attestor = yield* join("attestor")
      yield* recorded(parties)
      const propose = (change: object = {}) =>
        write(PrimaryMarketOperations.propose, id, {
          fund: parties.fund.party,
          paymentAsset: { admin: bank.party, id: "USD" },
          terms: { attestors: [attestor.party], required: 1 },
          until: "2026-07-31T10:00:00Z",
          ...change
        })
      assert.strictEqual(
        yield* refusal(propose({ terms: { attestors: [attestor.party], required: 2 } })),
        "rule-refused attestors-suffice"
      )
      assert.strictEqual(
        yield* refusal(
          propose({
            terms: { attestors: [attestor.party], required: 1, oracle: parties.bob.party }
          })
        ),
        "rule-refused oracle-of-instrument"
      )
      assert.strictEqual(
        yield* refusal(propose({ until: "2026-07-30T10:00:00Z" })),
        "rule-refused market-in-time"
      )
      yield* propose()
      yield* propose()
      const accept = (who: Outsider) =>
        Effect.flatMap(contractOf(who, Templates.PrimaryMarketProposal), (cid) =>
          act(
            who,
            Templates.exercise(Templates.PrimaryMarketProposal, cid, "Accept", { party: who.party })
          )
        )
      yield* accept(parties.fund)
      const half = (yield* instrument()).primaryMarket
      assert.deepInclude(half, { state: "proposed" })
      assert.deepEqual(
        half?.waitingOn.map(({ party }) => party),
        [parties.registrar.party]
      )
      yield* accept(parties.registrar)
      assert.deepInclude((yield* instrument()).primaryMarket, { state: "agreed" })
      assert.strictEqual(yield* refusal(propose()), "state-conflict PrimaryMarketState")
      const at = yield* offsetNow
      yield* TestClock.adjust("24 hours")
      assert.deepInclude((yield* instrument()).primaryMarket, { state: "ended" })
      const pinned = yield* read(InstrumentQueries.get, { instrumentId }, { point: { at } })
      assert.deepInclude(pinned.value.primaryMarket, { state: "agreed" })
      assert.strictEqual(yield* refusal(propose({ until: null })), "no refusal")
      assert.deepEqual(yield* unexpected, [])
    }).pipe(engine())
  )
})

describe("prices", () => {
  it.effect("are the oracle's alone, in the order of their offsets, with what corrected what", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* published(parties.oracle, parties, "1.0437")
      yield* published(parties.bob, parties, "99")
      const cid = yield* contractOf(parties.oracle, Templates.OraclePoint)
      yield* act(
        parties.oracle,
        Templates.exercise(Templates.OraclePoint, cid, "Correct", {
          value: Decimal.of("1.05"),
          valuationTime: start,
          period: null,
          withholdingRate: null,
          statementRef: null
        })
      )
      yield* published(parties.oracle, parties, "7", "mood")
      const { value } = yield* list(PriceQueries.list, { instrumentId })
      assert.deepEqual(
        value.map(({ price, corrects, correctedBy }) => ({
          price: Decimal.formatPlain(price),
          corrects,
          isCorrected: correctedBy !== null
        })),
        [
          { price: "1.0437", corrects: null, isCorrected: true },
          { price: "1.05", corrects: cid, isCorrected: false }
        ]
      )
      assert.deepEqual(yield* unexpected, ["price-point price"])
      const window = yield* list(PriceQueries.list, {
        instrumentId,
        from: Instant.add(start, Duration.of("PT1S"))
      })
      assert.deepEqual(window.value, [])
    }).pipe(engine())
  )
})

describe("prices of assets", () => {
  it.effect("of another registrar with the instrument's id price nothing of the instrument", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* published(parties.oracle, parties, "1.0437")
      yield* published(parties.oracle, { ...parties, registrar: parties.bob }, "99")
      const { value } = yield* list(PriceQueries.list, { instrumentId })
      assert.deepEqual(
        value.map(({ price }) => Decimal.formatPlain(price)),
        ["1.0437"]
      )
      assert.deepEqual(yield* unexpected, [])
      const records = yield* Records
      const quoted = yield* Effect.forEach([parties.registrar, parties.bob], ({ party: admin }) =>
        records.get(
          assetQuotes,
          quoteIdOf({ source: parties.oracle.party, asset: { admin, id: instrumentId } })
        )
      )
      assert.deepEqual(
        quoted.map(({ price }) => Decimal.formatPlain(price)),
        ["1.0437", "99"]
      )
      const [, strangers] = quoted
      yield* act(
        parties.oracle,
        Templates.exercise(Templates.OraclePoint, strangers?.contractId ?? "", "Correct", {
          value: Decimal.of("98"),
          valuationTime: start,
          period: null,
          withholdingRate: null,
          statementRef: null
        })
      )
      const corrected = yield* records.get(assetQuotes, strangers?.quoteId ?? "")
      assert.strictEqual(Decimal.formatPlain(corrected.price), "98")
    }).pipe(engine())
  )
})

describe("the register", () => {
  it.effect("adds up to the supply on the ledger after every mint, lock and transfer", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* act(parties.registrar, configuration(parties.registrar, parties))
      yield* recorded(parties)
      yield* consented(parties)
      yield* registered(parties.alice, "alice", parties)
      yield* registered(parties.bob, "bob", parties)
      const alices = yield* admitted(parties.alice, "alice")
      const bobs = yield* admitted(parties.bob, "bob")
      yield* minted(parties, alices, "95812.973076")
      yield* minted(parties, bobs, "4187.026924")
      yield* published(parties.oracle, parties, "1.0437")
      const at = yield* offsetNow
      const shown = (point: object = {}) =>
        Effect.map(register({ instrumentId }, { point }), ({ value }) => ({
          head: Object.values(value.head).map(String),
          lines: value.lines
            .map(({ holderId, units, locked, share, admissionState }) =>
              [
                holderId,
                Decimal.formatPlain(units),
                Decimal.formatPlain(locked),
                Decimal.formatPlain(share),
                admissionState
              ].join(" ")
            )
            .toSorted()
        }))
      const before = yield* shown()
      assert.deepEqual(before, {
        head: [
          String(Decimal.of("100000")),
          String(Decimal.of("100000")),
          String(Decimal.zero),
          "2"
        ],
        lines: [
          "alice 95812.973076 0 0.9581297307 admitted",
          "bob 4187.026924 0 0.0418702692 admitted"
        ]
      })
      const holding = yield* contractOf(parties.alice, Templates.Holding)
      yield* act(
        parties.alice,
        Templates.exercise(Templates.Holding, holding, "OfferTransfer", {
          receiver: parties.bob.party,
          amount: Decimal.of("812.973076"),
          executeBefore: Instant.add(start, Duration.of("PT1H"))
        })
      )
      assert.strictEqual(
        (yield* shown()).lines[0],
        "alice 95812.973076 812.973076 0.9581297307 admitted"
      )
      const offer = yield* contractOf(parties.bob, Templates.TransferOffer)
      yield* act(
        parties.bob,
        Templates.exercise(Templates.TransferOffer, offer, "Accept", { credentialCid: bobs })
      )
      const after = yield* shown()
      assert.deepEqual(after.head, before.head)
      assert.deepEqual(after.lines, ["alice 95000 0 0.95 admitted", "bob 5000 0 0.05 admitted"])
      assert.deepEqual(yield* shown({ at }), before)
      const holderId = holderIdOf("alice")
      const worth = (point: object = {}) =>
        Effect.map(read(PortfolioQueries.portfolio, { holderId }, { point }), ({ value }) =>
          value.map((row) => [
            row.instrumentId,
            Decimal.formatPlain(row.units),
            row.value === null ? null : Decimal.formatPlain(row.value),
            row.currency
          ])
        )
      assert.deepEqual(yield* worth(), [["fund-a", "95000", "99151.5", "USD"]])
      assert.deepEqual(yield* worth({ at }), [["fund-a", "95812.973076", "99999.99", "USD"]])
      assert.deepEqual(yield* unexpected, [])
    }).pipe(engine())
  )

  it.effect("counts as holders who holds units at the point of the read, not who only may", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* consented(parties)
      yield* registered(parties.alice, "alice", parties)
      yield* registered(parties.bob, "bob", parties)
      const alices = yield* admitted(parties.alice, "alice")
      const bobs = yield* admitted(parties.bob, "bob")
      const points: Array<readonly [at: Offset.Offset, holders: number]> = []
      const counts = (holders: number) =>
        Effect.gen(function* () {
          assert.strictEqual((yield* instrument()).holderCount, holders)
          points.push([yield* offsetNow, holders])
        })
      yield* counts(0)
      yield* minted(parties, alices, "10")
      yield* counts(1)
      const holding = yield* contractOf(parties.alice, Templates.Holding)
      yield* act(
        parties.alice,
        Templates.exercise(Templates.Holding, holding, "OfferTransfer", {
          receiver: parties.bob.party,
          amount: Decimal.of("10"),
          executeBefore: Instant.add(start, Duration.of("PT1H"))
        })
      )
      const offer = yield* contractOf(parties.bob, Templates.TransferOffer)
      yield* act(
        parties.bob,
        Templates.exercise(Templates.TransferOffer, offer, "Accept", { credentialCid: bobs })
      )
      yield* counts(1)
      yield* minted(parties, alices, "5")
      yield* counts(2)
      for (const [at, holders] of points) {
        const { value } = yield* read(InstrumentQueries.get, { instrumentId }, { point: { at } })
        assert.strictEqual(value.holderCount, holders)
      }
    }).pipe(engine())
  )

  it.effect("says whether its NAV feed may price: none is mapped, or nothing was ever stated", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      assert.strictEqual((yield* instrument()).navFeedState, "none")
      yield* recorded(parties, {
        instrumentId: "fund-b",
        navFeed: { externalSourceId: "nav-1", grace: "PT2H" }
      })
      const listed = (yield* list(InstrumentQueries.list, {})).value
      assert.deepEqual(
        listed.map(({ instrumentId, navFeedState }) => [instrumentId, navFeedState]),
        [
          ["fund-a", "none"],
          ["fund-b", "missing"]
        ]
      )
    }).pipe(engine())
  )

  it.effect("another registrar's units of the same name are none of the instrument's", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* registered(parties.alice, "alice", parties)
      yield* act(
        parties.bob,
        Templates.create(Templates.Holding, {
          registrar: parties.bob.party,
          owner: parties.bob.party,
          provider: parties.venue,
          instrument: { admin: parties.bob.party, id: "fund-a" },
          amount: Decimal.of("1000000"),
          restricted: false,
          lock: null,
          label: "",
          meta: {}
        })
      )
      const { value } = yield* register({ instrumentId })
      assert.deepEqual(value.lines, [])
      assert.strictEqual(value.head.supplyOnLedger, Decimal.zero)
    }).pipe(engine())
  )
})

describe("the journal", () => {
  it.effect(
    "tells of every offer, credential and point once, with its contract and its offset",
    () =>
      Effect.gen(function* () {
        const parties = yield* cast
        yield* recorded(parties)
        yield* consented(parties)
        yield* registered(parties.alice, "alice", parties)
        const credential = yield* admitted(parties.alice, "alice")
        yield* published(parties.oracle, parties, "1.0437")
        const point = yield* contractOf(parties.oracle, Templates.OraclePoint)
        const feed = yield* EventQueries.EventQueries
        const page = yield* feed.page({
          caller: auditor,
          params: { kind: ["journal"] },
          limit: 100
        })
        assert.deepEqual(
          page.value.map(({ type, resourceKind }) => `${type} ${resourceKind}`),
          ["admission.offered contract", "admission.granted contract", "price.point contract"]
        )
        const [, granted, priced] = page.value
        assert.deepInclude(granted, { resourceId: credential, instrumentId: "fund-a" })
        assert.deepInclude(priced, { resourceId: point, offset: yield* offsetNow })
        const alices = yield* feed.page({
          caller: auditor,
          params: { kind: ["journal"], holderId: "alice" },
          limit: 100
        })
        assert.strictEqual(alices.value.length, 2)
      }).pipe(engine())
  )
})

describe("a projection that is late", () => {
  it.effect("folds a fact at the time the ledger gave it, not at the time it was read", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* consented(parties)
      yield* registered(parties.alice, "alice", parties)
      yield* write(
        AdmissionOperations.offerAdmission,
        { holderId: "alice" },
        {
          ...id,
          expiresAt: "2026-07-30T11:00:00Z"
        }
      )
      const offer = yield* contractOf(parties.alice, Templates.AdmissionOffer)
      yield* actUnseen(
        parties.alice,
        Templates.exercise(Templates.AdmissionOffer, offer, "Accept", {})
      )
      yield* TestClock.adjust("2 hours")
      yield* settle
      assert.deepEqual(yield* unexpected, [])
      const { value } = yield* list(AdmissionQueries.list, { holderId: holderIdOf("alice") })
      assert.strictEqual(value[0]?.state, "admitted")
    }).pipe(engine())
  )
})

describe("what is declared", () => {
  it("no reading is listed twice: it would hear of each node twice", () => {
    assert.strictEqual(new Set(Catalogue.fromLedger).size, Catalogue.fromLedger.length)
  })
})
