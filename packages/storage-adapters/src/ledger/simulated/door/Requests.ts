/** Schemas of requests, restricted to the fields that the door understands; others are ignored. */
import { Integer, Offset, type PlainJson, PlainSchema } from "@bursar/engine-core/kernel"
import { Effect, Result, Schema } from "effect"
import { Undecodable } from "./Json.ts"

type Plain = PlainJson.Plain

/** Makes a field optional: null and absent are the same. */
const optional = <S extends Schema.Constraint>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))

const text = optional(Schema.String)
const flag = optional(Schema.Boolean)
const texts = Schema.Array(Schema.String)
const record = Schema.Record(Schema.String, PlainSchema)
const value = <S extends Schema.Constraint>(schema: S) => Schema.Struct({ value: schema })

/** An object with exactly one member, whose name is the tag of a union. */
const union = record.check(
  Schema.makeFilter((rawValue) =>
    Object.keys(rawValue).length === 1 ? undefined : "expected exactly one of the known members"
  )
)
export type Union = typeof union.Type

/** Fields of older versions that change the meaning: refused, never ignored. */
const outdated = {
  filter: optional(Schema.Never),
  verbose: optional(Schema.Never)
}

export const CreateCommand = Schema.Struct({
  templateId: Schema.String,
  createArguments: record
})
export const ExerciseCommand = Schema.Struct({
  templateId: Schema.String,
  contractId: Schema.String,
  choice: Schema.String,
  choiceArgument: PlainSchema
})
export const CreateAndExerciseCommand = Schema.Struct({
  templateId: Schema.String,
  createArguments: record,
  choice: Schema.String,
  choiceArgument: PlainSchema
})

export const DeduplicationOffset = value(Offset.schema)
export const DeduplicationDuration = value(
  Schema.Struct({ seconds: Integer.schema, nanos: optional(Integer.schema) })
)

const DisclosedContract = Schema.Struct({
  createdEventBlob: Schema.String,
  contractId: text,
  templateId: text,
  synchronizerId: text
})
export type DisclosedContract = typeof DisclosedContract.Type

export const Commands = Schema.Struct({
  commandId: Schema.String,
  userId: text,
  actAs: texts,
  readAs: optional(texts),
  workflowId: text,
  submissionId: text,
  deduplicationPeriod: optional(union),
  minLedgerTimeAbs: text,
  disclosedContracts: optional(Schema.Array(DisclosedContract)),
  commands: Schema.Array(union)
})
export type Commands = typeof Commands.Type

const blob = { includeCreatedEventBlob: flag }
export const WildcardFilter = value(Schema.Struct(blob))
export const TemplateFilter = value(Schema.Struct({ templateId: Schema.String, ...blob }))
export const InterfaceFilter = value(
  Schema.Struct({ interfaceId: Schema.String, includeInterfaceView: flag, ...blob })
)

const Filters = Schema.Struct({
  cumulative: optional(Schema.Array(Schema.Struct({ identifierFilter: optional(union) })))
})
export type Filters = typeof Filters.Type

export const EventFormat = Schema.Struct({
  filtersByParty: optional(Schema.Record(Schema.String, Filters)),
  filtersForAnyParty: optional(Filters)
})
export type EventFormat = typeof EventFormat.Type

export const TransactionFormat = Schema.Struct({
  eventFormat: EventFormat,
  transactionShape: Schema.Literals([
    "TRANSACTION_SHAPE_UNSPECIFIED",
    "TRANSACTION_SHAPE_ACS_DELTA",
    "TRANSACTION_SHAPE_LEDGER_EFFECTS"
  ])
})
export type TransactionFormat = typeof TransactionFormat.Type

export const UpdateFormat = Schema.Struct({ includeTransactions: optional(TransactionFormat) })
export type UpdateFormat = typeof UpdateFormat.Type

export const SubmitForTransaction = Schema.Struct({
  commands: Commands,
  transactionFormat: optional(TransactionFormat)
})

export const Completions = Schema.Struct({
  userId: text,
  parties: texts,
  beginExclusive: optional(Offset.schema)
})

export const Updates = Schema.Struct({
  ...outdated,
  beginExclusive: Offset.schema,
  endInclusive: optional(Offset.schema),
  updateFormat: optional(UpdateFormat)
})

const page = { maxPageSize: optional(Integer.schema), pageToken: text }

export const UpdatesPage = Schema.Struct({
  ...page,
  beginOffsetExclusive: optional(Offset.schema),
  endOffsetInclusive: optional(Offset.schema),
  updateFormat: UpdateFormat,
  descendingOrder: flag
})

export const UpdateByOffset = Schema.Struct({
  offset: Offset.schema,
  updateFormat: UpdateFormat
})
export const UpdateById = Schema.Struct({ updateId: Schema.String, updateFormat: UpdateFormat })

export const ActiveContracts = Schema.Struct({
  ...outdated,
  activeAtOffset: Offset.schema,
  eventFormat: optional(EventFormat)
})
export const ActiveContractsPage = Schema.Struct({
  ...page,
  activeAtOffset: optional(Offset.schema),
  eventFormat: EventFormat
})

export const EventsByContractId = Schema.Struct({
  contractId: Schema.String,
  eventFormat: EventFormat
})
export const ContractById = Schema.Struct({
  contractId: Schema.String,
  queryingParties: optional(texts)
})

export const MinLedgerTimeAbs = value(Schema.String)

export const Prepare = Schema.Struct({
  userId: text,
  commandId: Schema.String,
  commands: Schema.Array(union),
  actAs: texts,
  readAs: optional(texts),
  disclosedContracts: optional(Schema.Array(DisclosedContract)),
  maxRecordTime: text,
  minLedgerTime: optional(Schema.Struct({ time: optional(union) }))
})

const Signature = Schema.Struct({
  format: Schema.String,
  signature: Schema.String,
  signedBy: Schema.String,
  signingAlgorithmSpec: Schema.String
})
export type Signature = typeof Signature.Type

export const Execute = Schema.Struct({
  preparedTransaction: Schema.String,
  hashingSchemeVersion: Schema.String,
  submissionId: Schema.String,
  userId: text,
  partySignatures: Schema.Struct({
    signatures: Schema.Array(
      Schema.Struct({ party: Schema.String, signatures: Schema.Array(Signature) })
    )
  }),
  transactionFormat: optional(TransactionFormat)
})
export type Execute = typeof Execute.Type

export const PreferredPackages = Schema.Struct({
  packageVettingRequirements: Schema.Array(
    Schema.Struct({ parties: texts, packageName: Schema.String })
  )
})

export const VettedPackages = Schema.Struct({
  packageMetadataFilter: optional(
    Schema.Struct({ packageIds: optional(texts), packageNamePrefixes: optional(texts) })
  )
})

/** Decodes a request, or fails with the faulty part of the body. */
export const decode = <A>(
  schema: Schema.Codec<A, unknown>,
  body: Plain
): Result.Result<A, Undecodable> =>
  Result.mapError(
    Schema.decodeUnknownResult(schema)(body),
    ({ message }) => new Undecodable({ what: `body (${message})` })
  )

/** Returns the only member of a union with its name. */
export const arm = (taggedUnion: Union): readonly [name: string, plain: Plain] => {
  const [first] = Object.entries(taggedUnion)
  if (first === undefined) throw new Error("a union that was decoded has a member")
  return first
}

/** Refusal of a union with an unknown member. */
export const strange = (name: string): Undecodable =>
  new Undecodable({ what: `body (${name} is not supported)` })
