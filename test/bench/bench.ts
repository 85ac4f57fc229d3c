/**
 * Prints the engine's speed as ratios of one run, and asserts nothing: `npm run bench -- list`.
 *
 * Options: `--rounds N`, `--size N` (what one bench builds or works off), `--write` (keeps the table
 * in a page), `--json FILE`, `--compare COMMIT` (ratios of the speed here to that of a commit).
 */
import { execFileSync } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { availableParallelism, loadavg, totalmem } from "node:os"
import { parseArgs } from "node:util"
import { compare } from "./commits.ts"
import type { Bench, Row } from "./measure.ts"
import * as Table from "./table.ts"

/** Loaded one by one, so that a row costs no other's imports. */
const benches: Readonly<Record<string, () => Promise<{ readonly bench: Bench }>>> = {
  transitions: () => import("./transitions.ts"),
  decimals: () => import("./decimals.ts"),
  signatures: () => import("./signatures.ts"),
  list: () => import("./list.ts"),
  movements: async () => (await import("./list.ts")).movements,
  livez: async () => (await import("./list.ts")).livez,
  whole: async () => (await import("./list.ts")).whole,
  operations: () => import("./operations.ts"),
  stores: () => import("./stores.ts"),
  http: () => import("./http.ts"),
  waits: async () => (await import("./http.ts")).waits,
  reads: () => import("./reads.ts"),
  search: () => import("./search.ts"),
  work: () => import("./work.ts"),
  registers: () => import("./registers.ts"),
  reports: () => import("./reports.ts"),
  lots: () => import("./lots.ts"),
  distributions: () => import("./distributions.ts"),
  months: () => import("./months.ts"),
  month: async () => (await import("./months.ts")).whole,
  unread: () => import("./unread.ts"),
  "month-alone": async () => (await import("./months.ts")).alone,
  lines: () => import("./lines.ts"),
  cycles: () => import("./cycles.ts"),
  deliveries: () => import("./deliveries.ts"),
  bulk: () => import("./bulk.ts"),
  statements: () => import("./statements.ts"),
  tables: async () => (await import("./statements.ts")).tables,
  reconciling: () => import("./reconciling.ts"),
  findings: () => import("./findings.ts"),
  verdicts: async () => (await import("./findings.ts")).verdicts,
  intake: () => import("./intake.ts"),
  "cash-intake": async () => (await import("./intake.ts")).cash,
  latest: () => import("./latest.ts"),
  hosts: () => import("./hosts.ts"),
  queues: () => import("./queues.ts"),
  distance: () => import("./distance.ts"),
  start: async () => (await import("./hosts.ts")).starts,
  reserves: () => import("./reserves.ts"),
  "mint-pages": async () => (await import("./reserves.ts")).mintPages,
  mints: () => import("./mints.ts"),
  "many-mints": async () => (await import("./mints.ts")).whole,
  "many-mints-in-process": async () => (await import("./mints.ts")).inProcess,
  bootstrap: () => import("./bootstrap.ts"),
  memory: () => import("./memory.ts")
}

const page = new URL("../../packages/engine-core/docs/benchmarks.md", import.meta.url).pathname

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string", default: "5" },
    size: { type: "string" },
    write: { type: "boolean", default: false },
    json: { type: "string" },
    compare: { type: "string" }
  }
})
const strangers = positionals.filter((name) => !Object.hasOwn(benches, name))
if (strangers.length > 0) {
  console.error(
    `no bench is called ${strangers.join(", ")}; there are ${Object.keys(benches).join(", ")}`
  )
  process.exit(1)
}
const names = positionals.length > 0 ? positionals : Object.keys(benches)
const rounds = Number(options.rounds)
const size = options.size === undefined ? undefined : Number(options.size)

const circumstances = (): Table.Circumstances => ({
  commit: execFileSync("git", ["rev-parse", "--short", "HEAD"], { encoding: "utf8" }).trim(),
  load: loadavg()[0] ?? Number.NaN,
  cores: availableParallelism(),
  gibibytes: Math.round(totalmem() / 2 ** 30),
  node: process.version,
  rounds
})

if (options.compare !== undefined) {
  const args = [...names, ...(size === undefined ? [] : ["--size", String(size)])]
  const ratios = compare({ commit: options.compare, args, turns: rounds })
  for (const [bench, ratio] of ratios) {
    console.log(`${bench}: ×${Table.spread(ratio)} of ${options.compare}`)
  }
  process.exit(0)
}

const rows: Array<Row> = []
for (const name of names) {
  const bench = await benches[name]?.()
  for (const row of (await bench?.bench({ rounds, size })) ?? []) {
    rows.push(row)
    console.log(Table.linesOf(row))
  }
  // Written after each bench, so that a failure of a later one loses no row.
  if (options.write) {
    const before = readFileSync(page, { encoding: "utf8", flag: "a+" })
    writeFileSync(page, Table.page({ rows, at: circumstances(), before }))
  }
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(rows))
}
process.exit(0)
