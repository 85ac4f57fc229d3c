/** Checks of Feed's audit log: one whole chain in commit order, pruned at its front alone. */
import {
  Atomically,
  type AuditQuery,
  type AuditRow,
  Feed,
  type FeedEntries,
  type FeedHead
} from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Check, check, ending, ends, fresh, instant, same } from "../Check.ts"
import { audit, entries, hash } from "./rows.ts"

const PORT = "Feed"

/** Appends records derived from the head in a transaction of their own; returns the head. */
const appendOf = Effect.fnUntraced(function* (entriesAt: (head: FeedHead) => Partial<FeedEntries>) {
  const { run } = yield* Atomically
  const feed = yield* Feed
  return yield* run(
    Effect.gen(function* () {
      const head = yield* feed.take(instant(0))
      yield* feed.append(head, entries([], entriesAt(head)))
      return head
    })
  )
})

const append = (...rows: ReadonlyArray<Partial<AuditRow>>) =>
  appendOf((head) => ({ audit: audit(head, rows) }))

/** Reads every record after a sequence number, page by page. */
const readOn = Effect.fnUntraced(function* (range: {
  readonly after: number
  readonly limit: number
}) {
  const feed = yield* Feed
  const found: Array<AuditRow> = []
  let after = range.after
  for (;;) {
    const page = yield* feed.readAudit({ order: "asc", limit: range.limit, after })
    if (page.records.length === 0) return found
    found.push(...page.records)
    after = page.scanned
  }
})

const isChain = (start: FeedHead["audit"], records: ReadonlyArray<AuditRow>) =>
  records.every((record, index) => {
    const before = records[index - 1] ?? start
    return record.seq === before.seq + 1 && record.prevHash === before.hash
  })

/**
 * Appends records of which the second is a checkpoint; returns its sequence number and the head.
 */
const withCheckpoint = Effect.gen(function* () {
  const before = yield* appendOf((head) => ({
    audit: audit(head, [{}, { action: "audit.checkpoint" }, {}]),
    checkpoint: head.audit.seq + 2
  }))
  return { checkpoint: before.audit.seq + 2, last: before.audit.seq + 3 }
})

