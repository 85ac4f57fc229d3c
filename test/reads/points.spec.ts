/** Points of reads: the one that answers a query, and the refusals if there is none. */
import { Engine, Read, type Queries as R, Queries, Records, Refusal } from "@bursar/engine-core"
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import { Ledger, ProjectionLog } from "@bursar/engine-core/ports"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { assert, describe, it } from "@effect/vitest"
import { Context, Duration, Effect, Layer, Result, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import { timer, timers } from "../engine/timers.ts"
import * as ToyQueries from "../engine/toy-reads.ts"
import * as Toys from "../engine/toys.ts"
import { world, type WorldOptions } from "../engine/world.ts"

const engine = (options: WorldOptions = {}) =>
  Effect.provide(world({ operations: Toys.toys, fromLedger: Notes.fromLedger, ...options }))

type Point = Parameters<(typeof R)["Service"]["page"]>[1]["point"]

const asking = (point: Point, caller = ToyQueries.auditor) => ({
  caller,
  params: {},
  point,
  page: { limit: 100 }
})
const list = (point: Point) =>
  Effect.flatMap(Queries, (queries) => queries.page(ToyQueries.listNotes, asking(point)))
const timersAt = (point: Point) =>
  Effect.map(
    Effect.flatMap(Queries, (queries) => queries.page(ToyQueries.listTimers, asking(point))),
    ({ value }) => value.map(({ id, says }) => `${id} ${says}`)
  )

const refusalOf = <A, R2>(effect: Effect.Effect<A, Refusal.Refused | Refusal.Unavailable, R2>) =>
  Effect.map(Effect.result(effect), (result) => {
    if (Result.isSuccess(result)) throw new Error("it was answered")
    if (result.failure._tag !== "Refused") throw new Error(result.failure.slug)
    return { slug: result.failure.slug, ...result.failure.details }
  })

let commands = 0
const note = (noteId: string) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger.Ledger
    return yield* ledger.submit({
      commandId: `past:${++commands}`,
      commands: [Notes.proposal(ledger.venue, { noteId, registrar: ledger.venue })],
      dedup: { _tag: "Since", offset: yield* ledger.ledgerEnd }
    })
  })

const offset = (value: number) => value as Offset.Offset
const head = Effect.flatMap(ProjectionLog, (log) => log.head)

const set = (id: string, ringsIn: number, stopsIn: number) =>
  Effect.gen(function* () {
    const records = yield* Records
    yield* records.transact(
      Effect.gen(function* () {
        const now = yield* Instant.now
        const at = Instant.toEpochMillis(now)
        const act = { cause: { by: "request" as const, requestId: "r" }, now }
        yield* records.open(timers, timer(id, at + ringsIn, at + stopsIn), act)
      })
    )
  })

describe("at", () => {
  it.effect("beyond what is projected is not there yet, and is once it has been projected", () =>
    Effect.gen(function* () {
      const { offset: end } = yield* note("a")
      const refused = yield* refusalOf(list({ at: end }))
      assert.deepInclude(refused, {
        slug: "offset-unavailable",
        projectionOffset: 0,
        ledgerEnd: end,
        retryAfter: 1,
        retryable: true
      })
      yield* Calls.catchUp
      const answer = yield* list({ at: end })
      assert.strictEqual(answer.offset, end)
      assert.strictEqual(answer.value.length, 1)
      assert.strictEqual((yield* list({ at: offset(end - 1) })).value.length, 0)
    }).pipe(engine())
  )

  it.effect("inside a gap is answered as of the update before it", () =>
    Effect.gen(function* () {
      const faults = yield* SimulatedLedger.Participant
      faults.faults.replace({ gap: "sparse" })
      for (const id of ["a", "b", "c", "d", "e", "f"]) yield* note(id)
      yield* Calls.catchUp
      const { offset: end } = yield* head
      let before = 0
      for (let at = 0; at <= end; at++) {
        const { value, ledgerTime } = yield* list({ at: offset(at) })
        assert.isAtLeast(value.length, before)
        assert.strictEqual(ledgerTime === null, value.length === 0)
        before = value.length
      }
      assert.strictEqual(before, 6)
      assert.isAbove(end, 6)
    }).pipe(engine())
  )

  it.effect("below the horizon is gone, and asking again soon will not help", () =>
    Effect.gen(function* () {
      yield* note("a")
      yield* TestClock.adjust("5 seconds")
      const { offset: last } = yield* note("b")
      const participant = yield* SimulatedLedger.Participant
      yield* participant.admin.prune(last)
      yield* Calls.catchUp
      assert.strictEqual((yield* list({ at: last })).value.length, 2)
      assert.deepInclude(yield* refusalOf(list({ at: offset(last - 1) })), {
        slug: "offset-unavailable",
        retryAfter: 3_600,
        retryable: false
      })
      const now = yield* Instant.now
      assert.deepInclude(yield* refusalOf(list({ asOf: now })), { slug: "before-horizon" })
      yield* TestClock.adjust("61 seconds")
      assert.strictEqual((yield* list({ asOf: yield* Instant.now })).value.length, 2)
      const microBefore = Instant.fromNanos(Instant.of((yield* head).horizonTime ?? "") - 1_000n)
      assert.deepInclude(yield* refusalOf(list({ asOf: microBefore })), { slug: "before-horizon" })
    }).pipe(engine())
  )
})

