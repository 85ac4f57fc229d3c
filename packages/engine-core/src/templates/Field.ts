/** Field schemas of ledger payloads, each in its ledger form. */
import { Effect, Schema } from "effect"
import * as Decimal from "../kernel/Decimal.ts"
import * as Instant from "../kernel/Instant.ts"
import * as Party from "../kernel/Party.ts"

export const party = Party.schema
export const instant = Instant.schema
export const decimal = Decimal.text
export const text = Schema.String
export const flag = Schema.Boolean
export const contractId = Schema.String.check(Schema.isPattern(/^[0-9a-f]{2,512}$/))
export const month = Schema.String.check(Schema.isPattern(/^[0-9]{4}-(0[1-9]|1[0-2])$/))
/** A SHA-256 digest in lower-case hex. */
export const digest = Schema.String.check(Schema.isPattern(/^[0-9a-f]{64}$/))
/** An Int of the ledger: text there, a safe whole number here. */
export const count = Schema.FiniteFromString.check(Schema.isInt(), Schema.isGreaterThanOrEqualTo(0))
export const unit = Schema.Struct({})

/** An Optional: null and an absent field decode alike. */
export const optional = <S extends Schema.Constraint>(schema: S) =>
  Schema.NullOr(schema).pipe(Schema.withDecodingDefaultKey(Effect.succeed(null)))

export const list = <S extends Schema.Constraint>(schema: S) => Schema.Array(schema)
export const parties = Schema.Array(Party.schema)
export const textMap = Schema.Record(Schema.String, Schema.String)

/** Name that others choose and that keys of records contain: an index of a store bounds its length. */
export const name = Schema.String.check(Schema.isMaxLength(256))

/** An asset: who keeps its register, and its name there. */
export const asset = Schema.Struct({ admin: party, id: text }).annotate({
  identifier: "Asset",
  description: "Who keeps the asset's register, and its name there."
})

/** Asset: who administers it, and its identifier there. */
export type Asset = typeof asset.Type

/** Purpose of a mint, burn or settlement. */
export const reference = Schema.Struct({ kind: text, id: text })

/** Reference of a transfer to what it pays for. */
export type Reference = typeof reference.Type