export const auditLog: ReadonlyArray<Check> = [
  check(PORT, "gives back every audit record as it was written", function* () {
    const feed = yield* Feed
    const resourceId = yield* fresh("audit")
    const rows: ReadonlyArray<Partial<AuditRow>> = [
      {
        resourceId,
        resourceKind: "holder",
        actor: "sub|1",
        action: "holder.onboard",
        text: '{"detail":{"b":1,"a":"ö\\u0000 \\u2028"},"n":10000000000000001}',
        hash: hash(resourceId)
      },
      { resourceId, at: "2026-01-01T00:00:00.123456000Z" }
    ]
    const head = yield* append(...rows)
    const { records } = yield* feed.readAudit({ order: "asc", limit: 9, resourceId })
    yield* same("the records", records, audit(head, rows))
    const after = (yield* feed.head).audit
    const { seq, hash: last } = audit(head, rows)[1] ?? { seq: 0, hash: "" }
    yield* same("the head", after, { ...head.audit, seq, hash: last })
  }),
  check(PORT, "keeps one chain of audit records with 64 writers of whom some fail", function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const start = (yield* feed.head).audit
    const write = (n: number) =>
      run(
        Effect.gen(function* () {
          const head = yield* feed.take(instant(n))
          const rows = audit(head, [{}, {}, {}].slice(0, n % 4))
          yield* feed.append(head, entries([], { audit: rows }))
          if (n % 5 === 0) yield* Effect.fail("no")
          return rows
        })
      )
    const exits = yield* Effect.forEach(
      Array.from({ length: 64 }, (_, n) => n),
      (n) => Effect.exit(write(n)),
      { concurrency: "unbounded" }
    )
    const written = exits.flatMap((exit) => (exit._tag === "Success" ? exit.value : []))
    const read = yield* readOn({ after: start.seq, limit: 7 })
    yield* same(
      "the records",
      read,
      written.toSorted((a, b) => a.seq - b.seq)
    )
    yield* same("whether each follows the one before it", isChain(start, read), true)
    const { seq, hash: last } = (yield* feed.head).audit
    yield* same("the head", [seq, last], [start.seq + read.length, read[read.length - 1]?.hash])
  }),
  check(PORT, "treats an audit record that does not follow the head as a defect", function* () {
    const feed = yield* Feed
    yield* append({})
    const before = yield* feed.head
    const spoiled: ReadonlyArray<readonly [string, (rows: Array<AuditRow>) => Array<AuditRow>]> = [
      ["another hash", ([row, ...rest]) => (row ? [{ ...row, prevHash: hash("x") }, ...rest] : [])],
      ["a fork", ([row, next]) => (row && next ? [row, { ...next, prevHash: row.prevHash }] : [])],
      ["a number left out", ([row]) => (row ? [{ ...row, seq: row.seq + 1 }] : [])],
      ["a number twice", ([row, next]) => (row && next ? [row, { ...next, seq: row.seq }] : [])]
    ]
    for (const [what, spoil] of spoiled) {
      yield* ends(
        what,
        appendOf((head) => ({ audit: spoil([...audit(head, [{}, {}])]) })),
        "defect"
      )
    }
    yield* same("the head", yield* feed.head, before)
    yield* same("what was kept", yield* readOn({ after: before.audit.seq, limit: 9 }), [])
  }),
  check(
    PORT,
    "remembers the last checkpoint, and forgets it with a failed transaction",
    function* () {
      const { run } = yield* Atomically
      const feed = yield* Feed
      const { checkpoint } = yield* withCheckpoint
      yield* same("the checkpoint", (yield* feed.head).audit.checkpoint, checkpoint)
      yield* append({})
      yield* same("after another record", (yield* feed.head).audit.checkpoint, checkpoint)
      yield* ends("a run that fails", run(Effect.andThen(withCheckpoint, Effect.fail("no"))), "no")
      yield* same("after a failed one", (yield* feed.head).audit.checkpoint, checkpoint)
    }
  ),
  check(PORT, "counts the transactions that change which webhooks there are", function* () {
    const { run } = yield* Atomically
    const feed = yield* Feed
    const moves = (webhooks: FeedEntries["webhooks"]) => appendOf(() => ({ webhooks }))
    const start = (yield* feed.head).webhooksMoved
    const since = Effect.map(feed.head, ({ webhooksMoved }) => webhooksMoved - start)
    yield* moves("same")
    yield* same("none has", yield* since, 0)
    yield* moves("moved")
    yield* same("one has", yield* since, 1)
    yield* ends("a run that fails", run(Effect.andThen(moves("moved"), Effect.fail("no"))), "no")
    yield* same("one that failed has not", yield* since, 1)
    const taken = yield* moves("moved")
    yield* same("what the second took", taken.webhooksMoved - start, 1)
    yield* same("two have", yield* since, 2)
  }),
  check(
    PORT,
    "gives a filtered reader of the audit log what matches and moves it on",
    function* () {
      const feed = yield* Feed
      const own = yield* fresh("own")
      const before = (yield* append(
        { action: `${own}a`, actor: own, resourceId: own, resourceKind: "holder", at: instant(1) },
        { action: `${own}b`, actor: `${own}2`, resourceId: own, resourceKind: own },
        { action: `${own}c`, actor: own, at: instant(58_000_000) },
        { action: `${own}d`, at: instant(59_000_000) }
      )).audit.seq
      const found = (query: Partial<AuditQuery>) =>
        Effect.map(
          feed.readAudit({ order: "asc", limit: 100, after: before, ...query }),
          ({ records }) => records.map((row) => row.action.slice(own.length)).join("")
        )
      yield* same("all", yield* found({}), "abcd")
      yield* same("an actor", yield* found({ actor: own }), "ac")
      yield* same("actions", yield* found({ action: [`${own}a`, `${own}d`] }), "ad")
      yield* same("a resource kind", yield* found({ resourceKind: [own, "x"] }), "b")
      yield* same("a resource", yield* found({ resourceId: own }), "ab")
      yield* same("from", yield* found({ actor: own, from: instant(58_000_000) }), "c")
      const late = { action: [`${own}c`, `${own}d`], to: instant(59_000_000) }
      yield* same("to", yield* found(late), "c")
      const after = before + 5
      yield* same("backwards", yield* found({ order: "desc", after, actor: own }), "ca")
      const scanned = (query: Partial<AuditQuery>) =>
        Effect.map(
          feed.readAudit({ order: "asc", limit: 9, after: before, ...query }),
          (page) => page.scanned - before
        )
      yield* same("scanned without a match", yield* scanned({ actor: `${own}x` }), 4)
      yield* same("scanned with a full page", yield* scanned({ limit: 2 }), 2)
      const past = yield* feed.readAudit({ order: "asc", limit: 1, after: before + 4 })
      yield* same("nothing after the end", [past.records, past.scanned], [[], before + 4])
    }
  ),
  check(PORT, "prunes the audit log up to a checkpoint, which stays, or not at all", function* () {
    const feed = yield* Feed
    const { checkpoint, last } = yield* withCheckpoint
    const before = yield* feed.head
    yield* ends("at no checkpoint", feed.pruneAudit({ before: checkpoint - 1 }), "defect")
    yield* ends("beyond the end", feed.pruneAudit({ before: last + 1 }), "defect")
    const recordsBefore = yield* feed.readAudit({ order: "asc", limit: 100_000 })
    const exit = yield* Effect.exit(feed.pruneAudit({ before: checkpoint }))
    const left = yield* feed.readAudit({ order: "asc", limit: 100_000 })
    yield* same("the head", yield* feed.head, before)
    if (exit._tag === "Failure") {
      // A role without the right to prune gets a defect, and no record is deleted.
      yield* same("how it is told", ending(exit), "defect")
      yield* same("what is left", left, recordsBefore)
      return
    }
    const { records } = recordsBefore
    const gone = records.filter((record) => record.seq < checkpoint).length
    yield* same("how many are said to be gone", exit.value, gone)
    yield* same("what is left", left.records, records.slice(gone))
    yield* same("what a page says is pruned", left.prunedTo, checkpoint - 1)
    yield* same(
      "backwards",
      (yield* feed.readAudit({ order: "desc", limit: 1 })).records[0]?.seq,
      last
    )
    const more = yield* append({})
    yield* same("the next number", (yield* feed.head).audit.seq, more.audit.seq + 1)
    const on = yield* readOn({ after: 0, limit: 2 })
    yield* same("from the start", [on[0]?.seq, on.length], [checkpoint, 3])
  })
]
