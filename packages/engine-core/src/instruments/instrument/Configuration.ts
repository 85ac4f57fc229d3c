/** Record of a configuration of an instrument id in a registrar's registry. */
import { Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Party from "../../kernel/Party.ts"
import * as Field from "../../templates/Field.ts"

export const Configuration = Schema.Struct({
  contractId: Field.contractId,
  instrumentId: Schema.String,
  registrar: Party.schema,
  isLive: Schema.Boolean
})
export type Configuration = typeof Configuration.Type

export const Fact = Schema.Struct({ on: Schema.Literal("end") })
export type Fact = typeof Fact.Type

/**
 * Any party can configure any id in a registry of its own. Only configurations of the registrar
 * that the manifest names count; the manifest may name it later, so every configuration is
 * recorded.
 */
export const configurations = Collection.define<Configuration, Fact>("configuration", {
  doc: "A configuration of an instrument in a registry.",
  id: (self) => self.contractId,
  record: Configuration,
  fact: Fact,
  evolve: (self) => ({ ...self, isLive: false }),
  keptBy: "ledger",
  filters: { live: (self) => (self.isLive ? keyOf(self) : null) }
})

/** Key of the live configurations of one id by one registrar. */
export const keyOf = ({
  registrar,
  instrumentId
}: Readonly<Record<"instrumentId" | "registrar", string>>): string => `${registrar}/${instrumentId}`
