/** Row builders with defaults: a check names only the members that it tests. */
import type {
  AuditRow,
  EventRow,
  FactRow,
  FeedEntries,
  FeedHead,
  UpdateRow,
  VersionRow,
  WorkItem
} from "@bursar/engine-core/ports"
import { createHash } from "node:crypto"
import { instant } from "../Check.ts"

export const fact = (fields: Partial<FactRow>): FactRow => ({
  collection: "c",
  recordId: "r",
  version: 1,
  fact: '{"kind":"made","units":1.0000000001}',
  cause: "operation:o",
  offset: 0,
  recordedAt: instant(0),
  ...fields
})

export const version = (fields: Partial<VersionRow>): VersionRow => ({
  collection: "c",
  recordId: "r",
  version: 1,
  closes: (fields.version ?? 1) - 1,
  body: '{"units":1.0000000001,"name":"Zoë\\u0000\\n"}',
  sortKey: fields.recordId ?? "r",
  filters: {},
  createdAt: instant(0),
  fromOffset: 0,
  fromInstant: instant(0),
  ...fields
})

export const event = (fields: Partial<EventRow>): EventRow => ({
  seq: 1,
  kind: "control",
  type: "operation.queued",
  at: instant(0),
  offset: null,
  instrumentId: null,
  party: null,
  resourceKind: "operation",
  resourceId: "o",
  holderIds: [],
  payload: '{"units":1.0000000001}',
  source: null,
  ...fields
})

/** Entries that a transaction appends to the feed: events, and nothing else by default. */
export const entries = (
  events: ReadonlyArray<EventRow>,
  fields: Partial<FeedEntries> = {}
): FeedEntries => ({ events, audit: [], webhooks: "same", ...fields })

/** Audit records chained to a head, one after another. */
export const audit = (
  { at, audit: head }: FeedHead,
  rows: ReadonlyArray<Partial<AuditRow>>
): ReadonlyArray<AuditRow> => {
  let prevHash = head.hash
  return rows.map((fields, index) => {
    const seq = head.seq + 1 + index
    const text = `{"name":"Zoë","prevHash":"${prevHash}","seq":${seq}}`
    const row: AuditRow = {
      seq,
      at,
      action: "holder.onboard",
      actor: null,
      resourceKind: null,
      resourceId: null,
      text,
      prevHash,
      hash: hash(text),
      ...fields
    }
    prevHash = row.hash
    return row
  })
}

export const item = (fields: Partial<WorkItem>): WorkItem => ({
  queue: "q",
  itemId: "i",
  resource: "r",
  payload: "{}",
  delay: 0,
  ...fields
})

export const update = (fields: Partial<UpdateRow> & { readonly offset: number }): UpdateRow => ({
  prevOffset: fields.offset - 1,
  updateId: `u${fields.offset}`,
  commandId: null,
  workflowId: null,
  effectiveAt: instant(0),
  recordTime: instant(0),
  ledgerTime: instant(0),
  raw: "{}",
  ...fields
})

export const hash = (text: string): string => createHash("sha256").update(text).digest("hex")
