/**
 * Pure rules of restrictions: acts that each mode permits, and checks of gate `restriction`.
 */
import { check, type GatedName, type Judgement } from "../../kernel/Gates.ts"
import type * as Party from "../../kernel/Party.ts"
import type { RestrictionMode } from "../../vocabulary/sets.ts"

/** A restriction in force; without an instrument it covers all of its holder's. */
export interface Restricting {
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
export type Passing = (typeof passings)[number]

/**
 * Directions of the engine's own acts. None is `units-out`: holders transfer from their wallets,
 * and restrictions do not stop the giving side of a forced act. `units-out` only counts in the
 * direction of a change of restrictions.
 */
export type ActPassing = Exclude<Passing, "units-out">

/**
 * Table of the directions that each mode permits. `freeze`: none. `receive-only`: units and cash
 * in. `redeem-only`: units back to the fund, and cash in. No mode permits a new subscription; one
 * claimed before is delivered under `receive-only`.
 */
const permitted: Readonly<Record<RestrictionMode, ReadonlyArray<Passing>>> = {
  freeze: [],
  "receive-only": ["units-in", "cash-in"],
  "redeem-only": ["units-back", "cash-in"]
}

/** An act that restrictions permit or not: holder, instrument, direction. */
export interface Asked {
  readonly holderId: string
  readonly instrumentId: string
  readonly passing: Passing
}

/** Whether the restriction is of this holder, and of this instrument or all. */
export const covers = (
  { holderId, instrumentId }: Restricting,
  of: { readonly holderId: string; readonly instrumentId: string }
): boolean =>
  holderId === of.holderId && (instrumentId === null || instrumentId === of.instrumentId)

/** Whether any of these restrictions covers the holder's units of the instrument. */
export const isRestricted = (
  restrictions: ReadonlyArray<Restricting>,
  of: { readonly holderId: string; readonly instrumentId: string }
): boolean => restrictions.some((restriction) => covers(restriction, of))

/** Whether all restrictions permit the act: the strictest decides. */
export const permits = (restrictions: ReadonlyArray<Restricting>, asked: Asked): boolean =>
  restrictions.every(
    (restriction) =>
      !covers(restriction, asked) || permitted[restriction.mode].includes(asked.passing)
  )

const names: Readonly<Record<ActPassing, GatedName>> = {
  "order-in": "may-subscribe",
  "units-in": "may-receive",
  "units-back": "may-redeem",
  "cash-in": "may-be-paid"
}

/**
 * The check of gate `restriction`. Its refusal names neither reason nor order, which are
 * concealed from all but readers of restrictions.
 */
export const against = (
  restrictions: ReadonlyArray<Restricting>,
  asked: Asked & { readonly passing: ActPassing },
  party: Party.Party
): Judgement =>
  check(names[asked.passing], permits(restrictions, asked), {
    party,
    detail: `The holder ${asked.holderId} is restricted.`
  })
