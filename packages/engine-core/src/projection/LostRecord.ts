/**
 * Records whose contracts a new ledger epoch began without: they ended while the engine did not read the
 * ledger, and how is unknown.
 */
import { Schema } from "effect"
import * as Collection from "../kernel/Collection.ts"
import * as Integer from "../kernel/Integer.ts"
import * as Offset from "../kernel/Offset.ts"

const { NullOr, String: Text } = Schema

export const LostRecord = Schema.Struct({
  /** Name of the record's collection, and its id. */
  collection: Text,
  recordId: Text,
  instrumentId: NullOr(Text),
  /** Its last known state. */
  state: Text,
  /** True where it ended with its contract, which was a permission; else its end is unknown. */
  isEnded: Schema.Boolean,
  /** The ledger epoch that began without it, and the offset of the epoch's snapshot. */
  ledgerEpoch: Integer.schema,
  offset: Offset.schema
})
export type LostRecord = typeof LostRecord.Type

/** Filter value of records of no instrument; no instrument has this id. */
export const noInstrument = "*"

export const idOf = ({ collection, recordId }: Pick<LostRecord, "collection" | "recordId">) =>
  `${collection}/${recordId}`

export const lostRecords = Collection.define<LostRecord, never>("lost-record", {
  doc: "A record whose contract was gone when a new ledger epoch began.",
  id: idOf,
  record: LostRecord,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "ledger",
  filters: { instrumentId: (self) => self.instrumentId ?? noInstrument }
})
