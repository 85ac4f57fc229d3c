/** Description of the members that name a check: the names of the open set are listed here alone. */
import { Checks } from "@bursar/engine-core"
import type { Change } from "./Json.ts"

const names = Object.keys(Checks.checks).toSorted().join(", ")

/** Adds the names of all checks to the description of a member that names one. */
export const withNames: Change = (object) =>
  object.description === Checks.description
    ? { ...object, description: `${Checks.description} Else one of: ${names}.` }
    : object
