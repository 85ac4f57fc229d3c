/** What every record shows besides its own fields: when it changed, and whose move it is. */
import { Schema } from "effect"
import type { Collection, WaitingOn } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import type { Stored } from "../records/Records.ts"

const Waiting = Schema.Struct({
  party: Schema.NullOr(Schema.String),
  role: Schema.NullOr(Schema.String),
  action: Schema.String,
  by: Schema.NullOr(Instant.schema)
}).annotate({ identifier: "WaitingOn", description: "Whose move it is, which, and by when." })

/** The fields that stand beside a record's own in every view. */
export const fields = {
  createdAt: Instant.schema,
  updatedAt: Instant.schema,
  version: Integer.schema,
  waitingOn: Schema.Array(Waiting)
} as const

/** A record with what the store keeps beside it and the moves it waits for. */
export const of = <R, F>(collection: Collection<R, F>, record: Stored<R>) => ({
  ...record,
  waitingOn: collection.waitingOn(record).map(shown)
})

const shown = ({ party, role, action, by }: WaitingOn) => ({
  party: party ?? null,
  role: role ?? null,
  action,
  by
})
