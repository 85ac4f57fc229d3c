/** Reads at a pin with a streaming replica: the same answers in every state of the replica. */
import { Atomically, Documents, Feed, type StoredPin } from "@bursar/engine-core/ports"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { PgConnection } from "@effect/sql-pg"
import { it } from "@effect/vitest"
import { Context, Effect, Layer, Redacted } from "effect"
import { expect } from "vitest"
import { until } from "../waiting.ts"
import * as DatabaseProxy from "../database-proxy.ts"
import * as Replica from "./replica.ts"
import { isLong } from "../long-run.ts"

const now = "2026-01-01T00:00:00.000000000Z"
const record = { collection: "c", recordId: "r" }

/** Opens a store behind whose replica lies a proxy, and writes and reads versions of a record. */
const openedOn = Effect.fnUntraced(function* (
  servers: Pick<Replica.Servers, "primary" | "replica">,
  /** Begins the bodies of the versions that are written here. */
  name = "v"
) {
  const proxyOf = (url: string) =>
    Effect.acquireRelease(
      Effect.promise(() => DatabaseProxy.start(url)),
      ({ end }) => Effect.promise(end)
    )
  const [primary, proxy] = [yield* proxyOf(servers.primary), yield* proxyOf(servers.replica)]
  const url = Redacted.make(primary.url)
  const replica = { url: Redacted.make(proxy.url), waitMillis: 500 }
  const store = yield* Layer.build(Layer.fresh(Postgres.layer({ url, replica })))
  const [feed, documents] = [Context.get(store, Feed), Context.get(store, Documents)]
  const versions: Array<{ readonly pin: StoredPin; readonly body: string }> = []

  /** Writes the next version, and pins it as an answer would. */
  const write = Effect.gen(function* () {
    const version = versions.length + 1
    yield* Context.get(store, Atomically).run(
      Effect.gen(function* () {
        const head = yield* feed.take(now)
        yield* documents.put([
          {
            ...record,
            version,
            closes: version - 1,
            body: `"${name}${version}"`,
            sortKey: "r",
            filters: {},
            createdAt: now,
            fromOffset: 0,
            fromInstant: head.at
          }
        ])
        yield* feed.append(head, { events: [], audit: [], webhooks: "same" })
      })
    )
    const { at } = yield* feed.answer({ now, since: now })
    versions.push({ pin: { by: "instant", instant: at }, body: `"${name}${version}"` })
  })

  const read = (pin: StoredPin) =>
    documents.get({ collection: record.collection, recordIds: [record.recordId], pin })

  /** Reads at every pin, and expects the version that was the latest there. */
  const check = Effect.gen(function* () {
    for (const { pin, body } of versions) {
      expect((yield* read(pin)).map((version) => version.body)).toEqual([body])
    }
  })
  const onReplica = (sql: string) =>
    Effect.scoped(
      Effect.flatMap(PgConnection.make({ url: Redacted.make(servers.replica) }), (connection) =>
        connection.query(sql)
      )
    )
  const run = Effect.runPromiseWith(yield* Effect.context())
  /** Waits until the replica alone answers; one that has failed is left alone for a second. */
  const answersAlone = Effect.promise(() =>
    until(async () => {
      const [before, trips] = [primary.roundTrips(), proxy.roundTrips()]
      await run(check)
      return primary.roundTrips() === before && proxy.roundTrips() - trips >= versions.length
    })
  )
  return { write, check, answersAlone, onReplica, proxy, versions, read }
})

const opened = Effect.flatMap(Replica.start, (servers) => openedOn(servers))

it.live("answers as the primary does: while it follows, lags, is away and was promoted", () =>
  Effect.gen(function* () {
    const { write, check, answersAlone, onReplica, proxy, versions, read } = yield* opened
    yield* write
    yield* answersAlone
    for (let n = 0; n < 20; n++) {
      yield* write
      yield* check
    }
    // Lagging: versions that the replica lacks are read from the primary.
    yield* onReplica("select pg_wal_replay_pause()")
    yield* write
    yield* check
    yield* onReplica("select pg_wal_replay_resume()")
    yield* answersAlone
    // Unreachable, and reachable again.
    proxy.close()
    yield* write
    yield* check
    proxy.open()
    yield* answersAlone
    // Silent: its connections are open, and nothing comes back.
    proxy.stall()
    yield* write
    yield* check
    proxy.open()
    yield* answersAlone
    // Promoted: the replica has a history of its own, in which an old pin shows another body.
    yield* onReplica("select pg_promote()")
    yield* onReplica("update bursar.document set body = '\"forged\"'")
    yield* onReplica("update bursar.head set moves = moves + 1000")
    yield* write
    yield* check
    expect((yield* read({ by: "latest" })).map(({ body }) => body)).toEqual([
      versions[versions.length - 1]?.body
    ])
  }).pipe(Effect.scoped)
)

it.live.runIf(isLong)(
  "never takes a standby of a former primary, with commits that the failover lost, for a replica",
  () =>
    Effect.gen(function* () {
      const servers = yield* Replica.start
      const former = yield* openedOn(servers)
      yield* former.write
      yield* former.answersAlone
      // Commits that the failover loses: they are not sent to the replica, which then is promoted.
      servers.cut()
      for (let n = 0; n < 10; n++) yield* former.write
      yield* former.onReplica("select pg_promote()")
      const moved = { primary: servers.replica, replica: yield* servers.demote }
      const { versions, write, check, proxy } = yield* openedOn(moved, "after failover ")
      versions.push(...former.versions.slice(0, 1))
      for (let n = 0; n < 3; n++) {
        yield* write
        yield* check
      }
      expect(proxy.roundTrips()).toBeGreaterThan(0)
    }).pipe(Effect.scoped)
)

it.live.runIf(isLong)(
  "reads a pin of another host from the primary while the replica lacks it",
  () =>
    Effect.gen(function* () {
      const servers = yield* Replica.start
      const own = yield* openedOn(servers)
      const other = yield* openedOn(servers, "of the other host ")
      yield* own.write
      yield* own.answersAlone
      yield* own.onReplica("select pg_wal_replay_pause()")
      other.versions.push(...own.versions)
      yield* other.write
      // Versions in the order of a cursor: this host has seen no head of the primary since its own
      // write.
      own.versions.push(...other.versions.slice(1))
      yield* own.check
    }).pipe(Effect.scoped)
)

it.live.runIf(isLong)("starts without the replica, and asks it once it is there", () =>
  Effect.gen(function* () {
    const { write, check, answersAlone, proxy } = yield* opened
    proxy.close()
    yield* write
    yield* check
    proxy.open()
    yield* answersAlone
  }).pipe(Effect.scoped)
)
