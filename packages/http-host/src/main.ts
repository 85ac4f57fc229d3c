#!/usr/bin/env node
/** The program `bursar`: the command over the host's own parts. */
import { Effect } from "effect"
import * as Bursar from "./cli/Bursar.ts"
import { demo } from "./cli/Demo.ts"

// Imported when a command needs it: other commands do not load database and ledger.
Bursar.main(
  Effect.flatMap(
    Effect.promise(() => import("./Deployment.ts")),
    ({ make }) => make()
  ),
  [demo]
)
