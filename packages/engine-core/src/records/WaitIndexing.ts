/**
 * Reads the index of waiting records at a pin, and fills it with the versions that were written before the
 * store had it.
 */
import { Effect } from "effect"
import type { Collection } from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import type * as Pin from "../kernel/Pin.ts"
import { type Unavailable, unavailable } from "../kernel/Refusal.ts"
import type { Atomically } from "../ports/storage/Atomically.ts"
import {
  type Documents,
  everyWait,
  type FilledWait,
  type KeptBy,
  type PastVersion,
  type StoredPin,
  type WaitQuery,
  type WaitRow
} from "../ports/storage/Documents.ts"
import type { Feed } from "../ports/storage/Feed.ts"
import { together } from "./BatchedWork.ts"
import * as Codecs from "./Codecs.ts"
import { orUnavailable, storeUnavailable } from "./PortFailure.ts"
import * as StorageQuery from "./StorageQuery.ts"
import type { IndexQuery, WaitIndex } from "./WaitIndex.ts"
import * as Waits from "./Waits.ts"

/** Seconds after which a read of an index that is being filled may be tried again. */
const retryAfter = 5

/** Records whose versions are added to the index in one transaction, while other writers wait. */
const filledMax = 50

interface Parts {
  readonly atomically: Atomically["Service"]
  readonly documents: Documents["Service"]
  readonly feed: Feed["Service"]
  readonly waiting: ReadonlyMap<string, Waits.WaitingKind>
}

export const make = (parts: Parts): WaitIndex => {
  const { documents, waiting } = parts
  const unfilled = Effect.map(documents.waitMarks, (marks) => {
    const filled = new Set(marks)
    return isUnclaimed(marks)
      ? []
      : [...waiting.values()].filter((kind) => !filled.has(Waits.markOf(kind)))
  })
  const marked = Effect.suspend(() =>
    Effect.forEach(waiting.values(), (kind) => documents.markWaits(Waits.markOf(kind)), {
      discard: true
    })
  )
  /** Marks the kinds of this program at the first start of a store that was made with the index. */
  const claim = Effect.flatMap(orUnavailable(documents.waitMarks), (marks) =>
    isUnclaimed(marks) ? orUnavailable(parts.atomically.run(marked)) : Effect.void
  )
  return {
    kinds: waiting,
    list: ({ after, limit, ...query }) =>
      orUnavailable(
        documents.waits({
          ...portQueryOf(query),
          limit,
          ...(after === undefined ? {} : { after })
        })
      ),
    counts: ({ most, ...query }) =>
      orUnavailable(documents.countWaits({ ...portQueryOf(query), most })),
    conditions: (pin) => orUnavailable(documents.waitConditions({ pins: pinsOf(pin) })),
    checkFilled: Effect.flatMap(orUnavailable(unfilled), (kinds) =>
      kinds.length === 0
        ? Effect.void
        : Effect.fail(
            unavailable(
              "not-ready",
              "The list of waiting records is being made for the first time.",
              retryAfter
            )
          )
    ),
    fill: Effect.andThen(
      claim,
      Effect.flatMap(orUnavailable(unfilled), (kinds) =>
        Effect.forEach(kinds, (kind) => filled(parts, kind), { discard: true })
      )
    )
  }
}

/** Checks whether a store was made with the index, and no start has marked its own kinds yet. */
const isUnclaimed = (marks: ReadonlyArray<string>): boolean =>
  marks.includes(everyWait) && marks.every((mark) => mark === everyWait)

const portQueryOf = ({ pin, ...query }: IndexQuery): WaitQuery => ({
  ...query,
  pins: pinsOf(pin),
  judgedAt: Instant.sortable(pin.judgedAt)
})

/** Pin of the records of each keeper; no offset dates the engine's own records. */
const pinsOf = (pin: Pin.ResolvedPin): WaitQuery["pins"] => {
  const pinOf = (keptBy: KeptBy): StoredPin => StorageQuery.storedPin(keptBy, pin)
  return {
    ledger: pinOf("ledger"),
    engine: pinOf("engine"),
    ...(pin.select.by === "offset" ? {} : { own: pinOf("own") })
  }
}

