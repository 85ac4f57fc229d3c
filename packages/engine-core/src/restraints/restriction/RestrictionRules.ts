/**
 * Pure rules of restrictions: what each mode permits, and the strictest where several are in force.
 */
import { check, type GatedName, type Objection } from "../../kernel/Gates.ts"
import type * as Party from "../../kernel/Party.ts"
import type { RestrictionMode } from "../../vocabulary/sets.ts"

/** A restriction in force; without an instrument it is on all that its holder holds. */
export interface Restricting {
  readonly restrictionId: string
  readonly holderId: string
  readonly instrumentId: string | null
  readonly mode: RestrictionMode
}

/**
 * Directions in which an act moves a holder's units or cash: an order for more is placed, units come in (a subscription that
 * stands, the receiving end of a move), units go out to anybody, units go back to the fund (a
 * redemption up to its burn), cash comes in for what is already gone (the payment of a burned
 * redemption).
 */
export const passings = ["order-in", "units-in", "units-out", "units-back", "cash-in"] as const
export type Passing = (typeof passings)[number]

/**
 * Directions of the engine's own acts. None moves units out to anybody: holders do that from their
 * wallets, and the giving side of a forced act asks no restriction. `units-out` only weighs how
 * much a change of restrictions permits.
 */
export type ActPassing = Exclude<Passing, "units-out">

/**
 * `freeze`: nothing in or out. `receive-only`: units in and cash in, nothing out. `redeem-only`: units
 * out to the fund only, and the cash for them in. No mode lets its holder order more: a new
 * subscription is claimed under no restriction of any mode; one that was claimed before is delivered
 * under `receive-only`.
 */
const passes: Readonly<Record<RestrictionMode, ReadonlyArray<Passing>>> = {
  freeze: [],
  "receive-only": ["units-in", "cash-in"],
  "redeem-only": ["units-back", "cash-in"]
}

/** A question to the restrictions: holder, instrument, and what the act moves. */
export interface Asked {
  readonly holderId: string
  readonly instrumentId: string
  readonly passing: Passing
}

const isOn = (
  { holderId, instrumentId }: Restricting,
  of: { readonly holderId: string; readonly instrumentId: string }
): boolean =>
  holderId === of.holderId && (instrumentId === null || instrumentId === of.instrumentId)

/** Whether any of these restrictions is on what this holder holds of this instrument. */
export const isRestricted = (
  restrictions: ReadonlyArray<Restricting>,
  of: { readonly holderId: string; readonly instrumentId: string }
): boolean => restrictions.some((one) => isOn(one, of))

/** Whether all of them let it pass: the strictest answer wins. */
export const lets = (restrictions: ReadonlyArray<Restricting>, asked: Asked): boolean =>
  restrictions.every((one) => !isOn(one, asked) || passes[one.mode].includes(asked.passing))

const names: Readonly<Record<ActPassing, GatedName>> = {
  "order-in": "may-subscribe",
  "units-in": "may-receive",
  "units-back": "may-redeem",
  "cash-in": "may-be-paid"
}

/**
 * The check of gate `restriction`. It names neither reason nor order, which only readers of
 * restrictions read.
 */
export const against = (
  restrictions: ReadonlyArray<Restricting>,
  asked: Asked & { readonly passing: ActPassing },
  party: Party.Party
): Objection =>
  check(names[asked.passing], lets(restrictions, asked), {
    party,
    detail: `The holder ${asked.holderId} is restricted.`
  })
