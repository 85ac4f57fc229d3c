/**
 * The command `bursar` over a deployment: serves a venue, and maintains its database, audit log,
 * webhooks and keys.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import * as Logs from "../observability/Logs.ts"
import { version } from "../version.ts"
import { audit } from "./Audit.ts"
import { backup, restore } from "./Backup.ts"
import { config } from "./Config.ts"
import type { demo } from "./Demo.ts"
import type { VenueDeployment } from "./DeployedVenue.ts"
import { feed } from "./Feed.ts"
import { keys } from "./Keys.ts"
import { listen } from "./Listen.ts"
import { migrate } from "./Migrate.ts"
import { openapi } from "./OpenApi.ts"
import * as Outcome from "./Outcome.ts"
import { start } from "./Start.ts"
import { token } from "./Token.ts"
import { webhooks } from "./Webhooks.ts"

/** A command that needs no deployment. */
type OwnCommand = typeof demo

const command = (deploying: VenueDeployment, besides: ReadonlyArray<OwnCommand>) =>
  Command.make("bursar").pipe(
    Command.withDescription(
      "Administers assets that are recorded on a shared ledger, for the one party that runs the venue. Settings are variables of the environment or stand in the JSON file that BURSAR_CONFIG names; `bursar config` lists them. Ends with 0 when it did what was asked, 1 when it could not, 2 when the command line is not one."
    ),
    Command.withSubcommands([
      start(deploying),
      migrate(deploying),
      backup(deploying),
      restore(deploying),
      config,
      keys,
      audit(deploying),
      webhooks(deploying),
      feed(deploying),
      openapi(deploying),
      listen,
      token,
      ...besides
    ])
  )

/**
 * Runs the command that the process's arguments name, and ends the process with its exit code. `besides`
 * are commands of one program alone.
 */
export const main = (deploying: VenueDeployment, besides: ReadonlyArray<OwnCommand> = []): void =>
  Command.run(command(deploying, besides), { version, renderErrors: false }).pipe(
    Effect.catch(Outcome.printError),
    Effect.provide([
      Logs.layer,
      NodeServices.layer,
      Outcome.presenter,
      // Empty variables are kept: they mean "none" for some settings, for example records kept for
      // ever.
      ConfigProvider.layer(ConfigProvider.fromEnv({ preserveEmptyStrings: true })),
      CliConfig.layer({
        builtIns: [GlobalFlag.Help, GlobalFlag.Version, GlobalFlag.Completions]
      })
    ]),
    NodeRuntime.runMain({ teardown: Outcome.teardown })
  )
