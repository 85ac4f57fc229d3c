/** Schemas of the ledger API that outside parties' programs use. */
import { Instant, Offset, Party } from "@bursar/engine-core/kernel"
import * as Templates from "@bursar/engine-core/templates"
import { Effect, Schema } from "effect"
import { DoorLost } from "./DoorClient.ts"

export type WireCommand = { readonly [kind: string]: { readonly [field: string]: unknown } }

const typeId = (ref: Templates.TypeRef): string => `#${Templates.key(ref)}`

export const command = (ledgerCommand: Templates.Command): WireCommand => {
  switch (ledgerCommand._tag) {
    case "Create":
      return {
        CreateCommand: {
          templateId: typeId(ledgerCommand.template),
          createArguments: ledgerCommand.args
        }
      }
    case "Exercise":
      return {
        ExerciseCommand: {
          templateId: typeId(ledgerCommand.target),
          contractId: ledgerCommand.contractId,
          choice: ledgerCommand.choice,
          choiceArgument: ledgerCommand.arg
        }
      }
    case "CreateAndExercise":
      return {
        CreateAndExerciseCommand: {
          templateId: typeId(ledgerCommand.template),
          createArguments: ledgerCommand.args,
          choice: ledgerCommand.choice,
          choiceArgument: ledgerCommand.arg
        }
      }
  }
}

/** Event format of everything that the party sees, from the view of its contracts. */
export const eventFormat = (party: Party.Party) => ({
  filtersByParty: {
    [party]: {
      cumulative: [
        { identifierFilter: { WildcardFilter: { value: { includeCreatedEventBlob: false } } } }
      ]
    }
  },
  verbose: true
})

export const transactionFormat = (party: Party.Party) => ({
  transactionShape: "TRANSACTION_SHAPE_ACS_DELTA",
  eventFormat: eventFormat(party)
})

/** A contract as its stakeholder sees it. */
export interface WireContract {
  readonly contractId: string
  readonly template: Templates.TypeRef
  readonly payload: Templates.LfRecord
  readonly createdAt: Instant.Instant
}

export type Change =
  | { readonly _tag: "Created"; readonly contract: WireContract }
  | { readonly _tag: "Archived"; readonly contractId: string }

/** An update of the ledger; without an updateId it is a checkpoint. */
export interface Update {
  readonly offset: Offset.Offset
  readonly updateId: string | null
  readonly changes: ReadonlyArray<Change>
}

const Value: Schema.Codec<Templates.LfValue> = Schema.suspend(() =>
  Schema.Union([
    Schema.String,
    Schema.Boolean,
    Schema.Null,
    Schema.Array(Value),
    Schema.Record(Schema.String, Value)
  ])
)

const offset = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }))

const CreatedEvent = Schema.Struct({
  contractId: Schema.String,
  templateId: Schema.String,
  packageName: Schema.String,
  createArgument: Schema.Record(Schema.String, Value),
  createdAt: Instant.schema
})

const Event = Schema.Struct({
  CreatedEvent: Schema.optional(CreatedEvent),
  ArchivedEvent: Schema.optional(Schema.Struct({ contractId: Schema.String }))
})

const Transaction = Schema.Struct({
  updateId: Schema.String,
  offset,
  events: Schema.Array(Event)
})

const UpdateElement = Schema.Struct({
  update: Schema.Struct({
    Transaction: Schema.optional(Schema.Struct({ value: Transaction })),
    OffsetCheckpoint: Schema.optional(Schema.Struct({ value: Schema.Struct({ offset }) }))
  })
})

const ActiveElement = Schema.Struct({
  contractEntry: Schema.Struct({
    JsActiveContract: Schema.Struct({ createdEvent: CreatedEvent })
  })
})

const ActivePage = Schema.Struct({
  activeContracts: Schema.Array(ActiveElement),
  nextPageToken: Schema.optional(Schema.NullOr(Schema.String))
})

