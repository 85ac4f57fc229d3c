/** Envelope of a fact: record, version, time, and the one cause. */
import { Match } from "effect"
import type * as Instant from "./Instant.ts"
import type * as Offset from "./Offset.ts"

/**
 * Every fact has exactly one cause; a caller's own act is a request
 * (docs/domain/every-record.md#one-cause).
 */
export type Cause =
  | { readonly by: "operation"; readonly operationId: string }
  | {
      readonly by: "update"
      readonly updateId: string
      readonly offset: Offset.Offset
      readonly effectiveAt: Instant.Instant
    }
  | { readonly by: "run"; readonly runId: string }
  | { readonly by: "request"; readonly requestId: string }
  | { readonly by: "event"; readonly seq: number }
  /** The screening source answered this request. */
  | { readonly by: "screening"; readonly requestId: string }
  | { readonly by: "clock" }

/** The cause as text, as storage keeps it. */
export const causeText = Match.type<Cause>().pipe(
  Match.when({ by: "operation" }, (c) => `operation:${c.operationId}`),
  Match.when({ by: "update" }, (c) => `update:${c.updateId}`),
  Match.when({ by: "run" }, (c) => `run:${c.runId}`),
  Match.when({ by: "request" }, (c) => `request:${c.requestId}`),
  Match.when({ by: "event" }, (c) => `event:${c.seq}`),
  Match.when({ by: "screening" }, (c) => `screening:${c.requestId}`),
  Match.when({ by: "clock" }, () => "clock"),
  Match.exhaustive
)
