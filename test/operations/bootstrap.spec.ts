/** A venue that begins again on a pruned ledger: the agreements there are in its records. */
import { Records } from "@bursar/engine-core"
import { Decimal, Instant } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as AdmissionQueries from "#core/admissions/AdmissionQueries.ts"
import * as InstrumentQueries from "#core/overviews/instrument/InstrumentQueries.ts"
import { provisionSettlements } from "#core/orders/provision-settlement/ProvisionSettlement.ts"
import { admissions } from "#core/admissions/Admission.ts"
import { holders } from "#core/holders/holder/Holder.ts"
import * as HolderQueries from "#core/holders/holder/HolderQueries.ts"
import {
  type PricePoint,
  pricePoints,
  quoteIdOf,
  quotes
} from "#core/instruments/price/PricePoint.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import { all } from "./away.ts"
import { again, forgets, recordsAgain } from "./again.ts"
import * as Executions from "./executions.ts"
import * as Cycles from "./cycles.ts"
import * as Fund from "./fund.ts"
import * as Powers from "./powers.ts"
import { holderIdOf, instrumentId } from "./story.ts"
import { list, read } from "./venue.ts"

const holderId = holderIdOf("h1")
const evidenceHash = "ab".repeat(32)
const shownState = Effect.gen(function* () {
  const instrument = (yield* read(InstrumentQueries.get, { instrumentId })).value
  const holder = (yield* read(HolderQueries.get, { holderId })).value
  const admissions = (yield* list(AdmissionQueries.list, { holderId })).value
  return {
    consent: instrument.admissionConsent,
    market: instrument.primaryMarket,
    powers: instrument.issuerPowersAgreement,
    consents: holder.consents,
    onRegistry: instrument.onRegistry,
    holderCount: instrument.holderCount,
    holder: [holder.holderId, holder.party, holder.state, holder.terms],
    admissions: admissions.map(({ admissionId, holderId, state, credentialCid }) => ({
      admissionId,
      holderId,
      state,
      credentialCid
    }))
  }
})

/** The oracle corrects the value of a point. */
const corrects = (stage: Fund.Parties, cid: string, value: string, valuedAt: string) =>
  stage.oracle.act(
    Templates.exercise(Templates.OraclePoint, cid as never, "Correct", {
      value: Decimal.of(value),
      valuationTime: Instant.of(valuedAt),
      period: null,
      withholdingRate: null,
      statementRef: null
    })
  )

const records = (stage: Fund.Parties) =>
  Effect.map(recordsAgain(stage), ({ why }) => assert.strictEqual(why, ""))

const priceOf = ({ price }: PricePoint) => Decimal.formatPlain(price)
const incomeOf = ({ incomePerUnit }: PricePoint) => Decimal.formatPlain(incomePerUnit!)

/** Figures of all points, in pages of so many. */
const figuresInPagesOf = (limit: number, figureOf: (point: PricePoint) => string) =>
  Effect.gen(function* () {
    const records = yield* Records
    const figures: Array<string> = []
    for (let after: string | undefined; ; ) {
      const query = { limit, direction: "asc", ...(after === undefined ? {} : { after }) } as const
      const page = yield* records.list(pricePoints, query)
      figures.push(...page.map(({ record }) => figureOf(record)))
      if (page.length < limit) return figures
      after = page.at(-1)!.sortKey
    }
  })

