#!/usr/bin/env node
/** `bursar-ledger`: commands of the operator of the simulated ledger's node, at its own machine. */
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { parseArgs } from "node:util"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { PgClient } from "@effect/sql-pg"
import { JsonText, Offset, Party } from "@bursar/engine-core/kernel"
import type { Ledger } from "@bursar/engine-core/ports"
import { Data, Duration, Effect, Redacted, Result, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import * as DurableFiles from "../../node/DurableFiles.ts"
import * as Administration from "./Administration.ts"
import * as LedgerError from "./LedgerError.ts"
import * as Operator from "./Operator.ts"
import type { Admin as AdminService } from "./Participant.ts"
import * as SimStorePostgres from "./SimStorePostgres.ts"
import { migrate } from "./simSchema.ts"

const usage = `bursar-ledger party add <hint> [--external --public-key BASE64] [--user ID] [--rights KIND:PARTY]… --token-out FILE
bursar-ledger party list
bursar-ledger token issue <user> --token-out FILE [--valid-for SECONDS]
bursar-ledger token revoke <user>
bursar-ledger prune <offset>
bursar-ledger faults <file>|off
bursar-ledger --help

The ledger's database is named by --database URL or DATABASE_URL.`

/** The command is not valid or failed; the message is for the person who gave it. */
class UsageError extends Data.TaggedError("Told")<{ readonly message: string }> {}

const usageError = (message: string) => new UsageError({ message })

const print = (line: object): Effect.Effect<void> =>
  Effect.sync(() => void process.stdout.write(`${JSON.stringify(line)}\n`))

const readArguments = () => {
  try {
    return Result.succeed(
      parseArgs({
        allowPositionals: true,
        options: {
          database: { type: "string" },
          help: { type: "boolean", short: "h" },
          external: { type: "boolean" },
          "public-key": { type: "string" },
          user: { type: "string" },
          rights: { type: "string", multiple: true },
          "token-out": { type: "string" },
          "valid-for": { type: "string" }
        }
      })
    )
  } catch (error) {
    return Result.fail(usageError(error instanceof Error ? error.message : String(error)))
  }
}
type Values = Result.Result.Success<ReturnType<typeof readArguments>>["values"]

const kinds = ["CanActAs", "CanReadAs", "CanExecuteAs"] as const

const right = (text: string): Result.Result<Ledger.Right, UsageError> => {
  const at = text.indexOf(":")
  const kind = kinds.find((entry) => entry === text.slice(0, at))
  const party = Party.parse(text.slice(at + 1))
  return kind === undefined || Result.isFailure(party)
    ? Result.fail(
        usageError(`${text} is no right; write one of ${kinds.join(", ")}, a colon, the party`)
      )
    : Result.succeed({ kind, party: party.success })
}

const tokenFile = (values: Values): Effect.Effect<string, UsageError> => {
  const file = values["token-out"]
  return file === undefined
    ? Effect.fail(usageError("--token-out is missing"))
    : Effect.succeed(file)
}

/**
 * Creates the file, private and empty, before the token is issued: a token that is shown once must
 * not be lost.
 */
const intoFile = <A extends { readonly token: string }, E>(
  file: string,
  make: Effect.Effect<A, E>
): Effect.Effect<A, E | UsageError> =>
  Effect.acquireUseRelease(
    Effect.try({
      try: () => ({
        draft: `${file}.${process.pid}`,
        fd: openSync(`${file}.${process.pid}`, "wx", 0o600)
      }),
      catch: (error) => usageError(`${file} cannot be written: ${String(error)}`)
    }),
    ({ draft, fd }) =>
      Effect.tap(make, ({ token }) =>
        Effect.tryPromise({
          // On the disk before the command ends: the ledger keeps no token, and tells it once.
          try: async () => {
            writeSync(fd, `${token}\n`)
            fsyncSync(fd)
            await DurableFiles.renameTo(draft, file)
          },
          catch: (error) => usageError(`${file} cannot be written: ${String(error)}`)
        })
      ),
    ({ draft, fd }) =>
      Effect.sync(() => {
        closeSync(fd)
        rmSync(draft, { force: true })
      })
  )

const publicKey = (values: Values): Effect.Effect<Uint8Array | undefined, UsageError> => {
  const text = values["public-key"]
  if (text === undefined) {
    return values.external === true
      ? Effect.fail(usageError("an external party brings its own --public-key"))
      : Effect.succeed(undefined)
  }
  const bytes = Buffer.from(text, "base64")
  return bytes.length === 32
    ? Effect.succeed(bytes)
    : Effect.fail(usageError("--public-key is the base64 of 32 bytes"))
}

const addParty = (admin: AdminService, hint: string, values: Values) =>
  Effect.gen(function* () {
    const file = yield* tokenFile(values)
    const key = yield* publicKey(values)
    const rights = yield* Effect.fromResult(Result.all((values.rights ?? []).map(right)))
    const added = yield* intoFile(
      file,
      admin.addParty({
        hint,
        kind: values.external === true ? "external" : "local",
        ...(key === undefined ? {} : { publicKey: key }),
        ...(values.user === undefined ? {} : { userId: values.user }),
        rights
      })
    )
    yield* print({ party: added.party, userId: added.userId, tokenFile: file })
  })

const listParties = (admin: AdminService) =>
  Effect.gen(function* () {
    const [parties, users] = yield* Effect.all([admin.parties, admin.users])
    for (const { party, kind } of parties) {
      const mine = users.filter(({ rights }) => rights.some((right) => right.party === party))
      yield* print({
        party,
        kind,
        users: mine.map(({ userId, tokenHash, rights }) => ({
          userId,
          hasToken: tokenHash !== null,
          rights: rights.map((right) => `${right.kind}:${right.party}`)
        }))
      })
    }
  })

const issueToken = (admin: AdminService, userId: string, values: Values) =>
  Effect.gen(function* () {
    const file = yield* tokenFile(values)
    const seconds = Number(values["valid-for"] ?? "0")
    if (!Number.isFinite(seconds) || seconds < 0)
      return yield* usageError("--valid-for is in seconds")
    const issued = admin.issueToken(userId, seconds === 0 ? undefined : Duration.seconds(seconds))
    yield* intoFile(
      file,
      Effect.map(issued, (token) => ({ token }))
    )
    yield* print({ userId, tokenFile: file })
  })

const prune = (sql: SqlClient.SqlClient, text: string) =>
  Effect.gen(function* () {
    const offset = yield* Effect.mapError(Effect.fromResult(Offset.parse(text)), ({ detail }) =>
      usageError(detail)
    )
    yield* Operator.wish(sql, { what: "prune", body: offset.toString() })
    const done = yield* Operator.pruned(sql).pipe(
      Effect.filterOrFail(
        (upTo) => upTo >= offset,
        () => usageError(notPruned(offset))
      ),
      Effect.retry({ schedule: Schedule.spaced("250 millis"), times: 40 })
    )
    yield* print({ prunedUpTo: done })
  })

const notPruned = (offset: Offset.Offset): string =>
  `nothing is pruned up to ${offset} yet: no node runs on this database, or its ledger ends before; it will be once one does`

const faults = (sql: SqlClient.SqlClient, file: string) =>
  Effect.gen(function* () {
    const content: unknown =
      file === "off"
        ? {}
        : yield* Effect.try({
            try: () => readFileSync(file, "utf8"),
            catch: (error) =>
              usageError(`${file}: ${error instanceof Error ? error.message : String(error)}`)
          }).pipe(
            Effect.flatMap((text) =>
              Effect.mapError(Effect.fromResult(JsonText.parse(text)), ({ message }) =>
                usageError(`${file}: ${message}`)
              )
            )
          )
    yield* Effect.fromResult(Operator.readPlan(content))
    yield* Operator.wish(sql, { what: "faults", body: JSON.stringify(content) })
    yield* print({ faults: content })
  })

const run = (words: ReadonlyArray<string>, values: Values) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // Parties can be added before the node's first start.
    yield* migrate(sql)
    const admin = Administration.make({
      store: SimStorePostgres.people(sql),
      prune: () => Effect.fail(LedgerError.make("UNIMPLEMENTED", "pruning is a wish to the node")),
      changed: () => {}
    })
    const [noun, verb, name] = words
    if (noun === "party" && verb === "list") return yield* listParties(admin)
    if (noun === "prune" && verb !== undefined) return yield* prune(sql, verb)
    if (noun === "faults" && verb !== undefined) return yield* faults(sql, verb)
    if (name === undefined) return yield* usageError(usage)
    if (noun === "party" && verb === "add") return yield* addParty(admin, name, values)
    if (noun === "token" && verb === "issue") return yield* issueToken(admin, name, values)
    if (noun === "token" && verb === "revoke") {
      yield* admin.revokeToken(name)
      return yield* print({ userId: name, hasToken: false })
    }
    return yield* usageError(usage)
  })

const program = Effect.gen(function* () {
  const { positionals, values } = yield* Effect.fromResult(readArguments())
  if (values.help === true) {
    return yield* Effect.sync(() => void process.stdout.write(`${usage}\n`))
  }
  if (positionals.length === 0) return yield* usageError(usage)
  const url = values.database ?? process.env["DATABASE_URL"]
  if (url === undefined)
    return yield* usageError("name the database: --database URL or DATABASE_URL")
  const client = PgClient.layer({ url: Redacted.make(url), maxConnections: 2 })
  return yield* Effect.provide(run(positionals, values), client)
}).pipe(
  Effect.tapError((error) =>
    Effect.sync(() => {
      process.stderr.write(`${error.message}\n`)
    })
  )
)

NodeRuntime.runMain(program, { disableErrorReporting: true })
