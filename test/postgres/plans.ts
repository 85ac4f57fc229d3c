/** Plans of statements as the database ran them, with rows counted: read from its log by auto_explain. */
import { createReadStream } from "node:fs"
import { mkdtemp, rm, stat } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { text } from "node:stream/consumers"
import * as Embedded from "#adapters/storage/embedded/Embedded.ts"
import { Effect, Schema } from "effect"

export interface Node {
  readonly "Node Type": string
  readonly "Actual Rows": number
  readonly "Actual Loops": number
  readonly "Rows Removed by Filter"?: number
  readonly "Rows Removed by Join Filter"?: number
  readonly "Rows Removed by Index Recheck"?: number
  readonly "Shared Hit Blocks"?: number
  readonly "Shared Read Blocks"?: number
  readonly "Relation Name"?: string
  readonly "Index Name"?: string
  readonly "Sort Key"?: ReadonlyArray<string>
  readonly Plans?: ReadonlyArray<Node>
}

export interface Statement {
  readonly sql: string
  readonly plan: Node
}

/** A database server of its own whose log has the plan of every statement. */
export const server = Effect.gen(function* () {
  const dataFolder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "bursar-plans-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  const { url } = yield* Embedded.startWith({
    dataFolder,
    settings: {
      fsync: "off",
      full_page_writes: "off",
      session_preload_libraries: "auto_explain",
      "auto_explain.log_min_duration": "0",
      "auto_explain.log_analyze": "on",
      "auto_explain.log_buffers": "on",
      "auto_explain.log_timing": "off",
      "auto_explain.log_parameter_max_length": "0",
      "auto_explain.log_format": "json"
    }
  })
  const log = join(dataFolder, "postgres.log")
  return {
    url,
    /** Runs an effect, and answers the statements that the database ran meanwhile. */
    statements: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        const { size } = yield* Effect.promise(() => stat(log))
        const value = yield* effect
        const added = yield* Effect.promise(() => text(createReadStream(log, { start: size })))
        return { value, statements: parsed(added) }
      })
  }
})

const Entry = Schema.Struct({ "Query Text": Schema.String, Plan: Schema.Unknown })
const entry = Schema.decodeUnknownSync(Schema.fromJsonString(Entry))

/** Entries of the log: a line with "plan:", and the plan on indented lines after it. */
const parsed = (log: string): ReadonlyArray<Statement> =>
  log.split(/^.*duration: .* plan:$/m).flatMap((part) => {
    const lines = part.split("\n").slice(1)
    const end = lines.findIndex((line) => !line.startsWith("\t"))
    const text = lines.slice(0, end < 0 ? undefined : end).join("\n")
    if (!text.trimStart().startsWith("{")) return []
    const { "Query Text": sql, Plan: plan } = entry(text)
    return [{ sql, plan: plan as Node }]
  })

export const nodes = (plan: Node): ReadonlyArray<Node> => [
  plan,
  ...(plan.Plans ?? []).flatMap(nodes)
]

/** Rows that the nodes of a plan made or threw away. */
export const rowsOf = (plan: Node): number =>
  nodes(plan).reduce((sum, node) => {
    const removed =
      (node["Rows Removed by Filter"] ?? 0) +
      (node["Rows Removed by Join Filter"] ?? 0) +
      (node["Rows Removed by Index Recheck"] ?? 0)
    return sum + (node["Actual Rows"] + removed) * node["Actual Loops"]
  }, 0)

/** Pages of tables and indexes that a plan read, in cache or not. */
export const pagesOf = (plan: Node): number =>
  (plan["Shared Hit Blocks"] ?? 0) + (plan["Shared Read Blocks"] ?? 0)
