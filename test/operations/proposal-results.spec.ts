/**
 * Members of operations' results: those of the record itself, and the parties that it waits for.
 */
import { Catalogue, Queries, Records } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { issuerPowersAgreements } from "#core/powers/IssuerPowersAgreement.ts"
import * as IssuerPowersAgreementView from "#core/powers/IssuerPowersAgreementView.ts"
import { issuerPowersConsents } from "#core/holders/issuer-powers-consent/IssuerPowersConsent.ts"
import * as IssuerPowersConsentView from "#core/powers/IssuerPowersConsentView.ts"
import { provisionSettlements } from "#core/orders/provision-settlement/ProvisionSettlement.ts"
import * as ProvisionSettlementView from "#core/orders/provision-settlement/ProvisionSettlementView.ts"
import { admissionConsents } from "#core/admissions/AdmissionConsent.ts"
import * as AdmissionConsentView from "#core/admissions/AdmissionConsentView.ts"
import { admissions } from "#core/admissions/Admission.ts"
import * as AdmissionView from "#core/admissions/AdmissionView.ts"
import * as InstrumentQueries from "#core/overviews/instrument/InstrumentQueries.ts"
import type { Collection } from "#core/kernel/Collection.ts"
import { primaryMarkets } from "#core/orders/primary-market/PrimaryMarket.ts"
import * as PrimaryMarketView from "#core/orders/primary-market/PrimaryMarketView.ts"
import * as RecordView from "#core/records/RecordView.ts"
import type { Stored } from "#core/records/Records.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Fund from "./fund.ts"
import { bodyOf } from "./instrumentBody.ts"
import * as Powers from "./powers.ts"

/**
 * Kinds whose result is not one record: an attempt, a list, forced acts; and those of webhooks,
 * which wait for no party.
 */
const ofNoRecord = [
  "webhook.test",
  "webhook.register",
  "webhook.remove",
  "holder.restrict-batch",
  "holder.force-transfer",
  "instrument.force-transfer",
  "holder.recover",
  "instrument.recover"
]

/** A collection and how the API shows its records. */
interface Shown<R, F, V> {
  readonly collection: Collection<R, F>
  readonly schema: Schema.Codec<V, PlainJson.Printable>
  readonly viewOf: (record: Stored<R>) => V
}

const membersOf = (schema: Schema.Constraint): ReadonlyArray<string> =>
  "fields" in schema ? Object.keys(schema.fields as object) : []

describe("a result", () => {
  it.each(
    Catalogue.operations
      .filter(({ kind }) => !ofNoRecord.includes(kind))
      .map(({ kind, result }) => [kind, membersOf(result)] as const)
  )("of %s shows when its record was written, its version and whom it waits on", (_, members) => {
    assert.includeMembers([...members], Object.keys(RecordView.fields))
  })

  /** The latest record of a collection as its view shows it, in the form of the wire. */
  const latest = <R, F, V>({ collection, schema, viewOf }: Shown<R, F, V>) =>
    Effect.gen(function* () {
      const records = yield* Records
      const [found] = yield* records.list(collection, { direction: "desc", limit: 1 })
      if (found === undefined) throw new Error(`there is no ${collection.name}`)
      return PlainJson.parseTrusted(
        PlainJson.stringify(Schema.encodeSync(schema)(viewOf(found.record)))
      )
    })

  const equals = <R, F, V>(ended: Calls.Ended, view: Shown<R, F, V>) =>
    Effect.gen(function* () {
      assert.strictEqual(ended.why, "")
      const shown = yield* latest(view)
      assert.deepStrictEqual<unknown>(ended.result, shown)
      const { waitingOn } = ended.result as { readonly waitingOn: ReadonlyArray<unknown> }
      assert.isNotEmpty(waitingOn)
    })

  const body = { instrumentId: "fund-a" }

  it.effect(
    "of a proposal equals its record and names who is to answer; a market in its instrument names the instrument",
    () =>
      Effect.gen(function* () {
        const stage = yield* Fund.founded()
        const paymentAsset = { admin: stage.bank.party, id: "USD" }
        const fund = stage.fund.party
        // The stage has the consent to "fund-a" already; another instrument's is still to be asked for.
        const another = { instrumentId: "fund-b" }
        const recorded = { ...bodyOf(), ...another, registrar: stage.registrar.party }
        const record = yield* Calls.write("instrument.record", {}, recorded)
        assert.deepNestedInclude(record.result, {
          "waitingOn[0].party": stage.registrar.party,
          "waitingOn[0].action": "InstrumentConfiguration"
        })
        yield* equals(
          yield* Calls.write("admission-consent.propose", another, { fund, terms: "t" }),
          {
            collection: admissionConsents,
            schema: AdmissionConsentView.AdmissionConsentView,
            viewOf: AdmissionConsentView.of
          }
        )
        const terms = { attestors: [stage.attestor.party], required: 1 }
        const market = { fund, paymentAsset, terms }
        yield* equals(yield* Calls.write("primary-market.propose", body, market), {
          collection: primaryMarkets,
          schema: PrimaryMarketView.PrimaryMarketView,
          viewOf: PrimaryMarketView.of
        })
        const queries = yield* Queries
        const { value } = yield* queries.one(InstrumentQueries.get, {
          caller: Calls.operator,
          params: { instrumentId: "fund-a" as never },
          point: {}
        })
        assert.strictEqual(value.primaryMarket?.instrumentId, "fund-a")
        const provision = { fund, paymentAsset }
        yield* equals(yield* Calls.write("provision-settlement.propose", body, provision), {
          collection: provisionSettlements,
          schema: ProvisionSettlementView.ProvisionSettlementView,
          viewOf: ProvisionSettlementView.of
        })
        yield* equals(yield* Powers.proposes(stage), {
          collection: issuerPowersAgreements,
          schema: IssuerPowersAgreementView.IssuerPowersAgreementView,
          viewOf: IssuerPowersAgreementView.of
        })
      }).pipe(Effect.provide(world()))
  )

  it.effect("of what a holder is offered equals its record and names the holder", () =>
    Effect.gen(function* () {
      const stage = yield* Fund.opened()
      yield* Fund.admitted(stage)
      const ended = yield* Calls.write("admission.withdraw", { holderId: "h1", ...body }, {})
      assert.deepStrictEqual<unknown>(
        ended.result,
        yield* latest({
          collection: admissions,
          schema: AdmissionView.AdmissionView,
          viewOf: AdmissionView.of
        })
      )
      yield* equals(yield* Calls.write("admission.offer", { holderId: "h1" }, body), {
        collection: admissions,
        schema: AdmissionView.AdmissionView,
        viewOf: AdmissionView.of
      })
      yield* Powers.agrees(stage)
      yield* equals(yield* Powers.offers("h1"), {
        collection: issuerPowersConsents,
        schema: IssuerPowersConsentView.IssuerPowersConsentView,
        viewOf: IssuerPowersConsentView.of
      })
    }).pipe(Effect.provide(world()))
  )
})
