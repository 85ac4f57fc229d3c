/** Event feed under many writers on each store: every number once, in the order of commits. */
import { EventQueries, Records } from "@bursar/engine-core"
import { Atomically, Feed } from "@bursar/engine-core/ports"
import { Instant } from "@bursar/engine-core/kernel"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { describe, expect, it } from "vitest"
import * as Calls from "../engine/calls.ts"
import { engine, stores } from "../engine/stores.ts"

const operator = Calls.person("olga", "operator")

const announced = (resourceId: string) => ({
  type: "hold.released" as const,
  resourceKind: "hold" as const,
  resourceId,
  instrumentId: null,
  party: null,
  holderIds: [],
  payload: {}
})

const page = (page: { readonly limit: number; readonly after?: string; readonly order?: "desc" }) =>
  Effect.flatMap(EventQueries.EventQueries, (queries) =>
    queries.page({
      caller: operator,
      params: page.order === undefined ? {} : { order: page.order },
      limit: page.limit,
      ...(page.after === undefined ? {} : { after: page.after })
    })
  )

const eventRow = (seq: number, at: string) => ({
  seq,
  kind: "control",
  type: "hold.released",
  at,
  offset: null,
  instrumentId: null,
  party: null,
  resourceKind: "hold",
  resourceId: "held",
  holderIds: [],
  payload: "{}",
  source: null
})

const writers = 64
const each = 6

