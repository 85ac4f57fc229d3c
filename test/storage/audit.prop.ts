/** However appends, failures and prunes come one after another or at once, the audit log is one chain. */
import { createHash } from "node:crypto"
import { type AuditRow, Atomically, Feed, type FeedHead } from "@bursar/engine-core/ports"
import { TestDatabase } from "@bursar/storage-adapters/conformance"
import * as Memory from "@bursar/storage-adapters/memory"
import { Effect, Exit, type Layer } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const now = "2026-01-01T00:00:00.000000000Z"
const CHECKPOINT = "audit.checkpoint"

const one = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      /** For each record whether it is a checkpoint. */
      records: fc.array(fc.boolean(), { maxLength: 4 }),
      fails: fc.nat(3).map((n) => n === 0)
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("prune" as const),
      /** Counted back from the last record. */
      back: fc.nat(12),
      fails: fc.nat(5).map((n) => n === 0)
    })
  }
)
type One = typeof one extends fc.Arbitrary<infer A> ? A : never

const recordsAfter = (head: FeedHead, which: ReadonlyArray<boolean>): ReadonlyArray<AuditRow> => {
  let prevHash = head.audit.hash
  return which.map((isCheckpoint, index) => {
    const seq = head.audit.seq + 1 + index
    const text = `${prevHash} ${seq}`
    const hash = createHash("sha256").update(text).digest("hex")
    const action = isCheckpoint ? CHECKPOINT : "x"
    const entry = { seq, at: head.at, action, text, prevHash, hash }
    prevHash = hash
    return { ...entry, actor: null, resourceKind: null, resourceId: null }
  })
}

const happen = Effect.fnUntraced(function* (it: One) {
  const { run } = yield* Atomically
  const feed = yield* Feed
  const ends = it.fails ? Effect.fail("no" as const) : Effect.void
  if (it.do === "prune") {
    const before = (yield* feed.head).audit.seq - it.back
    return yield* Effect.exit(run(Effect.andThen(feed.pruneAudit({ before }), ends)))
  }
  return yield* Effect.exit(
    run(
      Effect.gen(function* () {
        const head = yield* feed.take(now)
        const audit = recordsAfter(head, it.records)
        const last = audit.findLast((record) => record.action === CHECKPOINT)
        yield* feed.append(head, {
          events: [],
          audit,
          webhooks: "same",
          ...(last === undefined ? {} : { checkpoint: last.seq })
        })
        yield* ends
      })
    )
  )
})

/**
 * Invariant of the log: contiguous from the first record kept, which is a checkpoint or number 1.
 */
const judge = Effect.gen(function* () {
  const feed = yield* Feed
  const { records } = yield* feed.readAudit({ order: "asc", limit: 10_000 })
  const { audit } = yield* feed.head
  const [first] = records
  const last = records[records.length - 1]
  for (const [index, record] of records.entries()) {
    const before = records[index - 1]
    if (before === undefined) continue
    expect([record.seq, record.prevHash]).toEqual([before.seq + 1, before.hash])
  }
  if (first === undefined) return expect(audit.seq).toBe(0)
  if (first.seq !== 1) expect(first.action).toBe(CHECKPOINT)
  else expect(first.prevHash).toBe("0".repeat(64))
  expect([last?.seq, last?.hash]).toEqual([audit.seq, audit.hash])
  const checkpoint = records.findLast((record) => record.action === CHECKPOINT)
  expect(audit.checkpoint).toBe(checkpoint?.seq ?? 0)
})

const holds = <E>(
  layer: Layer.Layer<Atomically | Feed, E>,
  options: { readonly runs: number; readonly seed: number | undefined }
) =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.array(one, { minLength: 1, maxLength: 4 })), (rounds) =>
      Effect.gen(function* () {
        const feed = yield* Feed
        for (const round of rounds) {
          const start = yield* feed.head
          const exits = yield* Effect.forEach(round, happen, { concurrency: "unbounded" })
          // The records of successful calls are stored, those of failed calls are not.
          const appended = round.reduce(
            (sum, it, n) =>
              sum +
              (it.do === "append" && Exit.isSuccess(exits[n] ?? Exit.void) ? it.records.length : 0),
            0
          )
          expect((yield* feed.head).audit.seq).toBe(start.audit.seq + appended)
          for (const [n, it] of round.entries()) {
            if (it.do === "append") expect(Exit.isSuccess(exits[n] ?? Exit.void)).toBe(!it.fails)
          }
          yield* judge
        }
      }).pipe(Effect.provide(layer, { local: true }), Effect.scoped, Effect.runPromise)
    ),
    { numRuns: options.runs, ...(options.seed === undefined ? {} : { seed: options.seed }) }
  )

const seed = process.env["SEED"] === undefined ? undefined : Number(process.env["SEED"])
const runs = Number(process.env["RUNS"] ?? 1)

describe("an audit log that is appended to, taken back and pruned in any order, also at once", () => {
  it("never has a gap, a fork, or a start that is no checkpoint, in memory", () =>
    holds(Memory.layer, { runs: 150 * runs, seed }))
  it("never has a gap, a fork, or a start that is no checkpoint, in PostgreSQL", () =>
    holds(TestDatabase.layer, { runs: 8 * runs, seed }))
})
