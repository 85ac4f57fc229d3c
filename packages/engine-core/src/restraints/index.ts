/** Nouns of the room restraints: holds on instruments, restrictions and the screening of holders. */
import * as Noun from "../nouns/Noun.ts"
import { holds, HoldMachine, holdEvents, shownPayloads } from "./hold/Hold.ts"
import * as HoldOperations from "./hold/HoldOperations.ts"
import * as HoldQueries from "./hold/HoldQueries.ts"
import { holdSlots } from "./hold/HoldSlot.ts"
import { restrictions, RestrictionMachine, restrictionEvents } from "./restriction/Restriction.ts"
import { restrictionOf } from "./restriction/RestrictionLookups.ts"
import * as RestrictionOperations from "./restriction/RestrictionOperations.ts"
import * as RestrictionQueries from "./restriction/RestrictionQueries.ts"
import { screeningWorker } from "./screening/ScreeningRunner.ts"

const restriction = Noun.declare({
  collections: [restrictions],
  machine: RestrictionMachine,
  writes: RestrictionOperations.operations,
  queries: RestrictionQueries.queries,
  events: restrictionEvents,
  concealed: {
    resourceKinds: ["restriction"],
    types: ["holder.restricted", "holder.unrestricted"]
  }
})

const hold = Noun.declare({
  collections: [holds, holdSlots],
  machine: HoldMachine,
  writes: HoldOperations.operations,
  queries: HoldQueries.queries,
  events: holdEvents,
  concealed: { payloads: shownPayloads }
})

const screening = Noun.declare({ workers: [screeningWorker] })

export const nouns = [restriction, hold, screening] as const

/** Look-up of a restriction that prevents the closing of a holder. */
export const holderTies = { restriction: restrictionOf } as const
