/** Intake of statements: what is recorded, once, and what leaves nothing behind; on both storages. */
import { Intake, Records, Workers } from "@bursar/engine-core"
import { Date, Decimal, Instant } from "@bursar/engine-core/kernel"
import { Blobs, Bulk, Feed, StatementSource, WorkQueue } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Stream } from "effect"
import { TestClock } from "effect/testing"
import { queue as runs } from "#core/findings/RunQueue.ts"
import { externalSources } from "#core/statements/external-source/ExternalSource.ts"
import {
  externalStatements,
  statementsOfDates
} from "#core/statements/external-statement/ExternalStatement.ts"
import * as SourceSteps from "#core/statements/external-source/SourceSteps.ts"
import * as StageSteps from "#core/statements/external-statement/StageSteps.ts"
import * as StatementLookups from "#core/statements/external-statement/StatementLookups.ts"
import * as Calls from "../engine/calls.ts"
import { world } from "../engine/world.ts"
import * as Intakes from "./intakes.ts"
import * as Story from "./story.ts"
import { join } from "./venue.ts"

// A database answers in the time of the machine, which a test's own clock would never reach.
const storages = [
  ["memory", Memory.layer, it.effect],
  ["PostgreSQL", TestDatabase.layer as typeof Memory.layer, it.live]
] as const

/** The fund is recorded, on the morning of 2 July 2026. */
const openedAt = Effect.gen(function* () {
  const cast = yield* Story.cast
  yield* Story.recorded(cast)
  yield* TestClock.setTime(Date.epochDay(Date.of("2026-07-02")) * 86_400_000 + 36_000_000)
  return cast
})

/** The fund is recorded, at the time of the machine. */
const openedNow = Effect.gen(function* () {
  const cast = { registrar: yield* join("registrar"), oracle: yield* join("oracle") } as Story.Cast
  yield* Story.recorded(cast)
  return cast
})

const lines = [
  { account: "h1", quantity: "10.5" },
  { account: "h2", quantity: "4", locked: "1" }
]

const statements = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(externalStatements, { limit: 100 })
  return rows.map(({ record }) => record)
})

const slots = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(statementsOfDates, { limit: 100 })
  return rows.map(({ record }) => `${record.businessDate} ${record.externalStatementId}`)
})

const eventsOf = (type: string) =>
  Effect.gen(function* () {
    const feed = yield* Feed
    const { events } = yield* feed.read({ order: "asc", limit: 1_000 })
    return events.filter((event) => event.type === type)
  })

/** Number of stages that wait to be swept, and of runs that statements ask for. */
const queued = Effect.gen(function* () {
  const work = yield* WorkQueue
  const { waiting: stages } = yield* work.depth(StageSteps.queue)
  const { waiting: runsAsked } = yield* work.depth(runs)
  return { stages, runs: runsAsked }
})

/** Whether a staged file of this id still has its first chunk, and how many rows. */
const remains = (stageId: string) =>
  Effect.gen(function* () {
    const blobs = yield* Blobs
    const bulk = yield* Bulk
    const chunk = yield* blobs.chunk({ file: StageSteps.fileOf(stageId), chunk: 0 })
    return { chunk: Option.isSome(chunk), rows: yield* bulk.count(`statement/${stageId}`) }
  })

