/**
 * Record of a holding that is locked for a reserve, also of an asset of another registry, which is
 * in no register of the venue.
 */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"

export const ReserveHolding = Schema.Struct({
  contractId: Field.contractId,
  reserveId: Schema.String,
  asset: Field.asset,
  owner: Party.schema,
  amount: Decimal.schema,
  /**
   * True: locked to the venue alone and without an end, which the reserve requires of holdings that
   * it counts.
   */
  isFirm: Schema.Boolean,
  endedOffset: Schema.NullOr(Offset.schema)
})
export type ReserveHolding = typeof ReserveHolding.Type

export const Fact = Schema.Struct({ on: Schema.Literal("end"), offset: Offset.schema })
export type Fact = typeof Fact.Type

export const reserveHoldings = Collection.define<ReserveHolding, Fact>("reserve-holding", {
  doc: "A holding that is locked with a reserve as its context.",
  id: (self) => self.contractId,
  record: ReserveHolding,
  fact: Fact,
  evolve: (self, { offset }) => ({ ...self, endedOffset: offset }),
  keptBy: "ledger",
  lost: (self, { offset: endedOffset }) => ({ ...self, endedOffset }),
  filters: {
    /** Null after the holding's end; an archived holding is found by its id alone. */
    reserveId: (self) => (self.endedOffset === null ? self.reserveId : null),
    /** The reserve of a holding that it may count, which only the reserve's holder can make. */
    firmOf: (self) => (self.endedOffset === null && self.isFirm ? self.reserveId : null)
  },
  invariants: { "a holding holds something": ({ amount }) => Decimal.isPositive(amount) }
})
