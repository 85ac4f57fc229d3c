/** Codec between the feed's rows and events, and the JSON text of an event. */
import { Schema } from "effect"
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Offset from "../kernel/Offset.ts"
import * as PlainJson from "../kernel/PlainJson.ts"
import type { EventRow } from "../ports/storage/Feed.ts"
import { EventKind } from "../vocabulary/EventKind.ts"
import { EventType } from "../vocabulary/EventType.ts"
import { ResourceKind } from "../vocabulary/ResourceKind.ts"
import { Event } from "./Event.ts"

const words = CompiledCodec.decoder(
  Schema.Struct({
    kind: EventKind.schema,
    type: EventType.schema,
    resourceKind: ResourceKind.schema
  })
)

/** An event as its row keeps it. */
export const ofRow = (row: EventRow): Event => ({
  ...words({ kind: row.kind, type: row.type, resourceKind: row.resourceKind }),
  at: row.at === null ? null : Instant.of(row.at),
  offset: row.offset === null ? null : Offset.of(row.offset),
  instrumentId: row.instrumentId,
  party: row.party,
  resourceId: row.resourceId,
  payload: PlainJson.parseTrusted(row.payload),
  seq: row.seq
})

const encode = CompiledCodec.encoder(Event)

/**
 * The event as JSON text: what a page of the feed shows and what a webhook is posted, byte for byte
 * (docs/contract/webhooks.md#deliveries).
 */
export const print = (event: Event): string =>
  // The engine's codecs encode to values that PlainJson prints.
  PlainJson.stringify(encode(event) as unknown as PlainJson.Printable)
