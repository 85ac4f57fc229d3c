/**
 * Strangers: contracts that others create in the venue's sight, or out of turn, change none of its
 * records.
 */
import { Records } from "@bursar/engine-core"
import { Decimal, Duration, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as AdmissionConsentOperations from "#core/admissions/AdmissionConsentOperations.ts"
import * as AdmissionOperations from "#core/admissions/AdmissionOperations.ts"
import * as AdmissionQueries from "#core/admissions/AdmissionQueries.ts"
import { admissionConsents } from "#core/admissions/AdmissionConsent.ts"
import { admissions } from "#core/admissions/Admission.ts"
import { pricePoints } from "#core/instruments/price/PricePoint.ts"
import * as PolicyOperations from "#core/instruments/policy/PolicyOperations.ts"
import * as PriceQueries from "#core/instruments/price/PriceQueries.ts"
import { holdings } from "#core/instruments/register/Holding.ts"
import * as PortfolioQueries from "#core/overviews/portfolio/PortfolioQueries.ts"
import * as HolderOperations from "#core/holders/holder/HolderOperations.ts"
import type { Collection } from "#core/kernel/Collection.ts"
import { type PrimaryMarket, primaryMarkets } from "#core/orders/primary-market/PrimaryMarket.ts"
import { latestMarket } from "#core/orders/primary-market/PrimaryMarketLookups.ts"
import {
  admitted,
  agreed,
  cast,
  configuration,
  consented,
  holderIdOf,
  id,
  instrument,
  instrumentId,
  minted,
  point,
  published,
  recorded,
  registered,
  unexpected
} from "./story.ts"
import {
  act,
  contractOf,
  engine,
  join,
  list,
  person,
  read,
  register,
  refusal,
  start,
  write
} from "./venue.ts"

const count = <R, F>(collection: Collection<R, F>) =>
  Effect.flatMap(Records, (records) =>
    Effect.map(records.list(collection, { limit: 100 }), (rows) => rows.length)
  )

const holding = (members: object) => ({
  restricted: false,
  lock: null,
  label: "",
  meta: {},
  amount: Decimal.of("1000000"),
  ...members
})

describe("another venue's contracts", () => {
  it.effect("are none of this venue's, though it may see them", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      const rival = yield* join("rival")
      yield* recorded(parties)
      yield* registered(parties.alice, "alice", parties)
      const consent = {
        venue: rival.party,
        admissionConsentId: "acn_rival",
        registrar: parties.venue,
        fund: parties.venue,
        instrumentId: "fund-a",
        terms: "any"
      }
      yield* act(
        parties.registrar,
        Templates.create(Templates.InstrumentConfiguration, {
          registrar: parties.registrar.party,
          provider: rival.party,
          issuer: parties.venue,
          instrument: { admin: parties.registrar.party, id: "fund-a" },
          defaultIdentifier: { source: "venue", id: "fund-a", scheme: "id" },
          additionalIdentifiers: [],
          holderRequirements: [],
          issuerRequirements: []
        })
      )
      yield* act(rival, Templates.create(Templates.AdmissionConsentProposal, consent))
      const proposal = yield* contractOf(rival, Templates.AdmissionConsentProposal)
      yield* act(
        rival,
        Templates.exercise(Templates.AdmissionConsentProposal, proposal, "Withdraw", {})
      )
      yield* act(
        rival,
        Templates.create(Templates.AdmissionOffer, {
          venue: rival.party,
          registrar: parties.venue,
          instrumentId: "fund-a",
          holder: parties.alice.party,
          credentialId: "adm_rival",
          claims: [],
          validFrom: null,
          validUntil: null,
          expiresAt: null
        })
      )
      const offer = yield* contractOf(rival, Templates.AdmissionOffer)
      yield* act(rival, Templates.exercise(Templates.AdmissionOffer, offer, "Withdraw", {}))
      yield* act(
        rival,
        Templates.create(Templates.PrimaryMarketProposal, {
          venue: rival.party,
          marketId: "mkt_rival",
          instrument: { admin: parties.registrar.party, id: "fund-a" },
          fund: parties.venue,
          registrar: parties.registrar.party,
          cash: { admin: rival.party, id: "USD" },
          attestors: [rival.party],
          required: 1,
          oracle: parties.oracle.party,
          until: null,
          accepted: []
        })
      )
      yield* act(
        parties.oracle,
        Templates.create(Templates.OraclePoint, {
          ...point(parties.oracle, parties, "1"),
          venue: rival.party,
          fund: parties.venue
        })
      )
      yield* act(
        parties.registrar,
        Templates.create(
          Templates.Holding,
          holding({
            registrar: parties.registrar.party,
            owner: parties.registrar.party,
            provider: rival.party,
            instrument: { admin: parties.registrar.party, id: "fund-a" },
            lock: {
              holders: [parties.registrar.party],
              observers: [parties.venue],
              context: "any",
              expiresAt: null
            }
          }) as Templates.Payload<typeof Templates.Holding>
        )
      )
      assert.isFalse((yield* instrument()).onRegistry)
      assert.deepEqual(
        [
          yield* count(admissionConsents),
          yield* count(admissions),
          yield* count(primaryMarkets),
          yield* count(pricePoints),
          yield* count(holdings)
        ],
        [0, 0, 0, 0, 0]
      )
      assert.deepEqual(yield* unexpected, Array(4).fill("contract read"))
    }).pipe(engine())
  )
})

