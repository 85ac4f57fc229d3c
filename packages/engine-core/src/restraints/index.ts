/** Declarations of the room restraints: holds on instruments and restrictions of holders. */
import { holds, HoldMachine, holdEvents } from "./hold/Hold.ts"
import * as HoldOperations from "./hold/HoldOperations.ts"
import * as HoldQueries from "./hold/HoldQueries.ts"
import { holdSlots } from "./hold/HoldSlot.ts"
import { restrictions, RestrictionMachine, restrictionEvents } from "./restriction/Restriction.ts"
import { restrictionOf } from "./restriction/RestrictionLookups.ts"
import * as RestrictionOperations from "./restriction/RestrictionOperations.ts"
import * as RestrictionQueries from "./restriction/RestrictionQueries.ts"
import { screeningWorker } from "./screening/ScreeningRunner.ts"
import type { ConcealedEvents } from "../writes/Concealment.ts"

export const machines = [RestrictionMachine, HoldMachine] as const
export const collections = [restrictions, holds, holdSlots] as const
export const operations = [
  ...RestrictionOperations.operations,
  ...HoldOperations.operations
] as const
export const queries = [...RestrictionQueries.queries, ...HoldQueries.queries] as const
/** Look-up of a restriction that prevents the closing of a holder. */
export const holderTies = { restriction: restrictionOf } as const
/** Events of restrictions, which investors and apps do not read. */
export const concealed = {
  resourceKinds: ["restriction"],
  types: ["holder.restricted", "holder.unrestricted"],
  operations: []
} as const satisfies ConcealedEvents
export const workers = [screeningWorker] as const
/** Events that the room announces. */
export const events = { ...holdEvents, ...restrictionEvents } as const
