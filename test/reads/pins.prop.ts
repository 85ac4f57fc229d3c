/**
 * Pinned reads: the same read at the same point gives the same bytes for ever, after any later
 * writes.
 */
import { Queries, Records } from "@bursar/engine-core"
import { Instant, type Offset } from "@bursar/engine-core/kernel"
import { Ledger, ProjectionLog } from "@bursar/engine-core/ports"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import { onHost } from "../engine/clocks.ts"
import * as Notes from "../engine/ledger-toys.ts"
import { timer, timers } from "../engine/timers.ts"
import * as ToyQueries from "../engine/toy-reads.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

/** Milliseconds by which the clocks of three hosts are wrong: steps come from one, looks from another. */
const hosts = fc.constantFrom(0, 45_000, -60_000)

const runs = runsOf(40)

const step = fc.oneof(
  fc.record({ do: fc.constant("add" as const), id: fc.constantFrom("c", "d") }),
  fc.record({
    do: fc.constant("timer" as const),
    id: fc.constantFrom("x", "y", "z"),
    due: fc.nat(9_000)
  }),
  fc.record({ do: fc.constant("touch" as const), id: fc.constantFrom("x", "y", "z") }),
  fc.record({ do: fc.constant("note" as const), id: fc.constantFrom("a", "b", "e", "f") }),
  fc.record({ do: fc.constant("end" as const), which: fc.nat(9) }),
  fc.record({ do: fc.constant("wait" as const), millis: fc.nat(8_000) }),
  fc.constant({ do: "project" as const }),
  fc.constant({ do: "run" as const }),
  fc.constant({ do: "look" as const }),
  fc.constant({ do: "look" as const })
)
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

const operator = Calls.person("olga", "operator")

const happen = Effect.fnUntraced(function* (one: Step, registrar: Notes.Outsider, key: string) {
  const records = yield* Records
  const act = Effect.map(Instant.now, (now) => ({
    cause: { by: "request" as const, requestId: "req" },
    now
  }))
  switch (one.do) {
    case "add":
      yield* Calls.submit(Toys.single, operator, {
        params: { counterId: one.id },
        body: '{"by":1}',
        key
      })
      return
    case "timer":
      yield* Calls.slug(
        records.transact(
          Effect.gen(function* () {
            const now = yield* act
            const at = Instant.toEpochMillis(now.now) + one.due
            yield* records.open(timers, timer(one.id, at, at + 4_000), now)
          })
        )
      )
      return
    case "touch":
      yield* Effect.exit(
        records.transact(
          Effect.gen(function* () {
            const self = yield* records.get(timers, one.id)
            yield* records.append(timers, self, { on: "touch" }, yield* act)
          })
        )
      )
      return
    case "note": {
      // Past the engine: the ledger is ahead of what is projected.
      const ledger = yield* Ledger.Ledger
      yield* ledger.submit({
        commandId: `past:${key}`,
        commands: [Notes.proposal(ledger.venue, { noteId: one.id, registrar: registrar.party })],
        dedup: { _tag: "Since", offset: yield* ledger.ledgerEnd }
      })
      return
    }
    case "end": {
      const open = yield* records.list(Notes.notes, { where: { state: ["open"] }, limit: 10 })
      const note = open[one.which % Math.max(1, open.length)]
      if (note !== undefined) yield* Effect.exit(registrar.decline(note.record.contractId))
      return
    }
    case "wait":
      yield* TestClock.adjust(one.millis)
      return
    case "project":
      yield* Calls.catchUp
      return
    case "run":
      yield* Calls.settle
      return
    case "look":
      return
  }
})

const bytes = (value: unknown): string =>
  JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? `${one}n` : one))

interface Point {
  readonly at?: Offset.Offset
  readonly asOf?: Instant.Instant
}

// Each list is its own type of record; what is compared is what it shows.
const lists = [ToyQueries.listNotes, ToyQueries.listTimers, ToyQueries.listCounters].map(
  (list) => (point: Point, limit: number) =>
    Effect.flatMap(Queries, (queries) =>
      queries.page(list as typeof ToyQueries.listNotes, {
        caller: ToyQueries.auditor,
        params: {},
        point,
        page: { limit }
      })
    )
)
const sum = (point: Point) =>
  Effect.flatMap(Queries, (queries) =>
    queries.one(ToyQueries.sum, { caller: ToyQueries.auditor, params: {}, point })
  )

/** Text of an answer without its instant. */
const textOfAnswer = ({ now: _, ...answer }: { readonly now: Instant.Instant }): string =>
  bytes(answer)

const bytesOf = Effect.fnUntraced(function* (point: Point) {
  const answers: Array<string> = []
  for (const list of lists) answers.push(textOfAnswer(yield* list(point, 1_000)))
  return bytes([...answers, textOfAnswer(yield* sum(point))])
})

/** Every read at the latest, and how each answer is had again: as of its `now`. */
const latest = Effect.fnUntraced(function* (limit: number) {
  const looks: Array<Look> = []
  for (const ask of [...lists.map((list) => (point: Point) => list(point, limit)), sum]) {
    const answer = yield* ask({})
    const repeat = Effect.map(ask({ asOf: answer.now }), textOfAnswer)
    looks.push({ point: { asOf: answer.now }, repeat, said: textOfAnswer(answer) })
  }
  return looks
})

interface Look {
  readonly point: Point
  readonly repeat: ReturnType<typeof bytesOf>
  readonly said: string
}

interface Open {
  readonly whole: string
  readonly seen: Array<unknown>
  next: string | null
}