describe("an instrument that is recorded", () => {
  it.effect("is not on the registry because somebody else configures its id", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* act(parties.bob, configuration(parties.bob, parties))
      assert.isFalse((yield* instrument()).onRegistry)
    }).pipe(engine())
  )

  it.effect("changes once when its configuration is updated: it is never off the registry", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* act(parties.registrar, configuration(parties.registrar, parties))
      const cid = yield* contractOf(parties.registrar, Templates.InstrumentConfiguration)
      yield* act(
        parties.registrar,
        Templates.exercise(Templates.InstrumentConfiguration, cid, "Update", {
          defaultIdentifier: { source: "venue", id: "new", scheme: "id" },
          additionalIdentifiers: [],
          holderRequirements: [],
          issuerRequirements: []
        })
      )
      assert.strictEqual((yield* instrument()).version, 2)
    }).pipe(engine())
  )
})

describe("an admission", () => {
  it.effect(
    "is expired once its credential ran out, and stays so when its holder takes that off the ledger",
    () =>
      Effect.gen(function* () {
        const parties = yield* cast
        yield* recorded(parties)
        yield* consented(parties)
        yield* registered(parties.alice, "alice", parties)
        const credential = yield* admitted(parties.alice, "alice", {
          validUntil: "2026-07-30T12:00:00Z"
        })
        const stands = Effect.map(
          list(AdmissionQueries.list, { holderId: holderIdOf("alice") }),
          ({ value }) => value[0]?.state
        )
        assert.strictEqual(yield* stands, "admitted")
        yield* TestClock.adjust("2 hours")
        assert.strictEqual(yield* stands, "expired")
        yield* act(
          parties.alice,
          Templates.exercise(Templates.Credential, credential, "Renounce", {})
        )
        assert.deepEqual(yield* unexpected, [])
        const { value } = yield* list(AdmissionQueries.list, { holderId: holderIdOf("alice") })
        assert.deepInclude(value[0], { state: "expired", endedBy: "clock", credentialCid: null })
      }).pipe(engine())
  )

  it.effect("renounced by its holder is revoked by its holder", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* consented(parties)
      yield* registered(parties.alice, "alice", parties)
      const credential = yield* admitted(parties.alice, "alice")
      yield* act(
        parties.alice,
        Templates.exercise(Templates.Credential, credential, "Renounce", {})
      )
      const { value } = yield* list(AdmissionQueries.list, { holderId: holderIdOf("alice") })
      assert.deepInclude(value[0], { state: "revoked", endedBy: "holder" })
    }).pipe(engine())
  )

  it.effect("is not offered to a holder who has not accepted its registration", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* consented(parties)
      yield* write(
        HolderOperations.register,
        {},
        { holderId: "alice", party: parties.alice.party, taxResidences: [] }
      )
      assert.strictEqual(
        yield* refusal(write(AdmissionOperations.offerAdmission, { holderId: "alice" }, id)),
        "state-conflict HolderState"
      )
    }).pipe(engine())
  )

  it.effect("and a consent ask for an instrument and a holder that are there", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      const offer = write(AdmissionOperations.offerAdmission, { holderId: "alice" }, id)
      assert.strictEqual(yield* refusal(offer), "not-found")
      yield* registered(parties.alice, "alice", parties)
      assert.strictEqual(yield* refusal(offer), "not-found")
      yield* act(parties.registrar, configuration(parties.registrar, parties))
      assert.strictEqual(yield* refusal(offer), "rule-refused in-manifest")
      assert.strictEqual(
        yield* refusal(
          write(AdmissionConsentOperations.propose, id, { fund: parties.fund.party, terms: "any" })
        ),
        "rule-refused in-manifest"
      )
    }).pipe(engine())
  )
})

