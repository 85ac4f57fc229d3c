/** A way to a database that a test can close and open, and that counts who tries to take it. */
import { connect, createServer, type Server, type Socket } from "node:net"

export interface Proxy {
  /** The database's address by this way. */
  readonly url: string
  /** How many connections were tried, also while the way was closed. */
  readonly tries: () => number
  /** Cuts every connection, and takes every new one only to cut it. */
  readonly close: () => void
  readonly open: () => void
  readonly end: () => Promise<void>
}

export const start = async (url: string): Promise<Proxy> => {
  const to = new URL(url)
  const sockets = new Set<Socket>()
  let tries = 0
  let closed = false
  const server: Server = createServer((socket) => {
    tries += 1
    if (closed) {
      socket.destroy()
      return
    }
    const onward = connect(Number(to.port), to.hostname)
    for (const one of [socket, onward]) {
      sockets.add(one)
      one.on("error", () => one.destroy())
      one.on("close", () => {
        sockets.delete(one)
        socket.destroy()
        onward.destroy()
      })
    }
    socket.pipe(onward).pipe(socket)
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
    close: () => {
      closed = true
      cut()
    },
    open: () => {
      closed = false
    },
    end: () => {
      cut()
      return new Promise((ended) => server.close(() => ended()))
    }
  }
}
