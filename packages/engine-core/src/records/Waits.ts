/** Index of waiting records: the waits of a version, by role, over the clock moves that are to come. */
import { Context } from "effect"
import * as Collection from "../kernel/Collection.ts"
import * as Instant from "../kernel/Instant.ts"
import type { VersionWaits, WaitRow } from "../ports/storage/Documents.ts"
import type { Role } from "../vocabulary/Role.ts"

/** Record that a row of the list of waiting records is about, with what the list filters by. */
export interface WaitSubject {
  readonly resource: { readonly kind: string; readonly id: string; readonly href: string }
  readonly state: string | null
  readonly instrumentId: string | null
  readonly holderId: string | null
  /** Key of the four-eyes action that awaits a decision; null: no action does. */
  readonly actionKey: string | null
  /** Subjects of people from whose own lists the row is left out. */
  readonly hiddenFrom: ReadonlyArray<string>
}

/** Kind of record whose waits are indexed: who reads its list, and how its records are named. */
export interface WaitingKind {
  readonly collection: Collection.Collection
  /** Roles of people that read the list: waits of other roles are not indexed. */
  readonly roles: ReadonlySet<Role>
  /** The kinds of resource that its rows are about. */
  readonly resourceKinds: ReadonlyArray<string>
  subjectOf(record: unknown): WaitSubject
}

/** The kinds of record whose waits are indexed, by the names of their collections. */
export const Declared = Context.Reference<ReadonlyMap<string, WaitingKind>>(
  "@bursar/engine-core/records/Waits",
  { defaultValue: () => new Map() }
)

/**
 * Number of the rules by which waits are indexed. A release that changes who an existing record waits for
 * raises it, so that the index of a store of before is filled again.
 */
const revision = 1

/** Mark of a kind whose records of before are indexed, for the roles that read its list. */
export const markOf = ({ collection, roles }: WaitingKind): string =>
  `${collection.name}(${[...roles].toSorted().join(" ")}):${revision}`

/** Largest number of clock moves of a record whose waits are indexed ahead. */
const movesMax = 8

/** Span of the clock: from ≤ instant < until; null: without that end. */
interface Span {
  readonly from: Instant.Instant | null
  readonly until: Instant.Instant | null
}

/** An act that a record waits for over a span of the clock. */
interface SpannedWait extends Span {
  readonly wait: Collection.IndexedWait
  readonly subject: WaitSubject
}

/** The waits of a version of a record of this kind. */
export const rowsOf = <R>(kind: WaitingKind, record: R): ReadonlyArray<WaitRow> => {
  const spanned = joined(spansOf(kind, record))
  return spanned.map((each) => rowOf(each, spanned))
}

/** Waits of the stored version before a change, as text; `unread`: it may have some. */
export type Before = string | "unread"

/** The waits of a stored version as text; undefined: it has none. */
export const before = <R>(kind: WaitingKind | undefined, record: R): Before | undefined => {
  const rows = kind === undefined ? [] : rowsOf(kind, record)
  return rows.length === 0 ? undefined : JSON.stringify(rows)
}

/** Waits to write with a version; undefined: it waits as the version before it does. */
export const written = <R>(
  kind: WaitingKind | undefined,
  { record, waited }: { readonly record: R; readonly waited?: Before | undefined }
): VersionWaits | undefined => {
  if (kind === undefined) return undefined
  const rows = rowsOf(kind, record)
  const isSame = waited === undefined ? rows.length === 0 : waited === JSON.stringify(rows)
  return isSame ? undefined : { keptBy: kind.collection.keptBy, follow: waited !== undefined, rows }
}

const spansOf = (kind: WaitingKind, record: unknown): ReadonlyArray<SpannedWait> => {
  const { collection, roles } = kind
  const found: Array<SpannedWait> = []
  for (const { record: ripe, ...span } of stagesOf(collection, record)) {
    const waits: ReadonlyArray<Collection.IndexedWait> =
      collection.indexedWaits?.(ripe) ?? collection.waitingOn(ripe)
    let subject: WaitSubject | undefined
    for (const wait of waits) {
      if (wait.role === undefined || !(roles as ReadonlySet<string>).has(wait.role)) continue
      const within = intersection(span, { from: wait.from ?? null, until: wait.until ?? null })
      if (within === undefined) continue
      subject ??= kind.subjectOf(ripe)
      found.push({ ...within, wait, subject })
    }
  }
  return found
}

