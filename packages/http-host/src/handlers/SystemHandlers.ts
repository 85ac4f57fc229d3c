/** Handlers of public routes: the venue, its health, the document. */
import { Refusal } from "@bursar/engine-core"
import { Instant, Offset, PlainJson } from "@bursar/engine-core/kernel"
import { Effect, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import { Health, Tenant } from "../api/SystemApi.ts"
import type { Readiness } from "../Readiness.ts"
import * as Answer from "../middleware/Answer.ts"
import type { PublicText } from "../middleware/PublicText.ts"
import type { OpenHandler } from "./Handler.ts"

const encodeTenant = Schema.encodeSync(envelopeOf(Tenant))
const encodeHealth = Schema.encodeSync(envelopeOf(Health))

function envelopeOf<A, I>(value: Schema.Codec<A, I>) {
  return Schema.Struct({ offset: Offset.schema, now: Instant.schema, value })
}

export const make = (services: {
  readonly tenant: Tenant
  readonly readiness: Readiness["Service"]
  /** The OpenAPI document. */
  readonly openapi: PublicText
}): Readonly<Record<string, OpenHandler>> => ({
  "tenants.one": Effect.fnUntraced(function* ({ params, identity: { requestId } }) {
    if (params.tenantId !== services.tenant.tenantId) {
      return yield* Effect.fail(Refusal.refused("not-found"))
    }
    const now = yield* Instant.now
    const answer = encodeTenant({ offset: Offset.zero, now, value: services.tenant })
    return Answer.json({
      requestId,
      status: 200,
      text: PlainJson.stringify(answer),
      extra: { "cache-control": "public, max-age=60" }
    })
  }),

  "health.one": Effect.fnUntraced(function* ({ identity: { requestId } }) {
    const readiness = yield* services.readiness.current
    if (readiness._tag === "Unavailable") return yield* Effect.fail(readiness)
    const now = yield* Instant.now
    const answer = encodeHealth({ offset: Offset.zero, now, value: readiness })
    return Answer.json({ requestId, status: 200, text: PlainJson.stringify(answer) })
  }),

  "openapi.one": ({ request, identity: { requestId } }) =>
    Effect.provideService(services.openapi(requestId), HttpServerRequest.HttpServerRequest, request)
})
