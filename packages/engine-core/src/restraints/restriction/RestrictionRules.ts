/**
 * Pure rules of restrictions: acts that each mode permits, and conditions of gate `restriction`.
 */
import { condition, type GatedName, type Judgement } from "../../kernel/Gates.ts"
import type * as Party from "../../kernel/Party.ts"
import type { RestrictionMode } from "../../vocabulary/sets.ts"

/** A restriction in force; without an instrument it covers all of its holder's. */
export interface RestrictionInForce {
  readonly restrictionId: string
  readonly holderId: string
  readonly instrumentId: string | null
  readonly mode: RestrictionMode
}

/**
 * Directions in which an act moves a holder's units or cash: `order-in`, a new subscription;
 * `units-in`, delivery or the receiving side of a move; `units-out`, transfer to any party;
 * `units-back`, redemption up to its burn; `cash-in`, payment of a burned redemption.
 */
export const passings = ["order-in", "units-in", "units-out", "units-back", "cash-in"] as const
export type MovementDirection = (typeof passings)[number]

/**
 * Directions of the engine's own acts. None is `units-out`: holders transfer from their wallets,
 * and restrictions do not stop the giving side of a forced act. `units-out` only counts in the
 * direction of a change of restrictions.
 */
export type ActDirection = Exclude<MovementDirection, "units-out">

/**
 * Table of the directions that each mode permits. `freeze`: none. `receive-only`: units and cash
 * in. `redeem-only`: units back to the fund, and cash in. No mode permits a new subscription; one
 * claimed before is delivered under `receive-only`.
 */
const permitted: Readonly<Record<RestrictionMode, ReadonlyArray<MovementDirection>>> = {
  freeze: [],
  "receive-only": ["units-in", "cash-in"],
  "redeem-only": ["units-back", "cash-in"]
}

/** An act that restrictions permit or not: holder, instrument, direction. */
export interface RestrictedAct {
  readonly holderId: string
  readonly instrumentId: string
  readonly passing: MovementDirection
}

/** Checks whether the restriction is of this holder, and of this instrument or all. */
export const covers = (
  { holderId, instrumentId }: RestrictionInForce,
  position: { readonly holderId: string; readonly instrumentId: string }
): boolean =>
  holderId === position.holderId &&
  (instrumentId === null || instrumentId === position.instrumentId)

/** Checks whether any of these restrictions covers the holder's units of the instrument. */
export const isRestricted = (
  restrictions: ReadonlyArray<RestrictionInForce>,
  position: { readonly holderId: string; readonly instrumentId: string }
): boolean => restrictions.some((restriction) => covers(restriction, position))

/** Checks whether all restrictions permit the act: the strictest decides. */
export const permits = (
  restrictions: ReadonlyArray<RestrictionInForce>,
  act: RestrictedAct
): boolean =>
  restrictions.every(
    (restriction) => !covers(restriction, act) || permitted[restriction.mode].includes(act.passing)
  )

const names: Readonly<Record<ActDirection, GatedName>> = {
  "order-in": "may-subscribe",
  "units-in": "may-receive",
  "units-back": "may-redeem",
  "cash-in": "may-be-paid"
}

/**
 * The condition of gate `restriction`. Its refusal names neither reason nor order, which are
 * concealed from all but readers of restrictions.
 */
export const against = (
  restrictions: ReadonlyArray<RestrictionInForce>,
  act: RestrictedAct & { readonly passing: ActDirection },
  party: Party.Party
): Judgement =>
  condition(names[act.passing], permits(restrictions, act), {
    party,
    detail: `The holder ${act.holderId} is restricted.`
  })
