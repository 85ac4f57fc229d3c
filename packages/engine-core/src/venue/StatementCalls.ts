/** Statements of outside parties, handed in by one caller. */
import { Effect, Result, Stream } from "effect"
import * as CompiledCodec from "../kernel/CompiledCodec.ts"
import * as Date from "../kernel/Date.ts"
import { refuse, type Refused, type Unavailable } from "../kernel/Refusal.ts"
import * as Intake from "../statements/external-statement/Intake.ts"
import type { Caller, RequestIdentity } from "../writes/Caller.ts"
import * as Calls from "./Calls.ts"

/** Name of a file, as its sender gives it. */
export interface FileOptions {
  /** Media type of the bytes; left out, JSON, XML or else a table, by their first character. */
  readonly mediaType?: Intake.MediaType
  /** Charset in lower case, where the bytes do not say it. */
  readonly charset?: string
  /** Instrument of the file, where its source is of several. */
  readonly instrumentId?: string
  /** Business date, for a form that has none of its own. */
  readonly businessDate?: string
  /** Id of the statement that this one replaces. */
  readonly corrects?: string
  readonly key?: string
}

/** A file as it is handed in: its bytes, its text, or a stream of bytes. */
export type StatementFile = Uint8Array | string | Stream.Stream<Uint8Array, Refused | Unavailable>

/** Statement that a file made, or had made before: a receipt where its sender may not read it. */
export type ReceivedFile = Intake.StatementReceipt | Intake.ReceivedStatement

export interface StatementCalls {
  /**
   * Hands in a file of a configured source, has it read and recorded, and has the engine make the
   * reconciliation that each new statement starts. The same bytes again answer the same statement.
   */
  readonly receive: (
    externalSourceId: string,
    file: StatementFile,
    options?: FileOptions
  ) => Effect.Effect<ReceivedFile, Refused | Unavailable>
}

interface Needs {
  readonly caller: Caller
  readonly identity: Effect.Effect<RequestIdentity>
  readonly intake: Intake.StatementIntake["Service"]
  readonly work: Effect.Effect<void, Unavailable>
}

const decodeStatement = CompiledCodec.decoder(Intake.ReceivedStatement)
const decodeReceipt = CompiledCodec.decoder(Intake.StatementReceipt)

export const make = ({ caller, identity, intake, work }: Needs): StatementCalls => ({
  receive: (externalSourceId, file, options = {}) =>
    Effect.gen(function* () {
      yield* Calls.admitted(caller)
      const { charset = null, corrects = null, instrumentId = null, key = null } = options
      const businessDate = yield* Effect.fromResult(dateOf(options))
      const mediaType = options.mediaType ?? (yield* mediaTypeOf(file))
      const staged = yield* intake.stage({
        query: queryOf({ externalSourceId, instrumentId, businessDate, corrects }),
        bytes: bytesOf(file)
      })
      const { value } = yield* intake.receive({
        caller,
        identity: yield* identity,
        key,
        named: { externalSourceId, instrumentId, businessDate, corrects },
        mediaType,
        charset,
        staged
      })
      yield* work
      return caller.roles.includes("operator") ? decodeStatement(value) : decodeReceipt(value)
    }).pipe(Effect.scoped)
})

const dateOf = ({
  businessDate
}: FileOptions): Result.Result<Date.Date | null, Refused<"invalid-request">> => {
  if (businessDate === undefined) return Result.succeed(null)
  const parsed = Date.parse(businessDate)
  if (Result.isSuccess(parsed)) return Result.succeed(parsed.success)
  const { detail } = parsed.failure
  return refuse("invalid-request", {
    detail,
    errors: [{ pointer: "/query/businessDate", detail }]
  })
}

/** Query of the call as a request would have it, which the fingerprint of the file covers. */
const queryOf = (named: Intake.StatementName): string =>
  Object.entries(named)
    .flatMap(([name, value]) => (value === null ? [] : [`${name}=${encodeURIComponent(value)}`]))
    .join("&")

const bytesOf = (file: StatementFile): Stream.Stream<Uint8Array, Refused | Unavailable> =>
  typeof file === "string"
    ? Stream.succeed(new TextEncoder().encode(file))
    : file instanceof Uint8Array
      ? Stream.succeed(file)
      : file

/** Media type by the first character of a file that is at hand; a stream is read once, and says its own. */
const mediaTypeOf = (
  file: StatementFile
): Effect.Effect<Intake.MediaType, Refused<"invalid-request">> => {
  if (typeof file !== "string" && !(file instanceof Uint8Array)) {
    const detail = "A stream of bytes is handed in with its media type."
    return Effect.fromResult(refuse("invalid-request", { detail }))
  }
  const text = typeof file === "string" ? file : new TextDecoder().decode(file.subarray(0, 64))
  const first = text.replace(/^\u{FEFF}/u, "").trimStart()[0]
  return Effect.succeed(
    first === "<" ? "application/xml" : first === "{" ? "application/json" : "text/csv"
  )
}
