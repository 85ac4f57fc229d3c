/** Handlers of the feeds: pages of events and of the audit log. */
import { AuditReads, EventReads } from "@bursar/engine-core"
import { Effect, Stream } from "effect"
import * as Params from "../api/Params.ts"
import * as Answer from "../middleware/Answer.ts"
import type { ByHand } from "./Handler.ts"
import { asking, charged, closing, dropWhenNotTaken, inChunks, inTime, opening } from "./read.ts"

const standard = new Set(Object.keys(Params.page))
const inPath = new Set<string>()
const askEvents = asking({ params: EventReads.EventParams, standard, inPath })
const askAuditLog = asking({ params: AuditReads.AuditParams, standard, inPath })

export const make = (of: {
  readonly events: EventReads.EventReads["Service"]
  readonly auditLog: AuditReads.AuditReads["Service"]
}): Readonly<Record<string, ByHand>> => ({
  "events.list": Effect.fnUntraced(function* ({ arrival, caller }) {
    const { params, standard } = yield* Effect.fromResult(askEvents(arrival))
    const { value, next, ...around } = yield* inTime(
      of.events.page({
        caller,
        params,
        limit: standard.limit ?? EventReads.limitDefault,
        ...(standard.after === undefined ? {} : { after: standard.after })
      })
    )
    return Answer.json({
      requestId: arrival.identity.requestId,
      status: 200,
      text: `${opening(around)}[${value.map(EventReads.print).join(",")}]${closing(next)}`
    })
  }),

  // Without a limit the log is a list as any other: every record, streamed and charged by its records.
  "auditLog.list": Effect.fnUntraced(function* ({ arrival, caller, charge }) {
    const { params, standard } = yield* Effect.fromResult(askAuditLog(arrival))
    const place = standard.after === undefined ? {} : { after: standard.after }
    if (standard.limit === undefined) {
      const answer = yield* inTime(of.auditLog.all({ caller, params, ...place }))
      yield* dropWhenNotTaken(arrival)
      const records = inChunks(charged(answer.value, charge), {
        before: `${opening(answer)}[`,
        print: (chunk) => chunk.map(AuditReads.print).join(","),
        between: ",",
        after: "]"
      })
      const end = Stream.sync(() => Buffer.from(closing(answer.next())))
      const bytes = Stream.concat(records, end)
      return Answer.stream({ requestId: arrival.identity.requestId, bytes })
    }
    const { value, next, ...around } = yield* inTime(
      of.auditLog.page({ caller, params, limit: standard.limit, ...place })
    )
    return Answer.json({
      requestId: arrival.identity.requestId,
      status: 200,
      text: `${opening(around)}[${value.map(AuditReads.print).join(",")}]${closing(next)}`
    })
  })
})
