/** Toy records of the tests: notes, written and read through every shape that a route can have. */
import { Operation, Read, Records, Refusal } from "@bursar/engine-core"
import { Decimal, Instant, RecordId } from "@bursar/engine-core/kernel"
import { Effect, Schema } from "effect"
import * as Collection from "#core/kernel/Collection.ts"
import * as WriteQueries from "#core/reads/WriteQueries.ts"

export const NoteId = RecordId.make("Note")

export const Note = Schema.Struct({
  holderId: NoteId,
  text: Schema.String,
  amount: Decimal.schema,
  owner: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Note" })

const Fact = Schema.Struct({ on: Schema.Literal("say"), text: Schema.String })

export const notes = Collection.define("note", {
  doc: "What somebody noted.",
  id: ({ holderId }) => holderId,
  record: Note,
  fact: Fact,
  evolve: (self, { text }) => ({ ...self, text }),
  keptBy: "engine",
  filters: { holderId: ({ holderId }) => holderId, text: ({ text }) => text }
})

/** A write that one person makes, on a collection; its body has every kind of value. */
export const register = Operation.define("holder.register", {
  doc: "Notes something.",
  route: "POST /v1/holders",
  makers: ["operator", "app"],
  approvers: 0,
  resource: {
    kind: "holder",
    id: ({ holderId }) => holderId,
    href: ({ holderId }) => `/v1/holders/${holderId}`
  },
  input: Schema.Struct({
    holderId: NoteId,
    text: Schema.String.check(Schema.isMaxLength(100)),
    amount: Decimal.plain,
    owner: Schema.NullOr(Schema.String),
    terms: Schema.optionalKey(
      Schema.Struct({ lines: Schema.Array(Schema.Struct({ "a/b~c": Decimal.plain })) })
    )
  }),
  result: Note,
  refuses: ["already-exists"],
  run: Effect.fnUntraced(function* ({ holderId, text, amount, owner }, act) {
    const records = yield* Records
    if (text === "boom") return yield* Effect.die(new Error("planted-secret"))
    const note = { holderId, text, amount, owner }
    yield* records.open(notes, note, act)
    return note
  })
})

/** A verb on a whole collection. */
export const onboard = Operation.define("holder.onboard", {
  doc: "Notes something by a verb on the collection.",
  route: "POST /v1/holders:onboard",
  makers: ["operator", "app"],
  approvers: 0,
  resource: {
    kind: "holder",
    id: ({ holderId }) => holderId,
    href: ({ holderId }) => `/v1/holders/${holderId}`
  },
  input: Schema.Struct({ holderId: NoteId }),
  result: Schema.Struct({ holderId: NoteId }),
  refuses: [],
  run: ({ holderId }) => Effect.succeed({ holderId })
})

/** A verb on one record, with two approvers. */
export const release = Operation.define("hold.release", {
  doc: "Releases a note.",
  route: "POST /v1/holds/{holdId}:release",
  makers: ["operator", "risk"],
  approvers: 2,
  resource: {
    kind: "hold",
    id: ({ holdId }) => holdId,
    href: ({ holdId }) => `/v1/holds/${holdId}`
  },
  input: Schema.Struct({ holdId: NoteId, reason: Schema.NonEmptyString }),
  result: Schema.Struct({ holdId: NoteId }),
  refuses: ["state-conflict"],
  run: ({ holdId }) => Effect.succeed({ holdId })
})

/** A verb on one record's sub-resource, with one approver. */
export const setPolicy = Operation.define("policy.set", {
  doc: "Sets a policy.",
  route: "POST /v1/instruments/{instrumentId}/policy:set",
  makers: ["operator"],
  approvers: 1,
  resource: {
    kind: "instrument",
    id: ({ instrumentId }) => instrumentId,
    href: ({ instrumentId }) => `/v1/instruments/${instrumentId}/policy`
  },
  input: Schema.Struct({ instrumentId: NoteId }),
  result: Schema.Struct({ instrumentId: NoteId }),
  refuses: [],
  run: ({ instrumentId }) => Effect.succeed({ instrumentId })
})

/** A write without a body. */
export const pause = Operation.define("instrument.pause", {
  doc: "Pauses an instrument.",
  route: "POST /v1/instruments/{instrumentId}:pause",
  makers: ["operator", "risk"],
  approvers: 0,
  resource: {
    kind: "instrument",
    id: ({ instrumentId }) => instrumentId,
    href: ({ instrumentId }) => `/v1/instruments/${instrumentId}`
  },
  input: Schema.Struct({ instrumentId: NoteId }),
  result: Schema.Struct({ instrumentId: NoteId }),
  refuses: ["not-found"],
  run: ({ instrumentId }) =>
    instrumentId === "absent"
      ? Effect.fail(Refusal.refused("not-found", { detail: "There is no such instrument." }))
      : Effect.succeed({ instrumentId })
})

export const View = Schema.Struct({ ...Note.fields, createdAt: Instant.schema })

export const listNotes = Read.list({
  name: "holders.list",
  doc: "Lists notes by id.",
  route: "GET /v1/holders",
  audience: { operator: "all", auditor: "all", investor: "own" },
  pinned: true,
  collection: notes,
  params: Schema.Struct({
    text: Schema.optionalKey(Schema.Array(Schema.Literals(["one", "two", "three"]))),
    holderId: Schema.optionalKey(NoteId)
  }),
  item: View,
  direction: "asc",
  order: "by id",
  changes: true,
  where: ({ text, holderId }) => ({
    ...(text === undefined ? {} : { text }),
    ...(holderId === undefined ? {} : { holderId: [holderId] })
  }),
  scope: ({ sight, caller }) =>
    Effect.succeed<Read.Scope>(sight === "own" ? { holderId: [caller.holderId ?? ""] } : {}),
  view: (records) =>
    records.some(({ holderId }) => holderId === "zz-away")
      ? Effect.fail(Refusal.unavailable("not-ready", "the store went away midway", 5))
      : Effect.succeed(
          records.map(({ holderId, text, amount, owner, createdAt }) => ({
            holderId,
            text,
            amount,
            owner,
            createdAt
          }))
        )
})

export const getNote = Read.one({
  name: "holders.get",
  doc: "Answers one note.",
  route: "GET /v1/holders/{holderId}",
  audience: { operator: "all", investor: "own" },
  pinned: true,
  params: Schema.Struct({ holderId: NoteId }),
  value: Note,
  refuses: ["not-found"],
  run: Effect.fnUntraced(function* ({ holderId }, asking) {
    if (asking.sight === "own" && asking.caller.holderId !== holderId) {
      return yield* Effect.fail(Refusal.refused("not-found"))
    }
    if (holderId === "broken") return yield* Effect.die(new Error("planted-secret"))
    const records = yield* Records
    return yield* records.get(notes, holderId, asking.pin)
  })
})

export const tables = {
  operations: [register, onboard, release, setPolicy, pause],
  queries: [
    listNotes,
    getNote,
    WriteQueries.listOperations,
    WriteQueries.getOperation,
    WriteQueries.listApprovals,
    WriteQueries.getApproval
  ]
}
