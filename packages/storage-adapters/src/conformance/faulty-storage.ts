/** Faulty stores that each break one promise on purpose, and that the suite must catch. */
import {
  Atomically,
  Blobs,
  Bulk,
  type BulkRow,
  Documents,
  FactLog,
  Feed,
  type FeedHead,
  Keys,
  ProjectionLog,
  RateWindow,
  WorkQueue
} from "@bursar/engine-core/ports"
import { Context, Effect, Layer, Option, Stream } from "effect"
import * as Memory from "../memory/Memory.ts"
import type { Storage } from "../memory/Memory.ts"

interface Fault {
  /** The fault, as a sentence. */
  readonly does: string
  /** Beginnings of the names of the checks that must notice the fault. */
  readonly noticedBy: ReadonlyArray<string>
  readonly spoil: (sound: Context.Context<Storage>) => Context.Context<Storage>
}

/** Replaces some methods of a port by faulty ones, which receive the correct port. */
const replace =
  <I extends Storage, S>(
    port: Context.Key<I, S>,
    faulty: (sound: S, all: Context.Context<Storage>) => Partial<S>
  ): Fault["spoil"] =>
  (all) => {
    const sound = Context.getUnsafe(all, port)
    return Context.add(all, port, { ...sound, ...faulty(sound, all) }) as Context.Context<Storage>
  }

