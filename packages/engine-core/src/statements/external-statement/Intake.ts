/**
 * Service that takes statements in: stages the bytes of a file as they arrive, then reads the stage
 * and records the statement (docs/domain/statements.md#intake).
 */
import { Context, type Effect, Schema, type Scope, type Stream } from "effect"
import * as Date from "../../kernel/Date.ts"
import type { Plain } from "../../kernel/PlainJson.ts"
import * as RecordId from "../../kernel/RecordId.ts"
import type { Refused, Unavailable } from "../../kernel/Refusal.ts"
import type { Role } from "../../vocabulary/Role.ts"
import type { RawEncoding } from "../../vocabulary/sets.ts"
import type { Caller, RequestIdentity } from "../../writes/Caller.ts"
import { ExternalSourceId } from "../external-source/ExternalSource.ts"
import { ExternalStatementId } from "./ExternalStatement.ts"
import { StatementView } from "./StatementView.ts"

/** Roles that hand statements in. A feed reads nothing, and is answered a receipt. */
export const senders: ReadonlyArray<Role> = ["operator", "feed"]

/** Media types that a file comes as; the charset is a parameter of its own. */
export const mediaTypes = ["application/xml", "text/xml", "text/csv", "application/json"] as const

/** Media type of a file of statements. */
export type MediaType = (typeof mediaTypes)[number]

/** A statement of a file. */
export const StatementOfFile = Schema.Struct({
  externalStatementId: ExternalStatementId,
  businessDate: Date.schema,
  /** False: the same statement had been recorded of another file before. */
  recorded: Schema.Boolean
}).annotate({
  identifier: "StatementOfFile",
  description: "A statement of a file, recorded of it or there before."
})

/** Statements of the file, oldest first; a file has one, but for several of a bank. */
const statements = Schema.Array(StatementOfFile)

/** Answer to a caller of the role `feed`, without any content of the file. */
export const StatementReceipt = Schema.Struct({
  externalStatementId: ExternalStatementId,
  /** Lower-case hex SHA-256 of the bytes. */
  contentHash: Schema.String,
  businessDate: Date.schema,
  statements
}).annotate({
  identifier: "StatementReceipt",
  description: "What a feed is answered that handed a statement in."
})
export type StatementReceipt = typeof StatementReceipt.Type

/** Answer to a caller that reads statements: the newest of the file, and which ones the file has. */
export const ReceivedStatement = Schema.Struct({
  ...StatementView.fields,
  statements
}).annotate({
  identifier: "ReceivedStatement",
  description: "The newest statement that a file recorded, with the statements of the file."
})
export type ReceivedStatement = typeof ReceivedStatement.Type

/** Answer to a file: the statement, or a receipt where the caller may not read it. */
export const StatementAnswer = Schema.Union([ReceivedStatement, StatementReceipt])

/** Query of the call, which identifies the file. */
export const StatementQuery = Schema.Struct({
  externalSourceId: ExternalSourceId,
  /** Needed where the source is of several instruments. */
  instrumentId: Schema.optionalKey(RecordId.make("InstrumentId")),
  /** For a form that has no date of its own. */
  businessDate: Schema.optionalKey(Date.schema),
  /** The statement that this one replaces. */
  corrects: Schema.optionalKey(ExternalStatementId)
})

/** Declaration of the call, for the typed client. */
export const statementFile = {
  route: "POST /v1/external-statements",
  params: StatementQuery,
  result: StatementAnswer
} as const

/** A file in the stage: encrypted, not read yet, and discarded with its scope. */
export interface StagedFile {
  readonly stageId: string
  /** Lower-case hex SHA-256 of the bytes. */
  readonly contentHash: string
  /**
   * Fingerprint of the call, by which its key is judged: lower-case hex SHA-256 of method, path, raw
   * query and bytes, each but the last followed by a line feed.
   */
  readonly fingerprint: string
  readonly size: number
  /** `utf-8` where the bytes are text of that encoding, by which they are shown. */
  readonly encoding: RawEncoding
}

/** Identity of the statement, as its sender names it. */
export interface StatementName {
  readonly externalSourceId: string
  /** Null: the source is of one instrument. */
  readonly instrumentId: string | null
  /** For a form that has no date of its own; null: the file has it. */
  readonly businessDate: Date.Date | null
  /** The statement that this one replaces; null: it is the first of its date. */
  readonly corrects: string | null
}

/** A call that hands a statement in. */
export interface IntakeCall {
  readonly caller: Caller
  readonly identity: RequestIdentity
  /** The Idempotency-Key as sent; null: the call is keyed on its body. */
  readonly key: string | null
  readonly named: StatementName
  readonly mediaType: MediaType
  /** Charset parameter of the media type, in lower case; null: none was sent. */
  readonly charset: string | null
  readonly staged: StagedFile
}

/** Answer to a file of statements. */
export interface IntakeAnswer {
  /** Encoded record of the newest statement of the file; a receipt where the caller may not read it. */
  readonly value: Plain
  readonly location: string
  /** True where the statement had been recorded before, under the same key or with the same bytes. */
  readonly replayed: boolean
}

type Refusals = Refused<
  | "invalid-request"
  | "not-found"
  | "body-too-large"
  | "unsupported-media-type"
  | "unauthenticated"
  | "idempotency-key-reused"
  | "idempotency-in-progress"
  | "rule-refused"
>

/** Service that takes in files of statements. */
export class StatementIntake extends Context.Service<
  StatementIntake,
  {
    /**
     * Writes the bytes to the stage as they arrive, encrypted and in constant memory, and hashes
     * them. The stage is discarded when its scope ends; a sweep deletes stages that a crash left. A
     * fault of the stream is returned unchanged.
     */
    readonly stage: <E>(upload: {
      /** Raw query of the call, without its question mark: a part of the fingerprint. */
      readonly query: string
      readonly bytes: Stream.Stream<Uint8Array, E>
    }) => Effect.Effect<StagedFile, E | Unavailable, Scope.Scope>
    /**
     * Reads the stage and records its statements in one transaction, all or none, or answers the newest
     * of those that the same key or the same bytes made before. Refuses `invalid-request` where the bytes are no
     * file of the source's form, at the line and column of the fault; `rule-refused` where a condition
     * of statements fails; `body-too-large` above the largest number of lines.
     */
    readonly receive: (call: IntakeCall) => Effect.Effect<IntakeAnswer, Refusals | Unavailable>
  }
>()("@bursar/engine-core/statements/external-statement/StatementIntake") {}
