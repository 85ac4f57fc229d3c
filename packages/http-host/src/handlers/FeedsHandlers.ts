/** The event feed: a page of it, and the cursor it is polled with again. */
import { EventReads } from "@bursar/engine-core"
import { Effect } from "effect"
import * as Params from "../api/Params.ts"
import * as Answer from "../middleware/Answer.ts"
import type { ByHand } from "./Handler.ts"
import { asking, closing, inTime, opening } from "./read.ts"

const ask = asking({
  params: EventReads.EventParams,
  standard: new Set(Object.keys(Params.page)),
  inPath: new Set()
})

export const make = (of: {
  readonly events: EventReads.EventReads["Service"]
}): Readonly<Record<string, ByHand>> => ({
  "events.list": Effect.fnUntraced(function* ({ arrival, caller }) {
    const { params, standard } = yield* Effect.fromResult(ask(arrival))
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
  })
})
