/**
 * A feed whose store is restored from copies: a forward reader either reads what follows what it has
 * read, or is told that a part of it is lost.
 */
import { Instant, Offset, PlainJson } from "@bursar/engine-core/kernel"
import { Crypto, type StoreRestore } from "@bursar/engine-core/ports"
import * as NodeCrypto from "@bursar/storage-adapters/node"
import { Effect, Result, Stream } from "effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as FeedPages from "#core/feeds/FeedPages.ts"
import * as Cursor from "#core/reads/Cursor.ts"
import * as Restores from "#adapters/storage/Restores.ts"
import { runsOf } from "../long-run.ts"

const crypto = Effect.runSync(
  Effect.provide(Effect.flatMap(Crypto, Effect.succeed), NodeCrypto.layer)
)
const cursors = Cursor.make(crypto, [{ id: 1, secret: new Uint8Array(32).fill(7) }])
const pages = FeedPages.make({
  list: "events",
  tenantId: "venue-1",
  cursors,
  lostAfter: ({ seq }) => seq
})

/** A store: its rows, each with a name that no other has, and the restores that it notes. */
interface Store {
  readonly rows: ReadonlyArray<{ readonly seq: number; readonly name: number }>
  readonly restores: ReadonlyArray<StoreRestore>
}

const sourceOf = ({ restores, rows }: Store, pruned = { prunedTo: 0, journalPrunedTo: 0 }) => ({
  cursorBinding: {},
  scan: ({ after = 0, limit }: FeedPages.Scan) => {
    const found = rows.filter(({ seq }) => seq > after).slice(0, limit)
    const last = found.length < limit ? rows.length : (found.at(-1)?.seq ?? after)
    return Effect.succeed({
      ...pruned,
      rows: found,
      scanned: Math.max(after, last),
      end: rows.length,
      restores
    })
  }
})

const pageOf = (store: Store, after?: string, limit = 1_000) =>
  Effect.runSync(
    Effect.result(
      pages.page(
        { order: "asc", limit, ...(after === undefined ? {} : { after }) },
        sourceOf(store)
      )
    )
  )

const act = fc.oneof(
  fc.record({ do: fc.constant("append" as const), count: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ do: fc.constant("copy" as const) }),
  // A reader takes so many rows, and keeps its cursor.
  fc.record({ do: fc.constant("read" as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ do: fc.constant("restore" as const), copy: fc.nat(4) })
)

const namesUpTo = ({ rows }: Store, seq: number) =>
  rows.filter((row) => row.seq <= seq).map(({ name }) => name)

describe("a cursor that was kept over restores", () => {
  it("reads on exactly where all that it has passed is still there, and is refused elsewhere", () =>
    fc.assert(
      fc.property(fc.array(act, { maxLength: 14 }), (acts) => {
        let store: Store = { rows: [], restores: [] }
        let names = 0
        let instants = 0
        const copies: Array<Store> = [store]
        const kept: Array<{ readonly next: string; readonly passed: ReadonlyArray<number> }> = []
        for (const each of acts) {
          if (each.do === "append") {
            const rows = Array.from({ length: each.count }, (_, index) => ({
              seq: store.rows.length + index + 1,
              name: ++names
            }))
            store = { ...store, rows: [...store.rows, ...rows] }
          } else if (each.do === "copy") copies.push(store)
          else if (each.do === "read") {
            const page = Result.getOrThrow(pageOf(store, undefined, each.count))
            const passed = page.rows.map(({ name }) => name)
            kept.push({ next: page.next, passed })
          } else {
            const copy = copies[each.copy % copies.length] ?? store
            const at = Instant.sortable(Instant.fromEpochMillis(1_000 * ++instants))
            const seq = copy.rows.length
            const restores = Restores.added(copy.restores, { seq, auditSeq: 0, at })
            store = { ...copy, restores }
          }
        }
        for (const { next, passed } of kept) {
          const isThere = passed.every((name, index) => store.rows[index]?.name === name)
          const page = pageOf(store, next)
          expect(Result.isSuccess(page)).toBe(isThere)
          if (Result.isSuccess(page)) {
            expect(page.success.rows).toEqual(store.rows.slice(passed.length))
            continue
          }
          expect(page.failure.slug).toBe("cursor-expired")
          // The refusal names a place up to which both histories are the same, and leads on from it.
          const { detail = "" } = page.failure.details
          const [, shared = "", after = ""] =
            /after number (\d+) is lost.*after=(\S+)$/.exec(detail) ?? []
          expect(passed.slice(0, Number(shared))).toEqual(namesUpTo(store, Number(shared)))
          expect(Result.getOrThrow(pageOf(store, after)).rows).toEqual(
            store.rows.slice(Number(shared))
          )
        }
      }),
      { numRuns: runsOf(300) }
    ))

  const rowsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ seq: index + 1, name: index }))

  it("is refused where it is beyond the feed's end, though no restore was noted", () => {
    const { next } = Result.getOrThrow(pageOf({ rows: rowsOf(5), restores: [] }))
    const page = pageOf({ rows: rowsOf(4), restores: [] }, next)
    expect(Result.isFailure(page) && page.failure.slug).toBe("cursor-expired")
    // Also where only a restore is known that the cursor's history has had itself.
    const restores = [{ seq: 1, auditSeq: 0, at: Instant.sortable(Instant.fromEpochMillis(1)) }]
    const late = Result.getOrThrow(pageOf({ rows: rowsOf(5), restores }))
    const older = pageOf({ rows: rowsOf(9), restores: [] }, late.next)
    expect(Result.isFailure(older) && older.failure.slug).toBe("cursor-expired")
  })

  it("is refused to a reader of a whole list in the same way", () => {
    const { next } = Result.getOrThrow(pageOf({ rows: rowsOf(5), restores: [] }))
    const rest = Effect.runSync(
      Effect.flip(
        pages.rest(
          { order: "asc", after: next, end: 4 },
          sourceOf({ rows: rowsOf(4), restores: [] })
        )
      )
    )
    expect(rest.slug).toBe("cursor-expired")
  })

  it("of an earlier version, which names no restore, is one of the time before all restores", () => {
    const old = (scanned: number) =>
      cursors.write({
        list: "events",
        binding: PlainJson.canonical({ tenant: "venue-1", order: "asc" }),
        offset: Offset.zero,
        keys: [String(scanned), "0"]
      })
    const restores = [{ seq: 3, auditSeq: 0, at: Instant.sortable(Instant.fromEpochMillis(1)) }]
    const store = { rows: rowsOf(6), restores }
    expect(Result.getOrThrow(pageOf(store, old(3))).rows).toEqual(store.rows.slice(3))
    const lost = pageOf(store, old(4))
    expect(Result.isFailure(lost) && lost.failure.slug).toBe("cursor-expired")
    const pruned = (journalPrunedTo: number) =>
      Effect.runSync(
        Effect.result(
          pages.page(
            { order: "asc", limit: 9, after: old(3) },
            sourceOf({ rows: rowsOf(6), restores: [] }, { prunedTo: 0, journalPrunedTo })
          )
        )
      )._tag
    expect([pruned(3), pruned(4)]).toEqual(["Success", "Failure"])
  })

  it("streams what follows a place that is still there", () => {
    const store = { rows: rowsOf(5), restores: [] }
    const { next } = Result.getOrThrow(pageOf(store, undefined, 2))
    const rest = Effect.runSync(pages.rest({ order: "asc", after: next, end: 5 }, sourceOf(store)))
    expect(Effect.runSync(Stream.runCollect(rest.rows))).toEqual(store.rows.slice(2))
  })
})
