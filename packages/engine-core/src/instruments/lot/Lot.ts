/**
 * Record of a lot: units of an instrument that came into one party's books together, with their cost
 * (docs/domain/lots.md).
 */
import { Effect, Schema } from "effect"
import * as Collection from "../../kernel/Collection.ts"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Instant from "../../kernel/Instant.ts"
import * as Integer from "../../kernel/Integer.ts"
import * as Party from "../../kernel/Party.ts"
import { assetKeyOf } from "../register/Holding.ts"
import { Reference } from "../register/Movement.ts"
import { idOf as entryIdOf } from "../register/RegisterEntry.ts"

const { NullOr, String: Text } = Schema

export const Lot = Schema.Struct({
  registrar: Party.schema,
  instrumentId: Text,
  party: Party.schema,
  /** Unique within the instrument: the id of the subscription that bought it, or a number. */
  lotId: Text,
  /**
   * Ledger time of the movement that minted the units; a transfer keeps it. Ledger time never
   * decreases from one movement to the next, the effective time of an update may.
   */
  acquiredAt: Instant.schema,
  /**
   * Ledger time at which the units came from another holder; a recovery keeps it, since a successor is
   * the same payee. Null: they were minted to this party, or to one that it succeeded; so are lots that
   * were stored without it.
   */
  receivedAt: NullOr(Instant.schema).pipe(Schema.withDecodingDefaultTypeKey(Effect.succeed(null))),
  /** Unswung price per unit that the units came in at; null where the ledger states none. */
  basePrice: NullOr(Decimal.schema),
  /** Units that came in; base units of a rebasing instrument. */
  units: Decimal.schema,
  /** Units of the lot that the party still holds. */
  remaining: Decimal.schema,
  /** Cash paid for the units, fees included and refunds deducted; null where none is known. */
  cost: NullOr(Decimal.schema),
  /** The part of the cost that belongs to the remaining units. */
  costLeft: NullOr(Decimal.schema),
  /** Currency of the cost, at whose places it is rounded; null without a cost. */
  currency: NullOr(Text),
  /** The act that minted the units, where the ledger names it; a transfer keeps it. */
  origin: NullOr(Reference)
})
export type Lot = typeof Lot.Type

/** Units of the lot that left the party's books by the movement `seq`, with their share of the cost. */
const left = {
  seq: Integer.schema,
  units: Decimal.schema,
  cost: NullOr(Decimal.schema)
} as const

export const Fact = Schema.Union([
  /** The units were burned. */
  Schema.Struct({ on: Schema.Literal("relieve"), ...left }),
  /** The units went to another party. */
  Schema.Struct({ on: Schema.Literal("move"), ...left })
])
export type Fact = typeof Fact.Type

/** Fold: the lot after units have left it. */
export const evolve = (self: Lot, { units, cost }: Pick<Fact, "units" | "cost">): Lot => ({
  ...self,
  remaining: Decimal.subtract(self.remaining, units),
  costLeft: self.costLeft === null || cost === null ? null : Decimal.subtract(self.costLeft, cost)
})

export const idOf = (lot: Pick<Lot, "registrar" | "instrumentId" | "lotId">): string =>
  `${assetKeyOf(lot)}/${lot.lotId}`

/** Checks whether the party still holds units of the lot. */
export const isOpen = ({ remaining }: Pick<Lot, "remaining">): boolean =>
  Decimal.isPositive(remaining)

export const lots = Collection.define<Lot, Fact>("lot", {
  doc: "Units of an instrument that came into one party's books together, with what they cost.",
  id: idOf,
  record: Lot,
  fact: Fact,
  evolve,
  keptBy: "ledger",
  // Numbered by the projection, which looks for the lot of a subscription before it opens one.
  ids: "made",
  // A party's lots together, oldest first. No party has a space, so that parties sort as in a register.
  sortKey: (self) => `${entryIdOf(self)} ${Instant.sortable(self.acquiredAt)} ${self.lotId}`,
  filters: {
    /** Both null once the lot is empty: look-ups are of open lots. */
    asset: (self) => (isOpen(self) ? assetKeyOf(self) : null),
    entry: (self) => (isOpen(self) ? entryIdOf(self) : null)
  },
  invariants: {
    "a lot came in with units": ({ units }) => Decimal.isPositive(units),
    "no more is left than came in": ({ units, remaining, cost, costLeft }) =>
      !Decimal.isNegative(remaining) &&
      Decimal.atMost(remaining, units) &&
      (cost === null || costLeft === null || Decimal.atMost(costLeft, cost)),
    "an empty lot has no cost left": ({ remaining, costLeft }) =>
      !Decimal.isZero(remaining) || costLeft === null || Decimal.isZero(costLeft),
    "a cost has a currency": ({ cost, costLeft, currency }) =>
      (cost === null) === (currency === null) && (cost === null) === (costLeft === null)
  }
})

/** Price and cost of minted units, by the act that minted them. */
export interface Acquisition extends Pick<Lot, "origin"> {
  /** The lot's id where the act gives it one; null: the lot is numbered by its movement. */
  readonly lotId: string | null
  readonly basePrice: Decimal.Decimal
  readonly cost: Decimal.Decimal
  readonly currency: string
}

/** Units of a lot that left the giver's books, with their share of its cost. */
export interface Part {
  /** The lot before the units left. */
  readonly lot: Lot
  readonly units: Decimal.Decimal
  readonly cost: Decimal.Decimal | null
}

/** A lot as the equalisation of a distribution reads it (docs/domain/lots.md#equalisation). */
export interface EqualisationLot extends Pick<Lot, "lotId" | "remaining"> {
  readonly basePrice: Decimal.Decimal
}
