/** What one transaction is about to write: collected while it runs, written under one stamp. */
import { Context } from "effect"
import type { Announcement } from "../kernel/Announcement.ts"
import type { Collection } from "../kernel/Collection.ts"
import type * as Instant from "../kernel/Instant.ts"
import type { WorkItem } from "../ports/storage/WorkQueue.ts"

/** One fact to append and the version it makes. */
export interface Draft {
  readonly collection: string
  readonly recordId: string
  readonly version: number
  readonly fact: string
  readonly cause: string
  /** Undefined: one past the projection's head, known when the feed is taken. */
  readonly offset: number | undefined
  readonly body: string
  readonly sortKey: (createdAt: Instant.Instant) => string
  readonly filters: Readonly<Record<string, string | null>>
  /** Undefined for a record that opens here: then the stamp is. */
  readonly createdAt: Instant.Instant | undefined
}

/** A record as this transaction left it. */
export interface Written {
  readonly record: unknown
  readonly version: number
  readonly createdAt: Instant.Instant | undefined
}

export interface UnitOfWork {
  readonly outer: UnitOfWork | undefined
  readonly drafts: Array<Draft>
  readonly written: Map<string, Written>
  readonly announcements: Array<Announcement>
  readonly work: Array<WorkItem>
}

export const make = (outer?: UnitOfWork): UnitOfWork => ({
  outer,
  drafts: [],
  written: new Map(),
  announcements: [],
  work: []
})

export const keyOf = (collection: Pick<Collection<never, never>, "name">, id: string): string =>
  `${collection.name}/${id}`

/** What this transaction, or the one around it, wrote under a key. */
export const writtenAt = (self: UnitOfWork | undefined, key: string): Written | undefined =>
  self === undefined ? undefined : (self.written.get(key) ?? writtenAt(self.outer, key))

/** The transaction a fiber is in; nobody asks for it but Records. */
export class Current extends Context.Service<Current, UnitOfWork>()(
  "@bursar/engine-core/records/UnitOfWork"
) {}
