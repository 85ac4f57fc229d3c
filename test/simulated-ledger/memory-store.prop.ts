/** Laws of the simulated ledger's store in memory: pages of active contracts, updates, and what pruning drops. */
import { Instant, Offset } from "@bursar/engine-core/kernel"
import { Effect, Option } from "effect"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import type * as Entry from "#adapters/ledger/simulated/Entry.ts"
import * as SimStoreMemory from "#adapters/ledger/simulated/SimStoreMemory.ts"

const at = Instant.of("2026-01-01T00:00:00Z")
const type = { packageName: "p", module: "M", entity: "E" }

/** One commit: how far its offset lies after the one before, how many it creates, which it archives. */
const commits = fc.array(
  fc.record({
    gap: fc.integer({ min: 1, max: 3 }),
    creates: fc.integer({ min: 0, max: 4 }),
    archives: fc.array(fc.nat(), { maxLength: 3 })
  }),
  { minLength: 1, maxLength: 20 }
)

interface Life {
  readonly contractId: string
  readonly from: number
  readonly to: number
}

const entryOf = (
  offset: Offset.Offset,
  update: { readonly created: ReadonlyArray<string>; readonly archived: ReadonlyArray<string> }
): Entry.Entry => {
  const by = { offset, changeId: "c", userId: "u", commandId: `${offset}`, actAs: [] }
  const updateId = `update-${offset}`
  return {
    offset,
    completion: {
      ...by,
      _tag: "Completion",
      submissionId: "s",
      recordTime: at,
      outcome: { _tag: "Committed", updateId }
    },
    transaction: {
      ...by,
      updateId,
      workflowId: null,
      effectiveAt: at,
      recordTime: at,
      traceparent: null,
      nodes: []
    },
    created: update.created.map((contractId) => ({
      contractId,
      template: type,
      packageId: "p",
      payload: {},
      signatories: [],
      observers: [],
      createdAt: at,
      createdOffset: offset
    })),
    archived: update.archived
  }
}

/** Plays commits on a store; returns the life of each contract, and the offsets of the commits. */
const played = (
  script: ReadonlyArray<{ gap: number; creates: number; archives: Array<number> }>
) => {
  const store = SimStoreMemory.make({ ledgerId: "l", participantId: "p" })
  const lives: Array<Life> = []
  const offsets: Array<Offset.Offset> = []
  const entries: Array<Entry.Entry> = []
  let last = 0
  for (const { gap, creates, archives } of script) {
    const offset = Offset.of((last += gap))
    offsets.push(offset)
    const active = lives.flatMap((life, nth) => (life.to === Number.POSITIVE_INFINITY ? [nth] : []))
    const ended = [...new Set(archives.flatMap((n) => active[n % active.length] ?? []))]
    for (const nth of ended) lives[nth] = { ...lives[nth]!, to: offset }
    // Later ids sort first, so that the order of creation is not the order of a page.
    const created = Array.from({ length: creates }, (_, n) => `${offset}-${9 - n}`)
    entries.push(entryOf(offset, { created, archived: ended.map((nth) => lives[nth]!.contractId) }))
    for (const contractId of created) {
      lives.push({ contractId, from: offset, to: Number.POSITIVE_INFINITY })
    }
  }
  return { store, lives, offsets, entries }
}

const idsAt = (lives: ReadonlyArray<Life>, offset: number) =>
  lives
    .filter(({ from, to }) => from <= offset && offset < to)
    .toSorted((a, b) => a.from - b.from || (a.contractId < b.contractId ? -1 : 1))
    .map(({ contractId }) => contractId)

test("pages of active contracts never lose or repeat one, whatever is committed or read between them", () => {
  fc.assert(
    fc.property(commits, fc.integer({ min: 1, max: 5 }), fc.nat(), (script, limit, nth) => {
      const { store, lives, offsets, entries } = played(script)
      const split = nth % entries.length
      Effect.runSync(store.commit(entries.slice(0, split + 1)))
      const offset = offsets[split]!
      const found: Array<string> = []
      let after: Entry.Contract | null = null
      for (let page = 0; page <= lives.length; page++) {
        const rows: ReadonlyArray<Entry.Contract> = Effect.runSync(
          store.activeAt({ at: offset, after, limit })
        )
        found.push(...rows.map(({ contractId }) => contractId))
        // Another reader at an earlier offset, and the commits that follow, between two pages.
        const others = Effect.runSync(store.activeAt({ at: offsets[0]!, after: null, limit: 1 }))
        expect(others.map(({ contractId }) => contractId)).toEqual(
          idsAt(lives, offsets[0]!).slice(0, 1)
        )
        if (page === 0) Effect.runSync(store.commit(entries.slice(split + 1)))
        if (rows.length < limit) break
        after = rows.at(-1)!
      }
      expect(found).toEqual(idsAt(lives, offset))
    })
  )
})

test("pruning never drops a contract that was active after it, and drops every other and its updates", () => {
  fc.assert(
    fc.property(commits, fc.nat(), fc.nat(), (script, first, second) => {
      const { store, lives, offsets, entries } = played(script)
      Effect.runSync(store.commit(entries))
      const upTo = [first, second]
        .map((nth) => offsets[nth % offsets.length]!)
        .toSorted((a, b) => a - b)
      for (const offset of upTo) Effect.runSync(store.prune(offset))
      const kept = (contractId: string) => Option.isSome(Effect.runSync(store.contract(contractId)))
      for (const { contractId, to } of lives) expect(kept(contractId)).toBe(to > upTo[1]!)
      for (let offset = 0; offset <= offsets.at(-1)! + 1; offset++) {
        const found = Effect.runSync(store.transaction({ offset: Offset.of(offset) }))
        const isKept = offset > upTo[1]! && offsets.includes(Offset.of(offset))
        expect(Option.getOrUndefined(Option.map(found, (row) => Number(row.offset)))).toBe(
          isKept ? offset : undefined
        )
      }
    })
  )
})
