/** Description of the members that name a condition: the names of the open set are listed here alone. */
import { Conditions } from "@bursar/engine-core"
import type { Change } from "./Json.ts"

/** Adds the names of all conditions to the description of a member that names one. */
export const withNames =
  (conditions: ReadonlyArray<string>): Change =>
  (object) =>
    object.description === Conditions.description
      ? {
          ...object,
          description: `${Conditions.description} Else one of: ${conditions.toSorted().join(", ")}.`
        }
      : object
