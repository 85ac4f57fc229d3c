/**
 * Checks of durability: whatever a port has answered is there after the store was closed and opened
 * again. Rate windows alone may be forgotten (`RateWindow`).
 */
import {
  Atomically,
  Blobs,
  Bulk,
  type BulkRow,
  Documents,
  FactLog,
  Feed,
  Keys,
  type Lease,
  ProjectionLog,
  WorkQueue
} from "@bursar/engine-core/ports"
import { Deferred, Effect, Option } from "effect"
import { ends, fresh, instant, type ReopenCheck, reopenCheck, same } from "../Check.ts"
import { everything, nothing, writes } from "./atomically.ts"
import { audit, entries, event, fact, hash, item, update, version } from "./rows.ts"

const LONG = 3_600_000

const rowOf = (n: number): BulkRow => ({
  key: `k${n}`,
  match: `m${n}`,
  group: "g",
  amounts: [`${n}.0000000001`],
  body: `{"n":${n}}`
})

/** One event and one audit record in a transaction of their own; answers the head that it took. */
const append = Effect.fnUntraced(function* (resourceId: string) {
  const { run } = yield* Atomically
  const feed = yield* Feed
  return yield* run(
    Effect.gen(function* () {
      const head = yield* feed.take(instant(0))
      const row = event({ seq: head.seq + 1, at: head.at, resourceId, source: resourceId })
      const checkpoint = { action: "audit.checkpoint", resourceId }
      yield* feed.append(
        head,
        entries([row], {
          audit: audit(head, [checkpoint]),
          checkpoint: head.audit.seq + 1,
          webhooks: "moved"
        })
      )
      return head
    })
  )
})

