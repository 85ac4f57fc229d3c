/** Event of the feed, as pages of the feed and webhooks show it. */
import { Schema } from "effect"
import * as Instant from "../kernel/Instant.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Offset from "../kernel/Offset.ts"
import { PlainObjectSchema } from "../kernel/PlainSchema.ts"
import { EventKind } from "../vocabulary/EventKind.ts"
import { EventType } from "../vocabulary/EventType.ts"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"

/** Event of the feed, as subscribers and webhooks have it. */
export const Event = Schema.Struct({
  kind: EventKind.schema,
  type: EventType.schema,
  at: Schema.NullOr(Instant.schema),
  offset: Schema.NullOr(Offset.schema),
  instrumentId: Schema.NullOr(Schema.String),
  party: Schema.NullOr(Schema.String),
  resourceKind: ResourceKind.schema,
  resourceId: Schema.NullOr(Schema.String),
  payload: PlainObjectSchema,
  seq: Integer.schema
}).annotate({
  identifier: "Event",
  description: "What happened: an act of the engine, or a fact of the ledger."
})
export type Event = typeof Event.Type
