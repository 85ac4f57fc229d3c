/** The events that the room of restraints announces: holds and restrictions. */
import { Schema } from "effect"
import * as Decimal from "../kernel/Decimal.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import { about, announcing } from "../records/EventDeclaration.ts"
import * as sets from "../vocabulary/sets.ts"

const { NullOr, String: Text, Struct } = Schema
const Count = Integer.schema

export const events = {
  "reconciliation.hold": about(
    "hold",
    Struct({ runId: Text, blocks: Schema.Array(sets.HoldBlock.schema), findings: Count })
  ),
  "hold.released": about(
    "hold",
    Struct({ source: sets.HoldSource.schema, operationId: Text, accepted: Count })
  ),
  "holder.restricted": about(
    "holder",
    Struct({
      mode: sets.RestrictionMode.schema,
      reason: sets.RestrictionReason.schema,
      holderId: Text,
      orderCited: Schema.Boolean,
      operationId: Text,
      autoReleaseAt: NullOr(Instant.schema),
      restrictionId: Text
    })
  ),
  "holder.unrestricted": about(
    "holder",
    Struct({
      mode: sets.RestrictionMode.schema,
      holderId: Text,
      restrictionId: Text,
      how: Schema.Literals(["lifted", "lapsed"])
    })
  ),
  "instrument.paused": about(
    "instrument",
    Struct({
      holdId: Text,
      blocks: Schema.Array(sets.HoldBlock.schema),
      until: NullOr(Instant.schema)
    })
  ),
  "reserve.cover-low": about(
    "reserve",
    Struct({ ratio: NullOr(Decimal.schema), minCover: Decimal.schema, holdId: Text, runId: Text })
  )
} as const

export const make = announcing(events)
