/** How long each part of a call may take, in milliseconds (docs/contract/limits.md#times). */
import { Context } from "effect"

export interface Times {
  /** A request's line and headers, from its first byte or from the connection. */
  readonly headersWithin: number
  /** A whole request, its body included. */
  readonly requestWithin: number
  /** How long a connection is kept without a request. */
  readonly keptAlive: number
  /** From a read's request to the first byte of its answer. */
  readonly firstByteWithin: number
  /** From there until the answer is taken. */
  readonly takenWithin: number
  /** How often requests that are too slow are looked for. */
  readonly lookedAtEvery: number
  /** How long a connection that is refused may take the reason. */
  readonly partingWithin: number
}

/** The times in force. No setting changes them; tests provide shorter ones. */
export const Times = Context.Reference<Times>("@bursar/http-host/wire/Times", {
  defaultValue: () => ({
    headersWithin: 10_000,
    requestWithin: 30_000,
    keptAlive: 65_000,
    firstByteWithin: 30_000,
    takenWithin: 300_000,
    lookedAtEvery: 1_000,
    partingWithin: 1_000
  })
})
