/** One outside party's program: `main.ts <actor> [command] --door URL --token-file FILE …`, a line of JSON for each act. */
import { readFileSync } from "node:fs"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Instant, type Party } from "@bursar/engine-core/kernel"
import { Cause, Duration, Effect, Exit, Option } from "effect"
import * as Bot from "./Bot.ts"
import { DoorLost } from "./DoorClient.ts"
import * as Duties from "./Duties.ts"
import type { KeepDuty } from "./Duty.ts"
import * as Flags from "./Flags.ts"
import * as PartySession from "./PartySession.ts"
import * as SigningKey from "./SigningKey.ts"
import type { Change } from "./Wire.ts"
import type * as World from "./World.ts"

const usage = `main.ts key new --key-file FILE
main.ts ${Duties.actors.join("|")} [command] --door URL --token-file FILE [--key-file FILE] [--policy FILE] [--wait SECONDS]
Without a command the program stays and does its duty until it is told to stop.`

const print = (line: object): Effect.Effect<void> =>
  Effect.sync(() => void process.stdout.write(`${JSON.stringify(line)}\n`))

/** Exit codes: 0 done, 1 failed, 2 invalid command line, 3 nothing to do. */
class EndOfRun extends Error {
  readonly code: 1 | 2 | 3
  constructor(code: 1 | 2 | 3, message: string) {
    super(message)
    this.code = code
  }
}

const created = (changes: ReadonlyArray<Change>) =>
  changes.flatMap((change) =>
    change._tag === "Created"
      ? [{ entity: change.contract.template.entity, contractId: change.contract.contractId }]
      : []
  )

const acted = (act: World.Act, done: PartySession.CommittedChange) => ({
  act: act.name,
  about: act.about,
  commandId: act.change.commandId,
  offset: done.offset,
  updateId: done.updateId,
  duplicate: done.duplicate,
  created: created(done.changes),
  ...act.details
})

const failed = (error: PartySession.SubmitError) => ({
  error: error._tag === "DoorRefused" ? error.code : error._tag,
  cause: error._tag === "DoorRefused" ? error.cause : error.message
})

const keyOf = (read: () => SigningKey.SigningKey) =>
  Effect.try({
    try: read,
    catch: (error) =>
      new Flags.Usage({ why: error instanceof Error ? error.message : String(error) })
  })

const optionsOf = (actor: Duties.Actor, flags: Flags.Flags) =>
  Effect.gen(function* () {
    const door = yield* Effect.fromResult(Flags.needed(flags, "door"))
    const tokenFile = yield* Effect.fromResult(Flags.needed(flags, "token-file"))
    const keyFile = flags.text("key-file")
    const party = yield* Effect.fromResult(Flags.optional(flags, "party", Flags.party))
    const signing =
      keyFile === undefined ? {} : { key: yield* keyOf(() => SigningKey.read(keyFile)) }
    const options: PartySession.Options = {
      url: door.endsWith("/") ? door.slice(0, -1) : door,
      token: Effect.try({
        try: () => readFileSync(tokenFile, "utf8").trim(),
        catch: (error) => new DoorLost({ detail: String(error), unopened: false })
      }),
      ...(party === null ? {} : { party }),
      ...signing,
      ...(flags.text("transport") === "polling" ? { transport: "polling" } : {}),
      show: (signing) => print({ actor, signing })
    }
    return options
  })

const sayAs =
  (actor: Duties.Actor, party: Party.Party) =>
  (line: object): Effect.Effect<void> =>
    print({ actor, party, ...line })

/** Runs a duty until it is stopped, as the party itself or as each party that it hosts. */
const keepAt = (actor: Duties.Actor, duty: KeepDuty, options: PartySession.Options) =>
  Effect.gen(function* () {
    const parties =
      duty.actsAs === "itself" || options.party !== undefined
        ? [options.party]
        : yield* PartySession.hosted(options)
    return yield* Effect.forEach(
      parties,
      (party) =>
        Effect.gen(function* () {
          const opened = yield* PartySession.open(
            party === undefined ? options : { ...options, party }
          )
          const say = sayAs(actor, opened.party)
          return yield* Bot.run({
            session: opened,
            plan: duty.plan,
            delay: Duration.seconds(duty.delaySeconds),
            report: (message) => say(lineOf(message))
          })
        }),
      { concurrency: "unbounded", discard: true }
    )
  })

const run = (actor: Duties.Actor, flags: Flags.Flags) =>
  Effect.gen(function* () {
    const duty = yield* Effect.fromResult(Duties.read(actor, flags.words[1], flags))
    const options = yield* optionsOf(actor, flags)
    if (duty.kind === "keep") return yield* keepAt(actor, duty, options)
    const opened = yield* PartySession.open(options)
    const { party } = opened
    const say = sayAs(actor, party)
    switch (duty.kind) {
      case "once": {
        const within = Duration.seconds(Number(flags.text("wait") ?? "30"))
        const found = yield* Bot.runOnce({ session: opened, plan: duty.plan, within })
        if (Option.isNone(found)) {
          return yield* Effect.fail(new EndOfRun(3, "there is nothing here to do that to"))
        }
        return yield* say(acted(found.value.act, found.value.change))
      }
      case "show": {
        const offset = yield* opened.ledgerEnd
        const active = yield* opened.acs(offset)
        const contracts = new Map(active.map((contract) => [contract.contractId, contract]))
        const now = yield* Instant.now
        return yield* say({ offset, sees: duty.show({ party, now, contracts }) })
      }
    }
  })

const lineOf = (message: Bot.Message): object => {
  switch (message._tag) {
    case "Ready":
      return { ready: true, offset: message.offset }
    case "Acted":
      return acted(message.act, message.change)
    case "Overtaken":
      return { act: message.act.name, about: message.act.about, overtaken: true }
    case "Failed":
      return { act: message.act.name, about: message.act.about, ...failed(message.error) }
  }
}

const key = (flags: Flags.Flags) =>
  Effect.gen(function* () {
    const file = yield* Effect.fromResult(Flags.needed(flags, "key-file"))
    const { publicKey, fingerprint } = yield* keyOf(() =>
      flags.words[1] === "new" ? SigningKey.create(file) : SigningKey.read(file)
    )
    yield* print({ publicKey: Buffer.from(publicKey).toString("base64"), fingerprint })
  })

const isActor = (word: string | undefined): word is Duties.Actor =>
  Duties.actors.some((actor) => actor === word)

const program = Effect.gen(function* () {
  const flags = yield* Effect.fromResult(Flags.parse(process.argv.slice(2)))
  const [actor] = flags.words
  if (actor === "key") return yield* key(flags)
  if (!isActor(actor)) return yield* Effect.fromResult(Flags.usage(usage))
  return yield* run(actor, flags)
}).pipe(
  Effect.catchTag("Usage", (error) => Effect.fail(new EndOfRun(2, error.message))),
  Effect.tapError((error) =>
    print(error instanceof EndOfRun ? { error: "Ended", cause: error.message } : failed(error))
  )
)

/** A program that is interrupted has ended well. */
const codeOf = (exit: Exit.Exit<unknown, unknown>): number => {
  if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return 0
  const error = Option.getOrUndefined(Exit.findErrorOption(exit))
  return error instanceof EndOfRun ? error.code : 1
}

const crashed = (defect: unknown) =>
  Effect.sync(() => void process.stderr.write(`${String(defect)}\n`)).pipe(
    Effect.andThen(Effect.die(defect))
  )

NodeRuntime.runMain(Effect.catchDefect(program, crashed), {
  disableErrorReporting: true,
  teardown: (exit, onExit) => onExit(codeOf(exit))
})
