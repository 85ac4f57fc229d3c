/** The follower's edges: one writer, one participant, a pruned ledger, order, and what it must never lose. */
import { Engine, Follower, Records, Workers } from "@bursar/engine-core"
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import { Feed, Ledger, ProjectionLog, WorkQueue } from "@bursar/engine-core/ports"
import * as Memory from "@bursar/storage-adapters/memory"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Duration, Effect, Exit, Layer, Option, Queue, Stream } from "effect"
import { TestClock } from "effect/testing"
import { contracts } from "#core/projection/Contract.ts"
import { unexpectedFacts } from "#core/projection/Unexpected.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import * as Passing from "../engine/passing.ts"
import { ports, world, type WorldOptions } from "../engine/world.ts"

const declared = { operations: Notes.operations, fromLedger: Notes.fromLedger }
const engine = (options: WorldOptions = {}) => Effect.provide(world({ ...declared, ...options }))

let commands = 0
/** Notes in one transaction of the venue's own, past the engine. */
const make = (registrar: string, ...ids: readonly [string, ...ReadonlyArray<string>]) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    const [first, ...more] = ids
    const proposalOf = (noteId: string) => Notes.proposal(ledger.venue, { noteId, registrar })
    const receipt = yield* ledger.submit({
      commandId: `past:${++commands}`,
      commands: [proposalOf(first), ...more.map(proposalOf)],
      dedup: { _tag: "Since", offset: yield* ledger.ledgerEnd }
    })
    return Option.getOrThrow(receipt.transaction)
  })

const catchUp = Effect.flatMap(Follower, (follower) => follower.catchUp)
const head = Effect.flatMap(ProjectionLog, (log) => log.head)
const notes = Effect.flatMap(Records, (records) =>
  Effect.map(records.list(Notes.notes, { limit: 100 }), (rows) => rows.map(({ record }) => record))
)
const journal = Effect.flatMap(Feed, (feed) =>
  Effect.map(feed.read({ order: "asc", limit: 100, kind: ["journal"] }), ({ events }) => events)
)

const diedOf = <A, E>(exit: Exit.Exit<A, E>): string =>
  Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "it went on"

describe("one writer", () => {
  it.effect("is fenced by the next one: it changes nothing any more", () =>
    Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      yield* make(party, "a")
      yield* catchUp
      yield* make(party, "b")
      const log = yield* ProjectionLog
      const before = yield* log.head
      // Another takes over between this one's start and its commit.
      const ledger = yield* Ledger.Ledger
      const hijacked = Layer.effect(
        Ledger.Ledger,
        Effect.succeed({
          ...ledger,
          updates: (query: Ledger.UpdatesQuery) =>
            Stream.concat(
              Stream.drain(
                Stream.fromEffect(Effect.orDie(log.takeOver({ participant: "participant-1" })))
              ),
              ledger.updates(query)
            )
        })
      )
      const late = yield* Layer.build(
        Layer.fresh(Engine.layerOf(declared)).pipe(Layer.provide(hijacked))
      )
      assert.strictEqual(yield* Calls.slug(Effect.provide(catchUp, late)), "not-ready")
      assert.strictEqual((yield* log.head).offset, before.offset)
      assert.deepStrictEqual(
        (yield* notes).map(({ noteId }) => noteId),
        ["a"]
      )
      yield* catchUp
      assert.deepStrictEqual(
        (yield* notes).map(({ noteId }) => noteId),
        ["a", "b"]
      )
    }).pipe(engine())
  )

  it.effect("is fenced, not broken, when the next one has projected the same updates already", () =>
    Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      yield* make(party, "a")
      const ledger = yield* Ledger.Ledger
      const next = yield* Layer.build(Layer.fresh(Engine.layerOf(declared)))
      const hijacked = Layer.succeed(Ledger.Ledger, {
        ...ledger,
        updates: (query: Ledger.UpdatesQuery) =>
          Stream.concat(
            Stream.drain(Stream.fromEffect(Effect.orDie(Effect.provide(catchUp, next)))),
            ledger.updates(query)
          )
      })
      const late = yield* Layer.build(
        Layer.fresh(Engine.layerOf(declared)).pipe(Layer.provide(hijacked))
      )
      assert.strictEqual(yield* Calls.slug(Effect.provide(catchUp, late)), "not-ready")
      assert.strictEqual((yield* notes).length, 1)
      const log = yield* ProjectionLog
      assert.strictEqual((yield* log.read({ after: 0, limit: 10 })).length, 1)
    }).pipe(engine())
  )

  it.effect("follows while others wait; when it stops another goes on", () =>
    Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      const first = yield* Layer.build(Layer.fresh(Engine.layerOf(declared)))
      const second = yield* Layer.build(Layer.fresh(Engine.layerOf(declared)))
      const leader = yield* Effect.provide(Passing.working, first)
      yield* Passing.seconds(2)
      yield* Effect.provide(Passing.working, second)
      const { writerEpoch } = yield* head
      yield* make(party, "a")
      yield* Passing.seconds(30)
      assert.strictEqual((yield* head).writerEpoch, writerEpoch)
      yield* Passing.stop(leader)
      yield* make(party, "b")
      yield* Passing.seconds(45)
      const log = yield* ProjectionLog
      assert.strictEqual((yield* log.read({ after: 0, limit: 10 })).length, 2)
      assert.strictEqual((yield* head).writerEpoch, writerEpoch + 1)
    }).pipe(Effect.provide(ports()))
  )
})

