/** `bursar migrate`: applies the pending migrations, as a start would, and does nothing else. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as HostConfig from "../HostConfig.ts"
import type { VenueDeployment } from "./DeployedVenue.ts"
import * as Outcome from "./Outcome.ts"

export const migrate = (deploying: VenueDeployment) =>
  Command.make("migrate", {}, () =>
    Effect.gen(function* () {
      const config = yield* HostConfig.loadForKeeper
      const { migrated } = yield* deploying
      const made = yield* migrated(config)
      yield* Outcome.print(
        made.length === 0
          ? "nothing to change: the database is up to date"
          : `made: ${made.join(", ")}\nthe database is up to date`
      )
    })
  ).pipe(
    Command.withShortDescription("Bring the database up to date"),
    Command.withDescription(
      "Brings the database that database.url names up to date, with all that a start needs of it: the schema bursar, and the schema ledger_sim of the simulated ledger. Says what it made, and ends. Run it as the database's owner, before new instances start, where the host's own role may change no schema. It may run twice, and needs no setting but the database's."
    )
  )
