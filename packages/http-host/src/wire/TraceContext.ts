/** W3C Trace Context of a request: read from its caller, passed on to other services. */
import { Trace } from "@bursar/engine-core/kernel"
import { Ids } from "@bursar/engine-core/ports"
import { Context, Effect } from "effect"

/** The engine's own part of a trace: what is asked of others for a request's sake. */
export interface TraceContext {
  /** 32 lower-case hex digits. */
  readonly traceId: string
  /** The engine's own span, 16 lower-case hex digits; whoever is asked sees it as its parent. */
  readonly spanId: string
  /** The caller's span; null where the trace begins here. */
  readonly parentId: string | null
  /** Of the caller's flags the two that have a meaning: `sampled` and `random`. */
  readonly flags: number
  /** The caller's tracestate, within what is passed on; null: there is none. */
  readonly state: string | null
}

/** The trace's flags: somebody may be recording it; its id is random in its last seven bytes. */
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

/** What a caller says of its trace: `spanId` is its own span, to become our parent. */
export type Sent = Omit<TraceContext, "parentId">

/**
 * Reads the headers of a request, every value of each in the order it came. Null: there is no
 * trace, or none that can be read, and then its tracestate means nothing either. A version that is
 * not known yet is read by the part that has a meaning today. Never a reason to refuse a call.
 */
export const parse = (
  traceparents: ReadonlyArray<string>,
  tracestates: ReadonlyArray<string>
): Sent | null => {
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
/** Where a tracestate is too long, its longest entries go first. */
const longEntry = 128

const member =
  /^(?:[a-z][_0-9a-z*/-]{0,255}|[0-9a-z][_0-9a-z*/-]{0,240}@[a-z][_0-9a-z*/-]{0,13})=[\x20-\x2B\x2D-\x3C\x3E-\x7E]{0,255}[\x21-\x2B\x2D-\x3C\x3E-\x7E]$/

/** Without the blanks around it: by hand, for an expression looks at every blank within it too. */
const trimmed = (text: string): string => {
  const isBlank = (at: number) => text[at] === " " || text[at] === "\t"
  let from = 0
  let to = text.length
  while (from < to && isBlank(from)) from++
  while (to > from && isBlank(to - 1)) to--
  return text.slice(from, to)
}

/** A tracestate in one header: whole entries only; nothing where one of them is none. */
const stateOf = (tracestates: ReadonlyArray<string>): string | null => {
  const entries = new Map<string, string>()
  for (const part of tracestates.join(",").split(",")) {
    const entry = trimmed(part)
    if (entry === "") continue
    if (!member.test(entry)) return null
    const key = entry.slice(0, entry.indexOf("="))
    // A key has one entry, and the newest stands on the left.
    if (!entries.has(key)) entries.set(key, entry)
    if (entries.size > membersMax) return null
  }
  const kept = fitting([...entries.values()])
  return kept.length === 0 ? null : kept.join(",")
}

/** Drops whole entries from the right until the rest fits: the long ones first. */
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

/** `n` random bytes in hex that are not all zero, for all zeros name no span and no trace. */
const fresh = (count: number): Effect.Effect<string, never, Ids> =>
  Effect.gen(function* () {
    const hex = Buffer.from(yield* (yield* Ids).bytes(count)).toString("hex")
    return zeros.test(hex) ? `${hex.slice(0, -1)}1` : hex
  })

/**
 * The engine's own part of the trace a caller sent, or the first part of a new one. A trace that
 * begins here is marked as recorded: whoever is asked decides the same for its part.
 */
export const join = (sent: Sent | null): Effect.Effect<TraceContext, never, Ids> =>
  Effect.gen(function* () {
    const spanId = yield* fresh(spanBytes)
    if (sent !== null) return { ...sent, spanId, parentId: sent.spanId }
    const traceId = yield* fresh(traceBytes)
    return { traceId, spanId, parentId: null, flags: sampled | random, state: null }
  })

/** A further part of the same trace, below this one. */
export const child = (of: TraceContext): Effect.Effect<TraceContext, never, Ids> =>
  Effect.map(fresh(spanBytes), (spanId) => ({ ...of, spanId, parentId: of.spanId }))

/** The headers that tell another of this part of the trace: `spanId` is what it sees as parent. */
export const print = (of: TraceContext): Readonly<Record<string, string>> => ({
  traceparent: `00-${of.traceId}-${of.spanId}-${of.flags.toString(16).padStart(2, "0")}`,
  ...(of.state === null ? {} : { tracestate: of.state })
})

/** The headers of a call made later for an act whose trace is kept; a new trace where none is. */
export const outgoingFor = (
  trace: Trace.Trace | null
): Effect.Effect<Readonly<Record<string, string>>, never, Ids> =>
  Effect.gen(function* () {
    if (trace === null) return print(yield* join(null))
    const span = yield* (yield* Ids).bytes(spanBytes)
    return { traceparent: Trace.traceparent(trace, span) }
  })

/** The headers of a call that is made for the work at hand: a new parent id, a new trace outside any. */
export const outgoing: Effect.Effect<Readonly<Record<string, string>>, never, Ids> = Effect.gen(
  function* () {
    const current = yield* Current
    return print(yield* current === null ? join(null) : child(current))
  }
)