describe("the ledger's participant", () => {
  it.effect("may not change: offsets mean nothing across nodes", () => {
    const faults = SimulatedLedger.Faults.make()
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      yield* make(party, "a")
      yield* catchUp
      const before = yield* head
      faults.replace({ participantChange: "participant-2" })
      yield* make(party, "b")
      for (let tries = 0; tries < 3; tries++) {
        assert.include(diedOf(yield* Effect.exit(catchUp)), "participant-2")
      }
      assert.deepStrictEqual(yield* head, before)
      faults.replace({})
      yield* catchUp
      assert.strictEqual((yield* notes).length, 2)
    }).pipe(engine({ faults }))
  })
})

describe("a ledger that has forgotten its beginning", () => {
  it.effect("is taken up from what is active, once, and then followed", () =>
    Effect.gen(function* () {
      const registrar = yield* Notes.outsider("registrar")
      const participant = yield* SimulatedLedger.Participant
      // Two transactions, so that the nodes of the snapshot have the same numbers.
      yield* TestClock.adjust("5 seconds")
      yield* make(registrar.party, "a", "b")
      yield* make(registrar.party, "c", "c", "d")
      yield* make(registrar.party, "d")
      const { events } = yield* make(registrar.party, "gone")
      yield* registrar.decline(events[0]?.contractId ?? "")
      const end = yield* participant.ledgerEnd
      yield* participant.admin.prune((end - 0) as Offset.Offset)
      yield* make(registrar.party, "e")
      const at = yield* catchUp
      const after = yield* head
      assert.isTrue(after.horizonOffset > 0)
      assert.strictEqual(at.offset, after.offset)
      const [a, ...more] = yield* notes
      assert.deepStrictEqual(
        [a, ...more].map((note) => note?.noteId),
        ["a", "b", "c", "d", "e"]
      )
      const records = yield* Records
      assert.strictEqual((yield* records.list(contracts, { limit: 100 })).length, 7)
      assert.strictEqual((yield* records.list(unexpectedFacts, { limit: 100 })).length, 2)
      assert.strictEqual((yield* journal).length, 5)
      yield* catchUp
      assert.strictEqual((yield* journal).length, 5)
      const { events: last } = yield* make(registrar.party, "f")
      yield* registrar.decline(last[0]?.contractId ?? "")
      yield* catchUp
      assert.deepStrictEqual(
        (yield* notes).map(({ noteId, state }) => `${noteId} ${state}`).at(-1),
        "f declined"
      )
      assert.strictEqual((yield* journal).length, 6)
    }).pipe(engine())
  )

  it.effect("is not gone past: what was forgotten and never read is missed aloud", () =>
    Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      const participant = yield* SimulatedLedger.Participant
      yield* make(party, "a")
      yield* catchUp
      yield* make(party, "b")
      yield* participant.admin.prune(yield* participant.ledgerEnd)
      assert.include(diedOf(yield* Effect.exit(catchUp)), "forgot")
      assert.deepStrictEqual(
        (yield* notes).map(({ noteId }) => noteId),
        ["a"]
      )
    }).pipe(engine())
  )
})

