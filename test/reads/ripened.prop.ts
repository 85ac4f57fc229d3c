/**
 * Ripened lists: a list filters each record by the state that the clock has made it, which is the
 * state it shows.
 */
import { Queries, Records } from "@bursar/engine-core"
import { Collection, Instant, type Offset } from "@bursar/engine-core/kernel"
import { Effect, Stream } from "effect"
import { Ledger } from "@bursar/engine-core/ports"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Columns from "#core/records/Columns.ts"
import * as WriteQueries from "#core/reads/WriteQueries.ts"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import { timer, timers } from "../engine/timers.ts"
import * as ToyQueries from "../engine/toy-reads.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

const runs = runsOf(60)
const states = ["set", "rung", "stopped"] as const

/** A moment in which timers are set and touched; the clock goes on between moments. */
const moment = fc.record({
  wait: fc.integer({ min: 0, max: 4 }),
  set: fc.option(
    fc.record({ rings: fc.integer({ min: 0, max: 9 }), stops: fc.integer({ min: 0, max: 9 }) })
  ),
  touch: fc.option(fc.nat(5))
})
const wanted = fc.uniqueArray(fc.constantFrom(...states), { minLength: 1, maxLength: 3 })
type Point = { readonly at?: Offset.Offset; readonly asOf?: Instant.Instant }

const list = (point: Point, state: ReadonlyArray<string> | undefined, limit: number) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const request = {
      caller: ToyQueries.auditor,
      params: state === undefined ? {} : { state },
      point
    }
    const found: Array<{ readonly id: string; readonly says: string }> = []
    let after: string | undefined
    do {
      const page = yield* queries.page(ToyQueries.listTimers, {
        ...request,
        page: { limit, ...(after === undefined ? {} : { after }) }
      })
      found.push(...page.value)
      after = page.next ?? undefined
    } while (after !== undefined)
    const { value } = yield* queries.all(ToyQueries.listTimers, { ...request, page: {} })
    expect(yield* Stream.runCollect(value)).toEqual(found)
    return found
  })

describe("a list filtered by a state that the clock moves", () => {
  it("holds at every point exactly what shows that state there, however it is paged", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(moment, { minLength: 1, maxLength: 8 }),
        wanted,
        fc.integer({ min: 1, max: 3 }),
        fc.nat(20),
        (moments, state, limit, look) =>
          Calls.runCase(
            Effect.gen(function* () {
              const records = yield* Records
              // Without an update of the ledger there is no history that asOf could name.
              const ledger = yield* Ledger.Ledger
              yield* ledger.submit({
                commandId: "past:0",
                commands: [Notes.proposal(ledger.venue, { noteId: "n", registrar: ledger.venue })],
                dedup: { _tag: "Since", offset: yield* ledger.ledgerEnd }
              })
              yield* Calls.catchUp
              for (const [index, one] of moments.entries()) {
                yield* TestClock.adjust(one.wait * 1_000)
                const now = yield* Instant.now
                const act = { cause: { by: "request" as const, requestId: "r" }, now }
                const from = Instant.toEpochMillis(now)
                const { set, touch } = one
                if (set !== null) {
                  const made = timer(
                    `t${index}`,
                    from + set.rings * 1_000,
                    from + set.stops * 1_000
                  )
                  yield* records.transact(records.open(timers, made, act))
                }
                if (touch !== null) {
                  // A touch writes down what the clock did until then.
                  yield* Effect.exit(
                    records.transact(
                      Effect.flatMap(records.get(timers, `t${touch}`), (self) =>
                        records.append(timers, self, { on: "touch" }, act)
                      )
                    )
                  )
                }
              }
              yield* TestClock.adjust(look * 500)
              const now = yield* Instant.now
              const instants = [now, Instant.fromNanos(now - 1_500_000_000n)]
              const points: ReadonlyArray<Point> = [
                {},
                ...instants.filter((at) => at > 0n).map((asOf) => ({ asOf }))
              ]
              for (const point of points) {
                const all = yield* list(point, undefined, 100)
                const naive = all.filter(({ says }) => state.some((one) => says.startsWith(one)))
                expect(yield* list(point, state, limit)).toEqual(naive)
              }
            }).pipe(Effect.provide(world({ operations: [], fromLedger: Notes.fromLedger })))
          )
      ),
      { numRuns: runs }
    ))

  it("finds a lapsed action as lapsed, and no more among those that wait", () =>
    Calls.runCase(
      Effect.gen(function* () {
        const queries = yield* Queries
        const operator = Calls.person("olga", "operator")
        const ask = (...state: ReadonlyArray<"awaiting" | "lapsed" | "approved" | "rejected">) =>
          Effect.map(
            queries.page(WriteQueries.listApprovals, {
              caller: operator,
              params: state.length === 0 ? {} : { state },
              point: {},
              page: { limit: 10 }
            }),
            ({ value }) => value.map((one) => (one as { readonly state: string }).state)
          )
        yield* Calls.submit(Toys.double, operator, { params: { counterId: "c" }, body: '{"by":1}' })
        expect([yield* ask("awaiting"), yield* ask("lapsed")]).toEqual([["awaiting"], []])
        yield* TestClock.adjust("59 minutes")
        expect([yield* ask("awaiting"), yield* ask("lapsed")]).toEqual([["awaiting"], []])
        yield* TestClock.adjust("1 minute")
        expect([yield* ask("awaiting"), yield* ask("lapsed")]).toEqual([[], ["lapsed"]])
        expect(yield* ask("awaiting", "lapsed")).toEqual(["lapsed"])
        expect(yield* ask()).toEqual(["lapsed"])
        expect(yield* ask("approved", "rejected")).toEqual([])
      }).pipe(
        Effect.provide(
          world({ operations: Toys.toys, fromLedger: [], settings: { approvalExpiry: 3_600_000 } })
        )
      )
    ))
})

describe("a collection that does not say what its clock changes", () => {
  const silent = { ...timers, ripens: [] }
  it("writes nothing: its lists would be wrong from then on", () => {
    expect(() => Columns.of(silent, timer("t", 1, 2))).toThrow(/moves state/)
    expect(() => Columns.of(timers, timer("t", 1, 2))).not.toThrow()
  })

  it("nor one whose clock changes it more often than a list can ask for", () => {
    const turning = Collection.define<{ readonly n: number }, { readonly on: "turn" }>("turning", {
      doc: "",
      id: () => "t",
      record: timers.record as never,
      fact: timers.fact as never,
      evolve: ({ n }) => ({ n: n + 1 }),
      keptBy: "engine",
      filters: { n: ({ n }) => String(n) },
      ripens: ["n"],
      due: ({ n }) =>
        n < 4 ? { at: Instant.fromNanos(BigInt(n)), fact: { on: "turn" } } : undefined
    })
    expect(() => Columns.of(turning, { n: 1 })).toThrow(/more clock moves/)
    expect(Columns.of(turning, { n: 2 })).toMatchObject({ n: "2", "n:1": "3", "n:2": "4" })
    // A clock that never ends but changes no column breaks no list.
    const endless = {
      ...turning,
      filters: {},
      due: () => ({ at: Instant.fromNanos(0n), fact: { on: "turn" as const } })
    }
    expect(Columns.of(endless, { n: 1 })).toEqual({})
  })
})
