/** Public routes: the venue, its health, the document. */
import { Instant, Integer, Offset } from "@bursar/engine-core/kernel"
import { Schema } from "effect"
import type { ServedRoute } from "./Served.ts"

const engineOwn = <A>(value: Schema.Codec<A, unknown>) =>
  Schema.Struct({ offset: Offset.schema, now: Instant.schema, value })

/** Description of the venue on the wire. */
export const Tenant = Schema.Struct({
  tenantId: Schema.String,
  displayName: Schema.String,
  api: Schema.Array(Schema.String),
  signIn: Schema.Struct({
    issuer: Schema.String,
    audience: Schema.String,
    clientId: Schema.String,
    scopes: Schema.Array(Schema.String),
    parameters: Schema.Record(Schema.String, Schema.String)
  }),
  signing: Schema.Struct({ window: Schema.String, headers: Schema.Array(Schema.String) }),
  rateLimit: Schema.Struct({ limit: Integer.schema, window: Schema.String }),
  keys: Schema.Array(
    Schema.Struct({
      keyId: Schema.String,
      use: Schema.String,
      algorithm: Schema.String,
      publicKey: Schema.String,
      notBefore: Instant.schema,
      notAfter: Schema.NullOr(Instant.schema)
    })
  )
}).annotate({ identifier: "Tenant", description: "What a client needs before it signs in." })
export type Tenant = typeof Tenant.Type

/**
 * Members of the tenant that a handler supplies; signing and rate limits come from their
 * middleware.
 */
export type Venue = Omit<Tenant, "signing" | "rateLimit">

export const Health = Schema.Struct({
  status: Schema.Literals(["up", "degraded"]),
  ready: Schema.Boolean,
  api: Schema.String,
  version: Schema.String,
  startedAt: Instant.schema,
  projectionOffset: Offset.schema,
  ledgerEnd: Schema.NullOr(Offset.schema)
}).annotate({ identifier: "Health", description: "Whether the engine takes calls." })
export type Health = typeof Health.Type

const none = Schema.Struct({})

export const served: ReadonlyArray<ServedRoute> = [
  {
    name: "tenants.one",
    doc: "What a client needs to know of the venue before it signs in.",
    route: "GET /v1/tenants/{tenantId}",
    admits: { by: "anyone" },
    bodyMax: 0,
    refuses: ["not-found"],
    params: Schema.Struct({ tenantId: Schema.String }),
    body: null,
    success: { 200: engineOwn(Tenant) }
  },
  {
    name: "health.one",
    doc: "Whether the engine is ready, from a poll at most a second old.",
    route: "GET /v1/health",
    admits: { by: "anyone" },
    bodyMax: 0,
    refuses: ["not-ready"],
    params: none,
    body: null,
    success: { 200: engineOwn(Health) }
  },
  {
    name: "openapi.one",
    doc: "This document.",
    route: "GET /v1/openapi.json",
    admits: { by: "anyone" },
    bodyMax: 0,
    refuses: [],
    params: none,
    body: null,
    success: { 200: Schema.Record(Schema.String, Schema.Json) }
  }
]
