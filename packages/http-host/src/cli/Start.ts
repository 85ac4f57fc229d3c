/** `bursar start`: serves the venue until it is told to stop. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import * as HostConfig from "../HostConfig.ts"
import type { Addresses, VenueDeployment } from "./DeployedVenue.ts"
import * as Outcome from "./Outcome.ts"
import * as UnderNpm from "./UnderNpm.ts"

/** Prints the addresses of the venue on one line of standard output, once it serves. */
const ready = (at: Addresses): Effect.Effect<void> =>
  Outcome.print(JSON.stringify({ state: "ready", ...at }))

export const start = (deploying: VenueDeployment) =>
  Command.make("start", {}, () =>
    Effect.gen(function* () {
      const config = yield* HostConfig.load
      const { serve } = yield* deploying
      yield* Effect.sync(() => UnderNpm.endWithParent(process.env))
      return yield* serve(config, ready)
    }).pipe(
      // An interrupt by a signal is the orderly end of a server.
      Effect.onInterrupt(() =>
        Effect.sync(() => {
          process.exitCode = Outcome.exitCodes.done
        })
      )
    )
  ).pipe(
    Command.withAlias("serve"),
    Command.withShortDescription("Serve the venue until told to stop"),
    Command.withDescription(
      "Serves the venue until it gets SIGTERM or SIGINT; then it takes no new requests, finishes what runs and ends with 0. Brings the database up to date first. Once the venue is up, one line of JSON on standard output says where: api, docs, management, and ledgerDoor where the ledger has one. The log is one JSON object a line on standard error."
    ),
    Command.withExamples([
      {
        command: "DATABASE_URL=postgres://bursar@db/bursar bursar start",
        description: "Serve on a database of yours"
      },
      {
        command: "BURSAR_CONFIG=venue.json bursar start",
        description: "Serve with the settings of a file"
      }
    ])
  )