describe("asOf", () => {
  it.effect(
    "before the history, after now, or while the ledger is ahead is refused, each its own way",
    () => {
      const faults = SimulatedLedger.Faults.make()
      return Effect.gen(function* () {
        yield* TestClock.adjust("1 hour")
        const begin = yield* Instant.now
        yield* note("a")
        yield* Calls.catchUp
        const before = Instant.fromNanos(begin - 1_000_000_000n)
        assert.deepInclude(yield* refusalOf(list({ asOf: before })), { slug: "before-horizon" })
        const laterInstant = Instant.fromNanos(begin + 1n)
        const refused = yield* refusalOf(list({ asOf: laterInstant }))
        assert.strictEqual(refused.slug, "invalid-request")
        assert.deepStrictEqual(
          refused.errors?.map(({ pointer }) => pointer),
          ["/query/asOf"]
        )
        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* list({ asOf: laterInstant })).value.length, 1)
        yield* note("b")
        const present = yield* Instant.now
        assert.deepInclude(yield* refusalOf(list({ asOf: present })), {
          slug: "offset-unavailable",
          retryable: true
        })
        // The answer of an instant that was answered, or that the ledger's time has passed, cannot
        // change any more.
        assert.strictEqual((yield* list({ asOf: laterInstant })).value.length, 1)
        assert.strictEqual((yield* list({ asOf: begin })).value.length, 1)
        yield* Calls.catchUp
        assert.strictEqual((yield* list({ asOf: laterInstant })).value.length, 1)
        assert.strictEqual((yield* list({ asOf: present })).value.length, 2)
      }).pipe(engine({ faults }))
    }
  )

  it.effect("together with at is two faults of the request", () =>
    Effect.gen(function* () {
      const refused = yield* refusalOf(list({ at: offset(0), asOf: Instant.fromNanos(0n) }))
      assert.strictEqual(refused.slug, "invalid-request")
      assert.deepStrictEqual(
        refused.errors?.map(({ pointer }) => pointer),
        ["/query/at", "/query/asOf"]
      )
    }).pipe(engine())
  )

  it.effect("says the offset it used, so that at repeats it for what the ledger says", () =>
    Effect.gen(function* () {
      yield* note("a")
      yield* TestClock.adjust("10 seconds")
      yield* note("b")
      yield* Calls.catchUp
      const as = yield* list({ asOf: Instant.fromEpochMillis(5_000) })
      const at = yield* list({ at: as.offset })
      assert.deepStrictEqual(at.value, as.value)
      assert.strictEqual(as.value.length, 1)
    }).pipe(engine())
  )

  it.effect("of an engine that cannot ask its ledger is answered from what is projected", () => {
    let away = false
    return Effect.gen(function* () {
      yield* note("a")
      yield* Calls.catchUp
      yield* TestClock.adjust("10 seconds")
      away = true
      assert.strictEqual((yield* list({ asOf: Instant.fromEpochMillis(5_000) })).value.length, 1)
      assert.notProperty(yield* refusalOf(list({ at: offset(99) })), "ledgerEnd")
    }).pipe(
      engine({
        tamper: (port) => ({
          ...port,
          ledgerEnd: Effect.suspend(() =>
            away
              ? Effect.fail(new Ledger.Unreachable({ detail: "", retryAfter: Duration.seconds(1) }))
              : port.ledgerEnd
          )
        })
      })
    )
  })
})

