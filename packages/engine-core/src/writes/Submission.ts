/** Stored ledger submission of a step, so that every retry sends the same commands. */
import { Schema } from "effect"
import type { Command, DisclosedContract, LfRecord, LfValue } from "../ports/Ledger.ts"

const Value: Schema.Codec<LfValue> = Schema.suspend(() =>
  Schema.Union([Schema.String, Schema.Boolean, Schema.Null, Schema.Array(Value), Fields])
)
const Fields: Schema.Codec<LfRecord> = Schema.Record(Schema.String, Value)

const TypeRef = Schema.Struct({
  packageName: Schema.String,
  module: Schema.String,
  entity: Schema.String
})

const CommandSchema: Schema.Codec<Command> = Schema.Union([
  Schema.Struct({ _tag: Schema.Literal("Create"), template: TypeRef, args: Fields }),
  Schema.Struct({
    _tag: Schema.Literal("Exercise"),
    target: TypeRef,
    contractId: Schema.String,
    choice: Schema.String,
    arg: Value
  }),
  Schema.Struct({
    _tag: Schema.Literal("CreateAndExercise"),
    template: TypeRef,
    args: Fields,
    choice: Schema.String,
    arg: Value
  })
])

export const Commands: Schema.Codec<readonly [Command, ...ReadonlyArray<Command>]> =
  Schema.NonEmptyArray(CommandSchema)

export const DisclosedContracts: Schema.Codec<ReadonlyArray<DisclosedContract>> = Schema.Array(
  Schema.Struct({
    createdEventBlob: Schema.String,
    contractId: Schema.optionalKey(Schema.String),
    template: Schema.optionalKey(TypeRef),
    synchronizerId: Schema.optionalKey(Schema.String)
  })
)
