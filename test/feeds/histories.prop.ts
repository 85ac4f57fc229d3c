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

/** An event: each has a name that no other has, and those that retention deleted are there no more. */
interface Row {
  readonly seq: number
  readonly name: number
  readonly kind: "control" | "journal"
  readonly isDeleted: boolean
}

/** A store: every row that was written to it, and the restores that it notes. */
interface Store {
  readonly rows: ReadonlyArray<Row>
  readonly restores: ReadonlyArray<StoreRestore>
}

const emptyStore: Store = { rows: [], restores: [] }

const lastDeleted = ({ rows }: Store, kind: Row["kind"]): number =>
  rows.findLast((row) => row.isDeleted && row.kind === kind)?.seq ?? 0

const sourceOf = (
  store: Store,
  pruned = {
    prunedTo: lastDeleted(store, "control"),
    journalPrunedTo: lastDeleted(store, "journal")
  }
) => ({
  cursorBinding: {},
  scan: ({ after = 0, limit }: FeedPages.Scan) => {
    const end = store.rows.length
    const found = rowsAfter(store, after).slice(0, limit)
    const last = found.length < limit ? end : (found.at(-1)?.seq ?? after)
    const scanned = Math.max(after, last)
    return Effect.succeed({ ...pruned, rows: found, scanned, end, restores: store.restores })
  }
})

const rowsAfter = ({ rows }: Store, after: number) =>
  rows.filter(({ isDeleted, seq }) => seq > after && !isDeleted)

const pageOf = (store: Store, after?: string, limit = 1_000) =>
  Effect.runSync(
    Effect.result(
      pages.page(
        { order: "asc", limit, ...(after === undefined ? {} : { after }) },
        sourceOf(store)
      )
    )
  )

const kind = fc.constantFrom("control" as const, "journal" as const)
const act = fc.oneof(
  fc.record({ do: fc.constant("append" as const), count: fc.integer({ min: 1, max: 3 }), kind }),
  fc.record({ do: fc.constant("copy" as const) }),
  // A reader takes so many rows, and keeps its cursor.
  fc.record({ do: fc.constant("read" as const), count: fc.integer({ min: 1, max: 8 }) }),
  // Retention deletes one kind up to a number so far before the end.
  fc.record({ do: fc.constant("prune" as const), before: fc.nat(3), kind }),
  fc.record({ do: fc.constant("restore" as const), copy: fc.nat(4) })
)

/** A cursor that a reader kept, and what it was told when it got it. */
interface KeptCursor {
  readonly next: string
  /** Names of the rows up to its place. */
  readonly passed: ReadonlyArray<number>
  /** Names of later rows that were deleted already. */
  readonly deleted: ReadonlySet<number>
  readonly restores: ReadonlyArray<StoreRestore>
}

const namesUpTo = ({ rows }: Store, seq: number) =>
  rows.filter((row) => row.seq <= seq).map(({ name }) => name)

const keptAt = (store: Store, count: number): KeptCursor => {
  const page = Result.getOrThrow(pageOf(store, undefined, count))
  const last = page.rows[count - 1]?.seq ?? store.rows.length
  const later = store.rows.filter(({ isDeleted, seq }) => isDeleted && seq > last)
  return {
    next: page.next,
    passed: namesUpTo(store, last),
    deleted: new Set(later.map(({ name }) => name)),
    restores: store.restores
  }
}

/** Plays what happens to a store, and answers it with the cursors that readers kept. */
const played = (acts: ReadonlyArray<typeof act extends fc.Arbitrary<infer A> ? A : never>) => {
  let store = emptyStore
  let names = 0
  let instants = 0
  const copies: Array<Store> = [store]
  const cursorsKept: Array<KeptCursor> = []
  for (const each of acts) {
    if (each.do === "append") {
      const rows = Array.from({ length: each.count }, (_, index) => ({
        seq: store.rows.length + index + 1,
        name: ++names,
        kind: each.kind,
        isDeleted: false
      }))
      store = { ...store, rows: [...store.rows, ...rows] }
    } else if (each.do === "copy") copies.push(store)
    else if (each.do === "read") cursorsKept.push(keptAt(store, each.count))
    else if (each.do === "prune") {
      const last = store.rows.length - each.before
      const rows = store.rows.map((row) =>
        row.kind === each.kind && row.seq <= last ? { ...row, isDeleted: true } : row
      )
      store = { ...store, rows }
    } else {
      const copy = copies[each.copy % copies.length] ?? store
      const at = Instant.sortable(Instant.fromEpochMillis(1_000 * ++instants))
      const seq = copy.rows.length
      store = { ...copy, restores: Restores.added(copy.restores, { seq, auditSeq: 0, at }) }
    }
  }
  return { store, cursorsKept }
}