describe("a venue that begins on a ledger that has forgotten", () => {
  it.effect.each(["before", "after"] as const)(
    "names a holder's successor and refuses a second one, the holder's contract created %s it",
    (created) =>
      Effect.gen(function* () {
        const { stage, h1 } = yield* Powers.founded()
        const next = yield* Powers.succeeds(stage, h1)
        // New attributes replace the contract of the holder's registration.
        const kyc = { name: "kyc", value: "passed", state: "valid", evidenceHash }
        if (created === "after") {
          const set = yield* Calls.write(
            "holder.set-attributes",
            { holderId: "h1" },
            { attributes: [kyc] }
          )
          assert.strictEqual(set.why, "")
        }
        yield* forgets
        yield* Effect.gen(function* () {
          yield* Calls.settle
          const records = yield* Records
          const { successor } = yield* records.get(holders, h1.holderId)
          const { registeredAt } = yield* records.get(holders, next.holderId)
          assert.deepEqual(successor, {
            party: next.party,
            registeredAt,
            usableFrom: Instant.fromNanos(registeredAt + 86_400_000_000_000n)
          })
          const second = yield* Calls.write(
            "holder.register-successor",
            { holderId: "h1" },
            { party: stage.fund.party, successorId: "h9" }
          )
          assert.strictEqual(second.why, "state-conflict successor-named")
          assert.deepEqual(yield* Fund.surprises, [])
        }).pipe(Effect.provide(yield* again))
      }).pipe(Effect.provide(world()))
  )

  it.effect(
    "has a holder whose units were recovered as its registration says, with a successor and without an admission",
    () =>
      Effect.gen(function* () {
        const { stage, h1 } = yield* Powers.founded()
        const next = yield* Powers.succeeds(stage, h1)
        assert.strictEqual((yield* Powers.recovers("h1")).why, "")
        assert.strictEqual((yield* Powers.holder("h1")).state, "succeeded")
        yield* forgets
        yield* Effect.gen(function* () {
          yield* Calls.settle
          const { state, successor } = yield* Powers.holder("h1")
          assert.deepEqual([state, successor?.party], ["active", next.party])
          const admitted = (yield* all(admissions)).map(({ holderId }) => holderId)
          assert.isTrue(admitted.includes(next.holderId))
          assert.isFalse(admitted.includes(h1.holderId))
          assert.strictEqual(yield* Cycles.holds(h1, "fund-a"), "0")
          assert.deepEqual(yield* Fund.surprises, [])
        }).pipe(Effect.provide(yield* again))
      }).pipe(Effect.provide(world()))
  )

  it.effect("lists each price once, in pages of any size, though all share one offset", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      const published = ["1.01", "1.04", "1.02", "1.05", "1.03"]
      for (const [nth, price] of published.entries()) {
        const valuedAt = `2026-08-03T1${nth + 1}:00:00Z`
        yield* TestClock.setTime(Instant.toEpochMillis(Instant.of(valuedAt)))
        yield* Fund.publishes(stage, price, valuedAt)
      }
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        for (const limit of [1, 2, 3, 5, 6]) {
          assert.deepEqual(yield* figuresInPagesOf(limit, priceOf), published)
        }
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )

  it.effect(
    "keeps incomes until the terms of their instrument are recorded, and reads each once",
    () =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened({ valuation: "par" })
        const publishes = (income: string, day: string) =>
          Effect.andThen(
            TestClock.setTime(Instant.toEpochMillis(Instant.of(`${day}T12:00:00Z`))),
            Executions.publishes(stage, income, `${day}T12:00:00Z`)
          )
        const newest = Effect.map(Fund.newestContract(Templates.OraclePoint), ({ cid }) => cid)
        yield* publishes("0.001", "2026-08-03")
        yield* Executions.publishes(stage, "0.007", "2026-08-03T12:00:00Z", {
          instrumentId: "fund-b"
        })
        yield* publishes("0.002", "2026-08-04")
        yield* publishes("0.009", "2026-08-05")
        const corrected = yield* newest
        yield* corrects(stage, corrected, "0.003", "2026-08-05T12:00:00Z")
        yield* publishes("0.008", "2026-08-06")
        const withdrawn = yield* newest
        yield* forgets
        yield* Effect.gen(function* () {
          const records = yield* Records
          yield* Calls.settle
          yield* stage.oracle.act({
            _tag: "Exercise",
            target: Templates.OraclePoint.typeRef,
            contractId: withdrawn,
            choice: "Archive",
            arg: {}
          })
          yield* publishes("0.004", "2026-08-06")
          yield* Calls.settle
          assert.deepEqual(yield* records.list(pricePoints, { limit: 1 }), [])
          assert.deepEqual(yield* Fund.surprises, [])
          // The points of both instruments have their places at one offset.
          const other = yield* recordsAgain(stage, { valuation: "par", instrumentId: "fund-b" })
          assert.strictEqual(other.why, "")
          assert.strictEqual((yield* recordsAgain(stage, { valuation: "par" })).why, "")
          const waited = ["0.007", "0.001", "0.002", "0.003", "0.004"]
          for (const limit of [1, 2, 3, 6]) {
            assert.deepEqual(yield* figuresInPagesOf(limit, incomeOf), waited)
          }
          const last = yield* newest
          const quoteId = quoteIdOf(yield* records.get(pricePoints, last))
          assert.strictEqual((yield* records.get(quotes, quoteId)).contractId, last)
          yield* corrects(stage, last, "0.005", "2026-08-06T12:00:00Z")
          yield* publishes("0.006", "2026-08-07")
          yield* Calls.settle
          assert.deepEqual(yield* figuresInPagesOf(2, incomeOf), [...waited, "0.005", "0.006"])
          const { correctedBy } = yield* records.get(pricePoints, last)
          assert.isNotNull(correctedBy)
          assert.strictEqual((yield* records.get(pricePoints, correctedBy)).corrects, last)
          assert.deepEqual(yield* Fund.surprises, [])
        }).pipe(Effect.provide(yield* again))
      }).pipe(Effect.provide(world()))
  )

  it.effect(
    "finds the consent, the market, the holder and the admission that stand, and goes on with them",
    () =>
      Effect.gen(function* () {
        const stage = yield* Fund.opened()
        yield* Fund.market(stage)
        yield* Fund.admitted(stage)
        const credential = yield* Fund.newestContract(Templates.Credential)
        yield* stage.registrar.act(
          Templates.exercise(Templates.Credential, credential.cid, "Receive", {
            amount: Decimal.of("10"),
            reference: { kind: "subscription", id: "s0" },
            configurationCid: null
          })
        )
        yield* Calls.write(
          "issuer-powers-agreement.propose",
          { instrumentId: "fund-a" },
          { issuer: stage.fund.party, powers: ["recover"], until: "2027-07-31T12:00:00Z" }
        )
        yield* Fund.agreesToPowers(stage)
        yield* Calls.write("issuer-powers-consent.offer", { holderId: "h1" }, {})
        yield* Fund.answersPowers(stage.holder)
        const before = yield* shownState
        assert.deepEqual(
          [before.powers?.state, ...before.consents.map(({ state }) => state)],
          ["agreed", "granted"]
        )
        yield* forgets
        yield* Effect.gen(function* () {
          yield* Calls.settle
          assert.deepEqual(yield* shownState, before)
          assert.deepEqual(yield* Fund.surprises, [])
          // The terms are the venue's own, and it records them again.
          yield* records(stage)
          const claimed = yield* Calls.write(
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
          assert.strictEqual(claimed.why, "")
          const revoked = yield* Calls.write(
            "admission.withdraw",
            { holderId: "h1", instrumentId: "fund-a" },
            {}
          )
          assert.strictEqual(revoked.why, "")
          assert.strictEqual((yield* shownState).admissions[0]?.state, "revoked")
          assert.deepEqual(yield* Fund.surprises, [])
        }).pipe(Effect.provide(yield* again))
      }).pipe(Effect.provide(world()))
  )

  it.effect("finds a holder whose terms were accepted before its registration was", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Calls.write(
        "holder.register",
        {},
        { holderId: "h1", party: stage.holder.party, taxResidences: [] }
      )
      yield* Fund.signs(stage)
      yield* Calls.write("accepted-terms.accept", { holderId: "h1" }, {})
      yield* TestClock.adjust("1 hour")
      yield* Fund.accepts(stage)
      const before = yield* shownState
      assert.strictEqual(before.holder[2], "active")
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        assert.deepEqual((yield* shownState).holder, before.holder)
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )

  it.effect("finds a provision settlement that is agreed, and the fund may still end it", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      const terms = {
        fund: stage.fund.party,
        paymentAsset: { admin: stage.bank.party, id: "USD" },
        limit: 1000,
        until: "2027-07-31T12:00:00Z"
      }
      const proposes = Calls.write("provision-settlement.propose", { instrumentId }, terms)
      yield* proposes
      const { cid } = yield* Fund.newestContract(Templates.ProvisionSettlementProposal)
      yield* stage.fund.act(
        Templates.exercise(Templates.ProvisionSettlementProposal, cid, "Accept", {})
      )
      const provisions = Effect.gen(function* () {
        const records = yield* Records
        const found = yield* records.list(provisionSettlements, { limit: 10 })
        // The snapshot does not have the instants of proposal and agreement.
        return found.map(
          ({ record: { agreedAt, createdAt, offset, proposedAt, updatedAt, version, ...said } }) =>
            said
        )
      })
      const [agreed, ...more] = yield* provisions
      assert.deepEqual([agreed?.state, more], ["agreed", []])
      yield* forgets
      yield* Effect.gen(function* () {
        yield* Calls.settle
        assert.deepEqual(yield* provisions, [agreed])
        yield* records(stage)
        assert.strictEqual((yield* proposes).why, "state-conflict ProvisionSettlementState")
        const { cid } = yield* Fund.newestContract(Templates.ProvisionSettlement)
        yield* stage.fund.act(Templates.exercise(Templates.ProvisionSettlement, cid, "End", {}))
        assert.deepEqual(
          (yield* provisions).map(({ state }) => state),
          ["ended"]
        )
        assert.deepEqual(yield* Fund.surprises, [])
      }).pipe(Effect.provide(yield* again))
    }).pipe(Effect.provide(world()))
  )
})
