/** The ports of storage: small services of text and integers that an adapter implements. */
export { Atomically } from "./Atomically.ts"
export { Blobs } from "./Blobs.ts"
export {
  Bulk,
  type BulkDifference,
  type BulkEntries,
  type BulkNames,
  type BulkRecords,
  type BulkRow,
  type BulkRows,
  type BulkSide,
  type BulkSum,
  type OwnedRow
} from "./Bulk.ts"
export {
  type Alternatives,
  type Clause,
  Documents,
  everyWait,
  type FilledWait,
  type KeptBy,
  type ListQuery,
  type PastVersion,
  type StoredPin,
  type StoredVersion,
  type StoredWait,
  type VersionRow,
  type VersionWaits,
  type WaitCount,
  type WaitQuery,
  type WaitRow,
  waitSortKey
} from "./Documents.ts"
export { type FactRow, FactLog } from "./FactLog.ts"
export {
  type AuditHead,
  type AuditQuery,
  type AuditRow,
  type EventRow,
  Feed,
  type FeedBounds,
  type FeedEntries,
  type FeedHead,
  type FeedQuery,
  type LegalHold,
  type StoreRestore
} from "./Feed.ts"
export { type KeyRow, Keys } from "./Keys.ts"
export { type AsOf, type ProjectionHead, ProjectionLog, type UpdateRow } from "./ProjectionLog.ts"
export * as RefusedWrites from "./RefusedWrites.ts"
export { RateWindow } from "./RateWindow.ts"
export * as StoreIdentity from "./StoreIdentity.ts"
export { LeaseLost, StorageUnavailable, VersionMoved, WriterFenced } from "./StorageError.ts"
export {
  everyTerm,
  type TermPlace,
  type TermRange,
  type TermRank,
  type TermRow,
  Terms
} from "./Terms.ts"
export { type Lease, type WorkItem, WorkQueue } from "./WorkQueue.ts"
