/** A network that delivers what it is given in pieces: sometimes byte by byte, sometimes much at once. */
import { createServer, connect, type Socket } from "node:net"
import { Effect, type Scope } from "effect"

export type Random = (below: number) => number

/** Numbers that look random and are the same for the same seed. */
export const randomOf = (seed: number): Random => {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

/** Hands on all bytes in order, a piece for each turn of the event loop. */
const handOn = (from: Socket, to: Socket, random: Random): void => {
  let waiting = Buffer.alloc(0)
  let scheduled = false
  const next = (): void => {
    scheduled = false
    if (waiting.length === 0) return
    const longest = random(4) === 0 ? 24 : 4096
    const piece = waiting.subarray(0, 1 + random(Math.min(waiting.length, longest)))
    waiting = waiting.subarray(piece.length)
    if (to.writable) to.write(piece)
    schedule()
  }
  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    if (random(16) === 0) setTimeout(next, 1)
    else setImmediate(next)
  }
  from.on("data", (chunk: Buffer) => {
    waiting = Buffer.concat([waiting, chunk])
    schedule()
  })
  from.on("error", () => to.destroy())
  from.on("close", () => setTimeout(() => to.destroy(), 20))
}

/** The same server, reached through such a network. */
export const through = (options: {
  readonly url: string
  readonly seed: number
}): Effect.Effect<string, never, Scope.Scope> =>
  Effect.gen(function* () {
    const random = randomOf(options.seed)
    const target = new URL(options.url)
    const open = new Set<Socket>()
    const server = createServer({ noDelay: true }, (client) => {
      const host = decodeURIComponent(target.searchParams.get("host") ?? target.hostname)
      const port = Number(target.port === "" ? "5432" : target.port)
      const backend = host.startsWith("/")
        ? connect({ path: `${host}/.s.PGSQL.${port}` })
        : connect({ host, port, noDelay: true })
      for (const socket of [client, backend]) {
        open.add(socket)
        socket.on("close", () => open.delete(socket))
      }
      handOn(client, backend, random)
      handOn(backend, client, random)
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => new Promise<void>((done) => server.listen(0, "127.0.0.1", done))),
      () =>
        Effect.promise(() => {
          const closed = new Promise((done) => server.close(done))
          for (const socket of open) socket.destroy()
          return closed
        })
    )
    const address = server.address()
    const near = new URL(options.url)
    near.searchParams.delete("host")
    near.hostname = "127.0.0.1"
    near.port = String(typeof address === "object" && address !== null ? address.port : 0)
    return near.href
  })
