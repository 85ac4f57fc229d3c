/** Documents: each is the fold of its record's facts, at every version and pin. */
import { type Collection, Records } from "@bursar/engine-core"
import { Documents, FactLog, type FactRow } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Instant } from "@bursar/engine-core/kernel"
import { contracts } from "#core/projection/Contract.ts"
import { unexpectedFacts } from "#core/projection/Unexpected.ts"
import * as Codecs from "#core/records/Codecs.ts"
import { approvals } from "#core/writes/Approval.ts"
import { operations } from "#core/writes/OperationRecord.ts"
import * as Calls from "../engine/calls.ts"
import * as Notes from "../engine/ledger-toys.ts"
import { timer, timers } from "../engine/timers.ts"
import * as Toys from "../engine/toys.ts"
import { world } from "../engine/world.ts"
import { runsOf } from "../long-run.ts"

const runs = runsOf(40)

const step = fc.oneof(
  fc.record({
    do: fc.constant("add" as const),
    by: fc.integer({ min: 0, max: 3 }),
    many: fc.integer({ min: 1, max: 4 })
  }),
  fc.record({ do: fc.constant("two" as const), by: fc.integer({ min: 1, max: 2 }) }),
  fc.record({ do: fc.constant("sign" as const), which: fc.nat(5), reject: fc.boolean() }),
  fc.record({ do: fc.constant("note" as const), id: fc.constantFrom("a", "b", "c") }),
  fc.record({ do: fc.constant("withdraw" as const), id: fc.constantFrom("a", "b", "c") }),
  fc.record({
    do: fc.constant("timer" as const),
    id: fc.constantFrom("x", "y"),
    due: fc.nat(9_000)
  }),
  fc.record({ do: fc.constant("touch" as const), id: fc.constantFrom("x", "y") }),
  fc.record({ do: fc.constant("wait" as const), millis: fc.nat(8_000) }),
  fc.constant({ do: "settle" as const })
)
type Step = typeof step extends fc.Arbitrary<infer A> ? A : never

const operator = Calls.person("olga", "operator")
const approver = Calls.person("ann", "approver")

const happen = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
  const records = yield* Records
  const registrar = yield* Notes.outsider("registrar")
  const made: Array<string> = []
  const act = Effect.map(Instant.now, (now) => ({
    cause: { by: "request" as const, requestId: "req" },
    now
  }))
  let key = 0
  for (const one of steps) {
    switch (one.do) {
      case "add":
        yield* Effect.forEach(
          Array.from({ length: one.many }),
          () =>
            Calls.slug(
              Calls.submit(Toys.single, operator, {
                params: { counterId: "c" },
                body: `{"by":${one.by}}`,
                key: `k${++key}`
              })
            ),
          { concurrency: "unbounded" }
        )
        break
      case "two": {
        const answer = yield* Calls.submit(Toys.triple, operator, {
          params: { counterId: "c" },
          body: `{"by":${one.by}}`,
          key: `k${++key}`
        })
        made.push(String(Calls.field(answer, "actionKey")))
        break
      }
      case "sign": {
        const chosen = made[one.which % Math.max(1, made.length)] ?? "ak"
        yield* Calls.slug(
          one.reject ? Calls.reject(chosen, approver) : Calls.approve(chosen, approver)
        )
        break
      }
      case "note":
      case "withdraw":
        yield* Calls.slug(
          Calls.submit(one.do === "note" ? Notes.propose : Notes.withdraw, operator, {
            params: { noteId: one.id },
            body: one.do === "note" ? `{"registrar":"${registrar.party}"}` : "{}",
            key: `k${++key}`
          })
        )
        break
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
        break
      case "touch":
        yield* Effect.exit(
          records.transact(
            Effect.gen(function* () {
              const self = yield* records.get(timers, one.id)
              yield* records.append(timers, self, { on: "touch" }, yield* act)
            })
          )
        )
        break
      case "wait":
        yield* TestClock.adjust(one.millis)
        break
      case "settle":
        yield* Calls.settle
        break
    }
  }
  yield* Calls.settle
})