describe("the engine's own records", () => {
  it.effect(
    "are seen between what set them and what ended them, at and asOf, and not outside",
    () =>
      Effect.gen(function* () {
        const records = yield* Records
        yield* note("a")
        yield* Calls.catchUp
        yield* TestClock.adjust("10 seconds")
        const before = yield* head
        yield* set("t", 1e9, 2e9)
        yield* note("b")
        yield* TestClock.adjust("10 seconds")
        yield* Calls.catchUp
        const between = yield* head
        yield* records.transact(
          Effect.gen(function* () {
            const act = {
              cause: { by: "request" as const, requestId: "r" },
              now: yield* Instant.now
            }
            const self = yield* records.get(timers, "t")
            yield* records.append(timers, self, { on: "touch" }, act)
          })
        )
        yield* note("c")
        yield* Calls.catchUp
        const after = yield* head
        yield* TestClock.adjust("10 seconds")
        const at = (one: { readonly offset: number }) => timersAt({ at: offset(one.offset) })
        assert.deepStrictEqual(
          [yield* at(before), yield* at(between), yield* at(after)],
          [[], ["t set 0 0"], ["t set 0 1"]]
        )
        const asOf = (millis: number) => timersAt({ asOf: Instant.fromEpochMillis(millis) })
        assert.deepStrictEqual(
          [yield* asOf(9_999), yield* asOf(10_000), yield* asOf(19_999), yield* asOf(20_001)],
          [[], ["t set 0 0"], ["t set 0 0"], ["t set 0 1"]]
        )
      }).pipe(engine())
  )

  it.effect("are told apart by asOf where the ledger stood still between two writes", () =>
    Effect.gen(function* () {
      const records = yield* Records
      yield* note("a")
      yield* Calls.catchUp
      yield* TestClock.adjust("10 seconds")
      yield* set("t", 1e9, 2e9)
      yield* TestClock.adjust("10 seconds")
      yield* records.transact(
        Effect.gen(function* () {
          const act = {
            cause: { by: "request" as const, requestId: "r" },
            now: yield* Instant.now
          }
          yield* records.append(timers, yield* records.get(timers, "t"), { on: "touch" }, act)
        })
      )
      yield* TestClock.adjust("10 seconds")
      const asOf = (millis: number) => timersAt({ asOf: Instant.fromEpochMillis(millis) })
      assert.deepStrictEqual(
        [yield* asOf(5_000), yield* asOf(15_000), yield* asOf(25_000)],
        [[], ["t set 0 0"], ["t set 0 1"]]
      )
    }).pipe(engine())
  )

  it.effect("are ripened at the pin: the clock has done what it had done by then", () =>
    Effect.gen(function* () {
      yield* note("a")
      yield* Calls.catchUp
      yield* set("t", 5_000, 8_000)
      const asOf = (millis: number) => timersAt({ asOf: Instant.fromEpochMillis(millis) })
      yield* TestClock.adjust("4 seconds")
      yield* note("b")
      yield* Calls.catchUp
      const early = yield* head
      yield* TestClock.adjust("2 seconds")
      yield* note("c")
      yield* Calls.catchUp
      const late = yield* head
      yield* TestClock.adjust("10 seconds")
      assert.deepStrictEqual(
        [yield* asOf(4_999), yield* asOf(5_000), yield* asOf(8_000)],
        [["t set 0 0"], ["t rung 1 0"], ["t stopped 1 0"]]
      )
      const at = (one: { readonly offset: number }) => timersAt({ at: offset(one.offset) })
      assert.deepStrictEqual([yield* at(early), yield* at(late)], [["t set 0 0"], ["t rung 1 0"]])
      assert.deepStrictEqual(yield* timersAt({}), ["t stopped 1 0"])
    }).pipe(engine())
  )
})

describe("an answer made of several look-ups", () => {
  it.effect("is of one moment, though others write between them", () =>
    Effect.gen(function* () {
      const queries = yield* Queries
      const operator = Calls.person("olga", "operator")
      const answers: Array<{ readonly open: number; readonly counted: number }> = []
      const add = (index: number) =>
        Effect.gen(function* () {
          yield* note(`n${index}`)
          yield* Calls.submit(Toys.single, operator, {
            params: { counterId: "c" },
            body: '{"by":1}',
            key: `k${index}`
          })
          yield* Calls.settle
        })
      yield* Effect.all(
        [
          Effect.forEach(Array.from({ length: 20 }), (_, index) => add(index)),
          Effect.forEach(Array.from({ length: 400 }), () =>
            Effect.map(
              queries.one(ToyQueries.sum, { caller: ToyQueries.auditor, params: {}, point: {} }),
              ({ value }) => answers.push(value)
            )
          )
        ],
        { concurrency: "unbounded" }
      )
      const apart = answers.map(({ open, counted }) => open - counted)
      // The note is projected first, and counted then: never the other way round, never further apart.
      assert.isTrue(
        apart.every((one) => one === 0 || one === 1),
        String(apart)
      )
      assert.isAbove(new Set(answers.map(({ open }) => open)).size, 3)
    }).pipe(engine())
  )
})

