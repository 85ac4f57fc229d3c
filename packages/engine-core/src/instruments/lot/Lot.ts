/**
 * Lots: units of an instrument that came into one party's books together, with what they cost
 * (docs/domain/lots.md).
 */
import type * as Decimal from "../../kernel/Decimal.ts"
import type { Movement } from "../register/Movement.ts"
import type { RegisterEntry } from "../register/RegisterEntry.ts"

export interface Lot extends Pick<RegisterEntry, "registrar" | "instrumentId" | "party"> {
  /** Unique within the instrument: the id of the subscription that bought it, or a number. */
  readonly lotId: string
  /**
   * Ledger time of the movement that minted the units; a transfer keeps it. Ledger time never
   * decreases from one movement to the next, the effective time of an update may.
   */
  readonly acquiredAt: Movement["ledgerTime"]
  /** Unswung price per unit that the units came in at; null where the ledger states none. */
  readonly basePrice: Decimal.Decimal | null
  /** Units that came in; base units of a rebasing instrument. */
  readonly units: Decimal.Decimal
  /** Units of the lot that the party still holds. */
  readonly remaining: Decimal.Decimal
  /** Cash paid for the units, fees included and refunds deducted; null where none is known. */
  readonly cost: Decimal.Decimal | null
  /** The part of the cost that belongs to the remaining units. */
  readonly costLeft: Decimal.Decimal | null
  /** Currency of the cost, at whose places it is rounded; null without a cost. */
  readonly currency: string | null
  /** The act that minted the units, where the ledger names it; a transfer keeps it. */
  readonly origin: Movement["reference"]
}

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
