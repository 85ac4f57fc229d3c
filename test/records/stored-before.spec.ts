/** Documents, facts and ledger exercises that were written before a member or a check came stay readable. */
import { Catalogue, type Collection } from "@bursar/engine-core"
import { Instant, Party, PlainJson } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { Admission, admissions } from "#core/admissions/Admission.ts"
import { admissionConsents } from "#core/admissions/AdmissionConsent.ts"
import { DistributionLine } from "#core/distributions/distribution/DistributionLine.ts"
import { Body, Manifest } from "#core/instruments/instrument/Manifest.ts"
import { Gross, DealingCycle } from "#core/orders/dealing-cycle/DealingCycle.ts"
import { primaryMarkets } from "#core/orders/primary-market/PrimaryMarket.ts"
import { provisionSettlements } from "#core/orders/provision-settlement/ProvisionSettlement.ts"
import { Redemption } from "#core/orders/redemption/Redemption.ts"
import { Subscription } from "#core/orders/subscription/Subscription.ts"
import { issuerPowersAgreements } from "#core/powers/IssuerPowersAgreement.ts"
import { contracts } from "#core/projection/Contract.ts"
import * as Codecs from "#core/records/Codecs.ts"
import { Mint } from "#core/reserves/reserve-order/Mint.ts"
import { ReserveRedemption } from "#core/reserves/reserve-order/ReserveRedemption.ts"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

const registrar = Party.of("registrar::1220aa")

describe("a stored document", () => {
  it.each([
    ["an admission", "recoveredBy", Admission.fields.recoveredBy, null],
    ["a subscription", "formerCycle", Subscription.fields.formerCycle, null],
    ["a subscription", "refunded", Subscription.fields.refunded, null],
    ["a subscription", "refunds", Subscription.fields.refunds, []],
    ["a subscription", "owedRefundCid", Subscription.fields.owedRefundCid, null],
    ["a subscription", "recovered", Subscription.fields.recovered, false],
    ["a redemption", "recovered", Redemption.fields.recovered, false],
    ["a dealing cycle", "lost", DealingCycle.fields.lost, false],
    ["a subscription", "lost", Subscription.fields.lost, false],
    ["a redemption", "lost", Redemption.fields.lost, false],
    ["a mint", "lost", Mint.fields.lost, false],
    ["a reserve redemption", "lost", ReserveRedemption.fields.lost, false],
    ["a distribution line", "lost", DistributionLine.fields.lost, false],
    ["a redemption", "formerCycle", Redemption.fields.formerCycle, null],
    ["a cycle's gross figures", "refunded", Gross.fields.refunded, 0n]
  ] as const)("of %s is read without its later %s", (_, name, schema, absent) => {
    const decode = Schema.decodeUnknownResult(Schema.Struct({ [name]: schema }))
    expect(decode({})).toEqual(Result.succeed({ [name]: absent }))
  })

  it("of an admission whose end says nothing of a recovery ends as it did, in document and fact", () => {
    const { decodeFact, decodeRecord } = Codecs.of(admissions)
    const at = "2026-07-30T03:00:00Z"
    expect(decodeFact(`{"on":"withdraw","at":"${at}"}`)).toMatchObject({ recoveredBy: null })
    expect(decodeFact(`{"on":"revoke","by":"holder","at":"${at}"}`)).toMatchObject({
      by: "holder",
      recoveredBy: null
    })
    const kept = {
      admissionId: "adm_1",
      holderId: "holder-1",
      instrumentId: "fund-a",
      party: "holder::1220dd",
      registrar,
      state: "revoked",
      offeredAt: at,
      offset: 1,
      expiresAt: null,
      admittedAt: at,
      validFrom: null,
      validUntil: null,
      offerCid: null,
      credentialCid: null,
      endedAt: at,
      endedBy: "venue"
    }
    expect(decodeRecord(PlainJson.stringify(kept))).toMatchObject({
      state: "revoked",
      endedBy: "venue",
      recoveredBy: null
    })
  })

  it("of an instrument in a currency that is no longer taken is read, and taken no more", () => {
    const body = { ...bodyOf(), currency: "XXX" }
    const { currency } = Schema.decodeUnknownSync(
      Schema.Struct({ currency: Manifest.fields.currency })
    )(body)
    expect(currency).toBe("XXX")
    expect(
      Result.isFailure(
        Schema.decodeUnknownResult(Schema.Struct({ currency: Body.fields.currency }))(body)
      )
    ).toBe(true)
  })
})

