/** Record of one party's units of an instrument, summed from the party's holdings. */
import { Schema } from "effect"
import { match } from "ts-pattern"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Offset from "../../kernel/Offset.ts"
import * as Party from "../../kernel/Party.ts"
import { assetKeyOf } from "./Holding.ts"

export const RegisterEntry = Schema.Struct({
  registrar: Party.schema,
  instrumentId: Schema.String,
  party: Party.schema,
  units: Decimal.schema,
  /** Locked part of the units. */
  locked: Decimal.schema,
  /** Instant since which the party has held units without a break. */
  since: Instant.schema,
  /** Offset at which the units became 0; null while the party holds units. */
  emptySince: Schema.NullOr(Offset.schema)
})
export type RegisterEntry = typeof RegisterEntry.Type

const moved = {
  units: Decimal.schema,
  locked: Decimal.schema,
  at: Instant.schema,
  offset: Offset.schema
}
export const Fact = Schema.Union([
  Schema.Struct({ on: Schema.Literal("add"), ...moved }),
  Schema.Struct({ on: Schema.Literal("remove"), ...moved })
])
export type Fact = typeof Fact.Type

/** Fold: the entry after `fact`. */
export const evolve = (self: RegisterEntry, fact: Fact): RegisterEntry =>
  match(fact)
    .with({ on: "add" }, ({ units, locked, at, offset }) => ({
      ...self,
      units: Decimal.add(self.units, units),
      locked: Decimal.add(self.locked, locked),
      // Units that leave and return within one transaction are no break.
      since: self.emptySince === null || self.emptySince === offset ? self.since : at,
      emptySince: null
    }))
    .with({ on: "remove" }, ({ units, locked, offset }) => {
      const left = Decimal.subtract(self.units, units)
      return {
        ...self,
        units: left,
        locked: Decimal.subtract(self.locked, locked),
        emptySince: Decimal.isZero(left) ? offset : null
      }
    })
    .exhaustive()

export const idOf = (entry: Pick<RegisterEntry, "registrar" | "instrumentId" | "party">): string =>
  `${assetKeyOf(entry)}/${entry.party}`

export const registerEntries = Collection.define<RegisterEntry, Fact>("register-entry", {
  doc: "One party's line in an instrument's register.",
  id: idOf,
  record: RegisterEntry,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  filters: {
    /** Both null without units: the register lists only parties that hold units. */
    asset: (self) => (self.emptySince === null ? assetKeyOf(self) : null),
    party: (self) => (self.emptySince === null ? self.party : null)
  },
  invariants: {
    "locked units are units": ({ units, locked }) =>
      locked >= Decimal.zero && Decimal.atMost(locked, units),
    "only who holds nothing is empty": ({ units, emptySince }) =>
      Decimal.isZero(units) === (emptySince !== null)
  }
})