for (const [name, storage, timed] of storages) {
  const opened = name === "memory" ? openedAt : openedNow
  const venue = (options: Partial<Parameters<typeof Intakes.engine>[0]> = {}) =>
    Effect.provide(Intakes.engine({ storage, ...options }))

  describe(`a statement that is handed in, on ${name}`, () => {
    timed("is recorded once, with its lines, its bytes, its event and its run", () =>
      Effect.gen(function* () {
        yield* opened
        const note = "x".repeat(2_500_000)
        const bytes = Intakes.file({ lines, note })
        const { id, location, replayed, value } = yield* Intakes.receive(bytes, { key: "k" })
        assert.strictEqual(location, `/v1/external-statements/${id}`)
        assert.strictEqual(replayed, false)
        assert.deepInclude(value, {
          externalSourceId: "admin-1",
          kind: "holdings",
          businessDate: "2020-01-02",
          receivedBy: "olga",
          basis: "settled",
          rawEncoding: "utf-8",
          corrects: null,
          supersededBy: null
        })
        const [statement] = yield* statements
        if (statement === undefined) throw new Error("no statement")
        assert.strictEqual(statement.lineCount, 2)
        const read = yield* Stream.runCollect(StatementLookups.linesOf(statement))
        assert.deepEqual(
          read.map((line) => (line.kind === "holdings" ? [line.line, line.account] : [])),
          [
            [1, "h1"],
            [2, "h2"]
          ]
        )
        const [second, ...none] = yield* StatementLookups.linesAt(statement, [3, 2, 2])
        assert.deepInclude(second, { account: "h2", locked: Decimal.one })
        assert.deepEqual(none, [])
        const raw = yield* Stream.runCollect(
          StageSteps.bytesOf({ stageId: id, size: statement.rawBytes })
        )
        assert.strictEqual(Buffer.compare(Buffer.concat([...raw]), Buffer.from(bytes)), 0)
        const [received, ...others] = yield* eventsOf("statement.received")
        assert.deepEqual(others, [])
        assert.strictEqual(received?.resourceId, id)
        assert.deepEqual(yield* queued, { stages: 0, runs: 1 })
        const records = yield* Records
        const { lastBusinessDate } = yield* records.get(externalSources, "admin-1")
        assert.strictEqual(lastBusinessDate, "2020-01-02")
        const again = yield* Intakes.receive(bytes, { key: "k" })
        assert.deepInclude(again, { id, replayed: true, value })
        const elsewhere = yield* Intakes.refused(
          Intakes.receive(Intakes.file({ lines: [] }), { key: "k" })
        )
        assert.strictEqual(elsewhere.why, "idempotency-key-reused")
      }).pipe(venue())
    )

    timed("never is recorded twice for the same bytes, but for another instrument (G63)", () =>
      Effect.gen(function* () {
        const cast = yield* opened
        yield* Story.recorded(cast, { instrumentId: "fund-b" })
        const bytes = Intakes.file({ lines })
        const a = { instrumentId: "fund-a" }
        const first = yield* Intakes.receive(bytes, { named: a, key: "k1" })
        const same = yield* Intakes.receive(bytes, { named: a, key: "k2" })
        assert.deepInclude(same, { id: first.id, replayed: true })
        const replayed = yield* Intakes.receive(bytes, { named: a, key: "k2" })
        assert.deepInclude(replayed, { id: first.id, replayed: true })
        const other = yield* Intakes.receive(bytes, { named: { instrumentId: "fund-b" } })
        assert.strictEqual(other.replayed, false)
        const changed = yield* Intakes.refused(
          Intakes.receive(Intakes.file({ lines: [] }), { named: a })
        )
        assert.strictEqual(changed.why, "rule-refused statement-of-date")
        assert.strictEqual((yield* eventsOf("statement.received")).length, 2)
        const nextDay = yield* Intakes.receive(Intakes.file({ businessDate: "2020-01-01" }), {
          named: { ...a, businessDate: Date.of("2020-01-01") }
        })
        assert.strictEqual(nextDay.replayed, false)
      }).pipe(venue({ sources: [Intakes.source({ instruments: ["fund-a", "fund-b"] })] }))
    )

    timed("is corrected by one that names it, and never by two", () =>
      Effect.gen(function* () {
        yield* opened
        const first = yield* Intakes.receive(Intakes.file({ lines }))
        const correcting = (corrects: string, note: string) =>
          Intakes.receive(Intakes.file({ lines, note }), { named: { corrects } })
        const early = yield* Intakes.refused(
          Intakes.receive(Intakes.file({ businessDate: "2020-01-01" }), {
            named: { corrects: first.id }
          })
        )
        assert.strictEqual(early.why, "rule-refused statement-of-date")
        const exits = yield* Effect.all(
          ["a", "b", "c"].map((note) => Effect.exit(correcting(first.id, note))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
        const stored = yield* statements
        const second = stored.find(({ corrects }) => corrects === first.id)
        const old = stored.find(({ corrects }) => corrects === null)
        assert.strictEqual(stored.length, 2)
        assert.deepEqual(yield* slots, [`2020-01-02 ${second?.externalStatementId}`])
        assert.deepEqual(
          [old?.externalStatementId, old?.supersededBy],
          [first.id as string, second?.externalStatementId]
        )
        const late = yield* Intakes.refused(correcting(first.id, "d"))
        assert.strictEqual(late.why, "rule-refused statement-of-date")
      }).pipe(venue())
    )

    timed("is corrected by its own first bytes where the correction was wrong, and once", () =>
      Effect.gen(function* () {
        yield* opened
        const bytes = Intakes.file({ lines })
        const sends = (corrects?: string) =>
          Intakes.receive(bytes, { named: corrects === undefined ? {} : { corrects } })
        const first = yield* sends()
        const wrong = yield* Intakes.receive(Intakes.file({ lines: [] }), {
          named: { corrects: first.id }
        })
        assert.deepInclude(yield* sends(), { id: first.id, replayed: true })
        const back = yield* sends(wrong.id)
        assert.deepInclude(back, { replayed: false })
        assert.deepEqual(yield* slots, [`2020-01-02 ${back.id}`])
        for (const corrects of [wrong.id, back.id]) {
          assert.deepInclude(yield* sends(corrects), { id: back.id, replayed: true })
        }
        assert.strictEqual((yield* eventsOf("statement.received")).length, 3)
      }).pipe(venue())
    )

    timed("never is recorded twice by calls at one time, of one key or of several", () =>
      Effect.gen(function* () {
        yield* opened
        const bytes = Intakes.file({ lines })
        const calls = ["k", "k", "l", null].map((key) => Intakes.receive(bytes, { key }))
        const all = yield* Effect.all(calls, { concurrency: "unbounded" })
        assert.strictEqual(new Set(all.map(({ id }) => id)).size, 1)
        assert.strictEqual(all.filter(({ replayed }) => !replayed).length, 1)
        assert.strictEqual((yield* statements).length, 1)
        assert.strictEqual((yield* eventsOf("statement.received")).length, 1)
        const sweeper = yield* Workers.runnerOf("stages")
        while ((yield* sweeper.runOnce) > 0);
        assert.strictEqual((yield* queued).stages, 0)
        assert.isTrue((yield* remains(all[0]?.id ?? "")).chunk)
      }).pipe(venue())
    )
  })
}

describe("a statement that is handed in", () => {
  const venue = (options: Partial<Parameters<typeof Intakes.engine>[0]>) =>
    Effect.provide(Intakes.engine(options))

  it.effect("leaves nothing where it breaks off, whatever it breaks at", () =>
    Effect.gen(function* () {
      yield* openedAt
      const malformed = { _tag: "StatementMalformed", line: 3, column: 14 }
      const faulty = Intakes.file({ lines, fault: malformed })
      const refused = yield* Intakes.refused(Intakes.receive(faulty))
      assert.strictEqual(refused.why, "invalid-request")
      assert.include(refused.detail, "(line 3, column 14)")
      for (const check of StatementSource.statementConditions) {
        const fault = { _tag: "StatementRefused", check, line: 9 }
        const { detail, why } = yield* Intakes.refused(
          Intakes.receive(Intakes.file({ lines, fault }))
        )
        assert.strictEqual(why, `rule-refused ${check}`)
        assert.include(detail, "(line 9)")
      }
      const long = yield* Intakes.refused(
        Intakes.receive(Intakes.file({ lines: [...lines, ...lines] }))
      )
      assert.strictEqual(long.why, "body-too-large")
      const empty = yield* Intakes.refused(Intakes.receive(new Uint8Array(0)))
      assert.strictEqual(empty.why, "invalid-request")
      const ahead = yield* Intakes.refused(
        Intakes.receive(Intakes.file({ asOf: "2026-07-02T10:00:00.000000001Z" }))
      )
      assert.strictEqual(ahead.why, "rule-refused as-of-ahead")
      const tomorrow = yield* Intakes.refused(
        Intakes.receive(Intakes.file({ businessDate: "2026-07-03" }))
      )
      assert.strictEqual(tomorrow.why, "rule-refused as-of-ahead")
      const named = { businessDate: Date.of("2026-06-30") }
      const other = yield* Intakes.refused(
        Intakes.receive(Intakes.file({ businessDate: "2026-07-01" }), { named })
      )
      assert.strictEqual(other.why, "rule-refused business-date")
      const slow = yield* Effect.forkChild(
        Effect.scoped(
          Effect.flatMap(Intake.StatementIntake, ({ stage }) =>
            stage({
              query: "",
              bytes: Stream.concat(Stream.make(new Uint8Array(2_000_000)), Stream.never)
            })
          )
        )
      )
      yield* Effect.yieldNow
      yield* Fiber.interrupt(slow)
      assert.deepEqual(yield* statements, [])
      assert.deepEqual(yield* slots, [])
      assert.deepEqual(yield* eventsOf("statement.received"), [])
      const { stages } = yield* queued
      assert.isAbove(stages, 10)
      const sweeper = yield* Workers.runnerOf("stages")
      while ((yield* sweeper.runOnce) > 0);
      assert.strictEqual((yield* queued).stages, 0)
    }).pipe(venue({ linesMax: 3 }))
  )

  it.effect("is never swept once it is recorded, whatever sweep of its stage had begun", () =>
    Effect.gen(function* () {
      yield* openedAt
      const { id } = yield* Intakes.receive(Intakes.file({ lines }))
      const records = yield* Records
      // The sweep of its stage, as if it had been leased before the statement was recorded.
      const item = { queue: StageSteps.queue, itemId: id, resource: id, payload: "", delay: 0 }
      yield* records.transact(records.enqueue([item]))
      const sweeper = yield* Workers.runnerOf("stages")
      assert.strictEqual(yield* sweeper.runOnce, 1)
      const [statement] = yield* statements
      const read = yield* Stream.runCollect(StatementLookups.linesOf(statement!))
      assert.strictEqual(read.length, lines.length)
      const blobs = yield* Blobs
      const bytes = yield* blobs.chunk({ file: StageSteps.fileOf(id), chunk: 0 })
      assert.isTrue(Option.isSome(bytes))
      // The sweep had looked for the statement before it was recorded, and slept.
      yield* StageSteps.discard(id)
      assert.strictEqual(
        (yield* Stream.runCollect(StatementLookups.linesOf(statement!))).length,
        lines.length
      )
      assert.isTrue(Option.isSome(yield* blobs.chunk({ file: StageSteps.fileOf(id), chunk: 0 })))
    }).pipe(venue({}))
  )

  it.effect("is known again by its bytes, on however many dates they were sent", () =>
    Effect.gen(function* () {
      yield* openedAt
      const records = yield* Records
      const act = { cause: { by: "clock" } as const, now: yield* Instant.now }
      const first = Date.of("2020-01-02")
      const hands = (businessDate: Date.Date) =>
        Intakes.receive(Intakes.file({ lines }), { named: { businessDate } })
      const { id } = yield* hands(first)
      const statement = yield* records.get(externalStatements, id)
      // The same table on a thousand more days, recorded as the intake records one.
      yield* records.transact(
        Effect.forEach(Array.from({ length: 1_000 }), (_, day) =>
          records.open(
            externalStatements,
            {
              ...statement,
              externalStatementId: `est_${String(day).padStart(4, "0")}` as never,
              businessDate: Date.addDays(first, day + 1)
            },
            act
          )
        )
      )
      const again = yield* hands(Date.addDays(first, 1_000))
      assert.deepInclude(again, { id: "est_0999", replayed: true })
      assert.deepInclude(yield* hands(first), { id, replayed: true })
    }).pipe(venue({}))
  )

  it.effect("is refused where its source or its instrument is none, before it is read", () =>
    Effect.gen(function* () {
      yield* openedAt
      const why = (options: Parameters<typeof Intakes.receive>[1]) =>
        Effect.map(Intakes.refused(Intakes.receive(Intakes.file({ lines }), options)), (r) => r.why)
      assert.strictEqual(yield* why({ named: { externalSourceId: "none" } }), "not-found")
      assert.strictEqual(
        yield* why({ named: { instrumentId: "fund-b" } }),
        "rule-refused source-instrument"
      )
      assert.strictEqual(yield* why({ mediaType: "text/csv" }), "unsupported-media-type")
      assert.strictEqual(
        yield* why({ named: { externalSourceId: "bank-1" } }),
        "rule-refused source-account"
      )
      assert.strictEqual(yield* why({ named: { externalSourceId: "both" } }), "invalid-request")
      assert.strictEqual(
        yield* why({ named: { externalSourceId: "both", instrumentId: "none" } }),
        "not-found"
      )
      const records = yield* Records
      const act = { cause: { by: "clock" } as const, now: yield* Instant.now }
      yield* records.transact(
        Effect.gen(function* () {
          const both = yield* records.get(externalSources, "both")
          yield* records.append(externalSources, both, { on: "deactivate" }, act)
        })
      )
      assert.strictEqual(
        yield* why({ named: { externalSourceId: "both", instrumentId: "fund-a" } }),
        "rule-refused source-active"
      )
      const feed = yield* Intakes.receive(Intakes.file({ lines }), {
        caller: Calls.person("felix", "feed")
      })
      assert.sameMembers(Object.keys(feed.value), [
        "businessDate",
        "contentHash",
        "externalStatementId",
        "statements"
      ])
    }).pipe(
      venue({
        sources: [
          Intakes.source(),
          Intakes.source({ externalSourceId: "both", instruments: ["fund-a", "none"] }),
          Intakes.source({
            externalSourceId: "bank-1",
            kind: "cash",
            account: "acc-1",
            accountIs: null
          })
        ]
      })
    )
  )
})

describe("a source of the configuration", () => {
  it.effect(
    "is stored once, changed, inactive while it is not named, and active once it is again",
    () =>
      Effect.gen(function* () {
        const records = yield* Records
        const loaded: Array<string> = []
        const [admin, moved] = [Intakes.source(), Intakes.source({ zone: "Europe/Zurich" })]
        const other = Intakes.source({ externalSourceId: "admin-2" })
        for (const configured of [[admin], [admin], [moved, other], [other], [moved, other], []]) {
          yield* SourceSteps.reconcile(configured)
          const rows = yield* records.list(externalSources, { limit: 10 })
          loaded.push(
            rows
              .map(({ record }) => [
                record.externalSourceId,
                record.version,
                record.state,
                record.zone
              ])
              .join(" ")
          )
        }
        assert.deepEqual(loaded, [
          "admin-1,1,active,UTC",
          "admin-1,1,active,UTC",
          "admin-1,2,active,Europe/Zurich admin-2,1,active,UTC",
          "admin-1,3,inactive,Europe/Zurich admin-2,1,active,UTC",
          "admin-1,4,active,Europe/Zurich admin-2,1,active,UTC",
          "admin-1,5,inactive,Europe/Zurich admin-2,2,inactive,UTC"
        ])
      }).pipe(Effect.provide(world()))
  )
})
