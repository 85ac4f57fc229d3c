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

const ask = async (...args: Parameters<typeof Processes.call>): Promise<Members> =>
  JSON.parse((await Processes.call(...args)).text)

/** A host and a token for it. */
type Host = Pick<Processes.Served, "url" | "token">

interface Write {
  readonly path: string
  readonly body: unknown
  readonly key: string
}

/** Submits a write and polls its operation until it has ended; returns the number of calls. */
export const complete = async (
  server: Host,
  write: Write,
  everyMillis = pollMillis
): Promise<number> => {
  const sent = await ask(server, write.path, write)
  const operationId = sent["operationId"]
  if (typeof operationId !== "string") throw new Error(JSON.stringify(sent))
  for (let calls = 2; ; calls += 1) {
    const answer = await ask(server, `/v1/operations/${operationId}`)
    if (hasSucceeded((answer["value"] ?? answer) as Members)) return calls
    await pause(everyMillis)
  }
}

/** Submits a write that prefers to wait until its operation has ended; returns the number of calls. */
const completeWaiting = async (server: Host, write: Write): Promise<number> => {
  for (let calls = 1; ; calls += 1) {
    if (hasSucceeded(await ask(server, write.path, { ...write, prefer: "wait=60" }))) return calls
  }
}

const hasSucceeded = (operation: Members): boolean => {
  const { state } = operation
  if (state !== "succeeded" && state !== "queued" && state !== "running") {
    throw new Error(JSON.stringify(operation))
  }
  return state === "succeeded"
}

/** Completes so many operations by 64 clients; returns the longest spell without an end. */
export const byClients = async (
  count: number,
  completed: (n: number, client: number) => Promise<unknown>
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

const proposal = (server: Processes.Served, noteId: string): Write => ({
  path: `/v1/holds/${noteId}:propose`,
  body: { registrar: server.party },
  key: `k-${noteId}`
})

const propose = async (server: Processes.Served, noteId: string): Promise<void> => {
  await complete(server, proposal(server, noteId))
}

/** Waits until the last write that was submitted in the host's process has ended. */
const inProcess = async (
  server: Processes.Served,
  orders: { readonly from: number; readonly count: number }
): Promise<void> => {
  await server.ask(orders)
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

/** Milliseconds that Retry-After states in the first ten seconds of an operation. */
const retryAfterMillis = 1_000

/** Calls and milliseconds of each write of a side, over all rounds. */
const tally = () => {
  let calls = 0
  const millis: Array<number> = []
  return {
    counted: async (write: () => Promise<number>): Promise<void> => {
      const begun = performance.now()
      const made = await write()
      // Added at once: the writes of other clients end in between.
      calls += made
      millis.push(performance.now() - begun)
    },
    text: (): string => {
      const sorted = millis.toSorted((a, b) => a - b)
      const at = (share: number) => Math.round(sorted[Math.floor(sorted.length * share)] ?? 0)
      return `${(calls / millis.length).toFixed(2)} calls, ${at(0.5)} ms (p99 ${at(0.99)})`
    }
  }
}

/** Writes that wait for their end in their call, against the same ones polled as Retry-After says. */
export const waits: { readonly bench: Bench } = {
  bench: ({ rounds, size = 640 }) =>
    withDatabase(({ url, folder, storage }) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const host = yield* Processes.start({ file: "http-host.ts", folder, args: [url] })
        const meter = Meters.of(sql, () => [host.pid])
        const [waited, polled] = [tally(), tally()]
        const side = (
          name: string,
          { counted }: typeof waited,
          write: (write: Write) => Promise<number>
        ) => ({
          meter,
          run: (round: number) =>
            timed(
              size,
              Effect.promise(() =>
                byClients(size, (n) =>
                  counted(() => write(proposal(host, `${name}-${round}-${n}`)))
                )
              )
            )
        })
        const compared = yield* inTurns({
          rounds,
          ours: side("waited", waited, (write) => completeWaiting(host, write)),
          bound: side("polled", polled, (write) => complete(host, write, retryAfterMillis))
        })
        return [
          {
            bench: "operations over HTTP, waited for in the call",
            unit: "operations/s",
            against: "the same, polled as Retry-After says",
            goal: null,
            note: `${clients} clients, ending on the ledger; an operation: ${waited.text()}; polled: ${polled.text()}`,
            ...compared
          }
        ]
      }).pipe(Effect.scoped, Effect.provide(storage))
    )
}
