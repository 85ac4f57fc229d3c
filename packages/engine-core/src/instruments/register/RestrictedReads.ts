/** Which restrictions stand in the way of units, as the register and portfolios show them. */
import { Effect } from "effect"
import type * as Pin from "../../kernel/Pin.ts"

/** A restriction in force; without an instrument it is on all that its holder holds. */
export interface Restricting {
  readonly holderId: string
  readonly instrumentId: string | null
}

/** Whether any of these restrictions is on what this holder holds of this instrument. */
export const isRestricted = (
  restrictions: ReadonlyArray<Restricting>,
  of: { readonly holderId: string; readonly instrumentId: string }
): boolean =>
  restrictions.some(
    ({ holderId, instrumentId }) =>
      holderId === of.holderId && (instrumentId === null || instrumentId === of.instrumentId)
  )

/**
 * The restrictions in force at the pin on holders of one instrument, or on one holder. The engine
 * records no restriction yet, so nobody is under one: with their record this becomes its look-up.
 */
export const restrictionsAt = (
  _of: { readonly instrumentId: string } | { readonly holderId: string },
  _pin: Pin.Resolved
): Effect.Effect<ReadonlyArray<Restricting>> => Effect.succeed([])
