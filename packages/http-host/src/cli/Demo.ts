/** `bursar demo`: a whole venue on this machine, with the wallets of its outside parties. */
import { Effect, Record } from "effect"
import { Command, Flag } from "effect/cli"
import { DemoFailed } from "../demo/DemoFailed.ts"
import * as Settings from "../demo/Settings.ts"
import type { Stack } from "../demo/Stack.ts"
import * as Outcome from "./Outcome.ts"
import * as UnderNpm from "./UnderNpm.ts"

const attempt = <A>(step: () => Promise<A>): Effect.Effect<A, DemoFailed> =>
  Effect.tryPromise({ try: step, catch: (cause) => cause }).pipe(
    Effect.catch((cause) => (cause instanceof DemoFailed ? Effect.fail(cause) : Effect.die(cause)))
  )

const port = (name: Settings.PortName) => {
  const { flag, usual, what } = Settings.ports[name]
  return Flag.String(flag).pipe(
    Flag.withDescription(`Port of ${what}; ${usual} unless set, 0 takes any that is free`),
    Flag.optional
  )
}

const flags = {
  data: Flag.String("data").pipe(
    Flag.withDescription("Folder of the venue; .data unless set"),
    Flag.optional
  ),
  api: port("api"),
  management: port("management"),
  ledger: port("ledger"),
  identity: port("identity")
}

/** Starts everything; a signal waits until the venue is complete, and then stops it in order. */
const started = (settings: Settings.Settings) =>
  Effect.gen(function* () {
    yield* Outcome.print("Starting the database, the identity provider, the host and the wallets …")
    // Imported here: no other command loads the database, the ledger and the wallets.
    const { start } = yield* Effect.promise(() => import("../demo/Stack.ts"))
    const screen = yield* Effect.promise(() => import("../demo/Screen.ts"))
    const stack = yield* attempt(() => start({ settings, instruments: screen.instruments }))
    return { stack, text: screen.text(stack, settings) }
  })

const stopped = ({ stack }: { readonly stack: Stack }) =>
  Effect.gen(function* () {
    yield* Outcome.print("\nStopping: the wallets first …")
    yield* Effect.promise(() => stack.stop())
    yield* Outcome.print("Stopped.")
  })

export const demo = Command.make("demo", flags, (chosen) =>
  Effect.gen(function* () {
    const settings = yield* attempt(async () => Settings.read(Record.getSomes(chosen), process.env))
    yield* Effect.sync(() => UnderNpm.endWithParent(process.env))
    return yield* Effect.acquireUseRelease(
      started(settings),
      ({ stack, text }) =>
        Effect.andThen(
          Outcome.print(text),
          Effect.flatMap(
            Effect.promise(() => stack.broken),
            (how) => Effect.fail(new DemoFailed(how))
          )
        ),
      stopped
    )
  }).pipe(
    // An interrupt by a signal is the orderly end of the demo.
    Effect.onInterrupt(() =>
      Effect.sync(() => {
        process.exitCode = Outcome.exitCodes.done
      })
    )
  )
).pipe(
  Command.withShortDescription("Try a whole venue on this machine"),
  Command.withDescription(
    "Starts a venue to try the API with, until it gets SIGTERM or SIGINT: the embedded PostgreSQL (or the one that DATABASE_URL names), an identity provider with a client for each role, the host with the simulated ledger and its door, and a wallet for each outside party as a process of its own. Prints the addresses, how to sign in and the first calls. Everything listens on this machine alone; the data stays in the folder, and the next start goes on with it. The identity provider is the optional dependency oidc-provider."
  ),
  Command.withExamples([
    { command: "npx @bursar/http-host demo", description: "Start it without installing anything" },
    {
      command: "bursar demo --data /tmp/venue --port 0",
      description: "Start another one beside it, with data of its own"
    }
  ])
)
