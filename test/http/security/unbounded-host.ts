/**
 * Host as a process of its own over a database of many instruments, for the memory that a whole
 * list needs.
 */
import { Catalogue, Engine } from "@bursar/engine-core"
import { Instant, Offset, Party } from "@bursar/engine-core/kernel"
import {
  Atomically,
  Feed,
  Ledger,
  ScreeningSource,
  StatementSource
} from "@bursar/engine-core/ports"
import * as Host from "@bursar/http-host"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { NodeRuntime } from "@effect/platform-node"
import { Effect, Layer, Option, Redacted, Result, Schema, Stream } from "effect"
import { HttpServer } from "effect/http"
import { SqlClient } from "effect/sql"
import { record } from "#core/instruments/instrument/InstrumentOperations.ts"
import { instruments } from "#core/instruments/instrument/Instrument.ts"
import { defaults } from "#core/instruments/policy/PolicyTerms.ts"
import { PlainJson } from "@bursar/engine-core/kernel"
import * as Codecs from "#core/records/Codecs.ts"
import * as Columns from "#core/records/Columns.ts"
import { bodyOf } from "../../operations/instrumentBody.ts"

export interface Given {
  readonly databaseUrl: string
  readonly count: number
  readonly jwk: object
  readonly issuer: string
  readonly audience: string
  readonly calls: number
}

/**
 * Messages from the child to its parent: the address it listens on, then its memory at each
 * request.
 */
export type Told = { readonly url: string } | { readonly rss: number; readonly peak: number }

const options: Given = JSON.parse(process.env["GIVEN"] ?? "{}")

const quietLedger = Layer.succeed(Ledger.Ledger, {
  venue: Party.make({ hint: "venue", fingerprint: "1220aa" }),
  submit: () => Effect.die(new Error("nothing is submitted here")),
  outcome: () => Effect.succeed(Option.none()),
  updates: () => Stream.never,
  acs: () => Stream.empty,
  ledgerEnd: Effect.succeed(Offset.zero),
  horizon: Effect.succeed(Offset.zero),
  describe: Effect.succeed<Ledger.Description>({
    kind: "simulated",
    version: "1",
    participant: "quiet",
    features: [],
    rights: []
  }),
  packages: () => Effect.succeed([])
})

/** The rows of as many recorded instruments, made by the database from one of them. */
const seed = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { run } = yield* Atomically
  const feed = yield* Feed
  const { instrumentId, registrar, ...terms } = Schema.decodeUnknownSync(record.input)(
    Result.getOrThrow(PlainJson.parse(JSON.stringify({ ...bodyOf(), instrumentId: "SEED" })))
  )
  const one = {
    instrumentId,
    registrar,
    configurations: [],
    manifest: { ...terms, ...defaults },
    policyVersion: 1,
    termsSince: null,
    next: null,
    backedBy: null
  }
  const body = Codecs.of(instruments).encodeRecord(one)
  const filters = JSON.stringify(Columns.of(instruments, one))
  const head = yield* run(
    Effect.gen(function* () {
      const head = yield* feed.take(Instant.sortable(yield* Instant.now))
      yield* feed.append(head, { events: [], audit: [], webhooks: "same" })
      return head
    })
  )
  yield* sql`
    insert into bursar.document (collection, record_id, version, sort_key, body, filters,
      created_at, from_offset, from_instant)
    select 'instrument', id, 1, id, replace(${body}, 'SEED', id),
      replace(${filters}, 'SEED', id)::jsonb, ${head.at}, 0, ${head.at}
    from (select 'i' || lpad(n::text, 6, '0') as id from generate_series(1, ${options.count}) n) s`
  yield* sql`analyze bursar.document`
})

const host = Host.layer({
  tables: Catalogue,
  tenant: {
    tenantId: "venue-1",
    displayName: "Venue One",
    api: ["v1"],
    signIn: {
      issuer: options.issuer,
      audience: options.audience,
      clientId: "c",
      scopes: [],
      parameters: {}
    },
    keys: []
  },
  basePath: "",
  host: "127.0.0.1",
  port: 0,
  signing: { keys: [], window: 300_000, basePath: "" },
  // The window is a day, so that no call is given back while the test runs.
  rateLimit: { limit: options.calls, window: 86_400_000, perRole: {} },
  origins: []
})
const layer = host.pipe(
  Layer.provide(
    Layer.mergeAll(
      Host.Authentication.layer({
        issuer: options.issuer,
        audience: options.audience,
        algorithms: Host.HostConfig.algorithms
      }).pipe(Layer.provide(Host.Jwks.layerLocal({ keys: [options.jwk] }))),
      Host.Readiness.layer({ version: "0.1.0" }).pipe(Layer.provide(Host.ReadinessPoll.layer))
    )
  ),
  Layer.provideMerge(Engine.layer),
  Layer.provideMerge(
    Layer.mergeAll(
      Postgres.layer({ url: Redacted.make(options.databaseUrl) }),
      NodeCrypto.layer,
      StatementSource.layerNone,
      ScreeningSource.layerNone,
      quietLedger
    )
  )
)

const tell = (report: Told) => void process.send?.(report)

const program = Effect.gen(function* () {
  yield* seed
  const server = yield* HttpServer.HttpServer
  let peak = 0
  const look = () => {
    peak = Math.max(peak, process.memoryUsage.rss())
  }
  const looking = setInterval(look, 20)
  process.on("message", (command) => {
    if (command === "settle") globalThis.gc?.()
    look()
    const rss = process.memoryUsage.rss()
    if (command === "settle") peak = rss
    tell({ rss, peak })
  })
  // The parent has ended, so this process ends too.
  process.on("disconnect", () => process.exit(0))
  tell({ url: HttpServer.formatAddress(server.address) })
  yield* Effect.addFinalizer(() => Effect.sync(() => clearInterval(looking)))
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.scoped(program).pipe(Effect.provide(layer)))
