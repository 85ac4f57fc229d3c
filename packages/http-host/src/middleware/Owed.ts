/**
 * Pending answers of a connection (pipelining), so that a refusal on the socket waits for its turn.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

export interface Owed {
  /** A request has begun: it is owed one answer, until that has gone or its connection has. */
  readonly begin: (request: IncomingMessage, response: ServerResponse) => void
  /**
   * Runs once every answer has gone that stands before what is now to be said on the socket: that
   * something came which is no request, or which broke one. It is told whether the request that broke
   * has its answer, so that nothing more is said; it never runs where the connection ends before.
   */
  readonly inTurn: (socket: Duplex, run: (last: "answered" | "unanswered") => void) => void
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export const make = (): Owed => {
  const owed = new WeakMap<Duplex, Set<Exchange>>()
  return {
    begin: (request, response) => {
      const { socket } = request
      const here = owed.get(socket) ?? new Set()
      owed.set(socket, here)
      const exchange = { request, response }
      here.add(exchange)
      response.once("close", () => here.delete(exchange))
    },
    inTurn: (socket, run) => {
      const here = [...(owed.get(socket) ?? [])]
      const last = here.at(-1)
      // A request that has come whole is not the one that broke.
      const broken = last?.request.complete === false ? last.response : undefined
      const before = here.map(({ response }) => response).filter((one) => one !== broken)
      afterAll(before, () => {
        if (!socket.writable) return
        if (broken?.headersSent !== true) return run("unanswered")
        afterAll([broken], () => run("answered"))
      })
    }
  }
}

/** Runs once the last of these has gone; at once where there is none. */
const afterAll = (responses: ReadonlyArray<ServerResponse>, run: () => void): void => {
  const left = new Set(responses)
  if (left.size === 0) return run()
  for (const response of responses) {
    response.once("close", () => {
      left.delete(response)
      if (left.size === 0) run()
    })
  }
}
