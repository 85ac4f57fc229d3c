/** One party's line in an instrument's register: its units, kept up to date by every holding of its. */
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
  /** Of these units, how many are locked. */
  locked: Decimal.schema,
  /** Since when the party has held units without a break. */
  since: Instant.schema,
  /** The offset at which it came to hold nothing; null while it holds something. */
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
      // A change of contracts inside one transaction is no break in holding.
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

export const idOf = (of: Pick<RegisterEntry, "registrar" | "instrumentId" | "party">): string =>
  `${assetKeyOf(of)}/${of.party}`

export const registerEntries = Collection.define<RegisterEntry, Fact>("register-entry", {
  doc: "One party's line in an instrument's register.",
  id: idOf,
  record: RegisterEntry,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  filters: {
    /** Both only while units are held: the register lists nobody who holds nothing. */
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
