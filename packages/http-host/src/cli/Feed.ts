/** `bursar feed restored`: notes that the database was restored by other means than `bursar restore`. */
import { noteRestore } from "@bursar/engine-core"
import { Data, Effect } from "effect"
import { Command } from "effect/cli"
import * as HostConfig from "../HostConfig.ts"
import type { VenueDeployment } from "./DeployedVenue.ts"
import * as Outcome from "./Outcome.ts"

/** The restore was not noted. */
class NotNoted extends Data.TaggedError("NotNoted")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

const restored = (deploying: VenueDeployment) =>
  Command.make("restored", {}, () =>
    Effect.gen(function* () {
      const config = yield* HostConfig.loadForKeeper
      const { records } = yield* deploying
      const { auditSeq, eventSeq } = yield* noteRestore.pipe(
        Effect.provide(records(config)),
        Effect.catchTag("Unavailable", ({ detail }) => Effect.fail(new NotNoted({ detail })))
      )
      yield* Outcome.print(
        `noted: what the venue announced after event ${eventSeq} and logged after audit record ${auditSeq} is lost, and readers that have passed it are told so`
      )
    })
  ).pipe(
    Command.withShortDescription("Note that the database lost its newest records"),
    Command.withDescription(
      "To be run once, before the hosts start again, after the database was restored by its provider's means, or failed over to a standby that lacked commits: bursar restore does it by itself. From then on the feeds go on under a new history: a cursor that has passed events which are lost is refused with 410 instead of missing those that take their numbers, and new events have webhook-ids of their own."
    ),
    Command.withExamples([
      { command: "bursar feed restored", description: "Note it for the venue's database" }
    ])
  )

export const feed = (deploying: VenueDeployment) =>
  Command.make("feed").pipe(
    Command.withShortDescription("What is done about the feeds beside the API"),
    Command.withDescription("What the venue's keeper does about the feeds beside the API."),
    Command.withSubcommands([restored(deploying)])
  )
