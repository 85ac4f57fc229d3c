/** Timeouts of the parts of a call, in milliseconds (docs/contract/limits.md#times). */
import { Context } from "effect"

export interface Times {
  /** Request line and headers, from the first byte or from the connection. */
  readonly headersWithin: number
  /** The whole request, its body included. */
  readonly requestWithin: number
  /** Keep-alive: an idle connection. */
  readonly keptAlive: number
  /** From a read's request to the first byte of its answer. */
  readonly firstByteWithin: number
  /** From the first byte of an answer until the client has taken all of it. */
  readonly takenWithin: number
  /** Interval of the check for slow requests. */
  readonly lookedAtEvery: number
  /** A refused connection, until it has taken its refusal. */
  readonly partingWithin: number
  /** Requests in flight when the host stops. */
  readonly stopWithin: number
}

/** The timeouts in force. No setting changes them; tests provide shorter ones. */
export const Times = Context.Reference<Times>("@bursar/http-host/wire/Times", {
  defaultValue: () => ({
    headersWithin: 10_000,
    requestWithin: 30_000,
    keptAlive: 65_000,
    firstByteWithin: 30_000,
    takenWithin: 300_000,
    lookedAtEvery: 1_000,
    partingWithin: 1_000,
    stopWithin: 20_000
  })
})
