/** Values of the catalogue's schemas, by chance. */
import { Arbitrary, Effect, Schema, SchemaAST } from "effect"
import * as PlainJson from "#core/kernel/PlainJson.ts"
import { bodyOf } from "../operations/instrumentBody.ts"

type AnySchema = Schema.Codec<unknown, unknown>

const terms = {
  minCover: 1.02,
  assets: [
    {
      asset: { admin: "bank::1220aa", id: "USD" },
      priceSource: "oracle::1220aa",
      freshness: "PT1H",
      haircut: 0.05,
      maxShare: 0.4
    },
    { asset: { admin: "bank::1220aa", id: "EUR" }, haircut: 0 }
  ]
}

/** Values that chance does not meet, because their members must agree with one another. */
const agreeingValues: Readonly<Record<string, object>> = {
  "request reserve.propose": {
    reserveId: "res-1",
    instrumentId: "fund-a",
    holder: "custodian::1220aa",
    unit: "USD",
    decimals: 6,
    terms
  },
  "request amendment.propose": { reserveId: "res-1", terms },
  "request instrument.record": bodyOf(),
  "record policy-version": {
    instrumentId: "fund-a",
    policyVersion: 1,
    state: "current",
    effectiveFrom: "2026-07-01T00:00:00Z",
    until: null,
    setBy: "operator-1",
    manifest: bodyOf()
  }
}

/** Values of a schema of the catalogue, by chance. */
export const samples = (name: string, schema: AnySchema): ReadonlyArray<unknown> => {
  const encoded = agreeingValues[name]
  if (encoded !== undefined) {
    return [Schema.decodeUnknownSync(schema)(PlainJson.parseTrusted(JSON.stringify(encoded)))]
  }
  // A record that is opened and never changed has no facts.
  if (SchemaAST.isNever(schema.ast)) return []
  return Effect.runSync(
    Arbitrary.sampleEffect(Arbitrary.schema(schema), {
      count: 5,
      size: 3,
      seed: name,
      maxDiscards: 10_000
    })
  )
}
