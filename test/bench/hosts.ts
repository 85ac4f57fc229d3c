/**
 * Hosts as they are shipped, as processes of their own: three of them on one PostgreSQL against one,
 * and the time from a host's start to its first answer. The ledger is this process's.
 */
import { mkdir } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { join } from "node:path"
import * as Postgres from "@bursar/storage-adapters/postgres"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import * as Host from "../kill/host.ts"
import * as LedgerThere from "../processes/ledger-there.ts"
import { registration } from "../processes/instances.ts"
import { type Database, withDatabase } from "./database.ts"
import { byClients, complete } from "./http.ts"
import { type Bench, type Compared, inTurns, type Measured, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Processes from "./processes.ts"
import { digits } from "./table.ts"

const connections = 16
const roundMillis = 3_000
const preload = new URL("../processes/elsewhere.ts", import.meta.url).pathname
const list = "/v1/holders?limit=50"

interface Running {
  readonly servers: ReadonlyArray<Pick<Processes.Served, "url" | "token">>
  readonly pids: ReadonlyArray<number>
  readonly end: () => Promise<void>
}

const identity = Effect.acquireRelease(Effect.promise(Host.identity), ({ stop }) =>
  Effect.sync(stop)
)

const ledger = Effect.acquireRelease(Effect.sync(LedgerThere.start), (there) =>
  Effect.promise(there.stop)
)

/** Starts so many hosts on one database, the first alone, since it makes the schema and the keys. */
const start = async (options: {
  readonly count: number
  readonly url: string
  readonly folder: string
  readonly identity: Host.Identity
  readonly ledger: LedgerThere.There
}): Promise<Running> => {
  await mkdir(options.folder, { recursive: true })
  const token = await options.identity.token("olga", ["operator"])
  const pids: Array<number> = []
  const more = () =>
    Host.start({
      databaseUrl: options.url,
      dataFolder: options.folder,
      jwksUrl: options.identity.jwksUrl,
      settings: {
        BURSAR_DATABASE_CONNECTIONS: "6",
        BURSAR_LEDGER_TOKEN: "another-process-has-it",
        BURSAR_RATE_LIMIT_LIMIT: "1000000"
      },
      preload,
      born: (child) => {
        if (child.pid !== undefined) pids.push(child.pid)
        options.ledger.serve(child)
      }
    })
  const first = await more()
  const others = await Promise.all(Array.from({ length: options.count - 1 }, more))
  const hosts = [first, ...others]
  return {
    servers: hosts.map(({ url }) => ({ url, token })),
    pids,
    end: async () => {
      for (const host of hosts) host.kill()
      await Promise.all(hosts.map(({ ended }) => ended))
    }
  }
}

/** Hosts on a database of this name, with a ledger of their own, until the scope ends. */
const running = ({ url, folder }: Database, name: string, count: number) =>
  Effect.gen(function* () {
    yield* Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`create database ${name}`)).pipe(
      Effect.provide(Postgres.layerClient({ url: Redacted.make(url) }))
    )
    const own = new URL(url)
    own.pathname = `/${name}`
    const options = {
      count,
      url: own.href,
      folder: join(folder, name),
      identity: yield* identity,
      ledger: yield* ledger
    }
    const hosts = yield* Effect.acquireRelease(
      Effect.promise(() => start(options)),
      ({ end }) => Effect.promise(end)
    )
    return { options, hosts }
  })

/** A client that lasts as long as the scope. */
const clientOf = (url: string) =>
  Effect.map(Layer.build(Postgres.layerClient({ url: Redacted.make(url) })), (client) =>
    Context.get(client, SqlClient.SqlClient)
  )

/**
 * Distinguishes waiting in the database from a lack of cores: prints the cores that each side kept busy, and how
 * much processor time a unit costs with three hosts against one. Where both sides fill the machine,
 * the costs are the figure, since three hosts have no more cores than one.
 */
const boundBy = ({ ours, bound }: Compared): string => {
  const cores = ({ speed, cost }: Measured): number =>
    (((cost.postgresMillis ?? Number.NaN) + (cost.nodeMillis ?? Number.NaN)) * speed.median) / 1000
  const ratio = (part: "postgresMillis" | "nodeMillis"): string =>
    digits((ours.cost[part] ?? Number.NaN) / (bound.cost[part] ?? Number.NaN))
  const busy = `${digits(cores(ours))} of ${availableParallelism()} cores, one host ${digits(cores(bound))}`
  const costs = `PostgreSQL ×${ratio("postgresMillis")}, Node ×${ratio("nodeMillis")}`
  return `busy without the load's own process: ${busy}; cost of a unit against one host: ${costs}`
}

