/** Handlers of the feeds: pages of events and of the audit log. */
import { AuditQueries, EventQueries, type Signals } from "@bursar/engine-core"
import { Effect, Stream } from "effect"
import * as Params from "../api/Params.ts"
import * as Answer from "../middleware/Answer.ts"
import * as Waits from "../middleware/Waits.ts"
import type { SignedInHandler, SignedInCall } from "./Handler.ts"
import {
  asking,
  callsOf,
  charged,
  closing,
  dropWhenNotTaken,
  inChunks,
  inSlices,
  inTime,
  opening
} from "./read.ts"

/**
 * Pause in milliseconds between a signal and the read after it: the first pause of a wait and the
 * longest (docs/contract/waiting.md#limits). Events of the pause are in the page that ends it.
 */
const pauseMillis = { first: 20, longest: 1_000 }

/**
 * Backoff of one wait: each read of the page that had nothing for the caller doubles the pause before
 * the next one. So a filter that rarely matches costs the store no statement for each event.
 */
const paced = (signal: Signals.Signal): Signals.Signal => {
  let pause = pauseMillis.first
  return Effect.suspend(() => {
    const paused = Effect.sleep(pause)
    pause = Math.min(2 * pause, pauseMillis.longest)
    return Effect.andThen(signal, paused)
  })
}

const standard = new Set(Object.keys(Params.page))
const inPath = new Set<string>()
type PrintedEvent = Parameters<typeof EventQueries.print>[0]

const askEvents = asking({ params: EventQueries.EventParams, standard, inPath })
const printEvents = inSlices((event: PrintedEvent) => Buffer.from(EventQueries.print(event)))
const printRecords = inSlices((record: AuditQueries.PrintableRecord) =>
  Buffer.from(AuditQueries.print(record))
)
const askAuditLog = asking({ params: AuditQueries.AuditParams, standard, inPath })

export const make = ({
  events,
  auditLog,
  signals
}: {
  readonly events: EventQueries.EventQueries["Service"]
  readonly auditLog: AuditQueries.AuditQueries["Service"]
  readonly signals: Signals.Signals["Service"]
}): Readonly<Record<string, SignedInHandler>> => ({
  "events.list": Effect.fnUntraced(function* ({ arrival, caller, charge, wait }) {
    const { params, standard } = yield* Effect.fromResult(askEvents(arrival))
    let place = standard.after === undefined ? {} : { after: standard.after }
    const limit = standard.limit ?? EventQueries.limitDefault
    const page = Effect.suspend(() =>
      inTime(events.page({ caller, params, limit, ...place }))
    ).pipe(
      Effect.tap(({ next }) =>
        Effect.sync(() => {
          place = { after: next }
        })
      )
    )
    const first = yield* page
    // A page of the newest events first ends at the oldest, and one whose time is past at that time.
    const isClosed = params.order === "desc" || (params.to !== undefined && params.to <= first.now)
    const preferred = isClosed ? Waits.none : wait
    const { answer, applied } = yield* preferred.hold({
      first,
      signal: Effect.map(signals.events, paced),
      read: page,
      isFinal: ({ value }) => value.length > 0
    })
    const { value, next, ...around } = answer
    yield* charge(callsOf(value.length))
    const { bytes } = yield* printEvents(value)
    const printed = { before: opening(around), bytes, after: closing(next) }
    return pageOf(arrival, printed, applied)
  }),

  // Without a limit the log is a list as any other: every record, streamed and charged by its records.
  "auditLog.list": Effect.fnUntraced(function* ({ arrival, caller, charge }) {
    const { params, standard } = yield* Effect.fromResult(askAuditLog(arrival))
    const place = standard.after === undefined ? {} : { after: standard.after }
    if (standard.limit === undefined) {
      const answer = yield* inTime(auditLog.all({ caller, params, ...place }))
      yield* dropWhenNotTaken(arrival)
      const records = inChunks(charged(answer.value, charge), {
        before: `${opening(answer)}[`,
        print: (chunk) => chunk.map(AuditQueries.print).join(","),
        between: ",",
        after: "]"
      })
      const end = Stream.sync(() => Buffer.from(closing(answer.next())))
      const bytes = Stream.concat(records, end)
      return Answer.stream({ requestId: arrival.identity.requestId, bytes })
    }
    const { value, next, ...around } = yield* inTime(
      auditLog.page({ caller, params, limit: standard.limit, ...place })
    )
    yield* charge(callsOf(value.length))
    const { bytes } = yield* printRecords(value)
    return pageOf(arrival, { before: opening(around), bytes, after: closing(next) }, {})
  })
})

/** Answers with a page of a feed, which has no ETag: its `next` moves with the feed. */
const pageOf = (
  { identity }: SignedInCall["arrival"],
  page: { readonly before: string; readonly bytes: Uint8Array; readonly after: string },
  extra: Answer.Extra
) =>
  Answer.read({
    requestId: identity.requestId,
    ifNoneMatch: undefined,
    validator: undefined,
    extra,
    bytes: () => Buffer.concat([Buffer.from(page.before), page.bytes, Buffer.from(page.after)])
  })
