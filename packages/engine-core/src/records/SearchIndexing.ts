/**
 * Reads the index of the terms by which records are searched, and fills it with those of records that were
 * written before the store had it.
 */
import { Effect } from "effect"
import * as Instant from "../kernel/Instant.ts"
import { type Unavailable, unavailable } from "../kernel/Refusal.ts"
import type { Atomically } from "../ports/storage/Atomically.ts"
import type { Documents, StoredVersion } from "../ports/storage/Documents.ts"
import type { Feed } from "../ports/storage/Feed.ts"
import { everyTerm, type Terms } from "../ports/storage/Terms.ts"
import { together } from "./BatchedWork.ts"
import * as Codecs from "./Codecs.ts"
import { orUnavailable, storeUnavailable } from "./PortFailure.ts"
import type { SearchIndex } from "./SearchIndex.ts"
import * as SearchTerms from "./SearchTerms.ts"

/** Seconds after which a search of terms that are being filled in may be tried again. */
const retryAfter = 5

/** Records whose terms are added in one transaction, while other writers wait. */
const filledAtOnce = 100

/**
 * Number of the rules by which terms are made. A release that finds an existing record by more texts raises
 * it, so that the terms of a store of before are filled in again.
 */
const revision = 1

const markOf = (part: string): string => `${part}:${revision}`

/** Checks whether a store was made with the terms, and no start has marked its own parts yet. */
const isUnclaimed = (marks: ReadonlyArray<string>): boolean =>
  marks.includes(everyTerm) && marks.every((mark) => mark === everyTerm)

interface Parts {
  readonly atomically: Atomically["Service"]
  readonly documents: Documents["Service"]
  readonly feed: Feed["Service"]
  readonly terms: Terms["Service"]
  readonly kinds: SearchTerms.SearchedKinds
  /** Further parts that are filled by the rooms that they are of. */
  readonly parts: ReadonlyArray<string>
}

export const make = (parts: Parts): SearchIndex => {
  const { atomically, kinds, terms } = parts
  const names = [...kinds.keys(), ...parts.parts]
  // A part that is filled stays so, for as long as the store is open.
  const filled = new Set<string>()
  const unfilled = Effect.suspend(() =>
    names.every((name) => filled.has(name))
      ? Effect.succeed([])
      : Effect.map(orUnavailable(terms.marks), (marks) => {
          const found = new Set(marks)
          for (const name of names) {
            if (found.has(markOf(name)) || isUnclaimed(marks)) filled.add(name)
          }
          return names.filter((name) => !filled.has(name))
        })
  )
  return {
    kinds,
    page: (query) => orUnavailable(terms.page(query)),
    put: (rows) =>
      rows.length === 0 ? Effect.void : orUnavailable(atomically.run(terms.put(rows))),
    forget: (deletion) => orUnavailable(atomically.run(terms.forget(deletion))),
    checkFilled: (wanted) =>
      Effect.flatMap(unfilled, (missing) => {
        const missed = missing.filter((name) => wanted.includes(name))
        return missed.length === 0
          ? Effect.void
          : Effect.fail(
              unavailable(
                "not-ready",
                `Records of before are still being added to the search: ${missed.join(", ")}.`,
                retryAfter
              )
            )
      }),
    unfilled,
    claim: Effect.flatMap(orUnavailable(terms.marks), (marks) =>
      isUnclaimed(marks)
        ? orUnavailable(
            atomically.run(
              Effect.forEach(names, (name) => terms.mark(markOf(name)), { discard: true })
            )
          )
        : Effect.void
    ),
    markFilled: (part) => orUnavailable(atomically.run(terms.mark(markOf(part)))),
    fill: Effect.fnUntraced(function* (name: string) {
      const kind = kinds.get(name)
      if (kind === undefined) return
      for (let after: string | undefined = ""; after !== undefined; ) {
        after = yield* inHead(parts, filledPage(parts, kind, after))
        yield* Effect.yieldNow
      }
      yield* inHead(parts, orUnavailable(terms.mark(markOf(name))))
    })
  }
}

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

/** Adds the terms of the next records after a sort key; returns the last one, undefined where none is left. */
const filledPage = Effect.fnUntraced(function* (
  { documents, terms }: Parts,
  kind: SearchTerms.SearchedKind,
  after: string
) {
  const { name } = kind.collection
  const versions = yield* Effect.mapError(
    documents.list({
      collection: name,
      pin: { by: "latest" },
      where: [],
      direction: "asc",
      limit: filledAtOnce,
      ...(after === "" ? {} : { after })
    }),
    storeUnavailable
  )
  yield* together(
    versions,
    (some: ReadonlyArray<StoredVersion>) =>
      Effect.flatMap(
        Effect.sync(() =>
          Codecs.of(kind.collection)
            .decodeRows(some)
            .flatMap((record) => SearchTerms.rowsOf(kind, record))
        ),
        (rows) => orUnavailable(terms.put(rows))
      ),
    ({ recordId }) => `the search, without ${name} ${recordId},`
  )
  return versions.length < filledAtOnce ? undefined : versions.at(-1)?.sortKey
})
