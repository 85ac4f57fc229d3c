/** W3C Trace Context of a request: read from its caller, passed on to other services. */
import { Trace } from "@bursar/engine-core/kernel"
import { Ids } from "@bursar/engine-core/ports"
import { Context, Effect } from "effect"

/** The engine's own span within a trace, as it is sent with calls to other services. */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** The engine's own span, 16 lower-case hex digits; the called service has it as parent. */
  readonly spanId: string
  /** The caller's span; null where the trace begins here. */
  readonly parentId: string | null
  /** The two flags of the caller that have a meaning: `sampled` and `random`. */
  readonly flags: number
  /** The caller's tracestate, cut to the part that is passed on; null: none. */
  readonly state: string | null
}

/** Trace flags: the trace may be recorded; the last seven bytes of its id are random. */
export const sampled = 0b01
export const random = 0b10

/** Fiber-local trace context; null outside of a request. */
export const Current = Context.Reference<TraceContext | null>(
  "@bursar/http-host/wire/TraceContext",
  { defaultValue: () => null }
)

const traceparent = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/
const zeros = /^0+$/
const plainLength = 55

/** Trace context that a caller sent; `spanId` is the caller's span. */
export type CallerTrace = Omit<TraceContext, "parentId">

/**
 * Parses the trace headers of a request, all values of each in their order. Null where there is no
 * valid traceparent; then tracestate is ignored too. A newer version is parsed by the fields that
 * exist today. An invalid header is never a reason to refuse a call.
 */
export const parse = (
  traceparents: ReadonlyArray<string>,
  tracestates: ReadonlyArray<string>
): CallerTrace | null => {
  const [header, second] = traceparents
  if (header === undefined || second !== undefined) return null
  const [, version, traceId, spanId, flags] = traceparent.exec(header) ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return null
  if (version === "ff" || (version === "00" && header.length !== plainLength)) return null
  if (zeros.test(traceId) || zeros.test(spanId)) return null
  return {
    traceId,
    spanId,
    flags: Number.parseInt(flags, 16) & (sampled | random),
    state: stateOf(tracestates)
  }
}

const membersMax = 32
/** Longest tracestate that is passed on, the standard's minimum. */
const stateMax = 512
/** Entries longer than this are dropped first from a tracestate that is too long. */
const longEntry = 128

const member =
  /^(?:[a-z][_0-9a-z*/-]{0,255}|[0-9a-z][_0-9a-z*/-]{0,240}@[a-z][_0-9a-z*/-]{0,13})=[\x20-\x2B\x2D-\x3C\x3E-\x7E]{0,255}[\x21-\x2B\x2D-\x3C\x3E-\x7E]$/

/**
 * Trims blanks with a loop, because a regular expression would take quadratic time on long runs of
 * blanks.
 */
const trimmed = (text: string): string => {
  const isBlank = (at: number) => text[at] === " " || text[at] === "\t"
  let from = 0
  let to = text.length
  while (from < to && isBlank(from)) from++
  while (to > from && isBlank(to - 1)) to--
  return text.slice(from, to)
}

/** Joins the tracestate headers, whole entries only; empty where any entry is invalid. */
const stateOf = (tracestates: ReadonlyArray<string>): string | null => {
  const entries = new Map<string, string>()
  for (const part of tracestates.join(",").split(",")) {
    const entry = trimmed(part)
    if (entry === "") continue
    if (!member.test(entry)) return null
    const key = entry.slice(0, entry.indexOf("="))
    // Of several entries of a key the leftmost is the newest.
    if (!entries.has(key)) entries.set(key, entry)
    if (entries.size > membersMax) return null
  }
  const members = fitting([...entries.values()])
  return members.length === 0 ? null : members.join(",")
}

/** Drops whole entries from the right until the rest fits, the long ones first. */
const fitting = (entries: Array<string>): ReadonlyArray<string> => {
  let length = entries.reduce((sum, entry) => sum + entry.length + 1, -1)
  for (const least of [longEntry, 0]) {
    for (let at = entries.length - 1; at >= 0 && length > stateMax; at--) {
      const entry = entries[at] ?? ""
      if (entry.length <= least) continue
      entries.splice(at, 1)
      length -= entry.length + 1
    }
  }
  return entries
}

const spanBytes = 8
const traceBytes = 16

/** `count` random bytes in hex, not all zero: zeros are no valid id. */
const fresh = (count: number): Effect.Effect<string, never, Ids> =>
  Effect.gen(function* () {
    const hex = Buffer.from(yield* (yield* Ids).bytes(count)).toString("hex")
    return zeros.test(hex) ? `${hex.slice(0, -1)}1` : hex
  })

/**
 * Opens the engine's own span in the caller's trace, or begins a new trace. A new trace is marked
 * as sampled: other services decide for themselves.
 */
export const join = (callerTrace: CallerTrace | null): Effect.Effect<TraceContext, never, Ids> =>
  Effect.gen(function* () {
    const spanId = yield* fresh(spanBytes)
    if (callerTrace !== null) return { ...callerTrace, spanId, parentId: callerTrace.spanId }
    const traceId = yield* fresh(traceBytes)
    return { traceId, spanId, parentId: null, flags: sampled | random, state: null }
  })

/** Opens a child span of the same trace. */
export const child = (context: TraceContext): Effect.Effect<TraceContext, never, Ids> =>
  Effect.map(fresh(spanBytes), (spanId) => ({ ...context, spanId, parentId: context.spanId }))

/** Headers that send the trace to another service: `spanId` is its parent. */
export const print = (context: TraceContext): Readonly<Record<string, string>> => ({
  traceparent: `00-${context.traceId}-${context.spanId}-${context.flags.toString(16).padStart(2, "0")}`,
  ...(context.state === null ? {} : { tracestate: context.state })
})

/**
 * Headers of a call on behalf of an earlier act whose trace is stored; a new trace where none is.
 */
export const outgoingFor = (
  trace: Trace.Trace | null
): Effect.Effect<Readonly<Record<string, string>>, never, Ids> =>
  Effect.gen(function* () {
    if (trace === null) return print(yield* join(null))
    const span = yield* (yield* Ids).bytes(spanBytes)
    return { traceparent: Trace.traceparent(trace, span) }
  })

/** Headers of a call made for the current work: a new span of the current trace, or a new trace. */
export const outgoing: Effect.Effect<Readonly<Record<string, string>>, never, Ids> = Effect.gen(
  function* () {
    const current = yield* Current
    return print(yield* current === null ? join(null) : child(current))
  }
)