describe("a list without a limit", () => {
  it.effect("streams what its pages would show", () =>
    Effect.gen(function* () {
      const queries = yield* Queries
      for (let index = 0; index < 450; index++)
        yield* set(`t${String(index).padStart(3, "0")}`, 5_000, 9_000)
      yield* TestClock.adjust("6 seconds")
      for (const list of [ToyQueries.listTimers, ToyQueries.listTimersBack]) {
        const all = yield* queries.all(list, { ...asking({}), page: {} })
        yield* set(`u-${list.name}`, 1, 2)
        const streamed = yield* Stream.runCollect(all.value)
        const paged: Array<unknown> = []
        let after: string | undefined
        do {
          const page = yield* queries.page(list, {
            ...asking({}),
            page: { limit: 100, ...(after === undefined ? {} : { after }) }
          })
          paged.push(...page.value.filter(({ id }) => !id.startsWith("u-")))
          after = page.next ?? undefined
        } while (after !== undefined)
        assert.strictEqual(paged.length, 450)
        assert.deepStrictEqual(
          streamed.filter(({ id }) => !id.startsWith("u-")),
          paged
        )
        assert.isFalse(streamed.some(({ id }) => id === `u-${list.name}`))
      }
    }).pipe(engine())
  )
})

describe("who may read", () => {
  it.effect("nobody without a role of the audience, whatever the point", () =>
    Effect.gen(function* () {
      const queries = yield* Queries
      const nobody = Calls.person("mo", "monitor")
      for (const point of [
        {},
        { at: offset(99) },
        { at: offset(0), asOf: Instant.fromNanos(0n) }
      ]) {
        assert.strictEqual(
          yield* Calls.slug(queries.page(ToyQueries.listNotes, asking(point, nobody))),
          "permission-denied"
        )
        assert.strictEqual(
          yield* Calls.slug(
            queries.all(ToyQueries.listNotes, { ...asking(point, nobody), page: {} })
          ),
          "permission-denied"
        )
        assert.strictEqual(
          yield* Calls.slug(queries.one(ToyQueries.sum, asking(point, nobody))),
          "permission-denied"
        )
      }
    }).pipe(engine())
  )

  it.effect("an investor its own alone, in pages and streams; filters never widen that", () =>
    Effect.gen(function* () {
      const queries = yield* Queries
      for (const id of ["h1-a", "h2-a", "h1-b", "h2-b"]) yield* set(id, 1e9, 2e9)
      const mine = { ...Calls.person("ines", "investor"), holderId: "h1" }
      const page = yield* queries.page(ToyQueries.listTimers, asking({}, mine))
      const all = yield* queries.all(ToyQueries.listTimers, { ...asking({}, mine), page: {} })
      const ids = (yield* Stream.runCollect(all.value)).map(({ id }) => id)
      assert.deepStrictEqual(ids, ["h1-a", "h1-b"])
      assert.deepStrictEqual(
        page.value.map(({ id }) => id),
        ids
      )
      for (const [owner, expected] of [
        [["h2"], []],
        [
          ["h2", "h1"],
          ["h1-a", "h1-b"]
        ],
        [["h1"], ["h1-a", "h1-b"]]
      ] as const) {
        const ownPage = yield* queries.page(ToyQueries.listTimers, {
          ...asking({}, mine),
          params: { owner }
        })
        assert.deepStrictEqual(
          ownPage.value.map(({ id }) => id),
          [...expected]
        )
      }
      const none = { ...mine, holderId: null }
      assert.deepStrictEqual(
        (yield* queries.page(ToyQueries.listTimers, asking({}, none))).value,
        []
      )
    }).pipe(engine())
  )
})

