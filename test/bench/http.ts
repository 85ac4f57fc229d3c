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
/** Interval between a client's polls of its operation. */
const pollMillis = 150

const pause = (millis: number) => new Promise((done) => setTimeout(done, millis))

type Members = { readonly [member: string]: unknown }

const ask = async (...asked: Parameters<typeof Processes.call>): Promise<Members> =>
  JSON.parse((await Processes.call(...asked)).text)

/** A host and a token for it. */
type Host = Pick<Processes.Served, "url" | "token">

/** Submits a write and polls its operation until it has ended. */
export const complete = async (
  server: Host,
  { path, body, key }: { readonly path: string; readonly body: unknown; readonly key: string }
): Promise<void> => {
  const sent = await ask(server, path, { body, key })
  const operationId = sent["operationId"]
  if (typeof operationId !== "string") throw new Error(JSON.stringify(sent))
  for (;;) {
    const answer = await ask(server, `/v1/operations/${operationId}`)
    const { state } = (answer["value"] ?? answer) as { readonly state?: unknown }
    if (state === "succeeded") return
    if (state !== "queued" && state !== "running") throw new Error(JSON.stringify(answer))
    await pause(pollMillis)
  }
}

/** Completes so many operations by 64 clients; returns the longest spell without an end. */
export const byClients = async (
  count: number,
  completed: (n: number, client: number) => Promise<void>
): Promise<number> => {
  let ended = performance.now()
  let idleMillis = 0
  let next = 0
  const work = async (client: number): Promise<void> => {
    while (next < count) {
      await completed(next++, client)
      idleMillis = Math.max(idleMillis, performance.now() - ended)
      ended = performance.now()
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => work(client)))
  return idleMillis
}

const propose = (server: Processes.Served, noteId: string): Promise<void> =>
  complete(server, {
    path: `/v1/holds/${noteId}:propose`,
    body: { registrar: server.party },
    key: `k-${noteId}`
  })

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
      const meter = Meters.of(sql, () => [host.pid])
      const idle: Array<number> = []
      const compared = yield* inTurns({
        rounds,
        ours: {
          meter,
          run: (round) =>
            timed(
              size,
              Effect.map(
                Effect.promise(() => byClients(size, (n) => propose(host, `http-${round}-${n}`))),
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
