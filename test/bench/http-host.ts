/** A host over HTTP whose writes end on a simulated ledger; it also runs the same writes in process. */
import { Engine, FourEyes } from "@bursar/engine-core"
import { PlainJson } from "@bursar/engine-core/kernel"
import * as Host from "@bursar/http-host"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { NodeRuntime } from "@effect/platform-node"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { HttpServer } from "effect/http"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import * as WriteQueries from "#core/reads/WriteQueries.ts"
import * as Notes from "../engine/ledger-toys.ts"
import { portsOn } from "../engine/world.ts"

const clients = 64
const issuer = "https://issuer.test"
const audience = "urn:bursar"
const keys = await generateKeyPair("ES256")
const jwk = { ...(await exportJWK(keys.publicKey)), kid: "k1", alg: "ES256", use: "sig" }
const token = await new SignJWT({ roles: ["operator"] })
  .setProtectedHeader({ alg: "ES256", kid: "k1", typ: "at+jwt" })
  .setIssuer(issuer)
  .setAudience(audience)
  .setSubject("bench")
  .setExpirationTime("1h")
  .sign(keys.privateKey)

/** Under a path that the host has a group of routes for. */
const propose = { ...Notes.propose, route: "POST /v1/holds/{noteId}:propose" as const }

const tables = {
  operations: [propose],
  queries: [WriteQueries.listOperations, WriteQueries.getOperation]
}

const layer = (url: string) =>
  Host.layer({
    tables,
    tenant: {
      tenantId: "venue-1",
      displayName: "Bench",
      api: ["v1"],
      signIn: { issuer, audience, clientId: "bench", scopes: [], parameters: {} },
      keys: []
    },
    basePath: "",
    host: "127.0.0.1",
    port: 0,
    signing: { keys: [], window: 300_000, basePath: "" },
    rateLimit: { limit: 1_000_000, window: 60_000, perRole: {} },
    origins: []
  }).pipe(
    Layer.provide(
      Host.Authentication.layer({ issuer, audience, algorithms: Host.HostConfig.algorithms }).pipe(
        Layer.provide(Host.Jwks.layerLocal({ keys: [jwk] }))
      )
    ),
    Layer.provide(
      Host.Readiness.layer({ version: "bench" }).pipe(Layer.provide(Host.ReadinessPoll.layer))
    ),
    Layer.provideMerge(Engine.layerOf({ operations: [propose], fromLedger: [Notes.reading] })),
    Layer.provideMerge(
      portsOn(Postgres.layer({ url: Redacted.make(url) }), {
        settings: { operationsAtOnce: clients }
      })
    )
  )

const program = Effect.gen(function* () {
  const engine = yield* Engine.Engine
  yield* Effect.forkScoped(engine.run)
  const { party } = yield* Notes.outsider("registrar")
  const door = yield* FourEyes
  const submit = (noteId: string) =>
    door.submit(propose, {
      caller: {
        sub: "bench",
        name: null,
        email: null,
        roles: ["operator"],
        holderId: null,
        party: null
      },
      identity: { requestId: noteId, traceId: null, keyId: null },
      key: `k-${noteId}`,
      path: `/v1/holds/${noteId}:propose`,
      query: "",
      body: Result.getOrThrow(PlainJson.parse(JSON.stringify({ registrar: party }))),
      params: { noteId }
    })
  const context = yield* Effect.context<HttpServer.HttpServer>()
  const run = Effect.runPromiseWith(context)
  process.on("message", ({ from, count }: { readonly from: number; readonly count: number }) => {
    void run(
      Effect.forEach(
        Array.from({ length: count }, (_, n) => `own-${from + n}`),
        submit,
        { concurrency: clients, discard: true }
      )
    ).then(() => process.send?.({ submitted: count }))
  })
  process.send?.({
    url: HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address),
    token,
    party
  })
  return yield* Effect.never
})

NodeRuntime.runMain(
  Effect.scoped(program).pipe(
    Effect.provide(layer(process.argv[2] ?? "").pipe(Layer.provideMerge(Host.Logs.layer)))
  )
)
