/** Index of runs that cover several instruments, by instrument: filter of the list of runs. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"

export const RunInstrument = Schema.Struct({ runId: Schema.String, instrumentId: Schema.String })
export type RunInstrument = typeof RunInstrument.Type

export const idOf = ({ runId, instrumentId }: RunInstrument): string => `${runId}:${instrumentId}`

export const runInstruments = Collection.define<RunInstrument, never>("run-instrument", {
  doc: "One of the several instruments that a reconciliation run covers.",
  id: idOf,
  record: RunInstrument,
  fact: Schema.Never,
  evolve: (self) => self,
  keptBy: "engine",
  ids: "made",
  filters: { instrumentId: (self) => self.instrumentId }
})
