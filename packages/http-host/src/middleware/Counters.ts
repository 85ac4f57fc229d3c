/** Counters of refused calls. */
import { Metric } from "effect"

/** Calls refused by the rate limit, by the role whose limit applied. */
export const rateLimited = Metric.counter("bursar.ratelimited", {
  description: "Calls refused because their subject was over its limit, by role.",
  incremental: true
})

/** Calls counted by this instance alone, because the shared store did not answer. */
export const rateLimitAlone = Metric.counter("bursar.ratelimit.alone", {
  description: "Calls counted by one instance alone because the shared count did not answer.",
  incremental: true
})

/** Signatures refused, by the slug of the refusal. */
export const signatureRefused = Metric.counter("bursar.signature.refused", {
  description: "Signed requests refused, by the slug of the refusal.",
  incremental: true
})

/** Connections that the host closed by itself, by the reason. */
export const connectionsClosed = Metric.counter("bursar.connections.closed", {
  description:
    "Connections closed by the host: stalled (the client takes no answer), pipelined (too many requests at once), parked (nothing arrives while the host stops).",
  incremental: true
})

/** Reads refused because answers wait that nobody takes, by the bound that was reached. */
export const answersRefused = Metric.counter("bursar.answers.refused", {
  description:
    "Reads refused because too much waits to be sent, by the bound that was reached: of the subject, of the host, or the subject's streams.",
  incremental: true
})

/** Bytes of answers that wait to be sent. */
export const answersWaiting = Metric.gauge("bursar.answers.waiting_bytes", {
  description: "Bytes of answers that have been made and not been taken by their clients yet."
})

/** Calls that wait for the end of their operation or for an event. */
export const callsWaiting = Metric.gauge("bursar.calls.waiting", {
  description: "Calls that wait for their end because they prefer to (Prefer: wait)."
})
