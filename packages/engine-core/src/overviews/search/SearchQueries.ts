/** Read of search: the records that a text finds, of the kinds that the caller lists. */
import { Effect, Schema } from "effect"
import { HolderId } from "../../holders/holder/HolderId.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Collection from "../../kernel/Collection.ts"
import * as SearchText from "../../kernel/SearchText.ts"
import type { TermPlace, TermRange, TermRow } from "../../ports/storage/Terms.ts"
import * as Read from "../../reads/Read.ts"
import { Records } from "../../records/Records.ts"
import * as SearchTerms from "../../records/SearchTerms.ts"
import * as EntryTerms from "../../statements/external-statement/EntryTerms.ts"
import { externalStatements } from "../../statements/external-statement/ExternalStatement.ts"
import { SearchKind } from "../../vocabulary/SearchKind.ts"
import { searchRoles } from "./SearchKinds.ts"

const { NullOr, optionalKey } = Schema

const audience = {
  operator: "all",
  approver: "all",
  risk: "all",
  compliance: "all",
  auditor: "all"
} as const satisfies Record<(typeof searchRoles)[number], Read.Sight>

/** Text that is searched for: 2 to 100 characters, none of them a control character. */
const SearchedText = Schema.String.check(
  // Ranges in place of the property Cc, which readers of patterns without Unicode do not know.
  Schema.isPattern(/^[^\u0000-\u001f\u007f-\u009f]{2,100}$/u, {
    expected: "2 to 100 characters without a control character"
  }),
  Schema.makeFilter(
    (text) =>
      SearchText.lengthOf(SearchText.fold(text)) >= 2 ? undefined : "2 characters beside spaces",
    { expected: "2 characters beside spaces" }
  )
)

const Params = Schema.Struct({
  /** Beginning of an id, a code or a reference, or of a name from one of its words on. */
  q: SearchedText,
  kind: optionalKey(Schema.Array(SearchKind.schema))
})
type Params = typeof Params.Type

/** The record that was found. */
const FoundResource = Schema.Struct({
  kind: SearchKind.schema,
  id: Schema.String,
  href: Schema.String
}).annotate({ identifier: "FoundResource", description: "A record that a search found." })

export const FoundView = Schema.Struct({
  resource: FoundResource,
  /** Name of the record, or of what it does; the id of one without a name. */
  title: Schema.String,
  /** State of the record; null: it has none. */
  state: NullOr(Schema.String),
  instrumentId: NullOr(InstrumentId),
  holderId: NullOr(HolderId),
  /** The text of the record that begins, or has a word that begins, as was searched. */
  matched: Schema.Struct({ field: Schema.String, text: Schema.String })
}).annotate({ identifier: "Found", description: "A record that a search found, and by what." })
export type FoundView = typeof FoundView.Type

const Row = Schema.Struct({ sortKey: Schema.String, ...FoundView.fields })
type Row = typeof Row.Type

/** Collection of the list's rows, which are made from records and terms and stored nowhere. */
const rows = Collection.define<Row, never>("found", {
  doc: "A record that a search found.",
  id: ({ sortKey }) => sortKey,
  record: Row,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "engine"
})

const Place = Schema.fromJsonString(
  Schema.Tuple([Schema.Literals(["whole", "word"]), Schema.String, Schema.String, Schema.String])
)
const decodePlace = Schema.decodeSync(Place)

const sortKeyOf = ({ collection, rank, recordId, text }: TermPlace): string =>
  JSON.stringify([rank, text, collection, recordId])

const placeOf = (sortKey: string): TermPlace => {
  const [rank, text, collection, recordId] = decodePlace(sortKey)
  return { rank, text, collection, recordId }
}

/** The kinds that a caller lists, of those that it asks for. */
const kindsOf = (
  kinds: SearchTerms.SearchedKinds,
  { caller }: Pick<Read.ReadCaller, "caller">,
  { kind: named }: Params
): ReadonlyArray<SearchTerms.SearchedKind> =>
  [...kinds.values()].filter(
    ({ kind, roles }) =>
      caller.roles.some((role) => roles.has(role)) &&
      (named === undefined || named.some((each) => each === kind))
  )

/** The kinds that are asked for, as the audit log has them. */
const kindsText = ({ kind }: Pick<Params, "kind">): string =>
  kind === undefined ? "every" : [...new Set(kind)].toSorted().join(" ")

/** Terms that are read at once where a page needs fewer: some of them may be of records found already. */
const readAtLeast = 20

/** The view of a term's record, where the term is the first of the record that begins so. */
const foundBy = (
  kind: SearchTerms.SearchedKind,
  record: unknown,
  { row, searched }: { readonly row: TermRow; readonly searched: string }
): Omit<Row, "sortKey"> | undefined => {
  if (!kind.isListed(record)) return undefined
  let first: SearchTerms.FieldTerm | undefined
  for (const term of SearchTerms.termsOf(kind, record)) {
    if (!term.folded.startsWith(searched)) continue
    if (first === undefined || isBefore(term, first)) first = term
  }
  if (first === undefined || first.rank !== row.rank || first.text !== row.text) return undefined
  const { field, text } = first.field
  return viewOf(kind, record, { field, text })
}