const at = (hour: number) => `2026-07-30T0${hour}:00:00.000000Z`
const life = { proposedAt: at(1), offset: 1, endedAt: null, proposalCid: "00aa" }
const signed = `{"on":"accept","party":"fund::1220ff","proposalCid":"00ab"}`
const paymentAsset = { admin: "bank::1220ba", id: "USD" }
const fund = "fund::1220ff"

/** Each agreement as it was stored when it was proposed, and its facts as they were written. */
const agreements: ReadonlyArray<
  readonly [
    name: string,
    collection: Collection,
    proposed: object,
    accepted: ReadonlyArray<string>,
    agree: string,
    agreed: object,
    ends: ReadonlyArray<readonly [fact: string, ended: object]>
  ]
> = [
  [
    "an admission consent",
    admissionConsents as Collection,
    {
      ...life,
      admissionConsentId: "acn_1",
      instrumentId: "fund-a",
      registrar,
      fund,
      terms: "t",
      agreedAt: null,
      consentCid: null
    },
    [],
    `{"on":"agree","consentCid":"00bb","at":"${at(2)}"}`,
    { consentCid: "00bb", agreedAt: Instant.of(at(2)), proposalCid: null },
    [[`{"on":"end","at":"${at(3)}"}`, {}]]
  ],
  [
    "a provision settlement",
    provisionSettlements as Collection,
    {
      ...life,
      provisionSettlementId: "prv_1",
      instrumentId: "fund-a",
      fund,
      paymentAsset,
      limit: null,
      until: at(3),
      agreedAt: null,
      provisionCid: null
    },
    [],
    `{"on":"agree","provisionCid":"00bb","at":"${at(2)}"}`,
    { provisionCid: "00bb", agreedAt: Instant.of(at(2)), proposalCid: null },
    [[`{"on":"end","at":"${at(3)}"}`, { provisionCid: "00bb" }]]
  ],
  [
    "a primary market",
    primaryMarkets as Collection,
    {
      ...life,
      marketId: "mkt_1",
      instrumentId: "fund-a",
      registrar,
      fund,
      paymentAsset,
      terms: { attestors: [], required: 1, oracle: fund },
      acceptedBy: [],
      from: null,
      until: at(3),
      marketCid: null
    },
    [signed],
    `{"on":"agree","party":"${registrar}","marketCid":"00bb","at":"${at(2)}"}`,
    {
      marketCid: "00bb",
      from: Instant.of(at(2)),
      proposalCid: null,
      acceptedBy: [fund, registrar]
    },
    [
      [`{"on":"end","marketCid":null,"at":"${at(3)}"}`, { marketCid: "00bb" }],
      [`{"on":"end","marketCid":"00cc","at":"${at(3)}"}`, { marketCid: "00cc" }],
      [`{"on":"end","at":"${at(3)}"}`, { marketCid: "00bb" }]
    ]
  ],
  [
    "an issuer powers agreement",
    issuerPowersAgreements as Collection,
    {
      ...life,
      issuerPowersAgreementId: "ipa_1",
      instrumentId: "fund-a",
      issuer: fund,
      registrar,
      powers: ["recover"],
      consentRevocable: true,
      acceptedBy: [],
      from: null,
      until: at(3),
      agreementCid: null
    },
    [signed],
    `{"on":"agree","party":"${registrar}","agreementCid":"00bb","at":"${at(2)}"}`,
    {
      agreementCid: "00bb",
      from: Instant.of(at(2)),
      proposalCid: null,
      acceptedBy: [fund, registrar]
    },
    [[`{"on":"end","at":"${at(3)}"}`, { agreementCid: "00bb" }]]
  ]
]

