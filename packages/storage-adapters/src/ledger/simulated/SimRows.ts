/** Row codecs of the simulated ledger's tables. */
import { hexToBytes } from "@noble/hashes/utils.js"
import { Instant, Offset, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Effect, Schema, SchemaGetter } from "effect"
import type * as Entry from "./Entry.ts"
import * as LedgerError from "./LedgerError.ts"
import type * as Users from "./Users.ts"

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
const OffsetText = Schema.String.pipe(
  Schema.decodeTo(Schema.declare(Offset.isOffset), {
    decode: SchemaGetter.transform((text: string) => Offset.of(Number(text))),
    encode: SchemaGetter.transform((offset: Offset.Offset) => offset.toString())
  })
)
const MicrosText = Schema.String.pipe(
  Schema.decodeTo(Schema.declare(Instant.isInstant), {
    decode: SchemaGetter.transform((text: string) => Instant.fromEpochMicros(BigInt(text))),
    encode: SchemaGetter.transform((at: Instant.Instant) => Instant.toEpochMicros(at).toString())
  })
)
const Parties = Schema.Array(Party.schema)
const PartiesText = Schema.fromJsonString(Parties)
const Type = Schema.Struct({
  packageName: Schema.String,
  module: Schema.String,
  entity: Schema.String
})

const nodeOf = {
  nodeId: Schema.Int,
  contractId: Schema.String,
  template: Type,
  packageId: Schema.String,
  signatories: Parties,
  observers: Parties,
  witnesses: Parties,
  transient: Schema.Boolean
}

const Node = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Create"), ...nodeOf, payload: Fields }),
  Schema.Struct({
    _tag: Schema.Literal("Exercise"),
    ...nodeOf,
    lastDescendant: Schema.Int,
    iface: Schema.NullOr(Type),
    choice: Schema.String,
    arg: Value,
    result: Value,
    actors: Parties,
    consuming: Schema.Boolean
  })
])

const Transaction = Schema.Struct({
  offset: OffsetText,
  update_id: Schema.String,
  change_id: Schema.String,
  command_id: Schema.String,
  user_id: Schema.String,
  workflow_id: Schema.NullOr(Schema.String),
  act_as: PartiesText,
  effective_at: MicrosText,
  record_time: MicrosText,
  nodes: Schema.fromJsonString(Schema.Array(Node)),
  traceparent: Schema.NullOr(Schema.String)
})

const Contract = Schema.Struct({
  contract_id: Schema.String,
  package: Schema.String,
  module: Schema.String,
  entity: Schema.String,
  package_id: Schema.String,
  created_offset: OffsetText,
  archived_offset: Schema.NullOr(OffsetText),
  created_at: MicrosText,
  signatories: PartiesText,
  observers: PartiesText,
  args: Schema.fromJsonString(Fields)
})

const Completion = Schema.Struct({
  offset: OffsetText,
  change_id: Schema.String,
  user_id: Schema.String,
  command_id: Schema.String,
  submission_id: Schema.String,
  act_as: PartiesText,
  record_time: MicrosText,
  error: Schema.NullOr(
    Schema.fromJsonString(
      Schema.Struct({
        code: Schema.String,
        cause: Schema.String,
        context: Schema.Record(Schema.String, Schema.String),
        resources: Schema.Array(Schema.Tuple([Schema.String, Schema.String]))
      })
    )
  ),
  update_id: Schema.NullOr(Schema.String)
})

const User = Schema.Struct({
  user_id: Schema.String,
  token_hash: Schema.NullOr(Schema.String),
  rights: Schema.fromJsonString(
    Schema.Array(
      Schema.Struct({
        kind: Schema.Literals(["CanActAs", "CanReadAs", "CanExecuteAs"]),
        party: Party.schema
      })
    )
  ),
  expires_at: Schema.NullOr(MicrosText),
  active: Schema.Boolean
})

const PartyRow = Schema.Struct({
  party: Party.schema,
  hint: Schema.String,
  kind: Schema.Literals(["local", "external"]),
  public_key: Schema.String
})

const Head = Schema.Struct({
  ledger_id: Schema.String,
  participant_id: Schema.String,
  epoch: Schema.String,
  offset: OffsetText,
  clock_floor: MicrosText,
  pruned_offset: OffsetText
})

const rowsOf = <A, E>(schema: Schema.Codec<A, E>) =>
  Schema.decodeUnknownEffect(Schema.Array(schema))
const soleOf = <A, E>(schema: Schema.Codec<A, E>) =>
  Schema.decodeUnknownEffect(Schema.Tuple([schema]))

export const head = (rows: unknown) =>
  Effect.map(soleOf(Head)(rows), ([row]) => ({
    epoch: BigInt(row.epoch),
    head: {
      ledgerId: row.ledger_id,
      participantId: row.participant_id,
      offset: row.offset,
      clockFloor: row.clock_floor,
      prunedOffset: row.pruned_offset
    }
  }))

export const offset = (rows: unknown) =>
  Effect.map(soleOf(Schema.Struct({ offset: OffsetText }))(rows), ([row]) => row.offset)

export const moved = (rows: unknown) =>
  Effect.map(soleOf(Schema.Struct({ moved: Schema.Int }))(rows), ([row]) => row.moved === 1)

