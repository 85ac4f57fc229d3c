/** An event that a fact of a record puts on the event feed. */
import type { EventType } from "../vocabulary/EventType.ts"
import type { ResourceKind } from "../vocabulary/ResourceKind.ts"
import type * as Instant from "./Instant.ts"
import type { Plain } from "./PlainJson.ts"
import type { Trace } from "./Trace.ts"

export interface Announcement {
  readonly type: EventType
  readonly resourceKind: ResourceKind
  readonly resourceId: string
  readonly instrumentId: string | null
  readonly party: string | null
  /** Every holder the event is about: the feed's holder filter finds it under each. */
  readonly holderIds: ReadonlyArray<string>
  readonly payload: Plain
  /** A journal event carries its update's effective time and offset, and a source that makes it unique. */
  readonly journal?: {
    readonly at: Instant.Instant
    readonly offset: number
    readonly source: string
  }
  /** Trace of the call that caused the event. */
  readonly trace?: Trace | null
}
