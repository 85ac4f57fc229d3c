/**
 * A record with an action that awaits shows its key in waitingOn, to those who read approvals
 * (docs/domain/every-record.md#waiting-on).
 */
import { type Caller, Follower, type Operation, Read, Queries, Records } from "@bursar/engine-core"
import { Ledger } from "@bursar/engine-core/ports"
import { assert, describe, it } from "@effect/vitest"
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import { Effect, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as RecordView from "#core/records/RecordView.ts"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"

const olga = Calls.person("olga", "operator")
const ann = Calls.person("ann", "approver")
const app = Calls.person("app", "app")

const View = Schema.Struct({ ...Toys.Counter.fields, ...RecordView.fields })
const declared = {
  doc: "Reads counters.",
  audience: { operator: "all", app: "all" },
  pinned: true
} as const
const one = Read.one({
  ...declared,
  name: "toys.counter",
  route: "GET /v1/counters/{counterId}",
  params: Schema.Struct({ counterId: Schema.String }),
  value: View,
  refuses: ["not-found"],
  run: Effect.fnUntraced(function* ({ counterId }, { pin }) {
    const records = yield* Records
    return RecordView.of(
      Toys.counters,
      Toys.Counter.fields,
      yield* records.get(Toys.counters, counterId, pin)
    )
  })
})
const all = Read.list({
  ...declared,
  name: "toys.counters",
  route: "GET /v1/counters",
  collection: Toys.counters,
  params: Schema.Struct({}),
  item: View,
  direction: "asc",
  order: "by id",
  changes: true,
  where: () => ({}),
  view: (records) =>
    Effect.succeed(
      records.map((record) => RecordView.of(Toys.counters, Toys.Counter.fields, record))
    )
})

const keys = (view: { readonly waitingOn: ReadonlyArray<RecordView.AwaitedAct> }) =>
  view.waitingOn.map(({ actionKey }) => actionKey)

const read = (caller: Caller.Caller, point: { readonly at?: Offset.Offset } = {}) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const { value } = yield* queries.one(one, { caller, params: { counterId: "c1" }, point })
    return value
  })
const listed = (caller: Caller.Caller, point: { readonly at?: Offset.Offset } = {}) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const { value } = yield* queries.page(all, { caller, params: {}, point, page: { limit: 9 } })
    const whole = yield* queries.all(all, { caller, params: {}, point, page: {} })
    assert.deepStrictEqual(yield* Stream.runCollect(whole.value), [...value])
    return value.map((view) => [view.counterId, keys(view)])
  })

/** An update of the ledger, followed: its offset. */
const toldByTheLedger = (noteId: string) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const { offset } = yield* ledger.submit({
      commandId: noteId,
      commands: [Notes.proposal(ledger.venue, { noteId, registrar: ledger.venue })],
      dedup: { _tag: "Since", offset: yield* ledger.ledgerEnd }
    })
    yield* Effect.flatMap(Follower, (follower) => follower.catchUp)
    return offset
  })

const make = (counterId: string, by: number, write: Operation.Operation = Toys.double) =>
  Effect.map(Calls.submit(write, olga, { params: { counterId }, body: `{"by":${by}}` }), (answer) =>
    String(Calls.field(answer, "actionKey"))
  )

const inWorld = Effect.provide(
  world({
    operations: Toys.toys,
    fromLedger: Notes.fromLedger,
    settings: { approvalExpiry: 3_600_000 }
  })
)

describe("a record with an action that awaits", () => {
  // Switched off to see it red: `shown`, its role, that only awaiting actions are looked for.
  it.effect("never does not say so, says it to all, or says it once the action is decided", () =>
    Effect.gen(function* () {
      for (const counterId of ["c1", "c2"]) {
        yield* Calls.submit(Toys.single, olga, { params: { counterId }, body: '{"by":1}' })
      }
      yield* Calls.settle
      assert.deepStrictEqual(keys(yield* read(olga)), [])
      const first = yield* make("c1", 1)
      yield* TestClock.adjust(1_000)
      const second = yield* make("c1", 2, Toys.triple)
      assert.deepStrictEqual((yield* read(olga)).waitingOn, [
        {
          party: null,
          role: "approver",
          action: "approve",
          by: Instant.fromEpochMillis(3_600_000),
          actionKey: first,
          resource: null
        },
        {
          party: null,
          role: "approver",
          action: "approve",
          by: Instant.fromEpochMillis(3_601_000),
          actionKey: second,
          resource: null
        }
      ])
      assert.deepStrictEqual(yield* listed(olga), [
        ["c1", [first, second]],
        ["c2", []]
      ])
      assert.deepStrictEqual(yield* listed(app), [
        ["c1", []],
        ["c2", []]
      ])
      yield* Calls.approve(first, ann)
      assert.deepStrictEqual(keys(yield* read(olga)), [second])
      yield* TestClock.adjust("2 hours")
      assert.deepStrictEqual(keys(yield* read(olga)), [])
    }).pipe(inWorld)
  )

  it.effect("is read at a point of the past without the actions that await it now", () =>
    Effect.gen(function* () {
      yield* Calls.submit(Toys.single, olga, { params: { counterId: "c1" }, body: '{"by":1}' })
      yield* Calls.settle
      // The ledger goes on, so that the present offset is one of the past.
      const at = yield* toldByTheLedger("n1")
      yield* toldByTheLedger("n2")
      const action = yield* make("c1", 1)
      const past = { at }
      assert.deepStrictEqual(keys(yield* read(olga)), [action])
      assert.deepStrictEqual(keys(yield* read(olga, past)), [])
      assert.deepStrictEqual(yield* listed(olga), [["c1", [action]]])
      assert.deepStrictEqual(yield* listed(olga, past), [["c1", []]])
    }).pipe(inWorld)
  )
})
