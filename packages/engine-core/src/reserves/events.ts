/** Events that the room of reserves announces: mints, redemptions, reports and amendments of reserves. */
import { Schema } from "effect"
import * as Decimal from "../kernel/Decimal.ts"
import * as Instant from "../kernel/Instant.ts"
import { about, announcing } from "../records/EventDeclaration.ts"
import * as sets from "../vocabulary/sets.ts"

const { NullOr, String: Text, Struct } = Schema

export const events = {
  "reserve.minted": about(
    "mint",
    Struct({
      reserveId: Text,
      quantity: Decimal.schema,
      amount: Decimal.schema,
      coverAfter: NullOr(Decimal.schema)
    })
  ),
  "reserve.redeemed": about(
    "reserve-redemption",
    Struct({
      reserveId: Text,
      quantity: Decimal.schema,
      amount: Decimal.schema,
      coverAfter: NullOr(Decimal.schema)
    })
  ),
  "reserve.reported": about(
    "reserve",
    Struct({
      reportId: Text,
      trigger: sets.ReportTrigger.schema,
      cover: sets.CoverState.schema,
      ratio: NullOr(Decimal.schema)
    })
  ),
  "reserve.amended": about(
    "reserve",
    Struct({
      amendmentId: Text,
      direction: sets.ChangeDirection.schema,
      effectiveAt: Instant.schema
    })
  )
} as const

export const make = announcing(events)
