/** Body of a call that starts a reconciliation run. */
import { Schema } from "effect"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Field from "../../templates/Field.ts"
import { ReconciliationCheck } from "../../vocabulary/sets.ts"

/** Largest number of instruments that one call names; a run that names none covers all. */
const instrumentsMax = 1_000

/** Body of a call that starts a reconciliation run. */
export const RunRequest = Schema.Struct({
  scope: Field.optional(
    Schema.Struct({
      /** Instruments to cover; absent: every one. */
      instrumentIds: Field.optional(
        Schema.Array(InstrumentId).check(
          Schema.isMinLength(1),
          Schema.isMaxLength(instrumentsMax),
          Schema.isUnique()
        )
      ),
      /** Checks to run; absent: all that this release has. */
      checks: Field.optional(
        Schema.Array(ReconciliationCheck.schema).check(Schema.isMinLength(1), Schema.isUnique())
      )
    })
  )
}).annotate({ identifier: "ReconciliationRunRequest" })
export type RunRequest = typeof RunRequest.Type