describe("a point that cannot be answered", () => {
  const hidden = Read.one({
    ...ToyQueries.sum,
    name: "toys.hidden",
    params: Schema.Struct({ id: Schema.String }),
    refuses: ["not-found", "rule-refused"],
    run: Effect.fnUntraced(function* ({ id }, { pin }) {
      const records = yield* Records
      if (id === "against-the-rules") return yield* Effect.fail(Refusal.refused("rule-refused"))
      yield* records.get(timers, id, pin)
      return { open: 0, counted: 0, judgedAt: "" }
    })
  })
  const children = {
    ...ToyQueries.listTimers,
    parent: (_: unknown, { pin }: Read.ReadContext) =>
      Effect.flatMap(Records, (records) => Effect.asVoid(records.get(timers, "parent", pin)))
  }
  const one = (id: string, point: Point) =>
    Effect.flatMap(Queries, (queries) =>
      queries.one(hidden, { caller: ToyQueries.auditor, params: { id }, point })
    )
  const kids = (point: Point) =>
    Effect.flatMap(Queries, (queries) => queries.page(children, asking(point)))

  it.effect(
    "is told only of what is there: an absent record is not found, whatever the point",
    () =>
      Effect.gen(function* () {
        yield* TestClock.adjust("1 hour")
        yield* note("a")
        yield* Calls.catchUp
        const future = { at: offset(99) }
        const past = { asOf: Instant.fromNanos(1n) }
        for (const point of [future, past]) {
          assert.strictEqual(yield* Calls.slug(one("absent", point)), "not-found")
          assert.strictEqual(yield* Calls.slug(kids(point)), "not-found")
        }
        yield* set("parent", 1e9, 2e9)
        yield* TestClock.adjust("1 second")
        for (const [point, slug] of [
          [future, "offset-unavailable"],
          [past, "before-horizon"]
        ] as const) {
          assert.strictEqual(yield* Calls.slug(one("parent", point)), slug)
          assert.strictEqual(yield* Calls.slug(kids(point)), slug)
          // A rule is judged after the point.
          assert.strictEqual(yield* Calls.slug(one("against-the-rules", point)), slug)
        }
      }).pipe(engine())
  )
})

describe("the later pages of a list", () => {
  const page = (point: Point, after?: string) =>
    Effect.flatMap(Queries, (queries) =>
      queries.page(ToyQueries.listNotes, {
        ...asking(point),
        page: { limit: 1, ...(after === undefined ? {} : { after }) }
      })
    )
  const after = (next: string | null): string => {
    if (next === null) throw new Error("there is no later page")
    return next
  }

  it.effect("at an offset that the projection has dropped are refused, and for good", () =>
    Effect.gen(function* () {
      yield* note("a")
      yield* note("b")
      yield* note("c")
      yield* Calls.catchUp
      const first = yield* page({})
      assert.strictEqual((yield* page({}, after(first.next))).value.length, 1)
      yield* TestClock.adjust("5 seconds")
      const { offset: last } = yield* note("d")
      const log = yield* ProjectionLog
      yield* Calls.catchUp
      yield* log.prune({ offset: last, limit: 100 })
      assert.deepInclude(yield* refusalOf(page({}, after(first.next))), {
        slug: "offset-unavailable",
        retryAfter: 3_600,
        retryable: false,
        projectionOffset: last
      })
      // A list begun now goes on.
      const again = yield* page({})
      assert.strictEqual((yield* page({}, after(again.next))).value.length, 1)
    }).pipe(engine())
  )

  it.effect("are refused for good once the projection follows another ledger", () =>
    Effect.gen(function* () {
      yield* note("a")
      yield* note("b")
      yield* Calls.catchUp
      const { next } = yield* page({})
      const log = yield* ProjectionLog
      const services = yield* Effect.context<never>()
      const another = Context.add(services, ProjectionLog, {
        ...log,
        head: Effect.map(log.head, (head) => ({ ...head, ledgerEpoch: head.ledgerEpoch + 1 }))
      })
      const elsewhere = yield* Layer.build(
        Layer.fresh(Engine.layerOf({ operations: Toys.toys, fromLedger: Notes.fromLedger })).pipe(
          Layer.provide(Layer.succeedContext(another))
        )
      )
      assert.deepInclude(yield* refusalOf(Effect.provide(page({}, after(next)), elsewhere)), {
        slug: "offset-unavailable",
        retryable: false
      })
      assert.strictEqual((yield* page({}, after(next))).value.length, 1)
    }).pipe(engine({ settings: { cursorKeys: [{ id: 1, secret: new Uint8Array(32) }] } }))
  )

  it.effect(
    "as of an instant are those of its first page, though the ledger moves on meanwhile",
    () =>
      Effect.gen(function* () {
        yield* note("a")
        yield* note("b")
        yield* Calls.catchUp
        yield* TestClock.adjust("5 seconds")
        const point = { asOf: yield* Instant.now }
        const first = yield* page(point)
        // The ledger is ahead now: what was not answered could still change; what was is decided.
        yield* note("c")
        yield* TestClock.adjust("1 second")
        const unasked = { asOf: yield* Instant.now }
        assert.strictEqual(yield* Calls.slug(page(unasked)), "offset-unavailable")
        const { now: _, ...repeated } = yield* page(point)
        const { now: __, ...before } = first
        assert.deepStrictEqual(repeated, before)
        const second = yield* page(point, after(first.next))
        assert.strictEqual(second.offset, first.offset)
        assert.deepStrictEqual(second.value.length, 1)
      }).pipe(engine())
  )
})