/** A tail that gives exactly what the test puts into it. */
const scripted = () => {
  const scriptedUpdates = Effect.runSync(Queue.unbounded<Ledger.Update>())
  return {
    said: scriptedUpdates,
    tamper: (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
      ...port,
      updates: (query) =>
        query.through === undefined ? Stream.fromQueue(scriptedUpdates) : port.updates(query)
    })
  }
}

describe("what a stream may do", () => {
  it.effect("an update that was skipped and comes late is missed aloud, never dropped", () => {
    const script = scripted()
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      const a = yield* make(party, "a")
      const b = yield* make(party, "b")
      const c = yield* make(party, "c")
      yield* Passing.working
      // Repeated updates are ignored, and the stream goes on.
      yield* Queue.offerAll(script.said, [a, a, c, c, a])
      yield* Passing.seconds(2)
      const movedHead = yield* head
      assert.strictEqual(movedHead.offset, c.offset)
      assert.strictEqual(movedHead.writerEpoch, 1)
      // An earlier update that was never delivered stops the follower whenever it arrives.
      yield* Queue.offerAll(script.said, [c, a, b])
      yield* Passing.seconds(2)
      const log = yield* ProjectionLog
      assert.strictEqual((yield* log.read({ after: 0, limit: 10 })).length, 2)
      assert.isAbove((yield* head).writerEpoch, 1)
    }).pipe(engine({ tamper: script.tamper }))
  })

  it.effect("a batch of repeats alone writes nothing", () =>
    Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      const a = yield* make(party, "a")
      const before = yield* catchUp
      const ledger = yield* Ledger.Ledger
      const log = yield* ProjectionLog
      let advances = 0
      const repeating = Layer.mergeAll(
        Layer.succeed(Ledger.Ledger, {
          ...ledger,
          ledgerEnd: Effect.succeed((a.offset + 1) as Offset.Offset),
          updates: () => Stream.make(a)
        }),
        Layer.succeed(ProjectionLog, {
          ...log,
          advance: (move) =>
            Effect.andThen(
              Effect.sync(() => void advances++),
              log.advance(move)
            )
        })
      )
      const follower = yield* Layer.build(
        Layer.fresh(Engine.layerOf(declared)).pipe(Layer.provide(repeating))
      )
      const after = yield* Effect.provide(catchUp, follower)
      assert.deepStrictEqual([after.offset, advances], [before.offset, 0])
    }).pipe(engine())
  )

  it.effect("checkpoints move the head over what nobody may see, and keep what comes after", () => {
    const script = scripted()
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      const a = yield* make(party, "a")
      yield* Passing.working
      const offset = (a.offset + 100) as Offset.Offset
      yield* Queue.offerAll(script.said, [
        a,
        { _tag: "Checkpoint", offset, recordTime: Option.none() },
        { ...a, offset: (a.offset + 101) as Offset.Offset, updateId: "later", events: [] }
      ])
      yield* Passing.seconds(2)
      const log = yield* ProjectionLog
      const rows = yield* log.read({ after: 0, limit: 10 })
      assert.deepStrictEqual(
        rows.map((row) => row.prevOffset),
        [0, a.offset + 100]
      )
      assert.strictEqual((yield* head).offset, a.offset + 101)
    }).pipe(engine({ tamper: script.tamper }))
  })

  it.effect("a contract that moves to another synchronizer stops it", () => {
    const script = scripted()
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      const a = yield* make(party, "a")
      yield* Passing.working
      yield* Queue.offerAll(script.said, [
        { _tag: "Foreign", offset: a.offset, what: "Reassignment", raw: null }
      ])
      yield* Passing.seconds(3)
      assert.strictEqual((yield* head).offset, 0)
    }).pipe(engine({ tamper: script.tamper }))
  })

  it.effect("an update nobody knows the kind of is passed over", () => {
    const script = scripted()
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      const a = yield* make(party, "a")
      yield* Passing.working
      const one = (offset: number) => offset as Offset.Offset
      yield* Queue.offerAll(script.said, [
        a,
        { _tag: "Foreign", offset: one(a.offset + 1), what: "Unknown", raw: null },
        { ...a, offset: one(a.offset + 2), updateId: "later", events: [] }
      ])
      yield* Passing.seconds(2)
      assert.strictEqual((yield* head).offset, a.offset + 2)
    }).pipe(engine({ tamper: script.tamper }))
  })
})

