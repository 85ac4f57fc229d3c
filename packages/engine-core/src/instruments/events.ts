/** The events that the room of instruments announces: prices. */
import { Schema } from "effect"
import * as Decimal from "../kernel/Decimal.ts"
import * as Instant from "../kernel/Instant.ts"
import { about, announcing } from "../records/EventDeclaration.ts"

const { NullOr, String: Text, Struct } = Schema

export const events = {
  "price.point": about(
    "contract",
    Struct({
      contractId: Text,
      price: Decimal.schema,
      incomePerUnit: NullOr(Decimal.schema),
      withholding: NullOr(Decimal.schema),
      valuationTime: Instant.schema,
      corrects: NullOr(Text)
    })
  )
} as const

export const make = announcing(events)
