/**
 * Lists over HTTP, against a bare server that selects the same rows and prints them: the same page
 * again at one head, a page after the head has moved, and a whole list. Host, bare server and
 * callers are processes of their own.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { engineOn, recordInstrument, registrar, type Services, withDatabase } from "./database.ts"
import { type Bench, type Compared, inTurns, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Processes from "./processes.ts"
import * as Seeded from "./seeded.ts"
import * as SeededRegister from "./seeded-register.ts"

const connections = 16
const hitMillis = 1_500
/** Pages of a round that are each asked after the head has moved. */
const misses = 100
const against = "node:http, same rows, stringify"

interface Servers {
  readonly host: Processes.Served
  readonly bare: Processes.Served
  readonly sql: SqlClient.SqlClient
}

/** Runs a measurement against both servers, on a database that a seed has filled. */
export const served = <A, E, F>(
  seed: Effect.Effect<unknown, E, Services>,
  measure: (servers: Servers) => Effect.Effect<A, F, Services>
): Promise<A> =>
  withDatabase(({ url, folder, storage }) =>
    Effect.gen(function* () {
      yield* recordInstrument("aaa-first")
      yield* seed
      const sql = yield* SqlClient.SqlClient
      // The database runs this by itself within a minute of such growth.
      yield* sql`analyze`
      const args = [url]
      const host = yield* Processes.start({ file: "list-host.ts", folder, args })
      const bare = yield* Processes.start({ file: "bare-server.ts", folder, args })
      return yield* measure({ host, bare, sql })
    }).pipe(Effect.scoped, Effect.provide(engineOn(storage)))
  )

/** The same page again and again at one head, by many callers, who may have a copy of it. */
const hit = (
  options: Servers & {
    readonly path: string
    readonly barePath: string
    rounds: number
    readonly copy?: { readonly etag: string }
  }
) => {
  const side = (server: Processes.Served, path: string, copy?: { readonly etag: string }) => ({
    meter: Meters.of(options.sql, () => [server.pid]),
    run: () =>
      Processes.load({
        callers: connections,
        millis: hitMillis,
        ask: () => Processes.read(server, path, copy)
      })
  })
  return inTurns({
    rounds: options.rounds,
    ours: side(options.host, options.path, options.copy),
    bound: side(options.bare, options.barePath)
  })
}

/**
 * A page by one caller, each after an event has moved the head. Only the page is timed, and the
 * costs, those of the event included, are the same on both sides.
 */
const miss = (
  options: Servers & { readonly path: string; readonly barePath: string; rounds: number }
) => {
  const side = (server: Processes.Served, path: string) => ({
    meter: Meters.of(options.sql, () => [server.pid]),
    run: () =>
      Effect.gen(function* () {
        let millis = 0
        for (let n = 0; n < misses; n++) {
          yield* Seeded.events(1)
          const pageRead = timed(
            1,
            Effect.promise(() => Processes.read(server, path))
          )
          millis += (yield* pageRead).millis
        }
        return { units: misses, millis }
      })
  })
  return inTurns({
    rounds: options.rounds,
    ours: side(options.host, options.path),
    bound: side(options.bare, options.barePath)
  })
}

const rowsOf = (
  name: string,
  { hits, missed }: { readonly hits: Compared; readonly missed: Compared },
  goals: { readonly hit: number; readonly miss: number }
) => [
  {
    bench: `${name}, same head`,
    unit: "requests/s",
    against,
    goal: goals.hit,
    note: `${connections} connections, signed in`,
    ...hits
  },
  {
    bench: `${name}, head moved before each`,
    unit: "requests/s",
    against,
    goal: goals.miss,
    note: "one caller; the event that moves the head is in the costs of both sides, not in the time",
    ...missed
  }
]

export const bench: Bench = async ({ rounds }) => {
  const path = { path: "/v1/instruments?limit=50", barePath: "/" }
  const measured = await served(
    Seeded.instruments({ like: "aaa-first", count: 100, registrar }),
    (servers) =>
      Effect.gen(function* () {
        const hits = yield* hit({ ...servers, ...path, rounds })
        const etag = yield* Effect.promise(() => Processes.read(servers.host, path.path))
        const current = yield* hit({ ...servers, ...path, rounds, copy: { etag } })
        const missed = yield* miss({ ...servers, ...path, rounds })
        return { hits, current, missed }
      })
  )
  return [
    ...rowsOf("list of 50 instruments", measured, { hit: 1, miss: 0.5 }),
    {
      bench: "list of 50 instruments, the caller's copy is current (304)",
      unit: "requests/s",
      against,
      goal: null,
      note: `${connections} connections, signed in; the bound sends the whole page`,
      ...measured.current
    }
  ]
}