/** A tail that breaks after so many milliseconds, connection by connection; `began` is when each was made. */
const breaking = (lasts: ReadonlyArray<number>) => {
  const began: Array<number> = []
  return {
    began,
    tamper: (port: Ledger.Ledger["Service"]): Ledger.Ledger["Service"] => ({
      ...port,
      updates: (query) =>
        query.through !== undefined
          ? port.updates(query)
          : Stream.unwrap(
              Effect.gen(function* () {
                const last = lasts[began.length] ?? 0
                began.push(Instant.toEpochMillis(yield* Instant.now))
                yield* Effect.sleep(last)
                return Stream.die(new Error("the connection to the ledger broke"))
              })
            )
    })
  }
}

describe("a tail that breaks again and again", () => {
  const lasts = [...Array.from({ length: 9 }, () => 0), 61_000, 0, 0]
  const broken = breaking(lasts)
  it.effect("is taken up ever more rarely, half a minute apart at most, until it has held", () =>
    Effect.gen(function* () {
      yield* Passing.working
      // Second by second: each step of the clock wakes at most one try.
      for (let passed = 0; passed < 400 && broken.began.length < lasts.length; passed += 0.25) {
        yield* TestClock.adjust(250)
        yield* Passing.breathe
      }
      const pauses = broken.began
        .slice(1)
        .map((at, nth) => at - (broken.began[nth] ?? 0) - (lasts[nth] ?? 0))
      const doubling = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]
      assert.deepStrictEqual(pauses.slice(0, doubling.length), doubling)
      assert.deepStrictEqual(pauses.slice(doubling.length), [500, 1_000])
    }).pipe(engine({ tamper: broken.tamper }))
  )
})

describe("what a reading does not expect", () => {
  it.effect("is kept, moves nothing, and does not stop the projection", () =>
    Effect.gen(function* () {
      const registrar = yield* Notes.outsider("registrar")
      yield* make(registrar.party, "a")
      const { events, updateId } = yield* make(registrar.party, "a")
      yield* registrar.decline(events[0]?.contractId ?? "")
      yield* make(registrar.party, "b")
      yield* catchUp
      const records = yield* Records
      const kept = yield* records.list(unexpectedFacts, { limit: 10 })
      assert.deepStrictEqual(kept.map(({ record }) => record.on).toSorted(), ["decline", "open"])
      assert.isTrue(kept.some(({ record }) => record.unexpectedFactId.startsWith(updateId)))
      assert.deepStrictEqual(
        (yield* notes).map(({ noteId, state }) => `${noteId} ${state}`),
        ["a open", "b open"]
      )
    }).pipe(engine())
  )

  it.effect("a payload that does not decode is kept too", () => {
    const script = scripted()
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      const a = yield* make(party, "a")
      yield* Passing.working
      const spoilt = a.events.map((event) =>
        event._tag === "Created"
          ? { ...event, payload: { venue: event.payload["venue"] ?? "" } }
          : event
      )
      yield* Queue.offerAll(script.said, [{ ...a, events: spoilt }])
      yield* Passing.seconds(2)
      const records = yield* Records
      const kept = yield* records.list(unexpectedFacts, { limit: 10 })
      assert.deepStrictEqual(
        kept.map(({ record }) => record.on),
        ["read"]
      )
      assert.strictEqual((yield* head).offset, a.offset)
    }).pipe(engine({ tamper: script.tamper }))
  })
})

