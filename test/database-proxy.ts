/** TCP proxy before a database: counts connections and round trips, cuts them, and delays answers. */
import { connect, createServer, type Server, type Socket } from "node:net"

export interface Proxy {
  /** The database's address by this way. */
  readonly url: string
  /** Number of connections tried, also while the way was closed. */
  readonly tries: () => number
  /**
   * Round trips: times a client sent bytes after an answer; bytes sent before the answer are
   * pipelined.
   */
  readonly roundTrips: () => number
  /** Cuts every connection, and takes every new one only to cut it. */
  readonly close: () => void
  /** Holds every byte back on all connections, also new ones, until it is opened and they are cut. */
  readonly stall: () => void
  readonly open: () => void
  readonly end: () => Promise<void>
}

export interface Options {
  /** Milliseconds that each answer is held back: the length of a round trip. 0 by default. */
  readonly delayMillis?: number
}

export const start = async (url: string, { delayMillis = 0 }: Options = {}): Promise<Proxy> => {
  const to = new URL(url)
  const sockets = new Set<Socket>()
  let tries = 0
  let roundTrips = 0
  let closed = false
  let stalled = false
  const server: Server = createServer({ noDelay: true }, (socket) => {
    tries += 1
    if (closed) {
      socket.destroy()
      return
    }
    if (stalled) {
      sockets.add(socket)
      socket.on("error", () => socket.destroy())
      return
    }
    const onward = connect({ port: Number(to.port), host: to.hostname, noDelay: true })
    for (const one of [socket, onward]) {
      sockets.add(one)
      one.on("error", () => one.destroy())
      one.on("close", () => {
        sockets.delete(one)
        socket.destroy()
        onward.destroy()
      })
    }
    let isAnswered = true
    socket.on("data", () => {
      if (isAnswered) roundTrips += 1
      isAnswered = false
    })
    onward.on("data", () => {
      isAnswered = true
    })
    socket.pipe(onward)
    if (delayMillis === 0) onward.pipe(socket)
    else {
      onward.on("data", (chunk: Buffer) => {
        setTimeout(() => socket.write(chunk), delayMillis)
      })
    }
  })
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening))
  const address = server.address()
  const through = new URL(url)
  through.host = `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: through.href,
    tries: () => tries,
    roundTrips: () => roundTrips,
    close: () => {
      closed = true
      cut()
    },
    stall: () => {
      stalled = true
      for (const socket of sockets) socket.unpipe()
    },
    open: () => {
      if (stalled) cut()
      closed = false
      stalled = false
    },
    end: () => {
      cut()
      return new Promise((ended) => server.close(() => ended()))
    }
  }
}
