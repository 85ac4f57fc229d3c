/** The events that the room of powers announces: forced acts. */
import { Schema } from "effect"
import * as Decimal from "../kernel/Decimal.ts"
import { about, announcing } from "../records/EventDeclaration.ts"

const { String: Text, Struct } = Schema

/**
 * Payload members of a move between holders, nested under names that redaction removes for
 * monitors.
 */
const moved = {
  operationId: Text,
  from: Struct({ holderId: Text }),
  to: Struct({ holderId: Text }),
  quantity: Decimal.schema
}

export const events = {
  "holder.forced-transfer": about("holder", Struct({ ...moved, orderCited: Schema.Boolean })),
  "holder.recovered": about("holder", Struct(moved))
} as const

export const make = announcing(events)
