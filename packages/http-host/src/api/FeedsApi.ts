/**
 * Routes of the feeds: control and journal events in one gapless order, and the audit log in its
 * own.
 */
import { AuditReads, EventReads } from "@bursar/engine-core"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import { page, rolesOf } from "./Params.ts"
import type { ServedRoute } from "./Served.ts"

export const served: ReadonlyArray<ServedRoute> = [
  {
    name: "events.list",
    doc: "The event feed, oldest first; its `next` is never null and is polled again.",
    route: "GET /v1/events",
    admits: { by: "role", roles: rolesOf(EventReads.audience) },
    bodyMax: 0,
    refuses: ["cursor-expired"],
    params: Schema.Struct({ ...EventReads.EventParams.fields, ...page }),
    body: null,
    success: {
      200: Schema.Struct({
        offset: Offset.schema,
        now: Instant.schema,
        value: Schema.Array(EventReads.Event),
        next: Schema.String
      })
    }
  },
  {
    name: "auditLog.list",
    doc: "The audit log, oldest first: who did what and how it ended; its `next` is never null.",
    route: "GET /v1/audit-log",
    admits: { by: "role", roles: rolesOf(AuditReads.audience) },
    bodyMax: 0,
    refuses: ["cursor-expired"],
    params: Schema.Struct({ ...AuditReads.AuditParams.fields, ...page }),
    body: null,
    success: {
      200: Schema.Struct({
        offset: Offset.schema,
        now: Instant.schema,
        value: Schema.Array(AuditReads.AuditRecord),
        next: Schema.String
      })
    }
  }
]