describe("what the venue is only a witness of", () => {
  /** Puts `a`'s update, changed, on the tail and returns the contracts and notes that it makes. */
  const folded = (change: (a: Ledger.Transaction) => ReadonlyArray<Ledger.Event>) => {
    const script = scripted()
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      const a = yield* make(party, "a")
      yield* Passing.working
      yield* Queue.offerAll(script.said, [{ ...a, events: change(a) }])
      yield* Passing.seconds(2)
      assert.strictEqual((yield* head).offset, a.offset)
      const records = yield* Records
      const rows = yield* records.list(contracts, { limit: 10 })
      return { contracts: rows.map(({ record }) => record.archivedOffset), notes: yield* notes }
    }).pipe(engine({ tamper: script.tamper }))
  }
  const exercised = (
    created: Ledger.Event | undefined,
    changes: Partial<Ledger.Exercised>
  ): ReadonlyArray<Ledger.Event> =>
    created?._tag !== "Created"
      ? []
      : [
          {
            _tag: "Exercised",
            nodeId: 7,
            lastDescendant: 7,
            contractId: created.contractId,
            template: created.template,
            iface: Option.none(),
            choice: "Decline",
            arg: {},
            result: {},
            actors: [],
            consuming: true,
            witnesses: [],
            inAcs: true,
            ...changes
          }
        ]

  it.effect("is no contract of the projection and opens no record", () =>
    Effect.gen(function* () {
      const foldedState = yield* folded(({ events }) =>
        events.map((event) => ({ ...event, inAcs: false }))
      )
      assert.deepStrictEqual(foldedState, { contracts: [], notes: [] })
    })
  )

  it.effect("is passed over where a choice ends it", () =>
    Effect.gen(function* () {
      const foldedState = yield* folded(({ events }) => exercised(events[0], {}))
      assert.deepStrictEqual(foldedState, { contracts: [], notes: [] })
    })
  )

  it.effect("archives a contract never, unless a consuming choice removes it from the venue", () =>
    Effect.gen(function* () {
      for (const change of [{ consuming: false }, { inAcs: false }, {}]) {
        const foldedState = yield* folded(({ events }) => [
          ...events,
          ...exercised(events[0], change)
        ])
        assert.strictEqual(foldedState.contracts.length, 1)
        assert.strictEqual(foldedState.contracts[0] === null, Object.keys(change).length > 0)
      }
    })
  )
})