/** Movements of one instrument among so many holders. */
export const movements = {
  bench: (async ({ rounds, size = 100_000 }) => {
    const path = {
      path: "/v1/instruments/aaa-first/movements?limit=50",
      barePath: `/movements?asset=${encodeURIComponent(`${registrar}/aaa-first`)}`
    }
    const measured = await served(
      SeededRegister.register({ instrumentId: "aaa-first", count: size, registrar }),
      (servers) =>
        Effect.all({
          hits: hit({ ...servers, ...path, rounds }),
          missed: miss({ ...servers, ...path, rounds })
        })
    )
    return rowsOf(`50 movements among ${size.toLocaleString("en-US")} holders`, measured, {
      hit: 0.7,
      miss: 0.4
    })
  }) satisfies Bench
}

const readers = 8
const pingMillis = 10

/** Walks a list in pages of the largest size until the time has passed. */
const walk = async (
  server: Processes.Served,
  options: { readonly path: string; readonly until: number }
): Promise<void> => {
  for (let next: string | undefined; performance.now() < options.until; ) {
    const after = next === undefined ? "" : `&after=${encodeURIComponent(next)}`
    const { status, text } = await Processes.call(server, `${options.path}${after}`)
    if (status !== 200) throw new Error(`${options.path} answered ${status}`)
    next = /"next":"([^"]+)"\}$/.exec(text.slice(-1_000))?.[1]
  }
}

/** Milliseconds of the slowest of a hundred requests to /livez, while readers walk the list. */
const livezUnderReaders = (server: Processes.Served, path: string) =>
  Effect.promise(async () => {
    const until = performance.now() + 2 * hitMillis
    const walks = Array.from({ length: readers }, () => walk(server, { path, until }))
    const millis: Array<number> = []
    while (performance.now() < until) {
      const startedAt = performance.now()
      await Processes.read({ url: server.live, token: "" }, "/livez")
      millis.push(performance.now() - startedAt)
      await new Promise((done) => setTimeout(done, pingMillis))
    }
    await Promise.all(walks)
    const sorted = millis.toSorted((a, b) => a - b)
    return sorted[Math.floor(0.99 * sorted.length)] ?? Number.NaN
  })

/** The wait of a small request while others read pages of the largest size, each a new one. */
export const livez = {
  bench: (async ({ rounds, size = 8_000 }) => {
    const compared = await served(
      Seeded.instruments({ like: "aaa-first", count: size - 1, registrar }),
      ({ host, bare }) => {
        const side = (server: Processes.Served, path: string) => ({
          meter: Meters.none,
          // A row's speed is units in a second: here milliseconds of waiting.
          run: () =>
            Effect.map(livezUnderReaders(server, path), (units) => ({ units, millis: 1_000 }))
        })
        return inTurns({
          rounds,
          ours: side(host, "/v1/instruments?limit=1000"),
          bound: side(bare, "/largest?limit=1000")
        })
      }
    )
    return [
      {
        bench: `/livez under ${readers} readers of pages of 1,000`,
        unit: "ms, 99th percentile",
        against: "node:http, same rows, stringify",
        goal: null,
        note: "a lower ratio is better; built for 50 ms at most",
        ...compared
      }
    ]
  }) satisfies Bench
}

/** A whole list in one answer, and the memory that the host needs for it. */
export const whole = {
  bench: (async ({ rounds, size = 200_000 }) => {
    const { compared, idle, most } = await served(
      Seeded.instruments({ like: "aaa-first", count: size - 1, registrar }),
      ({ host, bare, sql }) =>
        Effect.gen(function* () {
          const idle = Processes.residentOf(host.pid)
          let most = idle
          const timer = setInterval(() => {
            most = Math.max(most, Processes.residentOf(host.pid))
          }, 100)
          const side = (server: Processes.Served, path: string) => ({
            meter: Meters.of(sql, () => [server.pid]),
            run: () =>
              timed(
                size,
                Effect.promise(() => Processes.read(server, path))
              )
          })
          const compared = yield* inTurns({
            rounds,
            ours: side(host, "/v1/instruments"),
            bound: side(bare, "/whole")
          }).pipe(Effect.ensuring(Effect.sync(() => clearInterval(timer))))
          return { compared, idle, most }
        })
    )
    return [
      {
        bench: `whole list of ${size.toLocaleString("en-US")}`,
        unit: "records/s",
        against: "a cursor, the stored texts sent as they are",
        goal: 0.35,
        note: `host's resident memory ${Math.round(idle)} MiB before, at most ${Math.round(most)} MiB`,
        ...compared
      }
    ]
  }) satisfies Bench
}
