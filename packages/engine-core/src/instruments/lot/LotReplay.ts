/** Record of the replay that computes lots from movements recorded before lots were kept. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"

const { NullOr, String: Text } = Schema

/** The next page of the replay; instruments are replayed one after the other. */
const place = {
  /** Instrument that is replayed (`assetKeyOf`); empty before the first. */
  asset: Text,
  /** The lines of the register that the movements begin from, then the movements. */
  phase: Schema.Literals(["register", "movements"]),
  /** Sort key of the last record of the page before; null: the page is the first of its phase. */
  after: NullOr(Text),
  isDone: Schema.Boolean
} as const

export const LotReplay = Schema.Struct({ replayId: Text, ...place })
export type LotReplay = typeof LotReplay.Type

export const Fact = Schema.Struct({ on: Schema.Literal("advance"), ...place })
export type Fact = typeof Fact.Type

/** Id of the one replay of a store. */
export const replayId = "lots"

export const begin: LotReplay = {
  replayId,
  asset: "",
  phase: "register",
  after: null,
  isDone: false
}

export const lotReplays = Collection.define<LotReplay, Fact>("lot-replay", {
  doc: "How far lots are computed from movements recorded before lots were kept.",
  id: (self) => self.replayId,
  record: LotReplay,
  fact: Fact,
  evolve: (self, { on: _, ...next }) => ({ ...self, ...next }),
  keptBy: "own"
})