export const taken = (rows: unknown) =>
  Effect.map(soleOf(Schema.Struct({ taken: Schema.Boolean }))(rows), ([row]) => row.taken)

export const transactions = (rows: unknown) =>
  Effect.map(rowsOf(Transaction)(rows), (read) =>
    read.map(
      (row): Entry.Transaction => ({
        offset: row.offset,
        updateId: row.update_id,
        changeId: row.change_id,
        commandId: row.command_id,
        userId: row.user_id,
        workflowId: row.workflow_id,
        actAs: row.act_as,
        effectiveAt: row.effective_at,
        recordTime: row.record_time,
        traceparent: row.traceparent,
        nodes: row.nodes
      })
    )
  )

export const storedContracts = (rows: unknown) =>
  Effect.map(rowsOf(Contract)(rows), (read) =>
    read.map((row) => ({
      archivedOffset: row.archived_offset,
      contract: {
        contractId: row.contract_id,
        template: { packageName: row.package, module: row.module, entity: row.entity },
        packageId: row.package_id,
        payload: row.args,
        signatories: row.signatories,
        observers: row.observers,
        createdAt: row.created_at,
        createdOffset: row.created_offset
      } satisfies Entry.Contract
    }))
  )

export const contracts = (rows: unknown) =>
  Effect.map(storedContracts(rows), (stored) => stored.map(({ contract }) => contract))

export const completions = (rows: unknown) =>
  Effect.map(rowsOf(Completion)(rows), (read) =>
    read.map(
      (row): Entry.Completion => ({
        _tag: "Completion",
        offset: row.offset,
        changeId: row.change_id,
        userId: row.user_id,
        commandId: row.command_id,
        submissionId: row.submission_id,
        actAs: row.act_as,
        recordTime: row.record_time,
        outcome: outcome(row)
      })
    )
  )

const outcome = (row: typeof Completion.Type): Entry.Completion["outcome"] => {
  if (row.update_id !== null) return { _tag: "Committed", updateId: row.update_id }
  if (row.error === null) throw new Error(`completion ${row.offset} neither committed nor rejected`)
  return { _tag: "Rejected", error: LedgerError.fromStored(row.error) }
}

export const parties = (rows: unknown) =>
  Effect.map(rowsOf(PartyRow)(rows), (read) =>
    read.map(
      (row): Users.PartyRecord => ({
        party: row.party,
        hint: row.hint,
        kind: row.kind,
        publicKey: hexToBytes(row.public_key)
      })
    )
  )

export const users = (rows: unknown) =>
  Effect.map(rowsOf(User)(rows), (read) =>
    read.map(
      (row): Users.User => ({
        userId: row.user_id,
        tokenHash: row.token_hash,
        rights: row.rights,
        expiresAt: row.expires_at,
        active: row.active
      })
    )
  )

/** The four JSON parameters of the statement that inserts entries. */
export const batch = (entries: ReadonlyArray<Entry.Entry>) => {
  const ended = new Map(
    entries.flatMap((entry) => entry.archived.map((id) => [id, entry.offset] as const))
  )
  const created = entries.flatMap((entry) => entry.created)
  const fresh = new Set(created.map(({ contractId }) => contractId))
  return {
    transactions: JSON.stringify(
      entries.flatMap(({ transaction }) =>
        transaction === null ? [] : [transactionRow(transaction)]
      )
    ),
    created: JSON.stringify(
      created.map((contract) => contractRow(contract, ended.get(contract.contractId) ?? null))
    ),
    archived: JSON.stringify(
      [...ended]
        .filter(([contract_id]) => !fresh.has(contract_id))
        .map(([contract_id, archived_offset]) => ({ contract_id, archived_offset }))
    ),
    completions: JSON.stringify(entries.map(({ completion }) => completionRow(completion)))
  }
}

const transactionRow = (transaction: Entry.Transaction) => ({
  offset: transaction.offset,
  update_id: transaction.updateId,
  change_id: transaction.changeId,
  command_id: transaction.commandId,
  user_id: transaction.userId,
  workflow_id: transaction.workflowId,
  act_as: transaction.actAs,
  effective_at: Instant.format(transaction.effectiveAt),
  record_time: Instant.format(transaction.recordTime),
  nodes: transaction.nodes,
  traceparent: transaction.traceparent
})

const contractRow = (contract: Entry.Contract, archivedOffset: Offset.Offset | null) => ({
  contract_id: contract.contractId,
  package: contract.template.packageName,
  module: contract.template.module,
  entity: contract.template.entity,
  package_id: contract.packageId,
  created_offset: contract.createdOffset,
  archived_offset: archivedOffset,
  created_at: Instant.format(contract.createdAt),
  signatories: contract.signatories,
  observers: contract.observers,
  args: contract.payload
})

const completionRow = (completion: Entry.Completion) => ({
  offset: completion.offset,
  change_id: completion.changeId,
  user_id: completion.userId,
  command_id: completion.commandId,
  submission_id: completion.submissionId,
  act_as: completion.actAs,
  record_time: Instant.format(completion.recordTime),
  ok: completion.outcome._tag === "Committed",
  error:
    completion.outcome._tag === "Rejected" ? LedgerError.toStored(completion.outcome.error) : null,
  update_id: completion.outcome._tag === "Committed" ? completion.outcome.updateId : null
})
