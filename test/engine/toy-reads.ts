/** Reads of the toy collections: pinned lists, one record, scopes of one's own. */
import { Read, Records } from "@bursar/engine-core"
import { type Collection, Instant } from "@bursar/engine-core/kernel"
import { Effect, Schema } from "effect"
import * as Calls from "./calls.ts"
import { notes } from "./ledger-toys.ts"
import { timers } from "./timers.ts"
import { counters } from "./toys.ts"

const audience = { operator: "all", auditor: "all", investor: "own" } as const

const Shown = Schema.Struct({
  id: Schema.String,
  version: Schema.Number,
  createdAt: Instant.schema,
  updatedAt: Instant.schema,
  says: Schema.String
})

/** A list of a collection, ordered by id; an investor sees the records whose id begins with its own. */
export const listOf = <A, F>(
  collection: Collection.Collection<A, F>,
  options: {
    readonly name?: string
    readonly direction?: "asc" | "desc"
    readonly says: (record: A) => string
  }
) =>
  Read.list({
    name: `toys.${options.name ?? collection.name}`,
    doc: "Lists toys.",
    route: "GET /v1/toys",
    audience,
    pinned: true,
    collection,
    params: Schema.Struct({
      state: Schema.optionalKey(Schema.Array(Schema.String)),
      owner: Schema.optionalKey(Schema.Array(Schema.String))
    }),
    item: Shown,
    direction: options.direction ?? "asc",
    order: "by id",
    changes: true,
    where: ({ state, owner }): Read.Scope => ({
      ...(state === undefined ? {} : { state }),
      ...(owner === undefined ? {} : { owner })
    }),
    scope: (who) =>
      Effect.succeed<Read.Scope>(who.sight === "own" ? { owner: [who.caller.holderId ?? ""] } : {}),
    view: (found) =>
      Effect.succeed(
        found.map((record) => ({
          id: collection.id(record),
          version: record.version,
          createdAt: record.createdAt,
          updatedAt: record.updatedAt,
          says: options.says(record)
        }))
      )
  })

export const listNotes = listOf(notes, { says: (one) => one.state })
export const listTimers = listOf(timers, {
  says: (one) => `${one.state} ${one.rings} ${one.touched}`
})
export const listTimersBack = listOf(timers, {
  name: "timers-back",
  direction: "desc",
  says: (one) => one.state
})
export const listCounters = listOf(counters, { says: (one) => String(one.count) })

/** One value made of two look-ups. */
export const sum = Read.one({
  name: "toys.sum",
  doc: "Counts open notes and everything that was counted.",
  route: "GET /v1/toys/sum",
  audience,
  pinned: true,
  params: Schema.Struct({}),
  value: Schema.Struct({ open: Schema.Number, counted: Schema.Number, judgedAt: Schema.String }),
  refuses: [],
  run: Effect.fnUntraced(function* (_, { pin }) {
    const records = yield* Records
    const open = yield* records.list(notes, { pin, where: { state: ["open"] }, limit: 1_000 })
    yield* Effect.yieldNow
    const counted = yield* records.list(counters, { pin, limit: 1_000 })
    return {
      open: open.length,
      counted: counted.reduce((total, { record }) => total + record.count, 0),
      judgedAt: Instant.sortable(pin.judgedAt)
    }
  })
})

export const auditor = Calls.person("aida", "auditor")
