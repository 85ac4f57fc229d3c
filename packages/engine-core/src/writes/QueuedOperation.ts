/** Queue of operations, and the codec of the payload of its items. */
import { Option, Schema } from "effect"
import type { Lease } from "../ports/storage/WorkQueue.ts"
import { OperationKind } from "../vocabulary/OperationKind.ts"

/** The queue's name. */
export const queue = "operations"

/** Payload of an item, which a worker reads before the operation's record. */
interface QueuedOperation {
  /** Kind of the write to run. */
  readonly kind: OperationKind
  /**
   * Number of the last lease by which every submission was answered, its own and those of all leases
   * before it; null: there is no such lease.
   */
  readonly answeredAttempt: number | null
}

/** `holder.onboard` from its opening on, `holder.onboard answered 3` after its third lease. */
const Payload = Schema.Union([
  OperationKind.schema,
  Schema.TemplateLiteralParser([OperationKind.schema, " answered ", Schema.FiniteFromString])
])

const decodePayload = Schema.decodeUnknownOption(Payload)
const encodePayload = Schema.encodeSync(Payload)

/** Encodes the payload of an item. */
export const encode = ({ kind, answeredAttempt }: QueuedOperation): string =>
  encodePayload(answeredAttempt === null ? kind : [kind, " answered ", answeredAttempt])

/** Checks whether every lease before this one got an answer to all that it sent. */
export const isPreviousAnswered = ({
  attempt,
  payload
}: Pick<Lease, "attempt" | "payload">): boolean => {
  const read = Option.getOrUndefined(decodePayload(payload))
  return attempt === 1 || (typeof read === "object" && read[2] === attempt - 1)
}

/** Decodes a leased item's payload; one that does not parse is a defect. */
export const decode = ({ itemId, payload }: Pick<Lease, "itemId" | "payload">): QueuedOperation => {
  const read = Option.getOrUndefined(decodePayload(payload))
  if (read === undefined) throw new Error(`operation ${itemId} is queued as ${payload}`)
  return typeof read === "string"
    ? { kind: read, answeredAttempt: null }
    : { kind: read[0], answeredAttempt: read[2] }
}
