/** A price or rate published by an oracle. */
import { Schema } from "effect"
import * as Field from "./Field.ts"
import { define } from "./Template.ts"

const priceFields = {
  value: Field.decimal,
  valuationTime: Field.instant,
  period: Field.optional(Field.month),
  withholdingRate: Field.optional(Field.decimal),
  statementRef: Field.optional(Field.text)
}

/** Value of a metric that an oracle publishes. */
export const OraclePoint = define({
  typeRef: {
    packageName: "bursar-admin-v1",
    module: "Bursar.Admin.Price",
    entity: "OraclePoint"
  },
  payload: Schema.Struct({
    oracle: Field.party,
    venue: Field.party,
    fund: Field.party,
    registrar: Field.party,
    attestors: Field.parties,
    instrumentId: Field.name,
    metric: Field.text,
    ...priceFields,
    corrects: Field.optional(Field.contractId)
  }),
  choices: {
    /** Replaces the point; the new one names the one it corrects. */
    Correct: {
      consuming: true,
      argument: Schema.Struct(priceFields),
      result: Schema.Struct({ contractId: Field.contractId })
    }
  }
})