const contract = (event: typeof CreatedEvent.Type): WireContract => {
  const [, module = "", entity = ""] = event.templateId.split(":")
  return {
    contractId: event.contractId,
    template: { packageName: event.packageName, module, entity },
    payload: event.createArgument,
    createdAt: event.createdAt
  }
}

const change = (event: typeof Event.Type): ReadonlyArray<Change> => {
  if (event.CreatedEvent !== undefined) {
    return [{ _tag: "Created", contract: contract(event.CreatedEvent) }]
  }
  return event.ArchivedEvent === undefined
    ? []
    : [{ _tag: "Archived", contractId: event.ArchivedEvent.contractId }]
}

const update = (transaction: typeof Transaction.Type): Update => ({
  offset: Offset.of(transaction.offset),
  updateId: transaction.updateId,
  changes: transaction.events.flatMap(change)
})

/** Decodes an answer; an unreadable one counts as lost, and the call is retried. */
const read =
  <A>(schema: Schema.Codec<A, unknown>) =>
  (answer: unknown): Effect.Effect<A, DoorLost> =>
    Effect.mapError(
      Schema.decodeUnknownEffect(schema)(answer),
      ({ message }) => new DoorLost({ detail: `not understood: ${message}`, unopened: false })
    )

/** Updates of unknown kinds are ignored. */
export const readUpdate = (answer: unknown): Effect.Effect<Update | null, DoorLost> =>
  Effect.map(
    read(UpdateElement)(answer),
    ({ update: { Transaction: transaction, OffsetCheckpoint } }) =>
      transaction !== undefined
        ? update(transaction.value)
        : OffsetCheckpoint === undefined
          ? null
          : { offset: Offset.of(OffsetCheckpoint.value.offset), updateId: null, changes: [] }
  )

export const readUpdates = (answer: unknown) =>
  Effect.flatMap(read(Schema.Array(Schema.Unknown))(answer), (list) =>
    Effect.forEach(list, readUpdate)
  )

export const readActive = (answer: unknown): Effect.Effect<WireContract, DoorLost> =>
  Effect.map(read(ActiveElement)(answer), ({ contractEntry }) =>
    contract(contractEntry.JsActiveContract.createdEvent)
  )

export const readActivePage = (answer: unknown) =>
  Effect.map(read(ActivePage)(answer), ({ activeContracts, nextPageToken }) => ({
    contracts: activeContracts.map(({ contractEntry }) =>
      contract(contractEntry.JsActiveContract.createdEvent)
    ),
    next: nextPageToken ?? null
  }))

export const readTransaction = (answer: unknown): Effect.Effect<Update, DoorLost> =>
  Effect.map(read(Schema.Struct({ transaction: Transaction }))(answer), ({ transaction }) =>
    update(transaction)
  )

export const readLedgerEnd = (answer: unknown): Effect.Effect<Offset.Offset, DoorLost> =>
  Effect.map(
    read(Schema.Struct({ offset: Schema.optional(Schema.NullOr(offset)) }))(answer),
    (end) => Offset.of(end.offset ?? 0)
  )

export const readUser = read(
  Schema.Struct({
    user: Schema.Struct({ id: Schema.String, primaryParty: Schema.optional(Schema.String) })
  })
)

const RightOf = Schema.Struct({ value: Schema.Struct({ party: Party.schema }) })

export const readRights = read(
  Schema.Struct({
    rights: Schema.Array(
      Schema.Struct({
        kind: Schema.Struct({
          CanActAs: Schema.optional(RightOf),
          CanReadAs: Schema.optional(RightOf),
          CanExecuteAs: Schema.optional(RightOf)
        })
      })
    )
  })
)

export const readPrepared = read(
  Schema.Struct({
    preparedTransaction: Schema.String,
    preparedTransactionHash: Schema.String,
    hashingSchemeVersion: Schema.String
  })
)