const isBefore = (a: TermPlace, b: TermPlace): boolean =>
  a.rank === b.rank ? SearchText.compare(a.text, b.text) < 0 : a.rank === "whole"

const viewOf = (
  kind: SearchTerms.SearchedKind,
  record: unknown,
  matched: FoundView["matched"]
): Omit<Row, "sortKey"> => ({
  ...(kind.subjectOf(record) as Omit<FoundView, "matched">),
  matched
})

/** The statement of an entry whose reference begins so, while its lines are stored. */
const foundByEntry = (
  kind: SearchTerms.SearchedKind,
  record: unknown,
  { row: { shown }, searched }: { readonly row: TermRow; readonly searched: string }
): Omit<Row, "sortKey"> | undefined => {
  const { prunedAt } = record as typeof externalStatements.record.Type
  if (shown === null || prunedAt !== undefined) return undefined
  // A longer text than a term is found by the term: of references that begin so there is one.
  const isCut = SearchText.cut(searched) !== searched
  if (!isCut && !SearchText.fold(shown).startsWith(searched)) return undefined
  return viewOf(kind, record, { field: "reference", text: shown })
}

/** The records of terms by the kind and the id of each. */
const recordsOf = Effect.fnUntraced(function* (
  terms: ReadonlyArray<TermRow>,
  kinds: ReadonlyArray<SearchTerms.SearchedKind>
) {
  const records = yield* Records
  const found = new Map<string, { readonly kind: SearchTerms.SearchedKind; record: unknown }>()
  yield* Effect.forEach(
    kinds,
    (kind) => {
      const { name } = kind.collection
      const ids = terms.filter((term) => collectionOf(term) === name).map(recordIdOf)
      if (ids.length === 0) return Effect.void
      return Effect.map(records.many(kind.collection, [...new Set(ids)]), (some) => {
        for (const record of some) {
          found.set(`${name}/${kind.collection.id(record)}`, { kind, record })
        }
      })
    },
    { concurrency: "unbounded", discard: true }
  )
  return found
})

const isEntry = ({ collection }: Pick<TermRow, "collection">): boolean =>
  collection === EntryTerms.entryTerms

const collectionOf = (term: TermRow): string =>
  isEntry(term) ? externalStatements.name : term.collection

const recordIdOf = (term: TermRow): string => term.recordId

export const list = Read.list<Row, never, Params, typeof Params.Encoded, FoundView, "search.list">({
  name: "search.list",
  doc: "Finds records by an id, a code, a name or a reference, among the kinds that the caller lists.",
  route: "GET /v1/search",
  audience,
  audited: { as: "search", detail: (params) => ({ kinds: kindsText(params as Params) }) },
  pinned: false,
  collection: rows,
  params: Params,
  item: FoundView,
  direction: "asc",
  order: "ids, codes and references first, exact ones before longer ones, then names",
  changes: false,
  acted: "never",
  where: ({ kind, q }) => ({
    q: [SearchText.fold(q)],
    ...(kind === undefined ? {} : { kind: [...new Set(kind)].toSorted() })
  }),
  scope: ({ caller }) =>
    Effect.succeed({ roles: searchRoles.filter((role) => caller.roles.includes(role)) }),
  rows: Effect.fnUntraced(function* ({ after, limit }, asking, params) {
    const { search } = yield* Records
    const kinds = kindsOf(search.kinds, asking, params)
    const hasEntries = kinds.some(({ collection }) => collection.name === externalStatements.name)
    const ranges: ReadonlyArray<TermRange> = [
      ...kinds.flatMap(SearchTerms.rangesOf),
      ...(hasEntries ? [{ rank: "whole" as const, collection: EntryTerms.entryTerms }] : [])
    ]
    yield* search.checkFilled(ranges.map(({ collection }) => collection))
    const searched = SearchText.fold(params.q)
    const prefix = SearchText.cut(searched)
    const page: Array<Read.ComputedRow<Row>> = []
    let place = after === undefined ? undefined : placeOf(after)
    while (page.length < limit) {
      const most = Math.max(limit - page.length, readAtLeast)
      const terms: ReadonlyArray<TermRow> = yield* search.page({
        ranges,
        prefix,
        limit: most,
        ...(place === undefined ? {} : { after: place })
      })
      const records = yield* recordsOf(terms, kinds)
      for (const row of terms) {
        // A record may have gone since, and the terms of a file are there before its statement.
        const found = records.get(`${collectionOf(row)}/${recordIdOf(row)}`)
        if (found === undefined) continue
        const view = (isEntry(row) ? foundByEntry : foundBy)(found.kind, found.record, {
          row,
          searched
        })
        if (view === undefined) continue
        const sortKey = sortKeyOf(row)
        page.push({ sortKey, row: { sortKey, ...view } })
      }
      if (terms.length < most) break
      place = terms.at(-1)
    }
    return page.slice(0, limit)
  }),
  view: (found) =>
    Effect.succeed(
      found.map(({ resource, title, state, instrumentId, holderId, matched }) => ({
        ...{ resource, title, state, instrumentId, holderId, matched }
      }))
    )
})

export const queries = [list] as const