describe("a stored agreement", () => {
  it.each(agreements)("%s is folded from its facts as it was", (_, collection, ...stored) => {
    const [proposed, accepted, agree, agreed, ends] = stored
    const { decodeFact, decodeRecord, encodeFact, encodeRecord } = Codecs.of(collection)
    const after = (record: unknown, facts: ReadonlyArray<string>) =>
      facts.reduce((self, fact) => collection.evolve(self, decodeFact(fact)), record)
    const document = PlainJson.stringify({ ...proposed, state: "proposed" } as never)
    const self = decodeRecord(document)
    const inForce = after(self, [...accepted, agree])
    expect(inForce).toMatchObject({ state: "agreed", endedAt: null, ...agreed })
    for (const [fact, ended] of ends) {
      const is = { state: "ended", endedAt: Instant.of(at(3)), ...ended }
      expect(after(inForce, [fact])).toMatchObject(is)
    }
    for (const [on, state] of [
      ["decline", "declined"],
      ["replace", "withdrawn"]
    ] as const) {
      const refused = { state, endedAt: Instant.of(at(2)), proposalCid: null }
      expect(after(self, [`{"on":"${on}","at":"${at(2)}"}`])).toMatchObject(refused)
    }
    // Each stored fact is encoded again to the same text.
    for (const fact of [...accepted, agree]) expect(encodeFact(decodeFact(fact))).toBe(fact)
    expect(PlainJson.parseTrusted(encodeRecord(self))).toEqual(PlainJson.parseTrusted(document))
  })
})

describe("a ledger exercise", () => {
  it("of a delivery that named no credential is read", () => {
    const decoded = [
      Templates.decodeArgument(Templates.Lot, "Deliver", {}),
      Templates.decodeArgument(Templates.DeliveredLot, "Redeliver", {})
    ]
    expect(decoded.map(Result.isSuccess)).toEqual([true, true])
  })
})

describe("a collection", () => {
  it("is stored under a name that never changes: another one would lose every record of it", () => {
    // A new collection adds its name; none is renamed or goes.
    const names = [...Catalogue.collections, contracts, operations, approvals].map(
      ({ name }) => name
    )
    expect(names.toSorted()).toEqual(
      [
        "accepted-terms",
        "asset-quote",
        "reserve-report",
        "amendment",
        "reserve-redemption",
        "mint",
        "lock-agreement",
        "reserve-holding",
        "reserve",
        "admission",
        "admission-consent",
        "admission-places",
        "cash-line",
        "cash-taking",
        "claimed-units",
        "cash-line-part",
        "configuration",
        "contract",
        "operation",
        "approval",
        "cycle-joinings",
        "cycle-slot",
        "dealing-cycle",
        "dealing-day",
        "delivery",
        "distribution",
        "distribution-contract",
        "distribution-line",
        "distribution-line-refusal",
        "distribution-line-write",
        "distribution-plan",
        "distribution-slot",
        "distribution-timer",
        "execution-claim",
        "account-number",
        "external-account",
        "external-source",
        "external-statement",
        "finding",
        "forced-act",
        "hold",
        "hold-slot",
        "holder",
        "holder-claim",
        "holder-order",
        "holder-party",
        "holding",
        "instrument",
        "instrument-verdict",
        "issuer-powers-agreement",
        "issuer-powers-consent",
        "lot",
        "lot-replay",
        "movement",
        "overdue-statement",
        "party-movement",
        "policy-version",
        "price-point",
        "primary-market",
        "proposal",
        "provision-settlement",
        "quote",
        "reconciliation-run",
        "recovery",
        "redemption",
        "register-entry",
        "restriction",
        "run-instrument",
        "run-part",
        "run-under-way",
        "check-mark",
        "awaited-statements",
        "scheduled-distribution",
        "screening",
        "shown-distribution",
        "standing-approval",
        "standing-party",
        "standing-settlement",
        "subscription",
        "statement-of-date",
        "supply",
        "webhook"
      ].toSorted()
    )
  })
})

describe("what an operation that has not ended waits on", () => {
  it.each([
    ["queued", [{ role: "engine", action: "hold.release", by: null }]],
    ["running", [{ role: "engine", action: "hold.release", by: null }]],
    ["succeeded", []],
    ["failed", []]
  ] as const)("%s is the engine, and nobody once it has", (state, waits) => {
    expect(operations.waitingOn({ state, kind: "hold.release" } as never)).toEqual(waits)
  })
})