describe("a write's own update", () => {
  it.effect(
    "finishes it even if no answer ever came: whoever reads succeeded can read at its offset",
    () => {
      const faults = SimulatedLedger.Faults.make()
      return Effect.gen(function* () {
        const { party } = yield* Notes.outsider("registrar")
        faults.replace({ dropAfterCommit: [1] })
        const answer = yield* Calls.submit(Notes.propose, Calls.person("olga", "operator"), {
          params: { noteId: "a" },
          body: `{"registrar":"${party}"}`
        })
        yield* Calls.settle
        const records = yield* Records
        const record = yield* records.get(operations, String(Calls.field(answer, "operationId")))
        assert.strictEqual(record.state, "succeeded")
        assert.isAtMost(record.offset ?? Infinity, (yield* head).offset)
      }).pipe(engine({ faults }))
    }
  )

  it.effect("comes before its receipt or after: it is finished once", () => {
    const faults = SimulatedLedger.Faults.make()
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      faults.replace({ visibilityDelay: Duration.seconds(10) })
      const answer = yield* Calls.submit(Notes.propose, Calls.person("olga", "operator"), {
        params: { noteId: "a" },
        body: `{"registrar":"${party}"}`
      })
      yield* Passing.working
      yield* Passing.seconds(5)
      const records = yield* Records
      const id = String(Calls.field(answer, "operationId"))
      assert.strictEqual((yield* records.get(operations, id)).state, "running")
      yield* Passing.seconds(10)
      assert.strictEqual((yield* records.get(operations, id)).state, "succeeded")
      assert.strictEqual((yield* Notes.commits).get(id), 1)
    }).pipe(engine({ faults }))
  })

  it.effect("is recorded once, where the ledger showed the runner its commit before", () => {
    const faults = SimulatedLedger.Faults.make()
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      faults.replace({ dropAfterCommit: [1] })
      const answer = yield* Calls.submit(Notes.propose, Calls.person("olga", "operator"), {
        params: { noteId: "a" },
        body: `{"registrar":"${party}"}`
      })
      const runner = yield* Workers.runnerOf("operations")
      yield* runner.runOnce
      yield* TestClock.adjust(60_000)
      yield* runner.runOnce
      const records = yield* Records
      const id = String(Calls.field(answer, "operationId"))
      const running = yield* records.get(operations, id)
      const [commit] = (yield* Notes.transactions).slice(-1)
      assert.deepStrictEqual([running.state, running.updateId], ["running", commit?.updateId])
      yield* catchUp
      const ended = yield* records.get(operations, id)
      assert.deepStrictEqual([ended.state, ended.version], ["succeeded", running.version + 1])
    }).pipe(engine({ faults }))
  })

  it.effect("of another step than the one under way finishes it never", () => {
    const faults = SimulatedLedger.Faults.make()
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      faults.replace({ dropBeforeCommit: [1] })
      const answer = yield* Calls.submit(Notes.propose, Calls.person("olga", "operator"), {
        params: { noteId: "a" },
        body: `{"registrar":"${party}"}`
      })
      yield* Calls.settle
      const id = String(Calls.field(answer, "operationId"))
      const ledger = yield* Ledger.Ledger
      yield* ledger.submit({
        commandId: `${id}:another`,
        commands: [Notes.proposal(ledger.venue, { noteId: "b", registrar: party })],
        dedup: { _tag: "Since", offset: yield* ledger.ledgerEnd }
      })
      yield* catchUp
      const records = yield* Records
      const running = yield* records.get(operations, id)
      assert.deepStrictEqual([running.state, running.updateId], ["running", null])
      assert.deepStrictEqual(
        (yield* notes).map(({ noteId }) => noteId),
        ["b"]
      )
    }).pipe(engine({ faults }))
  })
})

describe("the next step of an operation", () => {
  // A runner that gives the operation back meanwhile looks for the step among what is committed: due
  // earlier, the operation would be passed over while it is leased, and wait for its next poll.
  it.effect("is due only once the step before is committed to the projection", () => {
    const isRead: Array<boolean> = []
    const storage = Layer.effect(
      WorkQueue,
      Effect.gen(function* () {
        const work = yield* WorkQueue
        const log = yield* ProjectionLog
        return {
          ...work,
          hasten: (due: Parameters<typeof work.hasten>[0]) =>
            Effect.gen(function* () {
              for (const id of due.itemIds) isRead.push(yield* log.hasCommand(`${id}:1` as never))
              yield* work.hasten(due)
            })
        }
      })
    ).pipe(Layer.provideMerge(Memory.layer))
    return Effect.gen(function* () {
      const { party } = yield* Notes.outsider("registrar")
      yield* Calls.submit(Notes.twice, Calls.person("olga", "operator"), {
        params: { noteId: "a" },
        body: `{"registrar":"${party}"}`,
        key: "k"
      })
      yield* Calls.settle
      assert.deepStrictEqual(isRead, [true])
    }).pipe(engine({ storage }))
  })
})
