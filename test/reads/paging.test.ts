/** Thousands of records, page by page, while others insert and change: the pinned set, each once. */
import { Queries, Records } from "@bursar/engine-core"
import { Instant } from "@bursar/engine-core/kernel"
import { Deferred, Effect, Fiber, Layer, Option, Ref, Stream } from "effect"
import { describe, expect, it } from "vitest"
import { seed } from "../engine/seed.ts"
import { engine, stores } from "../engine/stores.ts"
import { timer, timers } from "../engine/timers.ts"
import * as ToyQueries from "../engine/toy-reads.ts"
import { isLong } from "../long-run.ts"

const count = isLong ? 10_000 : 2_500
const idOf = (index: number) => `t${String(index).padStart(6, "0")}`
const before = Array.from({ length: count }, (_, index) => idOf(index * 2))

const act = Effect.map(Instant.now, (now) => ({
  cause: { by: "request" as const, requestId: "r" },
  now
}))

/** Inserts between the records of the list and changes some of them, until it is told to stop. */
let written = 0
const others = Effect.fnUntraced(function* (
  until: Ref.Ref<boolean>,
  begun: Deferred.Deferred<void>
) {
  const records = yield* Records
  const first = written
  while (!(yield* Ref.get(until))) {
    const place = (written * 1_237) % count
    yield* records.transact(
      Effect.gen(function* () {
        const id = idOf(place * 2 + 1)
        if (Option.isNone(yield* records.find(timers, id))) {
          yield* records.open(timers, timer(id, 1e14, 2e14), yield* act)
        }
        const self = yield* records.get(timers, idOf(((written * 611) % count) * 2))
        if (self.touched < 9) yield* records.append(timers, self, { on: "touch" }, yield* act)
      })
    )
    written += 1
    yield* Deferred.succeed(begun, undefined)
    yield* Effect.yieldNow
  }
  return written - first
})

/** Page sizes of one reading: each size for a number of pages, the last for all the rest. */
type Sizes = ReadonlyArray<readonly [limit: number, pages: number]>
const sizes: Readonly<Record<string, ReadonlyArray<Sizes>>> = {
  memory: [[[1, Infinity]], [[7, Infinity]], [[1_000, Infinity]]],
  // A page costs the database a few statements: small ones are read for some hundred pages only.
  PostgreSQL: [
    [
      [1, isLong ? 200 : 60],
      [1_000, Infinity]
    ],
    [
      [7, isLong ? 150 : 50],
      [1_000, Infinity]
    ],
    [[1_000, Infinity]]
  ]
}

type Page = { readonly limit: number; readonly after?: string }
const pageOf = (list: typeof ToyQueries.listTimers, page: Page) =>
  Effect.flatMap(Queries, (queries) =>
    queries.page(list, { caller: ToyQueries.auditor, params: {}, point: {}, page })
  )

/** Id and version of every record of the list now, as a stream shows them. */
const listed = (list: typeof ToyQueries.listTimers) =>
  Effect.gen(function* () {
    const queries = yield* Queries
    const request = { caller: ToyQueries.auditor, params: {}, point: {}, page: {} }
    const { value } = yield* queries.all(list, request)
    return (yield* Stream.runCollect(value)).map(shown)
  })
const shown = ({ id, version }: { readonly id: string; readonly version: number }) =>
  `${id} ${version}`

for (const { name, ports } of stores) {
  describe(`a list on ${name}`, () => {
    it(
      "shows by 1, 7 and 1000 what stood at its first page, no record twice, none missed",
      () =>
        Effect.gen(function* () {
          // Two instances over one store, with one key, answer the pages in turn.
          const instances = [
            yield* Layer.build(Layer.fresh(engine)),
            yield* Layer.build(Layer.fresh(engine))
          ] as const
          const [one, two] = instances
          yield* seed(
            timers,
            before.map((id) => timer(id, 1e14, 2e14))
          )
          for (const steps of sizes[name] ?? []) {
            const list = steps[0]?.[0] === 7 ? ToyQueries.listTimersBack : ToyQueries.listTimers
            const expected = yield* Effect.provide(listed(list), one)
            expect(expected.length).toBeGreaterThanOrEqual(count)
            const pagedIds: Array<string> = []
            const done = yield* Ref.make(false)
            const begun = yield* Deferred.make<void>()
            let writing: Fiber.Fiber<number, unknown> | undefined
            let after: string | undefined
            let turn = 0
            for (const [limit, most] of steps) {
              for (let pages = 0; pages < most; pages++) {
                const page = { limit, ...(after === undefined ? {} : { after }) }
                const answer = yield* Effect.provide(
                  pageOf(list, page),
                  turn++ % 2 === 0 ? one : two
                )
                pagedIds.push(...answer.value.map(shown))
                after = answer.next ?? undefined
                if (after === undefined) break
                writing ??= yield* Effect.forkChild(Effect.provide(others(done, begun), two))
                // However fast the pages are, something is written between the first and the second.
                yield* Deferred.await(begun)
              }
            }
            yield* Ref.set(done, true)
            expect(writing === undefined ? 0 : yield* Fiber.join(writing)).toBeGreaterThan(0)
            expect(pagedIds.length).toBe(expected.length)
            expect(pagedIds).toEqual(expected)
          }
        }).pipe(Effect.provide(ports), Effect.scoped, Effect.runPromise),
      60_000
    )
  })
}
