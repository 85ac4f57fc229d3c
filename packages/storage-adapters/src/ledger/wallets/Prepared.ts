/**
 * Verification of a prepared transaction by its wallet: decoded, compared with the request, hashed
 * again.
 */
import { createHash } from "node:crypto"
import { Instant, type Party } from "@bursar/engine-core/kernel"
import { Data, Result, Schema } from "effect"
import type { WireCommand } from "./Wire.ts"

/** The wallet refuses to sign; the reason is for its owner. */
export class NotSigned extends Data.TaggedError("NotSigned")<{ readonly why: string }> {
  override get message(): string {
    return `not signed: ${this.why}`
  }
}

/** Request for a transaction that a party is to sign. */
export interface PreparedRequest {
  readonly userId: string
  readonly commandId: string
  readonly party: Party.Party
  readonly commands: ReadonlyArray<WireCommand>
  readonly notBefore?: Instant.Instant | undefined
}

const Content = Schema.Struct({
  bursarSim: Schema.Literal(1),
  userId: Schema.String,
  commandId: Schema.String,
  actAs: Schema.Array(Schema.String),
  commands: Schema.Array(Schema.Unknown),
  disclosed: Schema.Array(Schema.Unknown),
  inputs: Schema.Array(Schema.String),
  preparedAt: Instant.schema,
  maxRecordTime: Instant.schema,
  minLedgerTime: Schema.optionalKey(Instant.schema)
})
const decode = Schema.decodeUnknownResult(Schema.fromJsonString(Content), {
  onExcessProperty: "error"
})

/**
 * Validity of a prepared transaction: at most a day, with a minute of tolerance for the wallet's
 * clock.
 */
const lastsNanos = 86_400_000_000_000n + 60_000_000_000n

/** Hash of a prepared transaction, which its party signs. */
export const hash = (bytes: Uint8Array): Uint8Array =>
  createHash("sha256")
    .update("bursar-sim-prepared-v1")
    .update(Uint8Array.of(0))
    .update(bytes)
    .digest()

/** Computes the hash to sign, if the bytes say exactly what was requested. */
export const check = (
  request: PreparedRequest,
  answer: {
    readonly bytes: Uint8Array
    /** Base64 of the hash as the ledger computed it. */
    readonly hash: string
    readonly now: Instant.Instant
  }
): Result.Result<
  { readonly hash: Uint8Array; readonly content: typeof Content.Type },
  NotSigned
> => {
  const refused = (why: string) => Result.fail(new NotSigned({ why }))
  const read = decode(Buffer.from(answer.bytes).toString("utf8"))
  if (Result.isFailure(read))
    return refused(`the prepared bytes are of another kind: ${read.failure.message}`)
  const content = read.success
  if (content.userId !== request.userId) return refused("another user's transaction")
  if (content.commandId !== request.commandId) return refused("another commandId than asked")
  if (content.actAs.length !== 1 || content.actAs[0] !== request.party)
    return refused("it acts as others")
  if (sorted(content.commands) !== sorted(request.commands))
    return refused("other commands than asked")
  if (content.minLedgerTime !== request.notBefore) return refused("another time than asked")
  if (content.disclosed.length > 0) return refused("it uses contracts that were not handed over")
  if (content.maxRecordTime > answer.now + lastsNanos)
    return refused("it could be executed too late")
  const computedHash = hash(answer.bytes)
  if (Buffer.from(computedHash).toString("base64") !== answer.hash)
    return refused("the ledger hashes otherwise")
  return Result.succeed({ hash: computedHash, content })
}

/** Prints JSON with sorted members, so that equal values have equal texts. */
const sorted = (value: unknown): string =>
  JSON.stringify(value, (_, member: unknown) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(
          Object.entries(member).toSorted(([left], [right]) => (left < right ? -1 : 1))
        )
      : member
  )
