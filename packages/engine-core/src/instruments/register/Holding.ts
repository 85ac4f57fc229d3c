/** Record of a holding contract: units of one instrument that one party owns. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"

const { NullOr, String: Text } = Schema

/** Lock of a holding: its holders, purpose and expiry. */
const Lock = Schema.Struct({
  holders: Schema.Array(Party.schema),
  context: Text,
  expiresAt: NullOr(Instant.schema)
})

export const Holding = Schema.Struct({
  contractId: Field.contractId,
  registrar: Party.schema,
  instrumentId: Text,
  owner: Party.schema,
  amount: Decimal.schema,
  lock: NullOr(Lock),
  endedOffset: NullOr(Offset.schema)
})
export type Holding = typeof Holding.Type

export const Fact = Schema.Struct({ on: Schema.Literal("end"), offset: Offset.schema })
export type Fact = typeof Fact.Type

/** Key of an instrument on the ledger: registrar and id, since two registrars may use one id. */
export const assetKeyOf = ({
  registrar,
  instrumentId
}: {
  readonly registrar: string
  readonly instrumentId: string
}): string => `${registrar}/${instrumentId}`

export const holdings = Collection.define<Holding, Fact>("holding", {
  doc: "Units of one instrument that one party owns, in one contract of the ledger.",
  id: (self) => self.contractId,
  record: Holding,
  fact: Fact,
  evolve: (self, { offset }) => ({ ...self, endedOffset: offset }),
  keptBy: "ledger",
  filters: {
    /** Both null after the holding's end: an archived holding is found by its id alone. */
    asset: (self) => (self.endedOffset === null ? assetKeyOf(self) : null),
    owner: (self) => (self.endedOffset === null ? self.owner : null)
  },
  invariants: { "a holding holds something": ({ amount }) => Decimal.isPositive(amount) }
})