export const faults = {
  "lost-rollback": {
    does: "keeps what a failed transaction wrote",
    noticedBy: [
      "leaves nothing behind when it fails after any step",
      "leaves nothing behind when it dies after any step",
      "shows others nothing of an open transaction"
    ],
    spoil: replace(Atomically, ({ run }) => ({
      run: (effect) => Effect.flatten(run(Effect.exit(effect)))
    }))
  },
  "lost-rollback-on-interruption": {
    does: "keeps what an interrupted transaction wrote",
    noticedBy: ["leaves nothing behind when it is interrupted after any step"],
    spoil: replace(Atomically, ({ run }) => ({
      run: (effect) =>
        Effect.flatMap(
          run(
            Effect.flatMap(Effect.exit(effect), (exit) =>
              exit._tag === "Failure" && exit.cause.reasons.some((r) => r._tag !== "Interrupt")
                ? Effect.failCause(exit.cause)
                : Effect.succeed(exit)
            )
          ),
          (exit) => exit
        )
    }))
  },
  "inner-run-alone": {
    does: "commits a run inside another by itself",
    noticedBy: ["joins a run inside another"],
    spoil: (all) => {
      // Appends the facts of the inner transaction again after the outer one has ended.
      const sound = Context.get(all, Atomically)
      const facts = Context.get(all, FactLog)
      let depth = 0
      const kept: Array<Parameters<typeof facts.append>[0]> = []
      return all.pipe(
        Context.add(Atomically, {
          ...sound,
          run: (effect) =>
            Effect.suspend(() => {
              depth += 1
              const inner = depth > 1
              return Effect.onExit(sound.run(effect), () =>
                Effect.suspend(() => {
                  depth -= 1
                  if (inner) return Effect.void
                  return Effect.forEach(kept.splice(0), (rows) => Effect.ignore(facts.append(rows)))
                })
              )
            })
        }),
        Context.add(FactLog, {
          ...facts,
          append: (rows) =>
            Effect.suspend(() => {
              if (depth > 1) kept.push(rows)
              return facts.append(rows)
            })
        })
      )
    }
  },
  "lock-for-everybody": {
    does: "gives a lock to whoever asks, also outside a transaction",
    noticedBy: ["refuses a lock outside of a transaction"],
    spoil: replace(Atomically, () => ({ lock: () => Effect.void }))
  },
  "version-unchecked": {
    does: "does not look at versions of facts",
    noticedBy: ["refuses a version that is not the next", "lets one of 50 parallel appends"],
    spoil: replace(FactLog, () => {
      const rows: Array<Parameters<FactLog["Service"]["append"]>[0][number]> = []
      return {
        append: (more) =>
          Effect.sync(() => {
            rows.push(...more)
          }),
        read: ({ collection, recordId }) =>
          Effect.succeed(
            rows.filter((row) => row.collection === collection && row.recordId === recordId)
          )
      }
    })
  },
  "append-in-parts": {
    does: "keeps the first facts of a call whose later ones it refuses",
    noticedBy: ["refuses a version that is not the next", "writes nothing of a call that lost"],
    spoil: replace(FactLog, ({ append }) => ({
      append: (rows) => Effect.forEach(rows, (row) => append([row]), { discard: true })
    }))
  },
  "overlapping-versions": {
    does: "answers a version beyond the offset it was closed at",
    noticedBy: ["selects exactly one version of a record at every offset"],
    spoil: replace(Documents, ({ get }) => ({
      get: (of) =>
        Effect.gen(function* () {
          const found = yield* get(of)
          const { pin } = of
          if (pin.by !== "offset") return found
          const earlier = yield* get({ ...of, pin: { by: "offset", offset: pin.offset - 1 } })
          const overlapping = earlier.filter(
            (row) => !found.some((other) => other.version === row.version)
          )
          return [...found, ...overlapping]
        })
    }))
  },
  "gap-in-versions": {
    does: "shows no version at the instant at which one follows another",
    noticedBy: ["selects exactly one version of a record at every offset and instant"],
    spoil: replace(Documents, ({ list }) => ({
      list: (query) => {
        const { pin } = query
        return Effect.map(list(query), (found) =>
          pin.by === "instant"
            ? found.filter((row) => row.version === 1 || row.fromInstant !== pin.instant)
            : found
        )
      }
    }))
  },
  "latest-for-every-pin": {
    does: "answers every pinned read with the latest version",
    noticedBy: ["reads the same at an offset and an instant", "selects exactly one version"],
    spoil: replace(Documents, ({ get, list }) => ({
      get: (of) => get({ ...of, pin: { by: "latest" } }),
      list: (query) => list({ ...query, pin: { by: "latest" } })
    }))
  },
  "filters-any": {
    does: "lists what matches any filter instead of all",
    noticedBy: ["lists what matches all filters"],
    spoil: replace(Documents, ({ list }) => ({
      list: (query) => list({ ...query, where: query.where.slice(0, 1) })
    }))
  },
  "alternatives-all": {
    does: "lists only what meets every alternative instead of one of them",
    noticedBy: ["lists what meets one alternative of each"],
    spoil: replace(Documents, ({ list }) => ({
      list: (query) =>
        list({ ...query, meets: (query.meets ?? []).map((alternatives) => [alternatives.flat()]) })
    }))
  },
  "range-with-its-end": {
    does: "lists what lies on the end of a range that leaves it out",
    noticedBy: ["lists what meets one alternative of each"],
    spoil: replace(Documents, ({ list }) => ({
      list: (query) =>
        list({
          ...query,
          meets: (query.meets ?? []).map((alternatives) =>
            alternatives.map((clauses) =>
              clauses.map((clause) =>
                "is" in clause && clause.is === "before"
                  ? { ...clause, is: "at-most" as const }
                  : clause
              )
            )
          )
        })
    }))
  },
  "cursor-repeats": {
    does: "repeats the last record of a page on the next one",
    noticedBy: ["pages through a list both ways"],
    spoil: replace(Documents, ({ list }) => ({
      list: ({ after, ...query }) =>
        Effect.map(list({ ...query, limit: 10_000 }), (rows) => {
          const asc = query.direction === "asc"
          const from = after ?? (asc ? "" : "\uffff")
          return rows
            .filter((row) => (asc ? row.sortKey >= from : row.sortKey <= from))
            .slice(0, query.limit)
        })
    }))
  },
  "moving-stream": {
    does: "streams records as they are when it comes to them",
    noticedBy: ["streams every match in order, from one snapshot"],
    spoil: replace(Documents, ({ list }) => ({
      stream: (query) =>
        Stream.paginate(query.after, (after) =>
          Effect.map(
            list({ ...query, limit: 100, ...(after === undefined ? {} : { after }) }),
            (rows) => [
              rows,
              rows.length < 100 ? Option.none() : Option.some(rows[rows.length - 1]?.sortKey)
            ]
          )
        )
    }))
  },
  "two-winners": {
    does: "tells two claims of one key that they won",
    noticedBy: ["lets one of 50 parallel claims win"],
    spoil: replace(Keys, ({ claim }) => {
      let lost = 0
      return {
        claim: (row) =>
          Effect.map(claim(row), (answer) =>
            answer.claimed || ++lost !== 1 ? answer : ({ claimed: true } as const)
          )
      }
    })
  },
  "impatient-claim": {
    does: "answers a claim from a transaction that has not committed",
    noticedBy: ["makes a claim wait for one that has not committed"],
    spoil: replace(Keys, ({ claim }) => {
      const seen = new Set<string>()
      return {
        claim: (row) =>
          Effect.suspend(() => {
            const name = `${row.scope} ${row.key}`
            if (seen.has(name)) return Effect.succeed({ claimed: false, winner: row } as const)
            seen.add(name)
            return claim(row)
          })
      }
    })
  },
  "key-for-ever": {
    does: "never lets a key be claimed anew",
    noticedBy: ["lets a key bind until its instant"],
    spoil: replace(Keys, ({ claim, find }) => ({
      claim: (row) => claim({ ...row, now: "" }),
      find: (of) => find({ ...of, now: "" })
    }))
  },
  "nonce-twice": {
    does: "admits a nonce again",
    noticedBy: ["admits a nonce once"],
    spoil: replace(Keys, () => ({ useNonce: () => Effect.succeed(true) }))
  },
  "forgets-too-much": {
    does: "forgets more than the limit",
    noticedBy: ["forgets what has lapsed, up to the limit"],
    spoil: replace(Keys, ({ forget }) => ({
      forget: ({ before }) => forget({ before, limit: 1_000_000 })
    }))
  },
  "stale-fence": {
    does: "takes the word of a worker whose lease was taken over",
    noticedBy: ["gives an item to another when its lease has run out"],
    spoil: replace(WorkQueue, ({ hold }) => ({
      hold: (lease) => Effect.ignore(hold(lease))
    }))
  },
  "fence-of-the-item": {
    does: "starts the fence anew when an item comes back",
    noticedBy: ["refuses an old lease of an item that left and came back"],
    spoil: replace(WorkQueue, (sound) => {
      const latest = new Map<string, number>()
      const renewed = <L extends { itemId: string; queue: string; fence: number }>(
        lease: L
      ): L => ({
        ...lease,
        fence: latest.get(`${lease.queue} ${lease.itemId}`) ?? lease.fence
      })
      return {
        lease: (of) =>
          Effect.map(sound.lease(of), (leases) =>
            leases.map((lease) => {
              // Only the first attempt of an item can be confused with that of its successor.
              if (lease.attempt === 1) latest.set(`${lease.queue} ${lease.itemId}`, lease.fence)
              return lease
            })
          ),
        hold: (lease) => sound.hold(renewed(lease)),
        renew: (lease, millis) => sound.renew(renewed(lease), millis),
        finish: (lease) => sound.finish(renewed(lease)),
        release: (lease, of) => sound.release(renewed(lease), of)
      }
    })
  },
  "leased-twice": {
    does: "gives an item to a second worker while the first has it",
    noticedBy: ["leases no item twice", "does not lease ahead of an older item"],
    spoil: replace(WorkQueue, ({ lease }) => {
      let last: ReadonlyArray<Parameters<WorkQueue["Service"]["hold"]>[0]> = []
      return {
        lease: (of) =>
          Effect.map(lease(of), (leases) => {
            const again = last.filter((old) => old.queue === of.queue)
            last = leases
            return [...again, ...leases]
          })
      }
    })
  },
  "resource-ignored": {
    does: "runs the items of one resource side by side",
    noticedBy: [
      "leases the oldest first and one of each resource",
      "runs the items of a resource one"
    ],
    spoil: replace(WorkQueue, ({ enqueue }) => ({
      enqueue: (items) => enqueue(items.map((item) => ({ ...item, resource: item.itemId })))
    }))
  },
  "queued-first": {
    does: "leases what was queued first, however late it was due",
    noticedBy: ["leases what was due first"],
    spoil: replace(WorkQueue, ({ enqueue, lease }) => {
      const places = new Map<string, number>()
      const placeOf = ({ queue, itemId }: { queue: string; itemId: string }) =>
        places.get(`${queue} ${itemId}`) ?? 0
      return {
        enqueue: (items) =>
          Effect.suspend(() => {
            for (const { queue, itemId } of items) places.set(`${queue} ${itemId}`, places.size)
            return enqueue(items)
          }),
        lease: (of) =>
          Effect.map(lease(of), (leases) => leases.toSorted((a, b) => placeOf(a) - placeOf(b)))
      }
    })
  },
  "newest-first": {
    does: "leases the newest item first",
    noticedBy: ["leases the oldest first"],
    spoil: replace(WorkQueue, ({ lease }) => ({
      lease: (of) => Effect.map(lease(of), (leases) => leases.toReversed())
    }))
  },
  "delay-ignored": {
    does: "leases an item before its delay is over",
    noticedBy: ["does not lease an item before its delay"],
    spoil: replace(WorkQueue, ({ enqueue }) => ({
      enqueue: (items) => enqueue(items.map((item) => ({ ...item, delay: 0 })))
    }))
  },
  "lease-for-ever": {
    does: "never gives the item of a dead worker to another",
    noticedBy: ["gives an item to another when its lease has run out"],
    spoil: replace(WorkQueue, ({ lease }) => ({
      lease: (of) => lease({ ...of, leaseMillis: 3_600_000 })
    }))
  },
  "payload-overwritten": {
    does: "replaces an item that is there already",
    noticedBy: ["leaves an item that is there already alone"],
    spoil: replace(WorkQueue, ({ enqueue, settle }) => ({
      enqueue: (items) =>
        Effect.andThen(
          Effect.forEach(items, ({ queue, itemId }) => settle({ queue, itemIds: [itemId] })),
          enqueue(items)
        )
    }))
  },
  "feed-gap": {
    does: "loses an event that was appended",
    noticedBy: ["numbers events without a gap in commit order with 8 writers"],
    spoil: replace(Feed, ({ read }) => ({
      read: (query) =>
        Effect.map(read(query), ({ events, ...rest }) => ({
          events: events.filter((event) => event.seq % 13 !== 0),
          ...rest
        }))
    }))
  },
  "feed-overtaken": {
    does: "moves a reader past events it has not been given",
    noticedBy: ["numbers events without a gap in commit order with 8 writers"],
    spoil: replace(Feed, ({ head, read }) => ({
      read: (query) =>
        Effect.gen(function* () {
          const found = yield* read(query)
          return { ...found, scanned: (yield* head).seq }
        })
    }))
  },
  "pruned-in-silence": {
    does: "says of no page that anything before it was pruned",
    noticedBy: ["prunes the oldest control events up to the limit and says how far"],
    spoil: replace(Feed, ({ read }) => ({
      read: (query) => Effect.map(read(query), (found) => ({ ...found, prunedTo: 0 }))
    }))
  },
  "stamp-of-the-caller": {
    does: "stamps what the caller's clock says",
    noticedBy: ["stamps later than ever before"],
    spoil: replace(Feed, ({ take }) => ({
      take: (now) => Effect.map(take(now), (head) => Object.assign(head, { at: now }))
    }))
  },
  "answer-before-a-stamp": {
    does: "gives out instants without setting them down",
    noticedBy: [
      "gives an answer an instant before every later stamp",
      "answers with all that was stamped by then"
    ],
    spoil: replace(Feed, ({ head }) => ({
      answer: ({ now }) => Effect.map(head, (at) => (now > at.at ? { ...at, at: now } : at))
    }))
  },
  "answer-of-the-caller": {
    does: "answers at the instant that the caller's clock says",
    noticedBy: ["gives an answer an instant before every later stamp"],
    spoil: replace(Feed, ({ answer }) => ({
      answer: (of) => Effect.map(answer(of), (head) => ({ ...head, at: of.now }))
    }))
  },
  "answer-of-before": {
    does: "answers again as before, whatever was stamped since",
    noticedBy: ["gives an instant again only"],
    spoil: replace(Feed, ({ answer }) => {
      let last: FeedHead | undefined
      return {
        answer: (of) =>
          last !== undefined && last.at >= of.since
            ? Effect.succeed(last)
            : Effect.tap(answer(of), (head) =>
                Effect.sync(() => {
                  last = head
                })
              )
      }
    })
  },
  "passed-is-stamped": {
    does: "stamps instants that were passed",
    noticedBy: ["gives an answer an instant before every later stamp"],
    spoil: replace(Feed, () => ({ pass: () => Effect.void }))
  },
  "answers-undated": {
    does: "forgets which offset answered",
    noticedBy: ["names the offset that was answered with", "answers from the first answer on"],
    spoil: replace(Feed, ({ head, pass }) => ({
      answer: (of) => Effect.andThen(pass(of.now), head)
    }))
  },
  "source-twice": {
    does: "stores a source again",
    noticedBy: ["stores a source once"],
    spoil: replace(Feed, ({ append }) => ({
      append: (head, entries) =>
        append(head, {
          ...entries,
          events: entries.events.map((row) => ({ ...row, source: null }))
        })
    }))
  },
  "holder-ignored": {
    does: "gives every event to every holder",
    noticedBy: ["gives a filtered reader what matches"],
    spoil: replace(Feed, ({ read }) => ({
      read: ({ holderId: _, ...query }) => read(query)
    }))
  },
  "audit-out-of-line": {
    does: "takes an audit record that follows no other",
    noticedBy: ["treats an audit record that does not follow the head"],
    spoil: replace(Feed, ({ append }) => ({
      append: (head, entries) => {
        let { seq, hash } = head.audit
        const audit = entries.audit.map((row) => {
          const bent = { ...row, seq: ++seq, prevHash: hash }
          hash = row.hash
          return bent
        })
        return append(head, { ...entries, audit })
      }
    }))
  },
  "audit-gap": {
    does: "loses an audit record that was appended",
    noticedBy: ["keeps one chain of audit records with 64 writers"],
    spoil: replace(Feed, ({ readAudit }) => ({
      readAudit: (query) =>
        Effect.map(readAudit(query), (page) => ({
          ...page,
          records: page.records.filter((record) => record.seq % 13 !== 0)
        }))
    }))
  },
  "audit-overtaken": {
    does: "moves a reader of the audit log past records it has not been given",
    noticedBy: [
      "keeps one chain of audit records with 64 writers",
      "gives a filtered reader of the audit log"
    ],
    spoil: replace(Feed, ({ head, readAudit }) => ({
      readAudit: (query) =>
        Effect.gen(function* () {
          return { ...(yield* readAudit(query)), scanned: (yield* head).audit.seq }
        })
    }))
  },
  "audit-text-rewritten": {
    does: "writes the hashed text anew in its own way",
    noticedBy: ["gives back every audit record as it was written"],
    spoil: replace(Feed, ({ append }) => ({
      append: (head, entries) =>
        append(head, {
          ...entries,
          audit: entries.audit.map((row) => ({
            ...row,
            text: JSON.stringify(JSON.parse(row.text))
          }))
        })
    }))
  },
  "audit-actor-ignored": {
    does: "gives every audit record whoever acted",
    noticedBy: ["gives a filtered reader of the audit log"],
    spoil: replace(Feed, ({ readAudit }) => ({
      readAudit: ({ actor: _, ...query }) => readAudit(query)
    }))
  },
  "checkpoint-unknown": {
    does: "does not remember the last checkpoint",
    noticedBy: ["remembers the last checkpoint"],
    spoil: replace(Feed, ({ append }) => ({
      append: (head, { checkpoint: _, ...entries }) => append(head, entries)
    }))
  },
  "checkpoint-of-a-failed-run": {
    does: "remembers the checkpoint of a transaction that failed",
    noticedBy: ["remembers the last checkpoint, and forgets it"],
    spoil: replace(Feed, ({ append, head }) => {
      let last = 0
      return {
        append: (taken, entries) =>
          Effect.suspend(() => {
            last = entries.checkpoint ?? last
            return append(taken, entries)
          }),
        head: Effect.map(head, (at) => ({ ...at, audit: { ...at.audit, checkpoint: last } }))
      }
    })
  },
  "head-uncounted": {
    does: "does not count the appends at the head",
    noticedBy: ["counts the appends at its head, and no answer"],
    spoil: replace(Feed, ({ head }) => ({
      head: Effect.map(head, (found) => ({ ...found, moves: 0 }))
    }))
  },
  "answers-counted": {
    does: "counts an answer as an append at the head",
    noticedBy: ["counts the appends at its head, and no answer"],
    spoil: replace(Feed, ({ answer }) => ({
      answer: (of) => Effect.map(answer(of), (found) => ({ ...found, moves: found.moves + 1 }))
    }))
  },
  "webhooks-unmoved": {
    does: "does not say that the webhooks changed",
    noticedBy: ["counts the transactions that change which webhooks"],
    spoil: replace(Feed, ({ append }) => ({
      append: (head, entries) => append(head, { ...entries, webhooks: "same" })
    }))
  },
  "webhooks-always-moved": {
    does: "says that the webhooks changed with every transaction",
    noticedBy: ["counts the transactions that change which webhooks"],
    spoil: replace(Feed, ({ append }) => ({
      append: (head, entries) => append(head, { ...entries, webhooks: "moved" })
    }))
  },
  "audit-pruned-anywhere": {
    does: "says that it pruned the audit log up to a record that is no checkpoint",
    noticedBy: ["prunes the audit log up to a checkpoint"],
    spoil: replace(Feed, ({ pruneAudit }) => ({
      pruneAudit: (of) => Effect.catchDefect(pruneAudit(of), () => Effect.succeed(0))
    }))
  },
  "audit-start-pruned": {
    does: "prunes the checkpoint that is the audit log's new start",
    noticedBy: ["prunes the audit log up to a checkpoint"],
    spoil: replace(Feed, ({ pruneAudit, readAudit }) => {
      let start = 0
      return {
        pruneAudit: (of) =>
          Effect.tap(pruneAudit(of), () =>
            Effect.sync(() => {
              start = of.before + 1
            })
          ),
        readAudit: (query) =>
          Effect.map(readAudit(query), (page) => ({
            ...page,
            records: page.records.filter((record) => record.seq >= start)
          }))
      }
    })
  },
  "hold-ignored": {
    does: "prunes what a legal hold names",
    noticedBy: ["leaves what a legal hold names"],
    spoil: replace(Feed, ({ prune }) => ({
      prune: (of) => prune({ ...of, hold: { holderIds: [], instrumentIds: [] } })
    }))
  },
  "hold-of-holders-alone": {
    does: "prunes what a legal hold of an instrument names",
    noticedBy: ["leaves what a legal hold names"],
    spoil: replace(Feed, ({ prune }) => ({
      prune: (of) => prune({ ...of, hold: { ...of.hold, instrumentIds: [] } })
    }))
  },
  "young-events-pruned": {
    does: "prunes events that are not old enough",
    noticedBy: ["prunes the oldest control events"],
    spoil: replace(Feed, ({ prune }) => ({ prune: (of) => prune({ ...of, before: "9999" }) }))
  },
  "journal-pruned-by-age": {
    does: "prunes journal events with the control events",
    noticedBy: ["prunes the oldest control events"],
    spoil: replace(Feed, ({ prune, pruneJournal }) => ({
      prune: (of) =>
        Effect.andThen(pruneJournal({ through: Number.MAX_SAFE_INTEGER, limit: 9 }), prune(of))
    }))
  },
  "pruned-unknown-to-the-head": {
    does: "does not say at the head how far it has pruned",
    noticedBy: ["prunes the oldest control events"],
    spoil: replace(Feed, ({ head }) => ({
      head: Effect.map(head, (at) => ({ ...at, prunedTo: 0 }))
    }))
  },
  "pruned-beyond-the-limit": {
    does: "prunes more than the limit",
    noticedBy: ["prunes the oldest control events", "prunes journal events up to an offset"],
    spoil: replace(Feed, ({ prune, pruneJournal }) => ({
      prune: (of) => prune({ ...of, limit: 1000 }),
      pruneJournal: (of) => pruneJournal({ ...of, limit: 1000 })
    }))
  },
  "pruned-for-good": {
    does: "prunes although the transaction fails",
    noticedBy: ["prunes within the caller's transaction"],
    spoil: (all) => {
      const { run } = Context.get(all, Atomically)
      const feed = Context.get(all, Feed)
      const later: Array<Effect.Effect<unknown, unknown>> = []
      return all.pipe(
        Context.add(Atomically, {
          ...Context.get(all, Atomically),
          run: (effect) =>
            Effect.onExit(run(effect), () =>
              Effect.forEach(later.splice(0), (each) => Effect.ignore(each), { discard: true })
            )
        }),
        Context.add(Feed, {
          ...feed,
          pruneJournal: (of) =>
            Effect.suspend(() => {
              later.push(feed.pruneJournal(of))
              return feed.pruneJournal(of)
            })
        })
      )
    }
  },
  "journal-pruned-too-far": {
    does: "prunes journal events after the offset",
    noticedBy: ["prunes journal events up to an offset"],
    spoil: replace(Feed, ({ pruneJournal }) => ({
      pruneJournal: (of) => pruneJournal({ ...of, through: of.through + 1 })
    }))
  },
  "facts-unforgotten": {
    does: "forgets no fact",
    noticedBy: ["forgets every fact of some records"],
    spoil: replace(FactLog, () => ({ forget: () => Effect.void }))
  },
  "facts-all-forgotten": {
    does: "forgets the facts of a whole collection",
    noticedBy: ["forgets every fact of some records"],
    spoil: replace(FactLog, ({ forget, scan }) => ({
      forget: ({ collection }) =>
        Effect.flatMap(scan({ collection, limit: 1000 }), (rows) =>
          forget({ collection, recordIds: rows.map((row) => row.recordId) })
        )
    }))
  },
  "versions-unforgotten": {
    does: "forgets no version",
    noticedBy: ["forgets every version of some records"],
    spoil: replace(Documents, () => ({ forget: () => Effect.void }))
  },
  "history-unforgotten": {
    does: "shows forgotten records where the past is read",
    noticedBy: ["forgets every version of some records"],
    spoil: replace(Documents, ({ forget, list }) => {
      const kept: Array<() => ReturnType<typeof list>> = []
      return {
        forget: (of) =>
          Effect.gen(function* () {
            const then = { collection: of.collection, pin: { by: "offset", offset: 0 } } as const
            const rows = yield* list({ ...then, where: [], direction: "asc", limit: 1000 })
            kept.push(() => Effect.succeed(rows))
            yield* forget(of)
          }),
        list: (query) =>
          query.pin.by === "offset" ? (kept[kept.length - 1]?.() ?? list(query)) : list(query)
      }
    })
  },
  "versions-pruned-too-far": {
    does: "prunes versions that end after the offset",
    noticedBy: ["prunes what ended by an offset"],
    spoil: replace(Documents, ({ prune }) => ({
      prune: (of) => prune({ ...of, through: of.through + 1 })
    }))
  },
  "versions-pruned-beyond-the-limit": {
    does: "prunes more versions than the limit",
    noticedBy: ["prunes what ended by an offset"],
    spoil: replace(Documents, ({ prune }) => ({ prune: (of) => prune({ ...of, limit: 1000 }) }))
  },
  "versions-unpruned": {
    does: "prunes no version",
    noticedBy: ["prunes what ended by an offset"],
    spoil: replace(Documents, () => ({ prune: () => Effect.succeed(0) }))
  },
  "one-key-freed": {
    does: "frees the keys of the first target alone",
    noticedBy: ["frees every key of some targets"],
    spoil: replace(Keys, ({ free }) => ({ free: (targets) => free(targets.slice(0, 1)) }))
  },
  "every-key-freed": {
    does: "frees a key whose target only begins alike",
    noticedBy: ["frees every key of some targets"],
    spoil: replace(Keys, ({ claim, free }) => {
      const targets = new Set<string>()
      return {
        claim: (row) =>
          Effect.suspend(() => {
            targets.add(row.target)
            return claim(row)
          }),
        free: (named) =>
          free([...targets].filter((target) => named.some((name) => target.startsWith(name))))
      }
    })
  },
  "budget-forgotten": {
    does: "forgets who still owes",
    noticedBy: ["forgets whose budget has long been whole"],
    spoil: replace(RateWindow, ({ forget }) => ({
      forget: ({ limit }) => forget({ idle: -1_000_000_000, limit })
    }))
  },
  "budgets-kept": {
    does: "forgets no subject",
    noticedBy: ["forgets whose budget has long been whole"],
    spoil: replace(RateWindow, () => ({ forget: () => Effect.succeed(0) }))
  },
  "budgets-forgotten-beyond-the-limit": {
    does: "forgets more subjects than the limit",
    noticedBy: ["forgets whose budget has long been whole"],
    spoil: replace(RateWindow, ({ forget }) => ({
      forget: ({ idle }) => forget({ idle, limit: 1000 })
    }))
  },
  "horizon-as-asked": {
    does: "moves the horizon down, and past the head",
    noticedBy: ["moves the horizon up to what was pruned"],
    spoil: replace(ProjectionLog, ({ head, prune }) => {
      let asked: number | undefined
      return {
        prune: (of) =>
          Effect.suspend(() => {
            asked = of.offset
            return prune(of)
          }),
        head: Effect.map(head, (at) => ({ ...at, horizonOffset: asked ?? at.horizonOffset }))
      }
    })
  },
  "horizon-without-its-time": {
    does: "does not move the first instant an asOf may name",
    noticedBy: ["moves the horizon up to what was pruned"],
    spoil: replace(ProjectionLog, ({ head, prune }) => {
      let time: string | null | undefined
      return {
        prune: (of) =>
          Effect.andThen(
            Effect.map(head, (at) => {
              time ??= at.horizonTime
            }),
            prune(of)
          ),
        head: Effect.map(head, (at) => ({ ...at, horizonTime: time ?? at.horizonTime }))
      }
    })
  },
  "updates-pruned-too-far": {
    does: "prunes updates after the horizon",
    noticedBy: ["moves the horizon up to what was pruned"],
    spoil: replace(ProjectionLog, ({ prune }) => ({
      prune: ({ offset, limit }) => prune({ offset: offset + 1, limit })
    }))
  },
  "time-of-the-horizon-lost": {
    does: "no longer knows the ledger time at the horizon",
    noticedBy: ["moves the horizon up to what was pruned"],
    spoil: replace(ProjectionLog, ({ head, ledgerTimeAt, prune }) => {
      let pruned = false
      return {
        prune: (of) =>
          Effect.suspend(() => {
            pruned = true
            return prune(of)
          }),
        ledgerTimeAt: (offset) =>
          Effect.flatMap(head, ({ horizonOffset }) =>
            pruned && offset === horizonOffset
              ? Effect.succeed(Option.none())
              : ledgerTimeAt(offset)
          )
      }
    })
  },
  "never-wakes": {
    does: "tells nobody that there is work or news",
    noticedBy: ["wakes a reader"],
    spoil: replace(Feed, () => ({ wakes: Stream.never }))
  },
  "writer-not-fenced": {
    does: "lets a projection go on that was taken over",
    noticedBy: ["refuses a writer that was taken over"],
    spoil: replace(ProjectionLog, ({ advance, head }) => ({
      advance: (of) =>
        Effect.flatMap(head, ({ writerEpoch }) => advance({ ...of, epoch: writerEpoch }))
    }))
  },
  "place-not-checked": {
    does: "lets a projection write from a place it does not stand at",
    noticedBy: ["refuses a writer that was taken over", "lets one of 20 parallel moves"],
    spoil: replace(ProjectionLog, ({ advance, head }) => ({
      advance: (of) =>
        Effect.flatMap(head, ({ offset }) =>
          offset === of.from
            ? advance(of)
            : advance({ ...of, from: offset, to: offset, updates: [] })
        )
    }))
  },
  "time-of-the-head": {
    does: "answers every question for a ledger time with the head's",
    noticedBy: ["tells the ledger time at an offset"],
    spoil: replace(ProjectionLog, ({ head }) => ({
      ledgerTimeAt: () => Effect.map(head, ({ ledgerTime }) => Option.fromNullOr(ledgerTime))
    }))
  },
  "shared-bytes": {
    does: "keeps the caller's own bytes",
    noticedBy: ["keeps the bytes as they were put"],
    spoil: replace(Blobs, () => {
      const kept = new Map<string, Uint8Array>()
      return {
        put: ({ hash, bytes }) => Effect.sync(() => void kept.set(hash, bytes)),
        get: (hash) => Effect.sync(() => Option.fromUndefinedOr(kept.get(hash)))
      }
    })
  },
  "unsealed-rows": {
    does: "shows the rows of an owner before it is sealed",
    noticedBy: ["shows nothing of an owner before it is sealed"],
    spoil: replace(Bulk, ({ append }) => {
      const rows: Array<BulkRow> = []
      return {
        append: (owner, more) => {
          rows.push(...more)
          return append(owner, more)
        },
        read: ({ limit }) => Effect.sync(() => rows.slice(0, limit))
      }
    })
  },
  "any-count-sealed": {
    does: "seals an owner of any number of rows",
    noticedBy: ["seals no owner of another number of rows"],
    spoil: replace(Bulk, () => ({ seal: () => Effect.void }))
  },
  "one-side-compared": {
    does: "compares only what both sides have",
    noticedBy: ["finds what differs by more than the tolerance"],
    spoil: replace(Bulk, ({ differences }) => ({
      differences: (of) =>
        Stream.filter(differences(of), ({ left, right }) => left !== null && right !== null)
    }))
  },
  "sums-of-floats": {
    does: "sums decimals as floating point numbers",
    noticedBy: ["sums each group exactly"],
    spoil: replace(Bulk, ({ sum }) => ({
      sum: (owner) =>
        Effect.map(sum(owner), (sums) =>
          sums.map((each) => ({
            ...each,
            amounts: each.amounts.map((text) => String(Number(text)))
          }))
        )
    }))
  },
  "refusal-charged": {
    does: "charges a refused call",
    noticedBy: ["charges nothing for a refusal"],
    spoil: replace(RateWindow, ({ take }) => {
      const owed = new Map<string, number>()
      return {
        take: (of) =>
          Effect.map(take({ ...of, cost: of.cost + (owed.get(of.subject) ?? 0) }), (answer) => {
            if (!answer.admitted) owed.set(of.subject, of.cost)
            return answer
          })
      }
    })
  },
  "no-limit": {
    does: "admits every call",
    noticedBy: ["admits exactly the budget", "counts a call although"],
    spoil: replace(RateWindow, ({ take }) => ({
      take: (of) => Effect.map(take(of), (answer) => ({ ...answer, admitted: true }))
    }))
  }
} satisfies Record<string, Fault>

export type FaultName = keyof typeof faults

/** Layer of a memory store with one fault. */
export const layer = (name: FaultName): Layer.Layer<Storage> =>
  Layer.effectContext(
    Effect.map(Layer.build(Layer.fresh(Memory.layer)), (sound) => faults[name].spoil(sound))
  )