/** The bodies a record had, version by version, by its facts alone. */
const replay = <R, F>(collection: Collection<R, F>, rows: ReadonlyArray<FactRow>) => {
  const codecs = Codecs.of(collection)
  const bodies: Array<string> = []
  let self: R | undefined
  for (const row of rows) {
    expect(row.version, "versions follow one another").toBe(bodies.length + 1)
    expect(row.cause, "a fact has one cause").toMatch(/^(operation|update|run|request):.+|^clock$/)
    if (self === undefined) {
      const opened = /^\{"on":"open","record":(.*)\}$/su.exec(row.fact)
      self = codecs.decodeRecord(opened?.[1] ?? "")
    } else self = collection.evolve(self, codecs.decodeFact(row.fact))
    bodies.push(codecs.encodeRecord(self))
  }
  return bodies
}

const scanned = (collection: string) =>
  Effect.gen(function* () {
    const log = yield* FactLog
    const byRecord = new Map<string, Array<FactRow>>()
    let after: { readonly recordId: string; readonly version: number } | undefined
    for (;;) {
      const rows = yield* log.scan({
        collection,
        limit: 7,
        ...(after === undefined ? {} : { after })
      })
      for (const row of rows)
        byRecord.set(row.recordId, [...(byRecord.get(row.recordId) ?? []), row])
      after = rows.at(-1)
      if (rows.length < 7) return byRecord
    }
  })

const agree = <R, F>(collection: Collection<R, F>) =>
  Effect.gen(function* () {
    const documents = yield* Documents
    const versionOf = (recordId: string, pin: Parameters<typeof documents.get>[0]["pin"]) =>
      Effect.map(
        documents.get({ collection: collection.name, recordIds: [recordId], pin }),
        (found) => found[0]
      )
    let facts = 0
    let closed = 0
    for (const [recordId, rows] of yield* scanned(collection.name)) {
      facts += rows.length
      closed += new Set(rows.map(({ recordedAt, offset }) => `${recordedAt} ${offset}`)).size - 1
      const bodies = replay(collection, rows)
      expect((yield* versionOf(recordId, { by: "latest" }))?.body).toBe(bodies.at(-1))
      for (const { recordedAt, offset } of rows) {
        const then = rows.findLastIndex((row) => row.recordedAt <= recordedAt)
        expect((yield* versionOf(recordId, { by: "instant", instant: recordedAt }))?.body).toBe(
          bodies[then]
        )
        const there = rows.findLastIndex((row) => row.offset <= offset)
        expect((yield* versionOf(recordId, { by: "offset", offset }))?.body).toBe(bodies[there])
      }
    }
    const every = { collection: collection.name, through: Number.MAX_SAFE_INTEGER, limit: 100_000 }
    expect(yield* documents.prune(every), "one version for each offset and instant").toBe(closed)
    return facts
  })

describe("facts", () => {
  it("fold to the documents that are stored, clock notices included", () => {
    let facts = 0
    return fc
      .assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40, size: "max" }), (steps) =>
          Calls.runCase(
            Effect.gen(function* () {
              yield* happen(steps)
              facts += yield* agree(operations)
              facts += yield* agree(approvals)
              facts += yield* agree(Toys.counters)
              facts += yield* agree(timers)
              facts += yield* agree(Notes.notes)
              facts += yield* agree(contracts)
              facts += yield* agree(unexpectedFacts)
            }).pipe(
              Effect.provide(
                world({
                  operations: [...Toys.toys, ...Notes.operations],
                  fromLedger: Notes.fromLedger,
                  settings: { approvalExpiry: 20_000 }
                })
              )
            )
          )
        ),
        { numRuns: runs }
      )
      .then(() => expect(facts).toBeGreaterThan(runs * 10))
  })
})
