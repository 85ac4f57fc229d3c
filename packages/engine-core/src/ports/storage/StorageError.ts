/** What a storage adapter may answer besides its result: it is away, or somebody was first. */
import { Data } from "effect"

/** The store cannot be reached or did not answer in time; nothing is known to be wrong. */
export class StorageUnavailable extends Data.TaggedError("StorageUnavailable")<{
  readonly detail: string
  /** Whole seconds after which trying again makes sense. */
  readonly retryAfter: number
  /** Two transactions waited for each other, and the store ended this one: run anew it goes through. */
  readonly isDeadlock?: boolean
}> {}

/** Another writer appended to this record first: load it again and decide again. */
export class VersionMoved extends Data.TaggedError("VersionMoved")<{
  readonly collection: string
  readonly recordId: string
  readonly expected: number
}> {}

/** The lease ran out or was taken over: whoever held it must drop the job at once. */
export class LeaseLost extends Data.TaggedError("LeaseLost")<{
  readonly queue: string
  readonly itemId: string
}> {}

/** Another projection writer has taken over: this one must stop. */
export class WriterFenced extends Data.TaggedError("WriterFenced")<{
  readonly epoch: number
}> {}
