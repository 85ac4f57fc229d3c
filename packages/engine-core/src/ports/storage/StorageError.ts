/** Failures of a storage adapter: unavailable, or another writer was first. */
import { Data } from "effect"

/** The store cannot be reached or did not answer in time; nothing is known to be wrong. */
export class StorageUnavailable extends Data.TaggedError("StorageUnavailable")<{
  readonly detail: string
  /** Whole seconds after which trying again makes sense. */
  readonly retryAfter: number
  /** Deadlock: the store ended this transaction, and running it again succeeds. */
  readonly isDeadlock?: boolean
}> {}

/** Optimistic lock: another writer appended to this record first; load it and decide again. */
export class VersionMoved extends Data.TaggedError("VersionMoved")<{
  readonly collection: string
  readonly recordId: string
  readonly expected: number
}> {}

/** The lease ran out or was taken over; its former holder must drop the work at once. */
export class LeaseLost extends Data.TaggedError("LeaseLost")<{
  readonly queue: string
  readonly itemId: string
}> {}

/** Another projection writer has taken over; this one must stop. */
export class WriterFenced extends Data.TaggedError("WriterFenced")<{
  readonly epoch: number
}> {}
