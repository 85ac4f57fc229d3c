/** Two servers in one process: the host, and a bare node:http server on the same database and rows. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Catalogue, Engine } from "@bursar/engine-core"
import { Party } from "@bursar/engine-core/kernel"
import * as Host from "@bursar/http-host"
import * as Embedded from "@bursar/storage-adapters/embedded"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { NodeRuntime } from "@effect/platform-node"
import { Context, Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { exportJWK, generateKeyPair, SignJWT } from "jose"
import { ledgerOf } from "../engine/world.ts"
import { bodyOf } from "../operations/instrumentBody.ts"
import { write } from "../operations/stage.ts"

const instruments = 50
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
  signIn: { issuer, audience, clientId: "bench", scopes: [] },
  keys: []
}

const storage = (dataFolder: string) =>
  Layer.unwrap(
    Effect.map(Embedded.start({ dataFolder }), ({ url }) =>
      Postgres.layer({ url: Redacted.make(url) })
    )
  )

const layer = (dataFolder: string) =>
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
    Layer.provide(Layer.mergeAll(signIn, readiness)),
    Layer.provideMerge(Engine.layer),
    Layer.provideMerge(Layer.mergeAll(storage(dataFolder), NodeCrypto.layer, ledgerOf()))
  )

const registrar = Party.make({ hint: "registrar", fingerprint: `1220${"cd".repeat(32)}` })

const program = Effect.gen(function* () {
  for (let n = 0; n < instruments; n++) {
    const ended = yield* write(
      "instrument.record",
      {},
      { ...bodyOf(), instrumentId: `ins-${String(n).padStart(3, "0")}`, registrar }
    )
    if (ended.state !== "succeeded") return yield* Effect.die(new Error(ended.why))
  }
  const context = yield* Effect.context<HttpServer.HttpServer | SqlClient.SqlClient>()
  const sql = yield* SqlClient.SqlClient
  const select = sql<{ readonly body: string; readonly created_at: string }>`
    select body, created_at, from_instant, version from bursar.document
    where collection = 'instrument' and to_offset is null order by sort_key limit 50`
  const bare = createServer((_, response) => {
    Effect.runPromiseWith(context)(select).then((rows) => {
      const value = rows.map((row) => ({ ...JSON.parse(row.body), createdAt: row.created_at }))
      const body = JSON.stringify({
        offset: 0,
        ledgerTime: null,
        now: new Date(),
        value,
        next: null
      })
      response.writeHead(200, { "content-type": "application/json" })
      response.end(body)
    })
  })
  yield* Effect.promise(
    () => new Promise<void>((done) => bare.listen(0, "127.0.0.1", () => done()))
  )
  const address = HttpServer.formatAddress(Context.get(context, HttpServer.HttpServer).address)
  process.send?.({
    host: `${address}/v1/instruments?limit=50`,
    bare: `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`,
    token
  })
  return yield* Effect.never
})

NodeRuntime.runMain(
  Effect.scoped(program).pipe(
    Effect.provide(layer(process.argv[2] ?? "").pipe(Layer.provideMerge(Host.Logs.layer)))
  )
)
