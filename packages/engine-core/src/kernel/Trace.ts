/** Trace of a call, stored so that later work for it joins the same trace. */
import { Schema } from "effect"
import * as Integer from "./Integer.ts"

/** W3C Trace Context without a span: later work makes spans of its own. */
export const Trace = Schema.Struct({
  /** 32 lower-case hex digits. */
  traceId: Schema.String,
  /** The flags to pass on: whether it is recorded, and whether its id is random. */
  flags: Integer.schema
})
export type Trace = typeof Trace.Type

/** Flags of a trace that is recorded and whose id is not known to be random. */
export const sampled = 0b01

/** Makes the trace of a trace id; null where there is none. */
export const of = (traceId: string | null, flags: number | undefined): Trace | null =>
  traceId === null ? null : { traceId, flags: flags ?? sampled }

/** The header `traceparent` of a call made for the trace, under a span of 8 bytes that begins with it. */
export const traceparent = ({ traceId, flags }: Trace, span: Uint8Array): string => {
  const hex = (byte: number): string => byte.toString(16).padStart(2, "0")
  const spanId = [...span].map(hex).join("")
  // All zeros name no span.
  return `00-${traceId}-${/^0+$/.test(spanId) ? "0000000000000001" : spanId}-${hex(flags)}`
}
