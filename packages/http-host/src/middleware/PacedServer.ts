/**
 * HTTP server that works on one request of a connection at a time, closes connections whose client
 * does not read, and waits at its stop only for what moves.
 */
import { IncomingMessage, Server, type ServerOptions, ServerResponse } from "node:http"
import { Socket } from "node:net"

/** Reasons for which the server closes a connection. */
export const closings = ["stalled", "pipelined", "parked"] as const
export type CloseReason = (typeof closings)[number]

/** A request with the object that its answer is written to. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
}

interface Pace {
  /** Largest number of requests that wait on a connection behind the one in progress. */
  readonly pipelinedMax: number
  /** Milliseconds within which a client must take some of what waits for it. */
  readonly stalledWithin: number
  /** Milliseconds in which a connection must have moved for a stop to wait for it. */
  readonly movedWithin: number
  /** Milliseconds after the beginning of a stop in which every connection is closed. */
  readonly stoppedWithin: number
  /** Called for every request as it arrives, before its turn. */
  readonly arrived: (exchange: Exchange) => void
  /** Called when the turn of a request has come. */
  readonly begins: (exchange: Exchange) => void
  /** Answers a request that is one too many on its connection, which ends with this answer. */
  readonly refuse: (exchange: Exchange) => void
  /** Ends the work on a request whose body does not arrive, while the server stops. */
  readonly cut: (exchange: Exchange) => void
  /** Called when the server closes a connection by itself. */
  readonly closed: (closing: CloseReason) => void
}

type Event = "request" | "checkContinue"

/** A request that waits for its turn. */
interface WaitingRequest {
  readonly exchange: Exchange
  readonly event: Event
}

/** Requests of one connection. */
interface Line {
  current: Exchange | undefined
  readonly waiting: Array<WaitingRequest>
  /** Requests beyond the limit, of which the first is refused and the others are not answered. */
  excess: number
  /** `bytesRead` of the connection at the last look of a stop. */
  bytesRead: number
}

/**
 * Node's own server would emit every pipelined request at once: all that are in one packet are
 * worked on side by side, and their answers wait in memory. This server emits the next `request`
 * when the answer before it has been written to the socket and drained, and reads no further from
 * the connection until then.
 */
export class PacedServer extends Server {
  readonly #pace: Pace
  readonly #lines = new Map<Socket, Line>()
  #isStopping = false

  constructor(options: ServerOptions, pace: Pace) {
    super(options)
    this.#pace = pace
  }

  override emit(event: string, ...args: Array<unknown>): boolean {
    const [first, second] = args
    if (event === "connection" && first instanceof Socket) this.#open(first)
    const isRequest = event === "request" || event === "checkContinue"
    if (isRequest && first instanceof IncomingMessage && second instanceof ServerResponse) {
      this.#take({ exchange: { request: first, response: second }, event })
      return true
    }
    return super.emit(event, ...args)
  }

  /**
   * Begins to stop: takes no connections, ends each one with the answer in progress, and closes at
   * once those that wait for their client. `callback` is called when the last one is closed.
   */
  override close(callback?: (error?: Error) => void): this {
    super.close(callback)
    if (this.#isStopping) return this
    this.#isStopping = true
    const { movedWithin, stoppedWithin } = this.#pace
    for (const [socket, line] of this.#lines) {
      line.waiting.length = 0
      line.bytesRead = socket.bytesRead
      if (line.current !== undefined) this.#last(line.current)
    }
    const looking = setInterval(() => this.#endParked(), movedWithin)
    const ending = setTimeout(() => this.closeAllConnections(), stoppedWithin)
    this.once("close", () => {
      clearInterval(looking)
      clearTimeout(ending)
    })
    return this
  }

  #open(socket: Socket): void {
    this.#lines.set(socket, { current: undefined, waiting: [], excess: 0, bytesRead: 0 })
    socket.once("close", () => this.#lines.delete(socket))
  }

  #take({ exchange, event }: WaitingRequest): void {
    const { socket } = exchange.request
    const line = this.#lines.get(socket)
    // Its connection has ended: nobody reads the answer.
    if (line === undefined) return
    this.#pace.arrived(exchange)
    if (line.current === undefined && line.waiting.length === 0) {
      return this.#begin(line, exchange, () => this.#work({ exchange, event }))
    }
    // No more is read until this one is answered; further requests of the same packet still come.
    socket.pause()
    if (line.excess === 0 && line.waiting.length < this.#pace.pipelinedMax) {
      line.waiting.push({ exchange, event })
      return
    }
    line.excess += 1
    if (line.excess === 1) {
      line.waiting.push({ exchange, event })
      this.#pace.closed("pipelined")
    }
    // The refusals that would be due to so many would themselves be held for whoever reads none.
    if (line.excess > this.#pace.pipelinedMax) socket.destroy()
  }

  /** Begins the turn of a request: hands it to `work`, which answers it. */
  #begin(line: Line, exchange: Exchange, work: () => void): void {
    const { request, response } = exchange
    const { socket } = request
    line.current = exchange
    response.once("close", () => {
      line.current = undefined
      // In a turn of its own: answers that are ready must not keep the loop from other connections.
      if (line.waiting.length > 0) setImmediate(() => this.#next(socket, line))
    })
    response.setTimeout(this.#pace.stalledWithin, () => {
      // Without bytes that wait, it is the server that is still at work.
      if (socket.writableLength > 0) this.#drop(socket, "stalled")
    })
    if (this.#isStopping) this.#last(exchange)
    this.#pace.begins(exchange)
    work()
  }

  #work({ exchange: { request, response }, event }: WaitingRequest): void {
    super.emit(event, request, response)
  }

  #next(socket: Socket, line: Line): void {
    const next = line.waiting.shift()
    // A connection that has ended, or ends with the answer before, has no further request.
    if (next === undefined || !socket.writable) return
    const { exchange } = next
    if (line.waiting.length > 0) return this.#begin(line, exchange, () => this.#work(next))
    if (line.excess > 0) return this.#begin(line, exchange, () => this.#pace.refuse(exchange))
    socket.resume()
    this.#begin(line, exchange, () => this.#work(next))
  }

  /** Makes an answer the last of its connection. */
  #last({ request, response }: Exchange): void {
    response.shouldKeepAlive = false
    // Where the headers have been sent already, they do not say so.
    if (response.headersSent) response.once("finish", () => request.socket.destroySoon())
    response.setTimeout(this.#pace.movedWithin)
  }

  /** Ends what a stop does not wait for: connections without a request, and bodies that are parked. */
  #endParked(): void {
    for (const [socket, line] of this.#lines) {
      const hasMoved = socket.bytesRead !== line.bytesRead
      line.bytesRead = socket.bytesRead
      if (hasMoved) continue
      if (line.current === undefined) {
        if (socket.writableLength === 0) this.#drop(socket, "parked")
      } else if (!line.current.request.complete && line.current.request.readableLength === 0) {
        this.#pace.closed("parked")
        this.#pace.cut(line.current)
      }
    }
  }

  #drop(socket: Socket, closing: CloseReason): void {
    this.#pace.closed(closing)
    socket.destroy()
  }
}
