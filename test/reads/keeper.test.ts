/**
 * Change window: a reader that asks from the last updatedAt it saw keeps a true copy, with
 * concurrent writers.
 */
import { Catalogue, Queries, Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Effect, Fiber, Layer } from "effect"
import { describe, expect, it } from "vitest"
import { engine, stores } from "../engine/stores.ts"
import { timer, timers } from "../engine/timers.ts"
import * as ToyQueries from "../engine/toy-reads.ts"
import { isLong } from "../long-run.ts"

const writers = 8
const each = isLong ? 25 : 9

const act = Effect.map(Instant.now, (now) => ({
  cause: { by: "request" as const, requestId: "r" },
  now
}))

/** One writer's share: new records, and changes of what all of them change. */
const write = Effect.fnUntraced(function* (writer: number) {
  const records = yield* Records
  for (let step = 0; step < each; step++) {
    const transact = step % 3 === 0 ? records.transactAlone : records.transact
    yield* transact(
      Effect.gen(function* () {
        yield* records.open(timers, timer(`w${writer}-${step}`, 1e14, 2e14), yield* act)
        const self = yield* records.get(timers, `shared-${step % 20}`)
        if (self.touched < 9) yield* records.append(timers, self, { on: "touch" }, yield* act)
      })
    )
  }
})

type Row = { readonly id: string; readonly version: number; readonly updatedAt: Instant.Instant }

/** Every page of what changed from an instant on. */
const changed = Effect.fnUntraced(function* (updatedFrom: Instant.Instant) {
  const queries = yield* Queries
  const rows: Array<Row> = []
  let after: string | undefined
  do {
    const page = yield* queries.page(ToyQueries.listTimers, {
      caller: ToyQueries.auditor,
      params: {},
      point: {},
      page: { limit: 7, updatedFrom, ...(after === undefined ? {} : { after }) }
    })
    rows.push(...page.value)
    after = page.next ?? undefined
  } while (after !== undefined)
  return rows
})

for (const { name, ports } of stores) {
  describe(`a keeper of a list on ${name}`, () => {
    it(
      "misses no change of eight writers, and sees the boundary again and nothing older",
      () =>
        Effect.gen(function* () {
          const records = yield* Records
          for (let index = 0; index < 20; index++) {
            const shared = timer(`shared-${index}`, 1e14, 2e14)
            yield* records.transact(Effect.flatMap(act, (by) => records.open(timers, shared, by)))
          }
          const copy = new Map<string, number>()
          let from = Instant.fromNanos(0n)
          const keep = Effect.gen(function* () {
            const since = from
            for (const row of yield* changed(since)) {
              expect(row.updatedAt >= since).toBe(true)
              copy.set(row.id, Math.max(copy.get(row.id) ?? 0, row.version))
              if (row.updatedAt > from) from = row.updatedAt
            }
          })
          let writing = true
          const all = Effect.forEach(
            Array.from({ length: writers }, (_, writer) => writer),
            write,
            { concurrency: "unbounded", discard: true }
          ).pipe(Effect.ensuring(Effect.sync(() => void (writing = false))))
          const work = yield* Effect.forkChild(all)
          let rounds = 0
          while (writing) {
            yield* keep
            rounds += 1
            yield* Effect.yieldNow
          }
          yield* Fiber.join(work)
          yield* keep
          expect(rounds).toBeGreaterThan(0)
          // Read anew from the beginning of time: the same records at the same versions.
          const truth = (yield* changed(Instant.fromNanos(0n))).map(({ id, version }) => [
            id,
            version
          ])
          expect(truth.length).toBe(20 + writers * each)
          expect([...copy].toSorted(([a], [b]) => (a < b ? -1 : 1))).toEqual(truth)
        }).pipe(
          Effect.provide(engine.pipe(Layer.provideMerge(ports))),
          Effect.scoped,
          Effect.runPromise
        ),
      60_000
    )
  })
}

describe("the window of changes", () => {
  it("is taken where the contract says so, and nowhere else", () => {
    const paths = [
      "/v1/subscriptions",
      "/v1/redemptions",
      "/v1/distributions",
      "/v1/restrictions",
      "/v1/holds"
    ]
    for (const read of Catalogue.queries) {
      const takes = read.shape === "list" && read.changes
      expect([read.route, takes]).toEqual([read.route, paths.includes(read.route.slice(4))])
    }
  })
})
