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
  /** Number of leases that ended in a defect since the ledger last took a step of it. */
  readonly deaths: number
}

const kind = OperationKind.schema
const count = Schema.FiniteFromString

/**
 * `holder.onboard` from its opening on, `holder.onboard answered 3` after its third lease, and with
 * ` died 2` behind it after two leases that ended in a defect.
 */
const Payload = Schema.Union([
  kind,
  Schema.TemplateLiteralParser([kind, " died ", count]),
  Schema.TemplateLiteralParser([kind, " answered ", count]),
  Schema.TemplateLiteralParser([kind, " answered ", count, " died ", count])
])

const decodePayload = Schema.decodeUnknownOption(Payload)
const encodePayload = Schema.encodeSync(Payload)

/** Encodes the payload of an item. */
export const encode = ({ kind, answeredAttempt, deaths }: QueuedOperation): string => {
  if (deaths === 0) {
    return encodePayload(answeredAttempt === null ? kind : [kind, " answered ", answeredAttempt])
  }
  return encodePayload(
    answeredAttempt === null
      ? [kind, " died ", deaths]
      : [kind, " answered ", answeredAttempt, " died ", deaths]
  )
}

/** Decodes a leased item's payload; none where it does not parse. */
export const read = ({ payload }: Pick<Lease, "payload">): Option.Option<QueuedOperation> =>
  Option.map(decodePayload(payload), (parts): QueuedOperation => {
    if (typeof parts === "string") return { kind: parts, answeredAttempt: null, deaths: 0 }
    if (parts[1] === " died ") return { kind: parts[0], answeredAttempt: null, deaths: parts[2] }
    return { kind: parts[0], answeredAttempt: parts[2], deaths: parts[4] ?? 0 }
  })

/** Checks whether every lease before this one got an answer to all that it sent. */
export const isPreviousAnswered = (lease: Pick<Lease, "attempt" | "payload">): boolean =>
  lease.attempt === 1 ||
  Option.exists(read(lease), ({ answeredAttempt }) => answeredAttempt === lease.attempt - 1)

/** Decodes a leased item's payload; one that does not parse is a defect. */
export const decode = (lease: Pick<Lease, "itemId" | "payload">): QueuedOperation =>
  Option.getOrThrowWith(
    read(lease),
    () => new Error(`operation ${lease.itemId} is queued as ${lease.payload}`)
  )