/**
 * Adds all records of a kind, in transactions that hold the head of the feed: no other writer adds a
 * version meanwhile. A record that cannot be read is logged and left out until its next version.
 */
const filled = Effect.fnUntraced(function* (parts: Parts, kind: Waits.WaitingKind) {
  const { documents } = parts
  for (let after: string | undefined = ""; after !== undefined; ) {
    after = yield* inHead(parts, filledPage(parts, kind, after))
  }
  yield* inHead(parts, orUnavailable(documents.markWaits(Waits.markOf(kind))))
})

/** Runs an effect in a transaction that holds the head, and moves the head: answers are cached by it. */
const inHead = <A>({ atomically, feed }: Parts, effect: Effect.Effect<A, Unavailable>) =>
  orUnavailable(
    atomically.run(
      Effect.gen(function* () {
        const head = yield* feed.take(Instant.sortable(yield* Instant.now))
        const result = yield* effect
        yield* feed.append(head, { events: [], audit: [], webhooks: "same" })
        return result
      })
    )
  )

/** Adds the next records after an id; returns the last id, undefined where there are no more. */
const filledPage = Effect.fnUntraced(function* (
  { documents }: Parts,
  kind: Waits.WaitingKind,
  after: string
) {
  const { keptBy, name } = kind.collection
  const versions = yield* Effect.mapError(
    documents.history({ collection: name, after, limit: filledMax }),
    storeUnavailable
  )
  const byRecord = Map.groupBy(versions, ({ recordId }) => recordId)
  yield* together(
    [...byRecord.keys()],
    (recordIds) =>
      Effect.flatMap(
        Effect.sync(() => recordIds.flatMap((id) => waitsOf(kind, byRecord.get(id) ?? []))),
        (rows) => orUnavailable(documents.fillWaits({ collection: name, keptBy, recordIds, rows }))
      ),
    (recordId) => `the list of waiting records, without ${name} ${recordId},`
  )
  return byRecord.size < filledMax ? undefined : [...byRecord.keys()].at(-1)
})

type OpenWait = Omit<FilledWait, "toOffset" | "toInstant">

/** The waits of a record through all its versions, as its writes would have left them. */
const waitsOf = (
  kind: Waits.WaitingKind,
  versions: ReadonlyArray<PastVersion>
): ReadonlyArray<FilledWait> => {
  const collection: Collection = kind.collection
  const records = Codecs.of(collection).decodeRows(versions)
  const ended: Array<FilledWait> = []
  let open = new Map<string, OpenWait>()
  for (const [index, version] of versions.entries()) {
    const { fromInstant, fromOffset, recordId } = version
    const next = new Map<string, OpenWait>()
    for (const row of Waits.rowsOf(kind, records[index])) {
      const { since: _, ...members } = row
      const text = JSON.stringify(members)
      const since = row.since ?? continuedSince([...open.values()], row, fromInstant)
      next.set(text, open.get(text) ?? { ...members, recordId, since, fromInstant, fromOffset })
    }
    for (const [text, wait] of open) {
      if (!next.has(text)) ended.push({ ...wait, toOffset: fromOffset, toInstant: fromInstant })
    }
    open = next
  }
  return [
    ...ended,
    ...[...open.values()].map((wait) => ({ ...wait, toOffset: null, toInstant: null }))
  ]
}

/** Instant since which the record waits for an act of a role, if it did in the version before. */
const continuedSince = (
  open: ReadonlyArray<OpenWait>,
  { action, role }: Pick<WaitRow, "action" | "role">,
  fromInstant: string
): string =>
  open
    .filter((wait) => wait.role === role && wait.action === action && wait.since <= fromInstant)
    .map(({ since }) => since)
    .toSorted()
    .at(-1) ?? fromInstant
