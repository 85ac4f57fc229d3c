/**
 * Check `restriction-effect`, pure: finds units that left a holder while a restriction forbade it
 * (docs/domain/reconciliation.md#movements-against-restrictions).
 */
import * as Decimal from "../../../kernel/Decimal.ts"
import * as Instant from "../../../kernel/Instant.ts"
import { compare, type Difference } from "../../../findings/FindingRules.ts"
import type { PartyMovement } from "../../../instruments/register/Movement.ts"
import type { Restriction } from "../../../restraints/restriction/Restriction.ts"
import {
  type MovementDirection,
  permits
} from "../../../restraints/restriction/RestrictionRules.ts"
import type { MovementKind } from "../../../vocabulary/sets.ts"

const check = "restriction-effect"

/** The units of one holder that left although a restriction forbade it. */
export interface DepartedUnits {
  readonly instrumentId: string
  readonly holderId: string
  readonly units: Decimal.Decimal
}

/** Kinds of movements that restrictions do not stop: an issuer moved the units, not their holder. */
const forced: ReadonlyArray<MovementKind> = ["forced-transfer", "recovery"]

/** Directions of movements; any other kind goes out to whom it likes. */
const passingOf: Readonly<Partial<Record<MovementKind, MovementDirection>>> = {
  redemption: "units-back"
}

type Period = Pick<
  Restriction,
  "restrictionId" | "holderId" | "instrumentId" | "mode" | "from" | "endedAt"
>

/** Checks whether a restriction was in force at an instant after its first. */
const isInForce = ({ from, endedAt }: Period, at: Instant.Instant): boolean =>
  Instant.isAfter(at, from) && (endedAt === null || Instant.isBefore(at, endedAt))

/**
 * Returns the units of a movement that left the holder's party while one of its restrictions forbade
 * it; 0 for units that came in, that stayed, or that an issuer moved by force.
 */
export const leftAgainst = (
  restrictions: ReadonlyArray<Period>,
  movement: Pick<
    PartyMovement,
    "instrumentId" | "at" | "kind" | "from" | "to" | "units" | "party"
  > & { readonly holderId: string }
): Decimal.Decimal => {
  const { at, from, to, kind, party, holderId, instrumentId, units } = movement
  if (from !== party || to === party || forced.includes(kind)) return Decimal.zero
  const inForce = restrictions.filter((restriction) => isInForce(restriction, at))
  const passing = passingOf[kind] ?? "units-out"
  return permits(inForce, { holderId, instrumentId, passing }) ? Decimal.zero : units
}

/** Returns a blocking difference where units left beyond the tolerance; the subject is the holder. */
export const differences = (
  { instrumentId, holderId, units }: DepartedUnits,
  tolerance: Decimal.Decimal
): ReadonlyArray<Difference> =>
  compare({
    check,
    instrumentId,
    subject: { resourceKind: "holder", id: holderId },
    holderId,
    severity: "blocking",
    unit: "units",
    expected: Decimal.zero,
    actual: units,
    tolerance
  })
