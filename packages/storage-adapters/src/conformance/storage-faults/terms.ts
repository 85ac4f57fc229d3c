/** Faults of search terms. */
import { Terms } from "@bursar/engine-core/ports"
import { Effect } from "effect"
import { type Fault, replace } from "./Fault.ts"

export const faults = {
  "terms-by-code-unit": {
    does: "orders terms by UTF-16",
    noticedBy: ["gives back terms by rank, text, collection and record"],
    spoil: replace(Terms, ({ page }) => ({
      page: (query) =>
        Effect.map(page(query), (rows) =>
          rows.toSorted((a, b) =>
            a.rank === b.rank && a.text !== b.text ? (a.text < b.text ? -1 : 1) : 0
          )
        )
    }))
  },
  "term-wildcards": {
    does: "takes a wildcard of a prefix for any character",
    noticedBy: ["finds a term by every prefix"],
    spoil: replace(Terms, ({ page }) => ({
      page: (query) => page({ ...query, prefix: query.prefix.startsWith("_") ? "a" : query.prefix })
    }))
  },
  "term-kept": {
    does: "keeps a term that is deleted",
    noticedBy: ["finds a term no longer once it is deleted", "puts, deletes and marks"],
    spoil: replace(Terms, () => ({ delete: () => Effect.void }))
  },
  "term-page-repeats": {
    does: "begins a page at the last term of the page before",
    noticedBy: ["gives back terms by rank, text, collection and record"],
    spoil: replace(Terms, ({ page }) => ({
      page: ({ after, ...query }) =>
        page(after === undefined ? query : { ...query, after: { ...after, recordId: "" } })
    }))
  },
  "terms-forgotten-whole": {
    does: "forgets every term of a record at once",
    noticedBy: ["forgets the terms of a record that have a shown text"],
    spoil: replace(Terms, ({ forget }) => ({
      forget: (deletion) => forget({ ...deletion, limit: 1_000 })
    }))
  },
  "term-mark-lost": {
    does: "does not mark what is filled",
    noticedBy: ["puts, deletes and marks with its transaction"],
    spoil: replace(Terms, () => ({ mark: () => Effect.void }))
  }
} satisfies Record<string, Fault>
