/**
 * Pending answers of a connection (HTTP pipelining): a refusal on the raw socket waits until the
 * answers before it are sent.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Duplex } from "node:stream"

interface PendingAnswers {
  /** Registers a request whose answer is pending until it is sent or the connection ends. */
  readonly begin: (request: IncomingMessage, response: ServerResponse) => void
  /**
   * Runs a function once all earlier answers are sent, for bytes that are not a request or that
   * broke one. `last` says whether the broken request has already been answered, so that nothing
   * more is written. Never runs where the connection ends first.
   */
  readonly inTurn: (socket: Duplex, run: (last: "answered" | "unanswered") => void) => void
}

interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

export const make = (): PendingAnswers => {
  const answers = new WeakMap<Duplex, Set<Exchange>>()
  return {
    begin: (request, response) => {
      const { socket } = request
      const pending = answers.get(socket) ?? new Set()
      answers.set(socket, pending)
      const exchange = { request, response }
      pending.add(exchange)
      response.once("close", () => pending.delete(exchange))
    },
    inTurn: (socket, run) => {
      const pending = [...(answers.get(socket) ?? [])]
      const latest = pending.at(-1)
      // A request that was received completely is not the broken one.
      const broken = latest?.request.complete === false ? latest.response : undefined
      const before = pending
        .map(({ response }) => response)
        .filter((response) => response !== broken)
      afterAll(before, () => {
        if (!socket.writable) return
        if (broken?.headersSent !== true) return run("unanswered")
        afterAll([broken], () => run("answered"))
      })
    }
  }
}

/** Runs a function once all of these responses are closed; immediately where there is none. */
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