export const bench: Bench = ({ rounds, size = 320 }) =>
  withDatabase((database) =>
    Effect.gen(function* () {
      const one = yield* running(database, "hosts_one", 1)
      const three = yield* running(database, "hosts_three", 3)
      const meterOf = (side: typeof one) =>
        Effect.map(clientOf(side.options.url), (sql) => Meters.of(sql, () => side.hosts.pids))
      const reading = (side: typeof one) =>
        Effect.map(meterOf(side), (meter) => ({
          meter,
          run: () =>
            Processes.load({
              callers: connections,
              millis: roundMillis,
              ask: (n) => Processes.read(serverOf(side, n), list)
            })
        }))
      const serverOf = ({ hosts }: typeof one, n: number) => {
        const server = hosts.servers[n % hosts.servers.length]
        if (server === undefined) throw new Error("no host was started")
        return server
      }
      const writing = (side: typeof one) =>
        Effect.map(meterOf(side), (meter) => ({
          meter,
          run: (round: number) =>
            timed(
              size,
              Effect.promise(() =>
                byClients(size, (n, client) => {
                  const server = serverOf(side, client)
                  const key = `holder-${round}-${n}`
                  return complete(server, registration({ as: server.token, holderId: key, key }))
                })
              )
            )
        }))
      const against = "one host on a database of the same server"
      const operations = yield* inTurns({
        rounds,
        ours: yield* writing(three),
        bound: yield* writing(one)
      })
      const text = yield* Effect.promise(() => Processes.call(serverOf(one, 0), list))
      const { value } = JSON.parse(text.text) as { readonly value: ReadonlyArray<unknown> }
      const lists = yield* inTurns({
        rounds,
        ours: yield* reading(three),
        bound: yield* reading(one)
      })
      return [
        {
          bench: "three hosts, operations on the ledger",
          unit: "operations/s",
          against,
          goal: 1.5,
          note: boundBy(operations),
          ...operations
        },
        {
          // The holders that the operations registered; a small size may make less than a page.
          bench: `three hosts, list of ${value.length} holders`,
          unit: "requests/s",
          against,
          goal: 2.5,
          note: boundBy(lists),
          ...lists
        }
      ]
    }).pipe(Effect.scoped)
  )

/** From the start of a host's process to its first answer, against a bare server on the same database. */
export const starts = {
  bench: (({ rounds }) =>
    withDatabase((database) =>
      Effect.gen(function* () {
        const { options, hosts } = yield* running(database, "host_started", 1)
        yield* Effect.promise(hosts.end)
        const sql = yield* clientOf(options.url)
        let host: Running | undefined
        let bare: Processes.Served | undefined
        const compared = yield* inTurns({
          rounds,
          ours: {
            meter: Meters.of(sql, () => host?.pids ?? []),
            prepare: () => Effect.sync(() => void (host = undefined)),
            run: () =>
              timed(
                1,
                Effect.promise(async () => {
                  host = await start(options)
                  for (const server of host.servers) await Processes.read(server, list)
                })
              )
          },
          bound: {
            meter: Meters.of(sql, () => (bare === undefined ? [] : [bare.pid])),
            prepare: () =>
              Effect.promise(async () => {
                await host?.end()
                bare = undefined
              }),
            run: () =>
              timed(
                1,
                Effect.flatMap(
                  Processes.start({
                    file: "bare-server.ts",
                    folder: options.folder,
                    args: [options.url]
                  }),
                  (server) => {
                    bare = server
                    return Effect.promise(() => Processes.read(server, "/"))
                  }
                )
              )
          }
        })
        const millis = Math.round(1000 / compared.ours.speed.median)
        return [
          {
            bench: "start to first answer",
            unit: "starts/s",
            against: "node:http and the same driver, one select",
            goal: null,
            note: `${millis.toLocaleString("en-US")} ms; built for 1,500 ms on two quiet cores`,
            ...compared
          }
        ]
      }).pipe(Effect.scoped)
    )) satisfies Bench
}
