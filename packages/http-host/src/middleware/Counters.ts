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