describe("a primary market past its date", () => {
  it.effect("stands no more, though nobody has ended it on the ledger", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* agreed(parties, { until: "2026-07-30T11:00:00Z" })
      const state = Effect.map(
        latestMarket("fund-a"),
        (found: PrimaryMarket | null) => found?.state
      )
      assert.strictEqual(yield* state, "agreed")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* state, undefined)
    }).pipe(engine())
  )
})

describe("a price", () => {
  it.effect("that only says it corrects another corrects nothing", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* published(parties.oracle, parties, "1.0437")
      const cid = yield* contractOf(parties.oracle, Templates.OraclePoint)
      yield* act(
        parties.oracle,
        Templates.create(Templates.OraclePoint, {
          ...point(parties.oracle, parties, "2"),
          corrects: cid
        })
      )
      const { value } = yield* list(PriceQueries.list, { instrumentId })
      assert.deepEqual(
        value.map(({ corrects, correctedBy }) => [corrects, correctedBy]),
        [
          [null, null],
          [null, null]
        ]
      )
      assert.deepEqual(yield* unexpected, ["price-point correct"])
    }).pipe(engine())
  )

  it.effect("that was corrected is not corrected again beside it: the chain does not fork", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* published(parties.oracle, parties, "1.0437")
      const first = yield* contractOf(parties.oracle, Templates.OraclePoint)
      const correction = { period: null, withholdingRate: null, statementRef: null }
      const corrects = (cid: string, value: string) =>
        act(
          parties.oracle,
          Templates.exercise(Templates.OraclePoint, cid, "Correct", {
            value: Decimal.of(value),
            valuationTime: start,
            ...correction
          })
        )
      yield* corrects(first, "1.05")
      const second = yield* contractOf(parties.oracle, Templates.OraclePoint)
      yield* corrects(second, "1.06")
      const third = yield* contractOf(parties.oracle, Templates.OraclePoint)
      yield* act(
        parties.oracle,
        Templates.create(Templates.OraclePoint, {
          ...point(parties.oracle, parties, "2"),
          corrects: first
        })
      )
      const { value } = yield* list(PriceQueries.list, { instrumentId })
      assert.deepEqual(
        value.map(({ contractId, corrects, correctedBy, official }) => ({
          contractId,
          corrects,
          correctedBy,
          official
        })),
        [
          { contractId: first, corrects: null, correctedBy: second, official: false },
          { contractId: second, corrects: first, correctedBy: third, official: false },
          { contractId: third, corrects: second, correctedBy: null, official: true },
          {
            contractId: value[3]?.contractId ?? "",
            corrects: null,
            correctedBy: null,
            official: true
          }
        ]
      )
      assert.deepEqual(yield* unexpected, ["price-point correct"])
    }).pipe(engine())
  )

  it.effect("of an oracle that was replaced is shown, and prices no more", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* published(parties.oracle, parties, "1.0437")
      yield* published(parties.bob, parties, "99")
      const prices = Effect.map(list(PriceQueries.list, { instrumentId }), ({ value }) =>
        value.map(({ price, official }) => [Decimal.formatPlain(price), official])
      )
      assert.deepEqual(yield* prices, [["1.0437", true]])
      yield* write(PolicyOperations.set, id, { oracle: parties.bob.party }, "1")
      assert.deepEqual(yield* prices, [
        ["1.0437", false],
        ["99", true]
      ])
    }).pipe(engine())
  )

  it.effect("at par is the par value, with the day's income beside it", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties, { valuation: "par", parValue: 2 })
      yield* act(
        parties.oracle,
        Templates.create(Templates.OraclePoint, {
          ...point(parties.oracle, parties, "0.000096553", "income"),
          withholdingRate: Decimal.of("0.3")
        })
      )
      yield* published(parties.oracle, parties, "1.9", "price")
      const { value } = yield* list(PriceQueries.list, { instrumentId })
      assert.deepEqual(
        value.map(({ price, incomePerUnit, withholding }) => [price, incomePerUnit, withholding]),
        [[Decimal.of("2"), Decimal.of("0.000096553"), Decimal.of("0.3")]]
      )
      assert.deepEqual(yield* unexpected, ["price-point price"])
    }).pipe(engine())
  )

  it.effect("that is corrected or taken back values no portfolio any more", () =>
    Effect.gen(function* () {
      const parties = yield* cast
      yield* recorded(parties)
      yield* consented(parties)
      yield* registered(parties.alice, "alice", parties)
      yield* minted(parties, yield* admitted(parties.alice, "alice"), "100")
      const worth = Effect.map(
        read(PortfolioQueries.portfolio, { holderId: holderIdOf("alice") }),
        ({ value }) =>
          value.map((row) => (row.value === null ? null : Decimal.formatPlain(row.value)))
      )
      assert.deepEqual(yield* worth, [null])
      yield* published(parties.oracle, parties, "1.0437")
      assert.deepEqual(yield* worth, ["104.37"])
      yield* published(parties.bob, parties, "99")
      assert.deepEqual(yield* worth, ["104.37"])
      const wrong = yield* contractOf(parties.oracle, Templates.OraclePoint)
      yield* act(
        parties.oracle,
        Templates.exercise(Templates.OraclePoint, wrong, "Correct", {
          value: Decimal.of("1.05"),
          valuationTime: Instant.subtract(start, Duration.of("PT1H")),
          period: null,
          withholdingRate: null,
          statementRef: null
        })
      )
      assert.deepEqual(yield* worth, ["105"])
      yield* act(parties.oracle, {
        _tag: "Exercise",
        target: Templates.OraclePoint.typeRef,
        contractId: yield* contractOf(parties.oracle, Templates.OraclePoint),
        choice: "Archive",
        arg: {}
      })
      assert.deepEqual(yield* worth, [null])
      const { value } = yield* list(PriceQueries.list, { instrumentId })
      assert.deepEqual(
        value.map(({ isLive }) => isLive),
        [true, false]
      )
      assert.deepEqual(yield* unexpected, [])
    }).pipe(engine())
  )
})

describe("a portfolio", () => {
  it.effect(
    "holds no units that another registrar gave the same name, and is its holder's own",
    () =>
      Effect.gen(function* () {
        const parties = yield* cast
        yield* recorded(parties)
        yield* registered(parties.bob, "bob", parties)
        yield* act(
          parties.bob,
          Templates.create(
            Templates.Holding,
            holding({
              registrar: parties.bob.party,
              owner: parties.bob.party,
              provider: parties.venue,
              instrument: { admin: parties.bob.party, id: "fund-a" }
            }) as Templates.Payload<typeof Templates.Holding>
          )
        )
        const as = (holderId: string) =>
          read(
            PortfolioQueries.portfolio,
            { holderId: holderIdOf("bob") },
            { caller: person("i", ["investor"], { holderId }) }
          )
        assert.deepEqual((yield* as("bob")).value, [])
        assert.strictEqual(yield* refusal(as("alice")), "not-found")
        assert.strictEqual(
          yield* refusal(
            register(
              { instrumentId },
              { caller: person("r", ["registrar"], { party: parties.bob.party }) }
            )
          ),
          "not-found"
        )
      }).pipe(engine())
  )
})
