/** Trace that the calls of a client are part of. */
import { Effect, Option } from "effect"

/** W3C traceparent of the span that the call is made in; null outside of one. */
export const traceparentOfSpan = Effect.map(Effect.option(Effect.currentParentSpan), (span) => {
  if (Option.isNone(span)) return null
  const { sampled, spanId, traceId } = span.value
  return `00-${traceId.padStart(32, "0")}-${spanId}-${sampled ? "01" : "00"}`
})
