/**
 * Prepared transactions for external parties: encoded, hashed and verified against the wallets'
 * signatures.
 */
import { ed25519 } from "@noble/curves/ed25519.js"
import { utf8ToBytes } from "@noble/hashes/utils.js"
import { Instant, type Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import * as Templates from "@bursar/engine-core/templates"
import { Result, Schema } from "effect"
import * as Identifiers from "./Identifiers.ts"
import * as LedgerError from "./LedgerError.ts"
import type { Signature } from "./Participant.ts"
import type { PartyRecord } from "./Users.ts"

const Value: Schema.Codec<Ledger.LfValue> = Schema.suspend(() =>
  Schema.Union([
    Schema.String,
    Schema.Boolean,
    Schema.Null,
    Schema.Array(Value),
    Schema.Record(Schema.String, Value)
  ])
)
const Fields = Schema.Record(Schema.String, Value)

const Command = Schema.Union([
  Schema.Struct({
    CreateCommand: Schema.Struct({ templateId: Schema.String, createArguments: Fields })
  }),
  Schema.Struct({
    ExerciseCommand: Schema.Struct({
      templateId: Schema.String,
      contractId: Schema.String,
      choice: Schema.String,
      choiceArgument: Value
    })
  }),
  Schema.Struct({
    CreateAndExerciseCommand: Schema.Struct({
      templateId: Schema.String,
      createArguments: Fields,
      choice: Schema.String,
      choiceArgument: Value
    })
  })
])

const party = Schema.String.pipe(Schema.brand("Party"))

/** The members in the order in which they are printed. */
export const Content = Schema.Struct({
  bursarSim: Schema.Literal(1),
  userId: Schema.String,
  commandId: Schema.String,
  actAs: Schema.Array(party),
  commands: Schema.Array(Command),
  disclosed: Schema.Array(
    Schema.Struct({
      createdEventBlob: Schema.String,
      contractId: Schema.optionalKey(Schema.String)
    })
  ),
  inputs: Schema.Array(Schema.String),
  preparedAt: Instant.schema,
  maxRecordTime: Instant.schema,
  minLedgerTime: Schema.optionalKey(Instant.schema)
})
export type Content = typeof Content.Type

const encodeContent = Schema.encodeSync(Content)
const decodeContent = Schema.decodeUnknownResult(Schema.fromJsonString(Content))

/** Bytes of a prepared transaction. */
export const encode = (content: Content): Uint8Array => {
  const encoded = encodeContent(content)
  const ordered = Object.keys(Content.fields).flatMap((name) =>
    Object.hasOwn(encoded, name)
      ? [[name, Object.entries(encoded).find(([key]) => key === name)?.[1]]]
      : []
  )
  return utf8ToBytes(JSON.stringify(Object.fromEntries(ordered)))
}

const unreadable = (why: string): LedgerError.LedgerError =>
  LedgerError.make("INVALID_EXTERNAL_TRANSACTION", why)

/** Prepared transaction of its bytes; an error where they are none. */
export const decode = (bytes: Uint8Array): Result.Result<Content, LedgerError.LedgerError> =>
  Result.mapError(decodeContent(new TextDecoder().decode(bytes)), ({ message }) =>
    unreadable(message)
  )

const typeId = (ref: Ledger.TypeRef): string => `#${Templates.key(ref)}`

const typeRef = (text: string): Result.Result<Ledger.TypeRef, LedgerError.LedgerError> => {
  const [packageName, module, entity, more] = text.replace(/^#/, "").split(":")
  return packageName !== undefined &&
    module !== undefined &&
    entity !== undefined &&
    more === undefined
    ? Result.succeed({ packageName, module, entity })
    : Result.fail(unreadable(`${text} names no type`))
}

/** The commands as the ledger API spells them. */
export const fromCommand = (command: Ledger.Command): typeof Command.Type => {
  switch (command._tag) {
    case "Create":
      return {
        CreateCommand: { templateId: typeId(command.template), createArguments: command.args }
      }
    case "Exercise":
      return {
        ExerciseCommand: {
          templateId: typeId(command.target),
          contractId: command.contractId,
          choice: command.choice,
          choiceArgument: command.arg
        }
      }
    case "CreateAndExercise":
      return {
        CreateAndExerciseCommand: {
          templateId: typeId(command.template),
          createArguments: command.args,
          choice: command.choice,
          choiceArgument: command.arg
        }
      }
  }
}

/** Command of a prepared transaction. */
export const toCommand = (
  command: typeof Command.Type
): Result.Result<Ledger.Command, LedgerError.LedgerError> => {
  if ("CreateCommand" in command) {
    const { templateId, createArguments: args } = command.CreateCommand
    return Result.map(typeRef(templateId), (template) => ({ _tag: "Create", template, args }))
  }
  if ("ExerciseCommand" in command) {
    const { templateId, contractId, choice, choiceArgument: arg } = command.ExerciseCommand
    return Result.map(typeRef(templateId), (target) => ({
      _tag: "Exercise",
      target,
      contractId,
      choice,
      arg
    }))
  }
  const { templateId, createArguments, choice, choiceArgument } = command.CreateAndExerciseCommand
  return Result.map(typeRef(templateId), (template) => ({
    _tag: "CreateAndExercise",
    template,
    args: createArguments,
    choice,
    arg: choiceArgument
  }))
}

const verifies = (record: PartyRecord, hash: Uint8Array, signature: Uint8Array): boolean =>
  signature.length === 64 && ed25519.verify(signature, hash, record.publicKey, { zip215: false })

/**
 * Refuses unless every acting party is external and has signed exactly these bytes with its own
 * key.
 */
export const verifySignatures = (ask: {
  readonly bytes: Uint8Array
  readonly actAs: ReadonlyArray<Party.Party>
  readonly signatures: ReadonlyArray<Signature>
  readonly parties: ReadonlyArray<PartyRecord>
}): Result.Result<void, LedgerError.LedgerError> => {
  const hash = Identifiers.preparedHash(ask.bytes)
  for (const party of ask.actAs) {
    const record = ask.parties.find((entry) => entry.party === party && entry.kind === "external")
    const partySignature = ask.signatures.find((entry) => entry.party === party)
    if (
      record === undefined ||
      partySignature === undefined ||
      partySignature.signedBy !== Identifiers.fingerprint(record.publicKey) ||
      !verifies(record, hash, partySignature.signature)
    ) {
      return Result.fail(
        LedgerError.make("INVALID_EXTERNAL_SIGNATURE", `No valid signature of ${party}`)
      )
    }
  }
  return Result.void
}
