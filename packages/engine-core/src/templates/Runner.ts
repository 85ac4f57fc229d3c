/**
 * Marker that spends a command id: once it has committed under the id, the ledger takes nothing else
 * under it (docs/domain/ledger-writes.md#spent-command-ids).
 */
import { Schema } from "effect"
import type { CommandId, CreateAndExercise, Event } from "../ports/Ledger.ts"
import * as Field from "./Field.ts"
import { createAndExercise, define, same } from "./Template.ts"

/** Trace of a command that the ledger has carried out, so that a repeat of it is refused. */
export const SpentCommand = define({
  typeRef: {
    packageName: "bursar-admin-v1",
    module: "Bursar.Admin.Runner",
    entity: "SpentCommand"
  },
  payload: Schema.Struct({
    venue: Field.party,
    commandId: Field.text
  }),
  choices: {
    /** The choice of every template: the marker ends in the transaction that created it. */
    Archive: {
      consuming: true,
      argument: Schema.Struct({}),
      result: Schema.Struct({})
    }
  }
})

/** The command that spends a command id; it is to be submitted under that very id. */
export const spend = (marker: {
  readonly venue: (typeof SpentCommand)["payload"]["Type"]["venue"]
  readonly commandId: CommandId
}): CreateAndExercise => createAndExercise(SpentCommand, marker, "Archive", {})

/** Checks whether the events of a transaction are those of a marker. */
export const isSpending = (events: ReadonlyArray<Event>): boolean =>
  events.some((event) => event._tag === "Created" && same(event.template, SpentCommand.typeRef))
