/** Query parameters of the event feed. */
import { Schema } from "effect"
import * as Instant from "../kernel/Instant.ts"
import { EventKind } from "../vocabulary/EventKind.ts"
import { EventType } from "../vocabulary/EventType.ts"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"
import { SortOrder } from "../vocabulary/sets.ts"

const several = <A, E>(schema: Schema.Codec<A, E>) => Schema.optionalKey(Schema.Array(schema))

/** The feed's own parameters; `limit` and `after` are those of every list. */
export const EventParams = Schema.Struct({
  order: Schema.optionalKey(SortOrder.schema),
  kind: several(EventKind.schema),
  type: several(EventType.schema),
  resourceKind: several(ResourceKind.schema),
  instrumentId: Schema.optionalKey(Schema.String),
  holderId: Schema.optionalKey(Schema.String),
  resourceId: Schema.optionalKey(Schema.String),
  from: Schema.optionalKey(Instant.schema),
  to: Schema.optionalKey(Instant.schema)
})
export type EventParams = typeof EventParams.Type
