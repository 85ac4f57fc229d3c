/** Deliveries to webhooks, from the event to the receiver, against posts of the same bytes with one row kept of each. */
import { Agent, createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { Settings, settingsDefaults } from "@bursar/engine-core"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Host from "@bursar/http-host"
import { many, onDatabase, operation } from "./operations.ts"
import { type Bench, inTurns, timed } from "./measure.ts"
import * as Meters from "./meter.ts"

/**
 * Webhooks, and the deliveries in flight that the contract permits one instance: four for each
 * webhook.
 */
const webhooks = 8
const inFlight = 32
const loopback = Host.WebhookAddresses.networkOf("127.0.0.0/8")

interface Receiver {
  readonly port: number
  readonly taken: () => number
  /** Bytes of the last delivery. */
  readonly body: () => Buffer
  readonly close: () => void
}

const receiver = (): Promise<Receiver> =>
  new Promise((ready) => {
    let taken = 0
    let body = Buffer.alloc(0)
    const server = createServer((incoming, answer) => {
      const chunks: Array<Buffer> = []
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
      incoming.on("end", () => {
        body = Buffer.concat(chunks)
        taken += 1
        answer.writeHead(204).end()
      })
    })
    server.listen(0, "127.0.0.1", () => {
      ready({
        port: (server.address() as AddressInfo).port,
        taken: () => taken,
        body: () => body,
        close: () => {
          server.close()
          server.closeAllConnections()
        }
      })
    })
  })

/** Posts a body on a connection of its own, as every delivery has. */
const post = (port: number, body: Buffer): Promise<void> =>
  new Promise((done, failed) => {
    const sent = request({ port, host: "127.0.0.1", method: "POST", agent }, (answer) => {
      answer.resume()
      answer.on("end", () => done())
    })
    sent.on("error", failed)
    sent.end(body)
  })

const agent = new Agent({ keepAlive: false })

/** Posts the same bytes as often, and keeps one row of each post. */
const bound = (sql: SqlClient.SqlClient, port: number, body: Buffer) => (count: number) =>
  Effect.forEach(
    Array.from({ length: count }),
    () =>
      Effect.andThen(
        Effect.promise(() => post(port, body)),
        sql`insert into public.bench_delivery (body) values (${body.toString()})`
      ),
    { concurrency: inFlight, discard: true }
  )

export const bench: Bench = async ({ rounds, size = 250 }) => {
  const { port, taken, body, close } = await receiver()
  const settings = Layer.succeed(Settings, {
    ...settingsDefaults,
    operationsAtOnce: 64,
    webhooks: Array.from({ length: webhooks }, (_, n) => ({
      webhookId: `wh-${n}`,
      url: `http://localhost:${port}/${n}`,
      events: ["operation.succeeded"] as const,
      secrets: [new Uint8Array(32).fill(n + 1)]
    }))
  })
  if (loopback === undefined) throw new Error("127.0.0.0/8 is no network")
  const sender = Host.WebhookSender.layer({
    ports: [port],
    http: "allowed",
    allowAddresses: [loopback]
  })
  const count = size * webhooks
  const program = Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`create table public.bench_delivery (id bigserial primary key, body text not null)`
    const meter = Meters.of(sql)
    return yield* inTurns({
      rounds,
      ours: {
        meter,
        run: () =>
          timed(
            count,
            Effect.gen(function* () {
              const before = taken()
              yield* many(size, operation)
              while (taken() - before < count) yield* Effect.sleep(2)
            })
          )
      },
      bound: { meter, run: () => timed(count, bound(sql, port, body())(count)) }
    })
  })
  const compared = await onDatabase(program, Layer.merge(settings, sender)).finally(close)
  return [
    {
      bench: "deliveries to webhooks",
      unit: "deliveries/s",
      against: "node:http posts of the same bytes, one row inserted for each",
      goal: 0.4,
      note: `${webhooks} webhooks, ${size} operations a round, which are in ours`,
      ...compared
    }
  ]
}
