/** Terms by which records are searched: those of a version, and which of them a change adds and takes away. */
import { Context } from "effect"
import * as Collection from "../kernel/Collection.ts"
import * as SearchText from "../kernel/SearchText.ts"
import type { TermPlace, TermRange, TermRank, TermRow } from "../ports/storage/Terms.ts"
import type { Role } from "../vocabulary/Role.ts"

/** Text by which a record is found. */
export interface SearchField {
  /** Name of the member, as search shows it. */
  readonly field: string
  readonly text: string
  /** `whole`: from its beginning alone; `word`: from the beginning of each of its words. */
  readonly by: TermRank
}

/** Record as a result of a search shows it. */
export interface FoundSubject {
  readonly resource: { readonly kind: string; readonly id: string; readonly href: string }
  readonly title: string
  readonly state: string | null
  readonly instrumentId: string | null
  readonly holderId: string | null
}

/** Kind of record that is searched: who lists it, and the texts by which its records are found. */
export interface SearchedKind {
  readonly collection: Collection.Collection
  readonly kind: string
  /** Roles that list the records, and so find them. */
  readonly roles: ReadonlySet<Role>
  /** True: a name is among the texts, which is found by its words. */
  readonly hasNames: boolean
  /** True: a clock move changes texts, so that those of the moves to come are terms too. */
  readonly ripens: boolean
  fieldsOf(record: unknown): ReadonlyArray<SearchField>
  /** Whether the list shows the record. */
  isListed(record: unknown): boolean
  subjectOf(record: unknown): FoundSubject
}

/** The kinds of record that are searched, by the names of their collections. */
export type SearchedKinds = ReadonlyMap<string, SearchedKind>

/** The kinds of the catalogue. */
export const Declared = Context.Reference<SearchedKinds>(
  "@bursar/engine-core/records/SearchTerms",
  {
    defaultValue: () => new Map()
  }
)

/** Names of parts of the index that are not of records, which the rooms that they are of fill. */
export const DeclaredParts = Context.Reference<ReadonlyArray<string>>(
  "@bursar/engine-core/records/SearchTerms/parts",
  { defaultValue: () => [] }
)

/** A term of a record, and the field that it is of. */
export interface FieldTerm extends TermPlace {
  readonly field: SearchField
  /** Whole folded text from the term on, of which the term has the first part. */
  readonly folded: string
}

const foldedOf = ({ by, text }: SearchField): ReadonlyArray<string> => {
  const folded = SearchText.fold(text)
  return by === "whole" ? [folded] : SearchText.fromEachWord(folded)
}

/** The terms of a record as it is now, in the order of its fields; several may have one place. */
export const termsOf = (kind: SearchedKind, record: unknown): ReadonlyArray<FieldTerm> =>
  termsBy(kind, record, kind.fieldsOf(record))

const termsBy = (
  { collection }: SearchedKind,
  record: unknown,
  fields: ReadonlyArray<SearchField>
): ReadonlyArray<FieldTerm> => {
  const recordId = collection.id(record)
  return fields.flatMap((field) =>
    foldedOf(field).flatMap((folded): ReadonlyArray<FieldTerm> => {
      const text = SearchText.cut(folded)
      return text === ""
        ? []
        : [{ collection: collection.name, rank: field.by, text, recordId, field, folded }]
    })
  )
}

const keyOf = ({ collection, rank, recordId, text }: TermPlace): string =>
  // No folded text has a control character, and no id has one.
  `${collection}\n${recordId}\n${rank}\n${text}`

const placeOf = ({ collection, rank, recordId, text }: TermPlace): TermPlace => ({
  collection,
  rank,
  recordId,
  text
})

/** The fields of a record, and those that it has after the clock moves to come. */
const storedFieldsOf = (kind: SearchedKind, record: unknown): ReadonlyArray<SearchField> => {
  const now = kind.fieldsOf(record)
  if (!kind.ripens || kind.collection.due(record) === undefined) return now
  const later = [...Collection.ahead(kind.collection, record)]
  return [...now, ...later.flatMap((ripe) => kind.fieldsOf(ripe.record))]
}

/** Rows of a record's terms, each place once. */
export const rowsOf = (kind: SearchedKind, record: unknown): ReadonlyArray<TermRow> => [
  ...new Map(
    termsBy(kind, record, storedFieldsOf(kind, record)).map((term) => [
      keyOf(term),
      { ...placeOf(term), shown: null }
    ])
  ).values()
]

const isSame = (before: ReadonlyArray<SearchField>, after: ReadonlyArray<SearchField>): boolean =>
  before.length === after.length &&
  before.every(({ by, text }, n) => by === after[n]?.by && text === after[n].text)

/** A change of a record whose terms are kept: undefined before it opens. */
export interface SearchedChange {
  readonly kind: SearchedKind
  readonly before: unknown
  readonly after: unknown
}

/** The terms that changes of one transaction, in their order, add and take away. */
export const differenceOf = (
  changes: ReadonlyArray<SearchedChange>
): { readonly added: ReadonlyArray<TermRow>; readonly removed: ReadonlyArray<TermPlace> } => {
  const added = new Map<string, TermRow>()
  const removed = new Map<string, TermPlace>()
  for (const { after, before, kind } of changes) {
    if (before !== undefined && isSame(storedFieldsOf(kind, before), storedFieldsOf(kind, after)))
      continue
    const next = new Map(rowsOf(kind, after).map((row) => [keyOf(row), row]))
    for (const row of before === undefined ? [] : rowsOf(kind, before)) {
      const key = keyOf(row)
      if (next.delete(key)) continue
      // A term that the transaction itself added is there once the transaction's own rows are.
      added.delete(key)
      removed.set(key, placeOf(row))
    }
    for (const [key, row] of next) {
      removed.delete(key)
      added.set(key, row)
    }
  }
  return { added: [...added.values()], removed: [...removed.values()] }
}

/** The ranges of the terms of a kind. */
export const rangesOf = ({ collection, hasNames }: SearchedKind): ReadonlyArray<TermRange> => [
  { rank: "whole", collection: collection.name },
  ...(hasNames ? [{ rank: "word" as const, collection: collection.name }] : [])
]
