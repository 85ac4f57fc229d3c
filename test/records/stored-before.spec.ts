/** Documents, facts and ledger exercises that were written before a member or a check came stay readable. */
import { Party, PlainJson } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Result, Schema } from "effect"
import { describe, expect, it } from "vitest"
import { Admission, admissions } from "#core/admissions/admission/Admission.ts"
import { Body, Manifest } from "#core/instruments/instrument/Manifest.ts"
import { Gross } from "#core/orders/dealing-cycle/DealingCycleMachine.ts"
import { Redemption } from "#core/orders/redemption/Redemption.ts"
import { Subscription } from "#core/orders/subscription/Subscription.ts"
import * as Codecs from "#core/records/Codecs.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

const registrar = Party.of("registrar::1220aa")

describe("a stored document", () => {
  it.each([
    ["an admission", "recoveredBy", Admission.fields.recoveredBy, null],
    ["a subscription", "formerCycle", Subscription.fields.formerCycle, null],
    ["a subscription", "refunded", Subscription.fields.refunded, null],
    ["a subscription", "refunds", Subscription.fields.refunds, []],
    ["a subscription", "owedRefundCid", Subscription.fields.owedRefundCid, null],
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

describe("a ledger exercise", () => {
  it("of a delivery that named no credential is read", () => {
    const decoded = [
      Templates.decodeArgument(Templates.Lot, "Deliver", {}),
      Templates.decodeArgument(Templates.DeliveredLot, "Redeliver", {})
    ]
    expect(decoded.map(Result.isSuccess)).toEqual([true, true])
  })
})
