/**
 * Writes over HTTP that end on the ledger, against the same writes submitted in the host's own
 * process; and the longest spell in which no operation ended although 64 clients waited for one.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { withDatabase } from "./database.ts"
import { type Bench, inTurns, timed } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Processes from "./processes.ts"

const clients = 64
/** How often a client asks whether its operation has ended. */
const pollMillis = 150

const pause = (millis: number) => new Promise((done) => setTimeout(done, millis))

type Members = { readonly [member: string]: unknown }

const ask = async (...asked: Parameters<typeof Processes.call>): Promise<Members> =>
  JSON.parse((await Processes.call(...asked)).text)

/** Submits a write and polls its operation until it has ended. */
const complete = async (server: Processes.Served, noteId: string): Promise<void> => {
  const path = `/v1/holds/${noteId}:propose`
  const sent = await ask(server, path, { body: { registrar: server.party }, key: `k-${noteId}` })
  const operationId = sent["operationId"]
  if (typeof operationId !== "string") throw new Error(JSON.stringify(sent))
  for (;;) {
    const body = await ask(server, `/v1/operations/${operationId}`)
    const { state } = (body["value"] ?? body) as { readonly state?: unknown }
    if (state === "succeeded") return
    if (state !== "queued" && state !== "running") throw new Error(JSON.stringify(body))
    await pause(pollMillis)
  }
}

/** Completes so many operations by 64 clients; returns the longest spell without an end. */
export const overHttp = async (
  servers: ReadonlyArray<Processes.Served>,
  of: { readonly count: number; readonly prefix: string },
  completed = complete
): Promise<number> => {
  let ended = performance.now()
  let idleMillis = 0
  let next = 0
  const client = async (n: number): Promise<void> => {
    const server = servers[n % servers.length]
    while (next < of.count && server !== undefined) {
      await completed(server, `${of.prefix}-${next++}`)
      idleMillis = Math.max(idleMillis, performance.now() - ended)
      ended = performance.now()
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, n) => client(n)))
  return idleMillis
}

/** Waits until the last write that was submitted in the host's process has ended. */
const inProcess = async (
  server: Processes.Served,
  of: { readonly from: number; readonly count: number }
): Promise<void> => {
  await server.ask(of)
  for (;;) {
    const { value } = await ask(server, "/v1/operations?state=queued&state=running&limit=1")
    if ((value as ReadonlyArray<unknown>).length === 0) return
    await pause(pollMillis)
  }
}

export const bench: Bench = ({ rounds, size = 640 }) =>
  withDatabase(({ url, folder, storage }) =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const host = yield* Processes.start({ file: "http-host.ts", folder, args: [url] })
      const meter = Meters.of(sql, [host.pid])
      const idle: Array<number> = []
      const compared = yield* inTurns({
        rounds,
        ours: {
          meter,
          run: (round) =>
            timed(
              size,
              Effect.map(
                Effect.promise(() => overHttp([host], { count: size, prefix: `http-${round}` })),
                (millis) => idle.push(millis)
              )
            )
        },
        bound: {
          meter,
          run: (round) =>
            timed(
              size,
              Effect.promise(() => inProcess(host, { from: round * size, count: size }))
            )
        }
      })
      return [
        {
          bench: "operations over HTTP",
          unit: "operations/s",
          against: "the same, submitted in the host's process",
          goal: 0.6,
          note: `${clients} clients, ending on the ledger; longest idle spell ${Math.round(Math.max(...idle))} ms`,
          ...compared
        }
      ]
    }).pipe(Effect.scoped, Effect.provide(storage))
  )
