#!/usr/bin/env node
/**
 * The command `bursar`: serves a venue, and maintains its database, audit log, webhooks and keys.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { ConfigProvider, Effect } from "effect"
import { CliConfig, Command, GlobalFlag } from "effect/cli"
import { audit } from "./cli/Audit.ts"
import { config } from "./cli/Config.ts"
import { keys } from "./cli/Keys.ts"
import { migrate } from "./cli/Migrate.ts"
import { openapi } from "./cli/OpenApi.ts"
import * as Outcome from "./cli/Outcome.ts"
import { start } from "./cli/Start.ts"
import { token } from "./cli/Token.ts"
import * as Logs from "./observability/Logs.ts"
import { webhooks } from "./cli/Webhooks.ts"
import { version } from "./version.ts"

const bursar = Command.make("bursar").pipe(
  Command.withDescription(
    "Administers assets that are recorded on a shared ledger, for the one party that runs the venue. Settings are variables of the environment or stand in the JSON file that BURSAR_CONFIG names; `bursar config` lists them. Ends with 0 when it did what was asked, 1 when it could not, 2 when the command line is not one."
  ),
  Command.withSubcommands([start, migrate, config, keys, audit, webhooks, openapi, token])
)

Command.run(bursar, { version, renderErrors: false }).pipe(
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
