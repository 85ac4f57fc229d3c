/**
 * Backup of a database by PostgreSQL's own programs: `pg_dump` reads one snapshot of it while hosts
 * write, and `pg_restore` puts it back in one transaction.
 */
import { Data, Effect, Redacted } from "effect"
import { spawn } from "node:child_process"

/** A program of PostgreSQL is not there, or failed; the detail has its last words and no password. */
export class DumpFailed extends Data.TaggedError("DumpFailed")<{ readonly detail: string }> {
  override get message(): string {
    return this.detail
  }
}

/** Longest part of a program's messages that an error repeats. */
const saidMax = 2_000

/** Parts of the address as the variables of PostgreSQL's programs, which no list of processes shows. */
const variablesOf = (url: Redacted.Redacted): Readonly<Record<string, string>> => {
  const { hostname, password, pathname, port, searchParams, username } = new URL(
    Redacted.value(url)
  )
  const sslMode = searchParams.get("sslmode")
  return {
    PGHOST: decodeURIComponent(hostname),
    ...(port === "" ? {} : { PGPORT: port }),
    PGUSER: decodeURIComponent(username),
    PGPASSWORD: decodeURIComponent(password),
    PGDATABASE: decodeURIComponent(pathname.slice(1)),
    ...(sslMode === null ? {} : { PGSSLMODE: sslMode })
  }
}

const run = (
  url: Redacted.Redacted,
  program: string,
  args: ReadonlyArray<string>
): Effect.Effect<void, DumpFailed> =>
  Effect.callback((resume) => {
    const child = spawn(program, [...args], {
      env: { ...process.env, ...variablesOf(url) },
      stdio: ["ignore", "ignore", "pipe"]
    })
    let said = ""
    child.stderr.on("data", (part) => {
      said = (said + String(part)).slice(-saidMax)
    })
    child.once("error", (cause: NodeJS.ErrnoException) =>
      resume(
        Effect.fail(
          new DumpFailed({
            detail:
              cause.code === "ENOENT"
                ? `${program} is not installed: install PostgreSQL's client programs, or back the database up by its own means (docs/runbook.md)`
                : `${program} cannot be run: ${cause.message}`
          })
        )
      )
    )
    child.once("close", (code) =>
      resume(
        code === 0
          ? Effect.void
          : Effect.fail(new DumpFailed({ detail: `${program} ended with ${code}: ${said.trim()}` }))
      )
    )
    return Effect.sync(() => child.kill("SIGKILL"))
  })

/** The schemas of a venue; others of the same database are not the venue's. */
const schemas = ["bursar", "ledger_sim"] as const

/** Writes a dump of the venue's schemas, as of one moment, into a file that is not there yet. */
export const write = ({
  file,
  url
}: {
  readonly url: Redacted.Redacted
  readonly file: string
}): Effect.Effect<void, DumpFailed> =>
  run(url, "pg_dump", [
    "--format=custom",
    "--no-owner",
    "--no-password",
    ...schemas.map((schema) => `--schema=${schema}`),
    `--file=${file}`
  ])

/** Restores a dump into a database that has none of the venue's schemas: all of it, or nothing. */
export const restore = ({
  file,
  url
}: {
  readonly url: Redacted.Redacted
  readonly file: string
}): Effect.Effect<void, DumpFailed> =>
  run(url, "pg_restore", [
    "--single-transaction",
    "--exit-on-error",
    "--no-owner",
    "--no-password",
    `--dbname=${variablesOf(url)["PGDATABASE"] ?? ""}`,
    file
  ])