/** The record as the clock makes it, stage by stage, as far as the index looks ahead. */
function* stagesOf(
  collection: Collection.Collection,
  record: unknown
): Generator<Span & { readonly record: unknown }> {
  let stage = record
  let from: Instant.Instant | null = null
  if (collection.due(record) !== undefined) {
    let moves = 0
    for (const next of Collection.ahead(collection, record)) {
      // A move that is due before its predecessor is made together with it.
      const at: Instant.Instant = from === null ? next.at : Instant.max(from, next.at)
      if (from === null || at > from) yield { record: stage, from, until: at }
      stage = next.record
      from = at
      if (++moves === movesMax) break
    }
  }
  yield { record: stage, from, until: null }
}

const intersection = (a: Span, b: Span): Span | undefined => {
  const from = a.from === null || (b.from !== null && b.from > a.from) ? b.from : a.from
  const until = a.until === null || (b.until !== null && b.until < a.until) ? b.until : a.until
  return from !== null && until !== null && from >= until ? undefined : { from, until }
}

/** Joins equal waits of spans that follow one another, in the order in which they begin. */
const joined = (spans: ReadonlyArray<SpannedWait>): ReadonlyArray<SpannedWait> => {
  const result: Array<SpannedWait> = []
  for (const span of spans) {
    const text = textOf(span)
    const before = result.findIndex(
      (each) => each.until !== null && each.until === span.from && textOf(each) === text
    )
    if (before < 0) result.push(span)
    else result[before] = { ...result[before]!, until: span.until }
  }
  return result
}

const textOf = ({ subject, wait: { action, by, condition, role, state } }: SpannedWait): string =>
  JSON.stringify([
    ...[role, action, by === null ? null : Instant.sortable(by), state ?? subject.state],
    ...[condition ?? null, subject]
  ])

/**
 * Instant at which the wait for this act of this role began by the clock: where spans of it follow one
 * another, that of the first; null: with the version or before it.
 */
const begunAt = (
  { from, wait }: SpannedWait,
  all: ReadonlyArray<SpannedWait>
): Instant.Instant | null => {
  let begun = from
  for (let looks = 0; begun !== null && looks < all.length; looks++) {
    const before: SpannedWait | undefined = all.find(
      (each) =>
        each.until === begun && each.wait.role === wait.role && each.wait.action === wait.action
    )
    if (before === undefined) return begun
    begun = before.from
  }
  return begun
}

const textAt = (at: Instant.Instant | null): string | null =>
  at === null ? null : Instant.sortable(at)

const rowOf = (span: SpannedWait, all: ReadonlyArray<SpannedWait>): WaitRow => {
  const { subject, wait } = span
  const { actionKey, hiddenFrom, holderId, instrumentId, resource } = subject
  const role = wait.role ?? ""
  return {
    role,
    action: wait.action,
    resourceKind: resource.kind,
    state: wait.state ?? subject.state,
    instrumentId,
    holderId,
    by: textAt(wait.by),
    tie: [resource.href, resource.id, role, wait.action, actionKey ?? ""].join(" "),
    from: textAt(span.from),
    until: textAt(span.until),
    since: textAt(begunAt(span, all)),
    condition: wait.condition ?? null,
    hiddenFrom,
    body: JSON.stringify([resource.id, resource.href, actionKey])
  }
}

/** Decodes what the `body` of a row holds beside its columns. */
export const bodyOf = (
  body: string
): { readonly id: string; readonly href: string; readonly actionKey: string | null } => {
  const [id, href, actionKey] = JSON.parse(body) as readonly [string, string, string | null]
  return { id, href, actionKey }
}
