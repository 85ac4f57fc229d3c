/** Counters of refused calls. */
import { Metric } from "effect"

/** Calls refused for their number, by the role whose limit counted. */
export const rateLimited = Metric.counter("bursar.ratelimited", {
  description: "Calls refused because their subject was over its limit, by role.",
  incremental: true
})

/** Calls counted by this instance alone, because the store of all instances did not answer. */
export const rateLimitAlone = Metric.counter("bursar.ratelimit.alone", {
  description: "Calls counted by one instance alone because the shared count did not answer.",
  incremental: true
})

/** Signatures refused, by the slug of the refusal. */
export const signatureRefused = Metric.counter("bursar.signature.refused", {
  description: "Signed requests refused, by the slug of the refusal.",
  incremental: true
})