export const checks: ReadonlyArray<ReopenCheck> = [
  reopenCheck("Atomically", "keeps all that a transaction wrote", function* () {
    const { run } = yield* Atomically
    const name = yield* fresh("kept")
    const { steps } = yield* writes(name)
    yield* run(Effect.forEach(steps, ([, step]) => step, { discard: true }))
    return function* () {
      yield* same("what is there", yield* (yield* writes(name)).seen, everything)
    }
  }),
  reopenCheck("Atomically", "keeps nothing of a transaction that did not end", function* () {
    const { run } = yield* Atomically
    const name = yield* fresh("cut")
    const { steps } = yield* writes(name)
    const isWritten = yield* Deferred.make<void>()
    const all = Effect.forEach(steps, ([, step]) => step, { discard: true })
    const open = Effect.andThen(Deferred.succeed(isWritten, undefined), Effect.never)
    yield* Effect.forkScoped(run(Effect.andThen(all, open)))
    yield* Deferred.await(isWritten)
    return function* () {
      yield* same("what is there", yield* (yield* writes(name)).seen, nothing)
    }
  }),
  reopenCheck(
    "FactLog",
    "keeps facts and their order, and the versions they stand at",
    function* () {
      const { append } = yield* FactLog
      const collection = yield* fresh("facts")
      const rows = ["b", "a"].flatMap((recordId) =>
        [1, 2].map((n) => fact({ collection, recordId, version: n }))
      )
      yield* append(rows)
      return function* () {
        const { append, read, scan } = yield* FactLog
        yield* same("the facts", yield* scan({ collection, limit: 9 }), rows)
        const again = fact({ collection, recordId: "a", version: 2 })
        yield* ends("a version again", append([again]), "VersionMoved")
        yield* append([fact({ collection, recordId: "a", version: 3 })])
        yield* same("the next", (yield* read({ collection, recordId: "a" })).length, 3)
      }
    }
  ),
  reopenCheck("Documents", "keeps every version, at every pin and by every filter", function* () {
    const { list, put } = yield* Documents
    const collection = yield* fresh("documents")
    const at = (n: number, state: string) =>
      version({
        collection,
        version: n,
        filters: { state },
        fromOffset: n,
        fromInstant: instant(n)
      })
    yield* put([at(1, "open"), at(2, "shut")])
    const query = { collection, direction: "asc", limit: 9 } as const
    const pins = [
      { by: "latest" },
      { by: "offset", offset: 1 },
      { by: "instant", instant: instant(1) }
    ] as const
    const lists = Effect.fnUntraced(function* (documents: Documents["Service"]) {
      return yield* Effect.forEach(pins, (pin) =>
        Effect.forEach(["open", "shut"], (state) =>
          documents.list({ ...query, pin, where: [{ column: "state", anyOf: [state] }] })
        )
      )
    })
    const before = yield* lists({ ...(yield* Documents), list })
    return function* () {
      const documents = yield* Documents
      yield* same("the lists", yield* lists(documents), before)
      yield* ends("a version again", documents.put([at(2, "open")]), "defect")
      yield* documents.put([at(3, "open")])
      const found = yield* documents.get({ collection, recordIds: ["r"], pin: { by: "latest" } })
      yield* same("the next version", found[0]?.version, 3)
    }
  }),
  reopenCheck("Keys", "keeps bindings and nonces", function* () {
    const { bind, useNonce } = yield* Keys
    const scope = yield* fresh("scope")
    const row = { scope, key: "k", fingerprint: "f", target: "t", bindsUntil: null }
    const nonce = { scope, nonce: "n", keep: LONG }
    yield* bind({ ...row, now: instant(0) })
    yield* useNonce(nonce)
    return function* () {
      const { bind, useNonce } = yield* Keys
      const again = yield* bind({ ...row, target: "u", now: instant(1) })
      yield* same("the binding", again, { isBound: false, earlier: row })
      yield* same("the nonce", yield* useNonce(nonce), false)
    }
  }),
  reopenCheck(
    "WorkQueue",
    "keeps items, their places, their delays and their leases",
    function* () {
      const { enqueue, lease } = yield* WorkQueue
      const queue = yield* fresh("queue")
      const itemOf = (itemId: string, fields: { resource?: string; delay?: number } = {}) =>
        item({ queue, itemId, resource: itemId, ...fields })
      yield* enqueue([itemOf("leased", { resource: "x" }), itemOf("behind", { resource: "x" })])
      const request = { queue, worker: "w", leaseMillis: LONG }
      const [leased] = yield* lease({ ...request, limit: 1 })
      yield* enqueue([itemOf("waiting"), itemOf("later", { delay: LONG })])
      return function* () {
        const { enqueue, finish, fence, lease } = yield* WorkQueue
        const { run } = yield* Atomically
        const names = (leases: ReadonlyArray<Lease>) => leases.map(({ itemId }) => itemId).join(" ")
        const next = yield* lease({ ...request, limit: 9 })
        yield* same("what can be leased", names(next), "waiting")
        yield* same("whether its fence is new", next[0]!.fence > leased!.fence, true)
        yield* run(fence(leased!))
        yield* finish(leased!)
        yield* same("behind it", names(yield* lease({ ...request, limit: 9 })), "behind")
        yield* enqueue([itemOf("later", { delay: 0 })])
        yield* same("the delay", names(yield* lease({ ...request, limit: 9 })), "")
      }
    }
  ),
  reopenCheck("Feed", "keeps events and audit records, and goes on from their heads", function* () {
    const feed = yield* Feed
    const resourceId = yield* fresh("event")
    const taken = yield* append(resourceId)
    const read = { order: "asc", limit: 9, resourceId } as const
    const { events } = yield* feed.read(read)
    const { records } = yield* feed.readAudit(read)
    return function* () {
      const feed = yield* Feed
      yield* same("the events", (yield* feed.read(read)).events, events)
      yield* same("the audit records", (yield* feed.readAudit(read)).records, records)
      yield* same("the source", yield* feed.published([resourceId]), [resourceId])
      const head = yield* feed.head
      yield* same("whether moves rose", head.moves > taken.moves, true)
      yield* same("whether the webhooks moved", head.webhooksMoved > taken.webhooksMoved, true)
      yield* same("the checkpoint", head.audit.checkpoint >= taken.audit.seq + 1, true)
      const next = yield* append(`${resourceId}-2`)
      yield* same("the next number", next.seq, head.seq)
      yield* same("the audit log", next.audit, head.audit)
      yield* same("whether it is stamped later", next.at > head.at && head.at >= taken.at, true)
    }
  }),
  reopenCheck("ProjectionLog", "keeps the head, the updates and the writer's epoch", function* () {
    const log = yield* ProjectionLog
    const { writerEpoch: epoch, offset } = yield* log.takeOver({ participant: "p" })
    const base = offset + 100
    const time = instant(10)
    yield* log.bootstrap({
      epoch,
      ledgerEpoch: 1,
      offset: base,
      ledgerTime: time,
      horizonTime: time
    })
    const commandId = yield* fresh("command")
    const updates = [update({ offset: base + 1, ledgerTime: instant(20), commandId })]
    yield* log.advance({ epoch, from: base, to: base + 2, ledgerTime: instant(20), updates })
    const before = yield* log.head
    return function* () {
      const log = yield* ProjectionLog
      const head = yield* log.head
      // Further checks may have moved it on.
      yield* same("the offset", head.offset >= before.offset, true)
      yield* same("the epoch", head.writerEpoch >= epoch, true)
      yield* same("the updates", yield* log.read({ after: base, limit: 1 }), updates)
      yield* same("the command", yield* log.hasCommand(commandId), true)
      const timeAt = yield* log.ledgerTimeAt(base + 1)
      yield* same("the ledger time", timeAt, Option.some(instant(20)))
      const next = yield* log.takeOver({ participant: "q" })
      yield* same("whether the epoch rose", next.writerEpoch > head.writerEpoch, true)
      const move = { from: next.offset, to: next.offset, ledgerTime: null, updates: [] }
      yield* ends("the writer of before", log.advance({ ...move, epoch }), "WriterFenced")
      yield* log.advance({ ...move, epoch: next.writerEpoch })
    }
  }),
  reopenCheck("Feed", "stamps nothing at or before an answer that was settled", function* () {
    const feed = yield* Feed
    const { at } = yield* feed.head
    const far = `${Number((at === "" ? instant(0) : at).slice(0, 4)) + 1}${instant(0).slice(4)}`
    const answer = yield* feed.answer({ now: far, since: far })
    yield* feed.answersSettled
    return function* () {
      const { at: stamp } = yield* append(yield* fresh("event"))
      yield* same("whether the stamp is later", stamp > answer.at, true)
      const asOf = Option.getOrThrow(yield* (yield* ProjectionLog).offsetAsOf(answer.at))
      yield* same("the answer's offset", [asOf.answered, asOf.settled], [true, true])
      yield* same("which offset", asOf.offset, answer.projectionOffset)
    }
  }),
  reopenCheck("Blobs", "keeps bytes, and chunks of files that are sealed or not", function* () {
    const { append, put, seal } = yield* Blobs
    const [sealed, open] = [yield* fresh("file"), yield* fresh("file")]
    const bytes = new Uint8Array([1, 2, 3])
    yield* put({ hash: hash(sealed), bytes })
    for (const file of [sealed, open]) yield* append({ file, chunk: 0, bytes })
    yield* seal({ file: sealed, chunks: 1 })
    return function* () {
      const { append, chunk, get, seal } = yield* Blobs
      const blob = [...Option.getOrThrow(yield* get(hash(sealed)))]
      yield* same("the bytes", blob, [1, 2, 3])
      for (const file of [sealed, open]) {
        const chunkBytes = [...Option.getOrThrow(yield* chunk({ file, chunk: 0 }))]
        yield* same("a chunk", chunkBytes, [1, 2, 3])
      }
      yield* ends("an append", append({ file: sealed, chunk: 1, bytes }), "defect")
      yield* append({ file: open, chunk: 1, bytes })
      yield* seal({ file: open, chunks: 2 })
    }
  }),
  reopenCheck("Bulk", "keeps rows of owners that are sealed, open or half discarded", function* () {
    const { append, discard, seal } = yield* Bulk
    const owners = [yield* fresh("owner"), yield* fresh("owner"), yield* fresh("owner")] as const
    const [sealed, open, half] = owners
    for (const owner of owners) yield* append(owner, [rowOf(1), rowOf(2)])
    yield* seal({ owner: sealed, rows: 2 })
    yield* seal({ owner: half, rows: 2 })
    yield* discard({ owner: half, limit: 1 })
    return function* () {
      const { append, count, discard, read, seal, sum } = yield* Bulk
      const rows = [rowOf(1), rowOf(2)]
      yield* same("the rows", yield* read({ owner: sealed, limit: 9 }), rows)
      yield* same("the sums", yield* sum(sealed), [
        { group: "g", rows: 2, amounts: ["3.0000000002"] }
      ])
      yield* ends("an append", append(sealed, [rowOf(3)]), "defect")
      yield* same("of an open owner", yield* count(open), Option.none())
      yield* append(open, [rowOf(2), rowOf(3)])
      yield* seal({ owner: open, rows: 3 })
      yield* same("of half an owner", yield* read({ owner: half, limit: 9 }), [])
      yield* same("the other half", yield* discard({ owner: half, limit: 9 }), 1)
    }
  })
]
