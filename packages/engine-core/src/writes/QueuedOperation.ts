/** The queue that operations wait in, and the codec of what its items say of an operation. */
import { Option, Schema } from "effect"
import type { Lease } from "../ports/storage/WorkQueue.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"

/** The queue's name. */
export const queue = "operations"

/** What an item says, so that a worker knows it before it has read the operation's record. */
export interface QueuedOperation {
  /** Which write to run. */
  readonly kind: OperationKind
  /**
   * The last claim that ended with an answer to everything it had sent, so that nothing of it can
   * still commit; null: no claim has ended so.
   */
  readonly answeredAttempt: number | null
}

/** `holder.onboard` from its opening on, `holder.onboard answered 3` once its third claim has ended. */
const Payload = Schema.Union([
  OperationKind.schema,
  Schema.TemplateLiteralParser([OperationKind.schema, " answered ", Schema.FiniteFromString])
])

const decodePayload = Schema.decodeUnknownOption(Payload)
const encodePayload = Schema.encodeSync(Payload)

/** The payload of an item. */
export const encode = ({ kind, answeredAttempt }: QueuedOperation): string =>
  encodePayload(answeredAttempt === null ? kind : [kind, " answered ", answeredAttempt])

/** What a claimed item says; a payload that nobody wrote is a defect. */
export const decode = ({ itemId, payload }: Pick<Lease, "itemId" | "payload">): QueuedOperation => {
  const read = Option.getOrUndefined(decodePayload(payload))
  if (read === undefined) throw new Error(`operation ${itemId} is queued as ${payload}`)
  return typeof read === "string"
    ? { kind: read, answeredAttempt: null }
    : { kind: read[0], answeredAttempt: read[2] }
}
