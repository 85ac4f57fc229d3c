/** Deliveries to webhooks, from the event to the receiver, against bare posts to the same receiver. */
import { Agent, createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { Settings, settingsDefaults } from "@bursar/engine-core"
import { Effect, Layer } from "effect"
import * as Host from "@bursar/http-host"
import { many, onDatabase, operation } from "./operations.ts"
import { median, type Row, row } from "./measure.ts"

/** As many as the contract lets one instance have in flight: four to each. */
const webhooks = 8
const inFlight = 32
/** Operations of a round; each announces one event, which each webhook takes. */
const perRound = 250
const rounds = 4

const loopback = Host.WebhookAddresses.networkOf("127.0.0.0/8")

interface Receiver {
  readonly port: number
  readonly taken: () => number
  readonly close: () => void
}

const receiver = (): Promise<Receiver> =>
  new Promise((ready) => {
    let taken = 0
    const server = createServer((asked, answer) => {
      asked.resume()
      asked.on("end", () => {
        taken += 1
        answer.writeHead(204).end()
      })
    })
    server.listen(0, "127.0.0.1", () => {
      ready({
        port: (server.address() as AddressInfo).port,
        taken: () => taken,
        close: () => {
          server.close()
          server.closeAllConnections()
        }
      })
    })
  })

/** A connection for each post, as every delivery has. */
const bare = async (port: number, count: number): Promise<number> => {
  const body = JSON.stringify({
    kind: "control",
    type: "operation.succeeded",
    payload: "x".repeat(300)
  })
  const agent = new Agent({ keepAlive: false })
  let left = count
  const began = performance.now()
  const one = (): Promise<void> =>
    new Promise((done, failed) => {
      const sent = request({ port, host: "127.0.0.1", method: "POST", agent }, (answer) => {
        answer.resume()
        answer.on("end", () => done())
      })
      sent.on("error", failed)
      sent.end(body)
    })
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (left-- > 0) await one()
    })
  )
  return (count * 1000) / (performance.now() - began)
}

export const bench = async (): Promise<ReadonlyArray<Row>> => {
  const { port, taken, close } = await receiver()
  const ours: Array<number> = []
  const theirs: Array<number> = []
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
  try {
    await onDatabase(
      Effect.gen(function* () {
        for (let round = 0; round < rounds; round++) {
          const before = taken()
          const began = performance.now()
          yield* many(perRound, operation)
          while (taken() - before < perRound * webhooks) yield* Effect.sleep(2)
          ours.push((perRound * webhooks * 1000) / (performance.now() - began))
          theirs.push(yield* Effect.promise(() => bare(port, perRound * webhooks)))
        }
      }),
      Layer.merge(settings, sender)
    )
  } finally {
    close()
  }
  return [
    row({
      bench: "deliveries to webhooks",
      ours: median(ours.slice(1)),
      unit: "deliveries/s",
      against: "bare node:http posts",
      theirs: median(theirs.slice(1)),
      target: null,
      note: `${webhooks} webhooks, the operations that announce them included`
    })
  ]
}