describe("a cursor that was kept over restores and prunings", () => {
  it("reads on where all that it has passed is there and no later event was deleted unannounced, and is refused elsewhere", () =>
    fc.assert(
      fc.property(fc.array(act, { maxLength: 20 }), (acts) => {
        const { cursorsKept, store } = played(acts)
        for (const { deleted, next, passed, restores } of cursorsKept) {
          const isThere = passed.every((name, index) => store.rows[index]?.name === name)
          const isMissed = store.rows
            .slice(passed.length)
            .some(({ isDeleted, name }) => isDeleted && !deleted.has(name))
          const page = pageOf(store, next)
          if (Result.isSuccess(page)) {
            expect({ isThere, isMissed }).toEqual({ isThere: true, isMissed: false })
            expect(page.success.rows).toEqual(rowsAfter(store, passed.length))
            continue
          }
          expect(page.failure.slug).toBe("cursor-expired")
          // What was deleted before a restore may be told of again; nothing else is refused needlessly.
          if (isThere && !isMissed) {
            expect(deleted.size).toBeGreaterThan(0)
            expect(store.restores).not.toEqual(restores)
          }
          const { detail = "" } = page.failure.details
          if (isThere) expect(detail).toContain("is pruned")
          // The refusal names a place up to which both histories are the same, and leads on from it.
          const found = /after number (\d+) is lost.*after=(\S+)$/.exec(detail)
          if (found === null) {
            expect(detail).toMatch(/is pruned|read anew without a cursor/)
            expect(Result.getOrThrow(pageOf(store)).rows).toEqual(rowsAfter(store, 0))
            continue
          }
          const [, shared = "", after = ""] = found
          expect(passed.slice(0, Number(shared))).toEqual(namesUpTo(store, Number(shared)))
          const later = store.rows.slice(Number(shared))
          const onward = pageOf(store, after)
          expect(Result.isSuccess(onward)).toBe(later.every(({ isDeleted }) => !isDeleted))
          if (Result.isSuccess(onward)) expect(onward.success.rows).toEqual(later)
        }
      }),
      { numRuns: runsOf(600) }
    ))

  it.each([
    {
      fault: "what the new history deleted after the last number of both",
      acts: [
        { do: "append", count: 3, kind: "control" },
        { do: "copy" },
        { do: "append", count: 1, kind: "control" },
        { do: "read", count: 4 },
        { do: "restore", copy: 1 },
        { do: "append", count: 3, kind: "control" },
        { do: "prune", before: 1, kind: "control" }
      ]
    },
    {
      fault: "what the new history deleted, where the lost one had deleted as far",
      acts: [
        { do: "append", count: 1, kind: "journal" },
        { do: "copy" },
        { do: "append", count: 2, kind: "control" },
        { do: "prune", before: 0, kind: "control" },
        { do: "read", count: 1 },
        { do: "restore", copy: 1 },
        { do: "append", count: 2, kind: "control" },
        { do: "prune", before: 0, kind: "control" }
      ]
    }
  ] as const)("is never led past $fault", ({ acts }) => {
    const { cursorsKept, store } = played(acts)
    const [cursor] = cursorsKept
    const first = pageOf(store, cursor?.next)
    const detail = (Result.isFailure(first) && first.failure.details.detail) || ""
    const [, after] = /after=(\S+)$/.exec(detail) ?? []
    const page = after === undefined ? first : pageOf(store, after)
    expect(Result.isFailure(page) && page.failure.details.detail).toContain("is pruned")
  })

  it("names no place to read on from, where the restored copy is of a time before its own history", () => {
    const { cursorsKept, store } = played([
      { do: "append", count: 1, kind: "control" },
      { do: "copy" },
      { do: "append", count: 3, kind: "control" },
      { do: "copy" },
      { do: "restore", copy: 1 },
      { do: "append", count: 2, kind: "control" },
      { do: "read", count: 3 },
      { do: "restore", copy: 2 }
    ])
    const page = pageOf(store, cursorsKept[0]?.next)
    expect(Result.isFailure(page) && page.failure.details.detail).toMatch(
      /read anew without a cursor\.$/
    )
  })

  const rowsOf = (count: number) =>
    Array.from({ length: count }, (_, index) => ({
      seq: index + 1,
      name: index,
      kind: "control" as const,
      isDeleted: false
    }))

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

  it("is one that a host of the version before can read, until a restore or a pruning ahead of it", () => {
    const binding = PlainJson.canonical({ tenant: "venue-1", order: "asc" })
    const keysAt = (store: Store, count: number) =>
      Result.getOrThrow(
        cursors.read({
          list: "events",
          binding,
          count: 2,
          text: Result.getOrThrow(pageOf(store, undefined, count)).next
        })
      ).keys
    expect(keysAt({ rows: rowsOf(5), restores: [] }, 3)).toEqual(["3", "0"])
    const pruned = rowsOf(5).map((row) => ({
      ...row,
      kind: "journal" as const,
      isDeleted: row.seq < 3
    }))
    expect(keysAt({ rows: pruned, restores: [] }, 1)).toEqual(["3", "0"])
  })

  it("streams what follows a place that is still there", () => {
    const store = { rows: rowsOf(5), restores: [] }
    const { next } = Result.getOrThrow(pageOf(store, undefined, 2))
    const rest = Effect.runSync(pages.rest({ order: "asc", after: next, end: 5 }, sourceOf(store)))
    expect(Effect.runSync(Stream.runCollect(rest.rows))).toEqual(store.rows.slice(2))
  })
})