for (const { name, ports } of stores) {
  const run = <A, E>(
    effect: Effect.Effect<A, E, Records | EventQueries.EventQueries | Feed | Atomically>
  ) =>
    effect.pipe(
      Effect.provide(engine.pipe(Layer.provideMerge(ports))),
      Effect.scoped,
      Effect.runPromise
    )

  describe(`the feed on ${name}`, () => {
    it(
      "gives each of three readers, who save their cursors, every event once among 64 writers",
      () =>
        run(
          Effect.gen(function* () {
            const records = yield* Records
            let writing = true
            const write = (writer: number) =>
              Effect.forEach(
                Array.from({ length: each }, (_, index) => index),
                (index) => {
                  const events = Array.from({ length: 1 + (index % 3) }, (_, n) =>
                    announced(`w${writer}-${index}-${n}`)
                  )
                  const transact = index % 2 === 0 ? records.transact : records.transactAlone
                  const fails = index === each - 1
                  return Effect.exit(
                    transact(
                      Effect.andThen(
                        records.announce(events),
                        fails ? Effect.fail("no") : Effect.void
                      )
                    )
                  )
                },
                { discard: true }
              )
            const reader = Effect.fnUntraced(function* (limit: number) {
              const seen: Array<string> = []
              const numbers: Array<number> = []
              let saved: string | undefined
              for (let rest = 2; rest > 0; ) {
                const answer = yield* page({
                  limit,
                  ...(saved === undefined ? {} : { after: saved })
                })
                seen.push(...answer.value.map(({ resourceId }) => resourceId ?? ""))
                numbers.push(...answer.value.map(({ seq }) => seq))
                saved = answer.next
                if (!writing && answer.value.length === 0) rest -= 1
                yield* Effect.yieldNow
              }
              return { seen, numbers }
            })
            const all = Effect.forEach(
              Array.from({ length: writers }, (_, writer) => writer),
              write,
              { concurrency: "unbounded", discard: true }
            ).pipe(Effect.ensuring(Effect.sync(() => void (writing = false))))
            const reading = yield* Effect.forkChild(
              Effect.forEach([1, 3, 50], reader, { concurrency: "unbounded" })
            )
            yield* all
            const readers = yield* Fiber.join(reading)
            // Per writer: 1 + 2 + 3 + 1 + 2 events; the last transaction leaves nothing.
            const total = writers * 9
            for (const { numbers, seen } of readers) {
              expect(numbers).toEqual(Array.from({ length: total }, (_, index) => index + 1))
              expect(new Set(seen).size).toBe(total)
              // Each writer's own events are in the order in which it wrote them.
              for (const own of Map.groupBy(seen, (id) => id.slice(0, id.indexOf("-"))).values()) {
                expect(own).toEqual(own.toSorted())
              }
            }
          })
        ),
      60_000
    )

    it("lets no reader past a transaction that is held open, nor lose what it commits", () =>
      run(
        Effect.gen(function* () {
          const records = yield* Records
          const feed = yield* Feed
          const { run: atomically } = yield* Atomically
          yield* records.transact(records.announce([announced("first")]))
          const opened = yield* Deferred.make<void>()
          const release = yield* Deferred.make<void>()
          const held = yield* Effect.forkChild(
            atomically(
              Effect.gen(function* () {
                const head = yield* feed.take(Instant.sortable(yield* Instant.now))
                const events = [eventRow(head.seq + 1, head.at)]
                yield* feed.append(head, { events, audit: [], webhooks: "same" })
                yield* Deferred.succeed(opened, undefined)
                yield* Deferred.await(release)
              })
            )
          )
          yield* Deferred.await(opened)
          const laterWriter = yield* Effect.forkChild(
            records.transactAlone(records.announce([announced("later")]))
          )
          let saved: string | undefined
          const seen: Array<string | null> = []
          const look = Effect.gen(function* () {
            const answer = yield* page({
              limit: 10,
              ...(saved === undefined ? {} : { after: saved })
            })
            seen.push(...answer.value.map(({ resourceId }) => resourceId))
            saved = answer.next
          })
          if (name === "PostgreSQL") {
            // In memory a reader waits for the writers; on PostgreSQL it reads committed events.
            for (let looks = 0; looks < 20; looks++) yield* look
            expect(seen).toEqual(["first"])
            expect(laterWriter.pollUnsafe()).toBeUndefined()
          }
          yield* Deferred.succeed(release, undefined)
          yield* Fiber.join(held)
          yield* Fiber.join(laterWriter)
          yield* look
          yield* look
          expect(seen).toEqual(["first", "held", "later"])
        })
      ))

    it("tells a reader whose next events were pruned so, with the oldest number there is", () =>
      run(
        Effect.gen(function* () {
          const records = yield* Records
          const feed = yield* Feed
          const tell = (...ids: ReadonlyArray<string>) =>
            Effect.forEach(ids, (id) => records.transact(records.announce([announced(id)])))
          yield* tell("a", "b", "c", "d")
          const first = yield* page({ limit: 1 })
          const third = yield* page({ limit: 3 })
          const { events } = yield* feed.read({ order: "asc", limit: 10 })
          const before = events[3]?.at ?? ""
          const hold = { holderIds: [], instrumentIds: [] }
          yield* feed.prune({ before, hold, limit: 100 })
          // Events that the second reader has not read yet are kept.
          const on = yield* page({ limit: 5, after: third.next })
          expect(on.value.map(({ seq }) => seq)).toEqual([4])
          expect(yield* Calls.slug(page({ limit: 5, after: first.next }))).toBe("cursor-expired")
          const refusal = yield* Effect.flip(page({ limit: 5, after: first.next }))
          expect(refusal._tag === "Refused" && refusal.details.detail).toContain(
            "the oldest seq is 4"
          )
          // A new reader begins at what is there; numbers are never used again.
          const anew = yield* page({ limit: 1 })
          expect(anew.value.map(({ seq }) => seq)).toEqual([4])
          yield* tell("e")
          expect((yield* page({ limit: 5, after: anew.next })).value.map(({ seq }) => seq)).toEqual(
            [5]
          )
          const back = yield* page({ limit: 1, order: "desc" })
          const older = yield* page({ limit: 5, order: "desc", after: back.next })
          expect([...back.value, ...older.value].map(({ seq }) => seq)).toEqual([5, 4])
        })
      ))

    it("gives the same place back where nothing has come, for ever", () =>
      run(
        Effect.gen(function* () {
          const records = yield* Records
          const empty = yield* page({ limit: 5 })
          expect(empty.value).toEqual([])
          let { next } = empty
          for (let polls = 0; polls < 3; polls++) {
            const again = yield* page({ limit: 5, after: next })
            expect(again.next).toBe(empty.next)
            next = again.next
          }
          yield* records.transact(records.announce([announced("a")]))
          const come = yield* page({ limit: 5, after: next })
          expect(come.value.length).toBe(1)
          expect((yield* page({ limit: 5, after: come.next })).next).toBe(come.next)
        })
      ))
  })
}
