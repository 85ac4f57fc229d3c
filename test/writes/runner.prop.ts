/** Ledger writes under any faults and crashes: each has at most one effect, and each ends. */
import { Engine, Records } from "@bursar/engine-core"
import type { Instant } from "@bursar/engine-core/kernel"
import * as SimulatedLedger from "@bursar/storage-adapters/simulated-ledger"
import { Duration, Effect, Layer, Scope } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { operations, type OperationRecord } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Killable from "../engine/killable.ts"
import * as Notes from "../engine/ledger-toys.ts"
import * as Passing from "../engine/passing.ts"
import { ports } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

/** A long run is a flag. */
const runs = runsOf(40)

type Plan = SimulatedLedger.Faults.Plan

const some = fc.uniqueArray(fc.integer({ min: 1, max: 12 }), { maxLength: 5, size: "max" })
const plan: fc.Arbitrary<Plan> = fc
  .record({
    dropBeforeCommit: some,
    dropAfterCommit: some,
    contention: some,
    inFlight: some,
    backpressure: some,
    visibilityDelay: fc.constantFrom(undefined, undefined, 400, 3_000, 25_000),
    skew: fc.constantFrom(undefined, { minMillis: -20_000, maxMillis: 20_000 }),
    gap: fc.constantFrom("sparse" as const, "dense" as const),
    tokenExpiry: fc.constantFrom(undefined, undefined, undefined, true as const),
    wsCut: fc.constantFrom(undefined, undefined, 1, 2),
    duplicateFrame: fc.constantFrom(undefined, true as const)
  })
  .map(({ visibilityDelay, ...given }) => {
    const stated = Object.entries(given).filter(([, value]) => value !== undefined)
    return {
      ...(Object.fromEntries(stated) as Plan),
      ...(visibilityDelay === undefined
        ? {}
        : { visibilityDelay: Duration.millis(visibilityDelay) })
    }
  })

const writes = { propose: Notes.propose, twice: Notes.twice, withdraw: Notes.withdraw } as const

const call = fc.record({
  kind: fc.constantFrom(
    "propose" as const,
    "propose" as const,
    "twice" as const,
    "withdraw" as const
  ),
  noteId: fc.constantFrom("a", "a", "b", "c")
})

/** Steps while the writes run. */
const happening = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constant("ask" as const), call }) },
  {
    weight: 3,
    arbitrary: fc.record({
      what: fc.constant("pass" as const),
      seconds: fc.constantFrom(1, 2, 7, 40)
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant("crash" as const), worker: fc.nat({ max: 1 }) })
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("faults" as const), plan }) },
  { weight: 1, arbitrary: fc.constant({ what: "decline" as const }) }
)
type Happening = typeof happening extends fc.Arbitrary<infer A> ? A : never

const operator = Calls.person("olga", "operator")

/** An instance over the shared ports that is killed without a word, and another put in its place. */
const instance = Effect.gen(function* () {
  const scope = yield* Effect.scope
  const start = Effect.gen(function* () {
    const life = Killable.make({ operations: Notes.operations, fromLedger: Notes.fromLedger })
    const engine = yield* Layer.build(life.engine)
    yield* Effect.provide(Passing.working, engine)
    return { life, engine }
  }).pipe(Scope.provide(scope))
  let current = yield* start
  return {
    crash: Effect.gen(function* () {
      yield* current.life.kill
      current = yield* start
    })
  }
})

const all = Effect.gen(function* () {
  const records = yield* Records
  const rows = yield* records.list(operations, { limit: 1_000 })
  return rows.map((row) => row.record)
})

const isFinal = (one: OperationRecord) => one.state === "succeeded" || one.state === "failed"

const rank = { queued: 0, running: 1, succeeded: 2, failed: 2 }

const story = Effect.fnUntraced(function* (
  happenings: ReadonlyArray<Happening>,
  faults: SimulatedLedger.Faults.Faults
) {
  const registrar = yield* Notes.outsider("registrar")
  const workers = [yield* instance, yield* instance]
  const door = yield* Layer.build(
    Layer.fresh(Engine.layerOf({ operations: Notes.operations, fromLedger: Notes.fromLedger }))
  )
  let keys = 0
  const statesSeen = new Map<string, number>()
  const startedAt = new Map<string, Instant.Instant | null>()
  const watch = Effect.gen(function* () {
    for (const one of yield* all) {
      expect(rank[one.state], "a state went back").toBeGreaterThanOrEqual(
        statesSeen.get(one.operationId) ?? 0
      )
      statesSeen.set(one.operationId, rank[one.state])
      const before = startedAt.get(one.operationId) ?? null
      if (before !== null) expect(one.startedAt, "the first lease is the first").toBe(before)
      startedAt.set(one.operationId, one.startedAt)
    }
  }).pipe(Effect.provide(door))
  for (const one of happenings) {
    switch (one.what) {
      case "ask":
        yield* Calls.slug(
          Calls.submit(writes[one.call.kind], operator, {
            params: { noteId: one.call.noteId },
            body: one.call.kind === "withdraw" ? "{}" : `{"registrar":"${registrar.party}"}`,
            key: `k${++keys}`
          })
        ).pipe(Effect.provide(door))
        break
      case "pass":
        yield* Passing.seconds(one.seconds)
        break
      case "crash":
        yield* workers[one.worker]?.crash ?? Effect.void
        break
      case "faults":
        faults.replace(one.plan)
        break
      case "decline": {
        const open = yield* Effect.flatMap(Records, (records) =>
          records.list(Notes.notes, { where: { state: ["open"] }, limit: 1 })
        ).pipe(Effect.provide(door))
        const [note] = open
        if (note !== undefined) {
          yield* Effect.exit(registrar.decline(note.record.contractId))
        }
        break
      }
    }
    yield* watch
  }
  faults.replace(SimulatedLedger.Faults.none)
  yield* Passing.until(
    Effect.map(all, (some) => some.every(isFinal)).pipe(Effect.provide(door)),
    3_600
  )
  yield* watch
  const ended = yield* Effect.provide(all, door)
  const effects = yield* Notes.commits
  for (const one of ended) {
    const expected = one.kind === Notes.twice.kind ? 2 : 1
    const got = effects.get(one.operationId) ?? 0
    const what = `${one.kind} ${one.state} ${JSON.stringify(one.problem)}`
    expect(isFinal(one), `${what} never ended: ${one.step?.unknownSince}`).toBe(true)
    expect(got, `${what} took effect too often`).toBeLessThanOrEqual(expected)
    if (one.state === "succeeded") expect(got, `${what} has no effect`).toBe(expected)
    if (one.state === "failed" && expected === 1) expect(got, `${what} took effect`).toBe(0)
  }
})

describe("ledger writes under faults and crashes", () => {
  it("have at most one effect each, end each, and say truly whether they took effect", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(happening, { minLength: 4, maxLength: 24, size: "max" }),
        plan,
        (happenings, first) => {
          const faults = SimulatedLedger.Faults.make()
          return Calls.runCase(
            story([{ what: "faults", plan: first }, ...happenings], faults).pipe(
              Effect.provide(ports({ faults, settings: { lease: 9_000 } }))
            )
          )
        }
      ),
      { numRuns: runs, endOnFailure: true }
    ))
})
