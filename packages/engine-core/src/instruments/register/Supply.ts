/** Supply of an instrument: units, number of holders, number of movements. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import { assetKeyOf } from "./Holding.ts"

export const Supply = Schema.Struct({
  registrar: Party.schema,
  instrumentId: Schema.String,
  units: Decimal.schema,
  /** Number of parties that hold units. */
  holders: Integer.schema,
  /** Number of the latest movement; 0 before the first. */
  seq: Integer.schema
})
export type Supply = typeof Supply.Type

export const Fact = Schema.Struct({
  on: Schema.Literal("move"),
  units: Decimal.schema,
  holders: Integer.schema,
  seq: Integer.schema
})
export type Fact = typeof Fact.Type

export const supplies = Collection.define<Supply, Fact>("supply", {
  doc: "How many units of an instrument there are, and in how many hands.",
  id: assetKeyOf,
  record: Supply,
  fact: Fact,
  evolve: (self, { units, holders, seq }) => ({ ...self, units, holders, seq }),
  keptBy: "ledger",
  invariants: {
    "units are held by somebody": ({ units, holders }) =>
      Decimal.isNegative(units) === false && Decimal.isZero(units) === (holders === 0),
    "movements are counted": ({ seq }) => seq >= 0
  }
})