const page = (after: string | null, limit: number) =>
  Effect.flatMap(Queries, (queries) =>
    queries.page(ToyQueries.listTimers, {
      caller: ToyQueries.auditor,
      params: {},
      point: {},
      page: { limit, ...(after === null ? {} : { after }) }
    })
  )

const look = Effect.fnUntraced(function* (looks: Array<Look>, open: Array<Open>) {
  const log = yield* ProjectionLog
  const { offset, ledgerTime } = yield* log.head
  const at = offset as Offset.Offset
  looks.push({ point: { at }, repeat: bytesOf({ at }), said: yield* bytesOf({ at }) })
  // An instant before the last ledger time is settled: nothing that comes can be before it.
  const now = yield* Instant.now
  if (ledgerTime !== null) {
    const past = Instant.fromNanos(Instant.of(ledgerTime) - 1_000_000n)
    const said = past >= now ? undefined : yield* Effect.option(bytesOf({ asOf: past }))
    if (said !== undefined && Option.isSome(said)) {
      looks.push({ point: { asOf: past }, repeat: bytesOf({ asOf: past }), said: said.value })
    }
  }
  // An answer of the latest is repeated by its own instant, at once and for ever.
  for (const limit of [1, 1_000]) looks.push(...(yield* latest(limit)))
  const whole = yield* page(null, 1_000)
  const first = yield* page(null, 1)
  open.push({ whole: bytes(whole.value), seen: [...first.value], next: first.next })
})

const again = Effect.fnUntraced(function* (looks: ReadonlyArray<Look>, open: ReadonlyArray<Open>) {
  for (const { point, repeat, said } of looks) expect(yield* repeat, bytes(point)).toBe(said)
  for (const one of open) {
    if (one.next === null) continue
    const more = yield* page(one.next, 1)
    one.seen.push(...more.value)
    one.next = more.next
    if (one.next === null) expect(bytes(one.seen), "the pages are the pinned list").toBe(one.whole)
  }
})

const skew = { minMillis: -30_000, maxMillis: 30_000 }

describe("a read at a point", () => {
  it("says the same after anything that is written later; its pages too", () => {
    let looked = 0
    return fc
      .assert(
        fc.asyncProperty(
          fc.array(fc.tuple(step, hosts, hosts), { maxLength: 40, size: "max" }),
          (steps) => {
            const faults = SimulatedLedger.Faults.make()
            return Calls.runCase(
              Effect.gen(function* () {
                faults.replace({ skew })
                yield* TestClock.adjust("1 hour")
                const registrar = yield* Notes.outsider("registrar")
                const looks: Array<Look> = []
                const open: Array<Open> = []
                for (const [index, [one, here, there]] of steps.entries()) {
                  const happens = happen(one, registrar, `k${index}`)
                  // Time passes everywhere alike.
                  yield* one.do === "wait" ? happens : onHost(here)(happens)
                  if (one.do === "look") yield* onHost(here)(look(looks, open))
                  yield* onHost(there)(again(looks, open))
                }
                yield* Calls.settle
                yield* again(looks, open)
                looked += looks.length
              }).pipe(
                Effect.provide(
                  world({ operations: Toys.toys, fromLedger: Notes.fromLedger, faults })
                )
              )
            )
          }
        ),
        { numRuns: runs }
      )
      .then(() => expect(looked).toBeGreaterThan(runs * 2))
  })

  it("as of an instant shows the greatest offset up to which no effective time is later", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(20_000), { minLength: 1, maxLength: 20, size: "max" }),
        fc.array(fc.integer({ min: -40_000, max: 260_000 }), { minLength: 1, maxLength: 30 }),
        (waits, instants) => {
          const faults = SimulatedLedger.Faults.make()
          return Calls.runCase(
            Effect.gen(function* () {
              faults.replace({ skew })
              yield* TestClock.adjust("1 hour")
              const registrar = yield* Notes.outsider("registrar")
              for (const [index, wait] of waits.entries()) {
                yield* TestClock.adjust(wait)
                yield* happen({ do: "note", id: `n${index}` as "a" }, registrar, `k${index}`)
              }
              yield* Calls.catchUp
              yield* TestClock.adjust("2 hours")
              const all = yield* Notes.transactions
              const end = (yield* Effect.flatMap(ProjectionLog, (log) => log.head)).offset
              const queries = yield* Queries
              let before = -1
              for (const millis of instants.toSorted((a, b) => a - b)) {
                const asOf = Instant.fromEpochMillis(3_600_000 + millis)
                // The naive answer: the longest prefix all of whose effective times are by then.
                const late = all.findIndex(({ effectiveAt }) => effectiveAt > asOf)
                const prefix = late < 0 ? all : all.slice(0, late)
                const offset = late < 0 ? end : (prefix.at(-1)?.offset ?? -1)
                const answer = yield* Effect.result(
                  queries.page(ToyQueries.listNotes, {
                    caller: ToyQueries.auditor,
                    params: {},
                    point: { asOf },
                    page: { limit: 1_000 }
                  })
                )
                if (answer._tag === "Failure") {
                  expect(answer.failure.slug).toBe("before-horizon")
                  expect(prefix).toEqual([])
                  continue
                }
                expect(answer.success.offset).toBe(offset)
                expect(offset).toBeGreaterThanOrEqual(before)
                expect(answer.success.value.length).toBe(prefix.length)
                before = offset
              }
            }).pipe(Effect.provide(world({ operations: [], fromLedger: Notes.fromLedger, faults })))
          )
        }
      ),
      { numRuns: runs }
    ))
})
