/**
 * Check `admission-effect`, pure: finds units of parties that have no valid admission
 * (docs/domain/reconciliation.md#holdings-without-admission).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import * as Instant from "../../../kernel/Instant.ts"
import type { Admission } from "../../../admissions/Admission.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { PartyMovement } from "../../../instruments/register/Movement.ts"
import type { MovementKind } from "../../../vocabulary/sets.ts"

export const check = "admission-effect"

/** Period of an admission: it is valid from its acceptance to its end, whichever comes first. */
type Period = Pick<Admission, "admittedAt" | "validFrom" | "validUntil" | "endedAt">

/** Units that came to a party. */
type Arrival = Pick<PartyMovement, "kind" | "at" | "restricted">

/** One party's units of an instrument, with the admissions of its holder. */
export interface HeldUnits {
  readonly instrumentId: string
  readonly party: string
  /** Null where the party is no holder of the venue. */
  readonly holderId: string | null
  readonly units: Decimal.Decimal
  /** Whether an admission of the holder is valid at the instant of the run. */
  readonly isAdmitted: boolean
  /** Units that came by a forced transfer or a recovery; 0 where an admission is valid. */
  readonly byForce: Decimal.Decimal
  /** Whether restricted units came against the admissions since the last run; false before the first. */
  readonly isNew: boolean
}

/** Kinds of movements that bring units to a party without an admission. */
export const forced: ReadonlyArray<MovementKind> = ["forced-transfer", "recovery"]

/** Checks whether an admission had begun at an instant and had not ended before it. */
const isOpen = ({ admittedAt, validFrom, validUntil, endedAt }: Period, at: Instant.Instant) =>
  admittedAt !== null &&
  [admittedAt, validFrom].every((from) => from === null || Instant.atOrBefore(from, at)) &&
  [validUntil, endedAt].every((end) => end === null || Instant.atOrBefore(at, end))

/** Checks whether one of a holder's admissions is valid at an instant; at its end it is not. */
export const isAdmitted = (admissions: ReadonlyArray<Period>, at: Instant.Instant): boolean =>
  admissions.some(
    (admission) => isOpen(admission, at) && admission.validUntil !== at && admission.endedAt !== at
  )

/**
 * Checks whether restricted units came to a party by themselves, while none of its admissions was valid:
 * the ledger should have asked the receiver for a credential. Units that anybody may hold are against no
 * admission, so that no transfer which the registrar allows stops the payments of an instrument. What
 * came at the instant of an end may have come before it, and is not against the admission.
 */
export const isAgainst = (
  admissions: ReadonlyArray<Period>,
  { kind, at, restricted }: Arrival
): boolean =>
  restricted && !forced.includes(kind) && !admissions.some((admission) => isOpen(admission, at))

/**
 * Returns a difference for units of a party without a valid admission beyond those that came by force
 * or by a recovery: a warning, and blocking where restricted units came without one since the last run.
 */
export const differences = (
  { instrumentId, party, holderId, units, byForce, isNew, isAdmitted: hasAdmission }: HeldUnits,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  hasAdmission
    ? []
    : compare({
        check,
        instrumentId,
        subject: { resourceKind: "holder", id: holderId ?? party },
        holderId,
        severity: isNew ? "blocking" : "warning",
        unit: "units",
        expected: Decimal.min(byForce, units),
        actual: units,
        tolerance
      })
