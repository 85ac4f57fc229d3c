/** The events that the room of admissions announces: offers and credentials. */
import { Schema } from "effect"
import * as Instant from "../kernel/Instant.ts"
import { about, announcing } from "../records/EventDeclaration.ts"

const { NullOr, String: Text, Struct } = Schema

export const events = {
  "admission.offered": about(
    "contract",
    Struct({ contractId: Text, holderId: Text, validUntil: NullOr(Instant.schema) })
  ),
  "admission.granted": about(
    "contract",
    Struct({ contractId: Text, holderId: Text, validUntil: NullOr(Instant.schema) })
  )
} as const

export const make = announcing(events)
