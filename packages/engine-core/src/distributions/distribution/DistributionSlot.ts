/** Index of an instrument's slot on the ledger: the last month that was executed, and by which distribution. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Month from "../../kernel/Month.ts"
import { InstrumentId } from "../../instruments/instrument/Manifest.ts"
import * as Field from "../../templates/Field.ts"

const { NullOr, String: Text } = Schema

const slot = {
  slotCid: Field.contractId,
  lastMonth: NullOr(Month.schema),
  /** Null where a snapshot of the ledger shows the month and not its distribution. */
  distributionId: NullOr(Text)
} as const

export const DistributionSlot = Schema.Struct({ instrumentId: InstrumentId, ...slot })
export type DistributionSlot = typeof DistributionSlot.Type

/** A month was executed. */
export const Fact = Schema.Struct({ on: Schema.Literal("execute"), ...slot })
export type Fact = typeof Fact.Type

export const distributionSlots = Collection.define<DistributionSlot, Fact>("distribution-slot", {
  doc: "The last month of an instrument that was executed.",
  id: (self) => self.instrumentId,
  record: DistributionSlot,
  fact: Fact,
  evolve: (self, { on: _, ...executed }) => ({ ...self, ...executed }),
  keptBy: "ledger"
})
