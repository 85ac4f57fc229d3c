/** Faults of the audit log, which the port of the feed keeps. */
import { Feed } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
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
  "audit-pruned-anywhere": {
    does: "says that it pruned the audit log up to a record that is no checkpoint",
    noticedBy: ["prunes the audit log up to a checkpoint"],
    spoil: replace(Feed, ({ pruneAudit }) => ({
      pruneAudit: (range) => Effect.catchDefect(pruneAudit(range), () => Effect.succeed(0))
    }))
  },
  "audit-start-pruned": {
    does: "prunes the checkpoint that is the audit log's new start",
    noticedBy: ["prunes the audit log up to a checkpoint"],
    spoil: replace(Feed, ({ pruneAudit, readAudit }) => {
      let start = 0
      return {
        pruneAudit: (range) =>
          Effect.tap(pruneAudit(range), () =>
            Effect.sync(() => {
              start = range.before + 1
            })
          ),
        readAudit: (query) =>
          Effect.map(readAudit(query), (page) => ({
            ...page,
            records: page.records.filter((record) => record.seq >= start)
          }))
      }
    })
  }
} satisfies Record<string, Fault>
