/** Process of a host with every route, on the database whose address it is given. */
import { Catalogue, Engine } from "@bursar/engine-core"
import * as Host from "@bursar/http-host"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { NodeRuntime } from "@effect/platform-node"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { portsOn } from "../engine/world.ts"

const issuer = "https://issuer.test"
const audience = "urn:bursar"

const keys = await generateKeyPair("ES256")
const jwk = { ...(await exportJWK(keys.publicKey)), kid: "k1", alg: "ES256", use: "sig" }
const tokenOf = (sub: string) =>
  new SignJWT({ roles: ["operator"] })
    .setProtectedHeader({ alg: "ES256", kid: "k1", typ: "at+jwt" })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject(sub)
    .setExpirationTime("1h")
    .sign(keys.privateKey)
const token = await tokenOf("bench")
/** Token of another subject, for a bench of callers beside one another. */
const otherToken = await tokenOf("another")

const signIn = Host.Authentication.layer({
  issuer,
  audience,
  algorithms: Host.HostConfig.algorithms
}).pipe(Layer.provide(Host.Jwks.layerLocal({ keys: [jwk] })))

const readiness = Host.Readiness.layer({ version: "bench" }).pipe(
  Layer.provide(Host.ReadinessPoll.layer)
)

const tenant: Host.Venue = {
  tenantId: "venue-1",
  displayName: "Bench",
  api: ["v1"],
  signIn: { issuer, audience, clientId: "bench", scopes: [], parameters: {} },
  keys: []
}

let livePort = 0
const opened = (port: number) => {
  livePort = port
}

const layer = (url: string) =>
  Host.layer({
    tables: Catalogue,
    tenant,
    basePath: "",
    host: "127.0.0.1",
    port: 0,
    signing: { keys: [], window: 300_000, basePath: "" },
    rateLimit: { limit: 1_000_000, window: 60_000, perRole: {} },
    origins: []
  }).pipe(
    Layer.merge(Host.Management.layer({ host: "127.0.0.1", port: 0, opened })),
    Layer.provide(Layer.mergeAll(signIn, readiness)),
    Layer.provideMerge(Engine.layer),
    Layer.provideMerge(portsOn(Postgres.layer({ url: Redacted.make(url) })))
  )

const program = Effect.gen(function* () {
  const context = yield* Effect.context<HttpServer.HttpServer>()
  const url = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  process.send?.({ url, token, otherToken, live: `http://127.0.0.1:${livePort}` })
  return yield* Effect.never
})

NodeRuntime.runMain(
  Effect.scoped(program).pipe(
    Effect.provide(layer(process.argv[2] ?? "").pipe(Layer.provideMerge(Host.Logs.layer)))
  )
)
