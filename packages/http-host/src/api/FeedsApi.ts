/**
 * Routes of the feeds: control and journal events in one gapless order, and the audit log in its
 * own.
 */
import { AuditQueries, EventQueries } from "@bursar/engine-core"
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import { page, rolesOf } from "./Params.ts"
import type { ServedRoute } from "./Served.ts"

export const served: ReadonlyArray<ServedRoute> = [
  {
    name: "events.list",
    doc: "The event feed, oldest first; its `next` is never null and is polled again.",
    route: "GET /v1/events",
    admits: { by: "role", roles: rolesOf(EventQueries.audience) },
    bodyMax: 0,
    refuses: ["cursor-expired"],
    params: Schema.Struct({ ...EventQueries.EventParams.fields, ...page }),
    body: null,
    success: {
      200: Schema.Struct({
        offset: Offset.schema,
        now: Instant.schema,
        value: Schema.Array(EventQueries.Event),
        next: Schema.String
      })
    }
  },
  {
    name: "auditLog.list",
    doc: "The audit log, oldest first: who did what and how it ended; its `next` is never null.",
    route: "GET /v1/audit-log",
    admits: { by: "role", roles: rolesOf(AuditQueries.audience) },
    bodyMax: 0,
    refuses: ["cursor-expired"],
    params: Schema.Struct({ ...AuditQueries.AuditParams.fields, ...page }),
    body: null,
    success: {
      200: Schema.Struct({
        offset: Offset.schema,
        now: Instant.schema,
        value: Schema.Array(AuditQueries.AuditRecord),
        next: Schema.String
      })
    }
  }
]
