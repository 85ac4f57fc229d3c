/** Faults of the event feed. */
import { Atomically, Feed, type FeedHead } from "@bursar/engine-core/ports"
import { Context, Effect, Stream } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
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
      answer: (question) => Effect.map(answer(question), (head) => ({ ...head, at: question.now }))
    }))
  },
  "answer-of-before": {
    does: "answers again as before, whatever was stamped since",
    noticedBy: ["gives an instant again only"],
    spoil: replace(Feed, ({ answer }) => {
      let last: FeedHead | undefined
      return {
        answer: (question) =>
          last !== undefined && last.at >= question.since
            ? Effect.succeed(last)
            : Effect.tap(answer(question), (head) =>
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
      answer: (question) => Effect.andThen(pass(question.now), head)
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
      answer: (question) =>
        Effect.map(answer(question), (found) => ({ ...found, moves: found.moves + 1 }))
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
  "hold-ignored": {
    does: "prunes what a legal hold names",
    noticedBy: ["leaves what a legal hold names"],
    spoil: replace(Feed, ({ prune }) => ({
      prune: (range) => prune({ ...range, hold: { holderIds: [], instrumentIds: [] } })
    }))
  },
  "hold-of-holders-alone": {
    does: "prunes what a legal hold of an instrument names",
    noticedBy: ["leaves what a legal hold names"],
    spoil: replace(Feed, ({ prune }) => ({
      prune: (range) => prune({ ...range, hold: { ...range.hold, instrumentIds: [] } })
    }))
  },
  "young-events-pruned": {
    does: "prunes events that are not old enough",
    noticedBy: ["prunes the oldest control events"],
    spoil: replace(Feed, ({ prune }) => ({ prune: (range) => prune({ ...range, before: "9999" }) }))
  },
  "journal-pruned-by-age": {
    does: "prunes journal events with the control events",
    noticedBy: ["prunes the oldest control events"],
    spoil: replace(Feed, ({ prune, pruneJournal }) => ({
      prune: (range) =>
        Effect.andThen(pruneJournal({ through: Number.MAX_SAFE_INTEGER, limit: 9 }), prune(range))
    }))
  },
  "pruned-unknown-to-the-head": {
    does: "does not say at the head how far it has pruned",
    noticedBy: ["prunes the oldest control events"],
    spoil: replace(Feed, ({ head }) => ({
      head: Effect.map(head, (at) => ({ ...at, prunedTo: 0 }))
    }))
  },
  "journal-pruned-in-silence": {
    does: "does not say how far journal events are pruned",
    noticedBy: ["prunes journal events up to an offset"],
    spoil: replace(Feed, ({ read }) => ({
      read: (query) => Effect.map(read(query), (found) => ({ ...found, journalPrunedTo: 0 }))
    }))
  },
  "restore-forgotten": {
    does: "notes no restore",
    noticedBy: ["notes a restore at its head"],
    spoil: replace(Feed, () => ({ noteRestore: () => Effect.void }))
  },
  "end-of-before": {
    does: "answers a page with an end that it had before",
    noticedBy: ["notes a restore at its head"],
    spoil: replace(Feed, ({ read }) => ({
      read: (query) => Effect.map(read(query), (found) => ({ ...found, end: found.end - 1 }))
    }))
  },
  "pruned-beyond-the-limit": {
    does: "prunes more than the limit",
    noticedBy: ["prunes the oldest control events", "prunes journal events up to an offset"],
    spoil: replace(Feed, ({ prune, pruneJournal }) => ({
      prune: (range) => prune({ ...range, limit: 1000 }),
      pruneJournal: (range) => pruneJournal({ ...range, limit: 1000 })
    }))
  },
  "pruned-for-good": {
    does: "prunes although the transaction fails",
    noticedBy: ["prunes within the caller's transaction"],
    spoil: (all) => {
      const { run } = Context.get(all, Atomically)
      const feed = Context.get(all, Feed)
      const repeats: Array<Effect.Effect<unknown, unknown>> = []
      return all.pipe(
        Context.add(Atomically, {
          ...Context.get(all, Atomically),
          run: (effect) =>
            Effect.onExit(run(effect), () =>
              Effect.forEach(repeats.splice(0), (each) => Effect.ignore(each), { discard: true })
            )
        }),
        Context.add(Feed, {
          ...feed,
          pruneJournal: (range) =>
            Effect.suspend(() => {
              repeats.push(feed.pruneJournal(range))
              return feed.pruneJournal(range)
            })
        })
      )
    }
  },
  "journal-pruned-too-far": {
    does: "prunes journal events after the offset",
    noticedBy: ["prunes journal events up to an offset"],
    spoil: replace(Feed, ({ pruneJournal }) => ({
      pruneJournal: (range) => pruneJournal({ ...range, through: range.through + 1 })
    }))
  },
  "never-wakes": {
    does: "tells nobody that there is work or news",
    noticedBy: ["wakes a reader"],
    spoil: replace(Feed, () => ({ wakes: Stream.never }))
  }
} satisfies Record<string, Fault>
