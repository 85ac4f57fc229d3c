/** Declaration of a check of a room that a venue adds, with its own tolerance and grace time. */
import type { Stream } from "effect"
import * as Decimal from "../../kernel/Decimal.ts"
import * as Duration from "../../kernel/Duration.ts"
import type * as Instant from "../../kernel/Instant.ts"
import type * as Pin from "../../kernel/Pin.ts"
import type { Unavailable } from "../../kernel/Refusal.ts"
import type { Records } from "../../records/Records.ts"
import type { OwnWord } from "../../vocabulary/OwnWord.ts"
import type { ResourceKind } from "../../vocabulary/ResourceKind.ts"

/** Two amounts that a check of a room compares; a difference beyond the tolerance becomes a finding. */
export interface RoomComparison {
  readonly instrumentId: string
  /** Record that the finding is about. */
  readonly subject: { readonly resourceKind: ResourceKind; readonly id: string }
  readonly holderId: string | null
  readonly severity: "blocking" | "warning"
  /** Unit of the amounts, such as `units` or a currency. */
  readonly unit: string
  readonly expected: Decimal.Decimal
  readonly actual: Decimal.Decimal
}

/** The instant that a run judges time at, and the grace time of the check; null: it has none. */
interface CheckTime {
  readonly now: Instant.Instant
  readonly grace: Duration.Duration | null
}

/** A check of a room: it compares the facts of each instrument, after the engine's checks. */
export interface RoomCheck<F = unknown> {
  readonly name: OwnWord
  /** One sentence: what the check finds. */
  readonly doc: string
  /** Input that the check needs to be able to compare. */
  readonly needs: string
  /** Largest difference that is no finding, in the unit of the comparison. */
  readonly tolerance: Decimal.Decimal
  readonly grace: Duration.Duration | null
  /** Streams the facts of an instrument as they stood at the pin. */
  facts(
    instrument: { readonly instrumentId: string },
    pin: Pin.ResolvedPin
  ): Stream.Stream<F, Unavailable, Records>
  /** The comparisons that one fact calls for. Pure. */
  comparisons(fact: F, timing: CheckTime): ReadonlyArray<RoomComparison>
}

/**
 * Declares a check of a room. A policy names no check of a room: tolerance and grace time are those that
 * are declared here. `tolerance` is a decimal, 0 where it is left out; `grace` an ISO 8601 duration.
 */
export const define = <F>(
  name: OwnWord,
  {
    grace = null,
    tolerance = "0",
    ...declaration
  }: Omit<RoomCheck<F>, "name" | "tolerance" | "grace"> & {
    readonly tolerance?: string
    readonly grace?: string | null
  }
): RoomCheck<F> => ({
  ...declaration,
  name,
  tolerance: Decimal.of(tolerance),
  grace: grace === null ? null : Duration.of(grace)
})
