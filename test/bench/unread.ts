/**
 * Waits of other callers beside callers that ask and do not read, in each of the eight shapes of
 * such a volley, against the same volley at a server of bare node:http.
 */
import { Effect } from "effect"
import { connect } from "node:net"
import { registrar } from "./database.ts"
import { served } from "./list.ts"
import { type Bench, inTurns } from "./measure.ts"
import * as Meters from "./meter.ts"
import * as Processes from "./processes.ts"
import * as Seeded from "./seeded.ts"

/** Milliseconds between two calls of the caller whose wait is measured. */
const pingMillis = 10
/** Calls whose waits are measured, beside each shape. */
const pings = 300
const requests = 60

interface Volley {
  readonly what: string
  readonly path: string
  readonly barePath: string
  readonly signedIn: boolean
  readonly connections: number
}

const largest = "/v1/instruments?limit=1000"
const kinds = [
  { what: "public document", path: "/v1/openapi.json", barePath: "/largest", signedIn: false },
  { what: "pages of a list", path: largest, barePath: "/largest", signedIn: true },
  { what: "lists without a limit", path: "/v1/instruments", barePath: "/whole", signedIn: true },
  { what: "audit log", path: "/v1/audit-log?limit=1000", barePath: "/largest", signedIn: true }
] as const

/** A signed-in caller has 300 connections; without sign-in the host takes 256. */
const volleys: ReadonlyArray<Volley> = kinds.flatMap((kind) =>
  [1, kind.signedIn ? 300 : 200].map((connections) => ({ ...kind, connections }))
)

/** Opens connections that send their requests in one packet and never read; returns their end. */
const begin = async (server: Processes.Served, path: string, volley: Volley) => {
  const port = Number(new URL(server.url).port)
  const authorization = volley.signedIn ? `Authorization: Bearer ${server.token}\r\n` : ""
  const packet = `GET ${path} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n`.repeat(requests)
  const sockets = await Promise.all(
    Array.from({ length: volley.connections }, async () => {
      const socket = connect(port, "127.0.0.1")
      socket.on("error", () => {})
      socket.pause()
      await new Promise<void>((done) => {
        socket.once("connect", () => socket.write(packet, () => done()))
        socket.once("close", () => done())
      })
      return socket
    })
  )
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}

/** Milliseconds of a call that 99 of 100 calls take at most, beside a volley. */
const waitBeside = async (
  server: Processes.Served,
  volley: { readonly volley: Volley; readonly path: string; readonly ask: () => Promise<unknown> }
): Promise<number> => {
  // Its connection is there before the volley comes.
  await volley.ask()
  const end = await begin(server, volley.path, volley.volley)
  const millis: Array<number> = []
  for (let n = 0; n < pings; n++) {
    const startedAt = performance.now()
    await volley.ask()
    millis.push(performance.now() - startedAt)
    await new Promise((done) => setTimeout(done, pingMillis))
  }
  end()
  await new Promise((done) => setTimeout(done, 500))
  const sorted = millis.toSorted((a, b) => a - b)
  return sorted[Math.floor(0.99 * sorted.length)] ?? Number.NaN
}

export const bench: Bench = ({ rounds, size = 4_000 }) => {
  return served(
    Seeded.instruments({ like: "aaa-first", count: size - 1, registrar }),
    ({ host, bare }) => {
      const side = (
        server: Processes.Served,
        volley: {
          readonly volley: Volley
          readonly path: string
          readonly ask: () => Promise<unknown>
        }
      ) => ({
        meter: Meters.none,
        // A row's speed is units in a second: here milliseconds of waiting.
        run: () =>
          Effect.map(
            Effect.promise(() => waitBeside(server, volley)),
            (units) => ({ units, millis: 1_000 })
          )
      })
      const other = { url: host.url, token: host.otherToken }
      const plain = { url: host.url, token: "" }
      const bareLive = () => Processes.read({ url: bare.live, token: "" }, "/livez")
      const probes = [
        ["another caller", () => Processes.read(other, "/v1/instruments?limit=1")],
        ["/v1/health", () => Processes.call(plain, "/v1/health")],
        ["/livez", () => Processes.read({ url: host.live, token: "" }, "/livez")]
      ] as const
      return Effect.forEach(volleys, (volley) =>
        Effect.forEach(probes, ([who, ask]) =>
          Effect.gen(function* () {
            const compared = yield* inTurns({
              rounds,
              ours: side(host, { volley, path: volley.path, ask }),
              bound: side(bare, { volley, path: volley.barePath, ask: bareLive })
            })
            const resident = Math.round(Processes.residentOf(host.pid))
            return {
              bench: `${who} beside ${volley.connections} × ${requests} unread, ${volley.what}`,
              unit: "ms, 99th percentile",
              against: "/livez of node:http beside its own",
              goal: null,
              note: `a lower ratio is better; host's resident memory after it ${resident} MiB`,
              ...compared
            }
          })
        )
      ).pipe(Effect.map((rows) => rows.flat()))
    }
  )
}
